"""A program with every cast written out, and the check that none is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from typelattice.base.errors.error_texts import clip_text
from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.engine.evaluate_operation import find_operation_rules
from typelattice.core.engine.operation_rules import STANDARD_RULES_BY_CLASS
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.rule_enums import OverflowRule
from typelattice.core.engine.system import System
from typelattice.core.losses.cast_rounding_and_overflow import PLAIN_CAST_RULE
from typelattice.core.losses.loss import loss
from typelattice.core.losses.plain_casts import NoPlainStepsError, write_plain_cast
from typelattice.core.losses.range_and_overflow import PythonNumber, is_in_range
from typelattice.core.losses.saturating_arithmetic import (
    INTEGER_KINDS,
    OVERFLOWING_FUNCTIONS,
    write_saturating,
)
from typelattice.core.operands.operand import Operand
from typelattice.core.operations.operations import ACCUMULATOR_DTYPE_ARGUMENT, COMPARING_CLASSES
from typelattice.programs.calls.program_builder import RESULT_KEYWORD
from typelattice.programs.calls.steps import (
    FUNCTION_OF_IN_PLACE,
    MAX_STEP_CHARS,
    Argument,
    AskedDType,
    Call,
    Cast,
    DTypeOf,
    Either,
    Index,
    Input,
    Item,
    Keywords,
    NamedDType,
    Number,
    Opaque,
    ProgramError,
    Ref,
    Step,
    map_argument,
)  # fmt: skip
from typelattice.programs.replay.implicit_casts import promoting_inputs
from typelattice.programs.replay.outcome import Outcome
from typelattice.programs.replay.plain_graph_steps import GraphStepWriter


def write_out_casts(
    steps: Sequence[Step], results: Sequence[int], outcomes: Sequence[Outcome], system: System
) -> tuple[tuple[Step, ...], tuple[int, ...]]:
    """Return the steps, with each implicit cast before the operation that needs it, and the results.

    The casts follow the system's rules for casts, as those that the program writes.
    Each operation has one dtype, and states the dtype of its result. An operation that adds up states its
    accumulator. Its operands keep their dtypes, and its result is cast afterwards. Raises ProgramError if a
    step of the program is refused.
    """
    writer = _CastWriter(steps, outcomes, system)
    for i, outcome in enumerate(outcomes):
        if outcome.operand is None:
            has_function = outcome.cast is not None and outcome.cast.cast_rule.function
            remedy = "" if has_function else "; cast its operands first"
            raise ProgramError(f"{_step_text(steps[i])} is {outcome}: {outcome.reason}{remedy}")
        writer.write_step(i)
    return tuple(writer.new_steps), tuple(writer.new_numbers[i] for i in results)


class _CastWriter:
    """The explicit steps so far. `new_numbers` maps each old step to its new number.

    `refs` has a reference to each, and `named_dtypes` the names of dtypes: steps share them, as there are
    many.
    """

    def __init__(self, steps: Sequence[Step], outcomes: Sequence[Outcome], system: System) -> None:
        self.steps, self.outcomes, self.system = steps, outcomes, system
        self.new_steps: list[Step] = []
        self.refs: list[Ref] = []
        self.named_dtypes: dict[DType | None, NamedDType] = {}
        self.new_numbers: dict[int, int] = {}
        self.casts: dict[tuple[int, str, str], int] = {}

    def add_step(self, step: Step) -> int:
        self.new_steps.append(step)
        self.refs.append(Ref(len(self.refs)))
        return len(self.refs) - 1

    def named_dtype(self, dtype: DType | None) -> NamedDType:
        if dtype not in self.named_dtypes:
            self.named_dtypes[dtype] = NamedDType(str(dtype))
        return self.named_dtypes[dtype]

    def operand_of_step(self, step_number: int) -> Operand:
        found = self.outcomes[step_number].operand
        assert found is not None
        return found

    def rename_steps(self, argument: Argument) -> Argument:
        """Return a single argument with the new steps' numbers, and with an earlier step's dtype by name."""
        if isinstance(argument, Ref):
            return self.refs[self.new_numbers[argument.step]]
        return (
            self.named_dtype(self.operand_of_step(argument.step).dtype)
            if isinstance(argument, DTypeOf)
            else argument
        )

    def write_step(self, step_number: int) -> None:
        """Return the explicit form of a step, after the casts that it needs."""
        step, result_operand = self.steps[step_number], self.operand_of_step(step_number)
        if isinstance(step, AskedDType):
            self.new_numbers[step_number] = self.new_numbers[step.operand]
            return
        if isinstance(step, Either):
            what = f"{_step_text(step)} is one of several values, {step.condition}"
            raise ProgramError(f"{what}, which a graph cannot; write where(condition, x, y)")
        if isinstance(step, Call):
            self.new_numbers[step_number] = self.add_call(step, self.outcomes[step_number], result_operand)
            return
        cast = self.outcomes[step_number].cast
        if isinstance(step, Cast) and cast is not None:
            source = self.new_numbers[step.operand]
            self.new_numbers[step_number] = self.write_cast(step, source, cast.source, cast.target, step.text)
            return
        new_step = step.map_refs(self.new_numbers.__getitem__, self.rename_steps)
        if new_step.DTYPE_FIELD:
            stated: Any = {new_step.DTYPE_FIELD: self.named_dtype(result_operand.dtype)}
            new_step = replace(new_step, **stated)
        self.new_numbers[step_number] = self.add_step(new_step)

    def add_call(self, step: Call, outcome: Outcome, result_operand: Operand) -> int:
        """Add an operation on operands of one dtype. If the library gives a Python number, take its item."""
        p = outcome.promotion
        number = result_operand.tier == "scalar" and p is not None and p.python_number_kind is not None
        result = p.dtype if p is not None and number else result_operand.dtype
        cast_steps = self.cast_operands(step, p, result_operand.dtype)
        accumulator = p.accumulator if p is not None else None
        computed = _find_computed_dtype(step, p, result)
        # a custom operation gets its accumulator as an argument
        stated: Keywords = ()
        if accumulator and step.custom_operation is not None:
            stated = ((ACCUMULATOR_DTYPE_ARGUMENT, self.named_dtype(accumulator)),)
        is_in_place = step.name in FUNCTION_OF_IN_PLACE
        if (saturated := self.write_overflow(step, p, cast_steps)) is not None:
            if computed is not result:
                text = _cast_text(step, result)
                return self.write_cast(step, saturated, computed, result, text)
            return saturated
        has_dtype = number or result_operand.tier != "scalar"
        made = self.add_step(
            Call(
                FUNCTION_OF_IN_PLACE.get(step.name, step.name),
                self.place_arguments(step, cast_steps),
                stated if is_in_place else map_argument(step.keywords, self.rename_steps) + stated,
                tuple([cast_steps[part] for part in step.operands]),
                step.is_operator,
                self.named_dtype(computed) if has_dtype else None,
                text=step.text,
                location=step.location,
                shape=step.shape,
                owner=step.owner,
                custom_operation=step.custom_operation,
            )
        )
        if computed is not result:
            # An operation rounds its own accumulator. Only a write into an array is one of the file's casts.
            from_dtype = computed if _writes_into_operand(step, p) else None
            made = self.write_cast(step, made, from_dtype, result, _cast_text(step, result))
        if number:
            made = self.add_step(Item(made, text=step.text, location=step.location, shape=()))
        return made

    def write_overflow(
        self, step: Call, promotion: Promotion | None, cast_steps: Mapping[int, int]
    ) -> int | None:
        """Add the steps of integer arithmetic that does not wrap. Return the last, or None if it may wrap.

        Raises ProgramError if the system raises an error, which a graph cannot, and without plain steps.
        """
        compute = promotion.compute if promotion is not None else None
        if promotion is None or promotion.op is None or compute is None or compute.kind not in INTEGER_KINDS:
            return None
        word = find_operation_rules(self.system, promotion.op).overflow
        function = step.operation.function
        if word in (None, OverflowRule.WRAP) or function not in OVERFLOWING_FUNCTIONS:
            return None
        writer = GraphStepWriter(self.add_step, step, _cast_text(step, compute))
        if word is OverflowRule.RAISE:
            what = f"{_step_text(step)} raises an error for integers out of range under {self.system.name}"
            raise ProgramError(f"{what}, which a graph cannot; say wrap or saturate, or cast to floats")
        try:
            operands = [cast_steps[part] for part in step.operands]
            return write_saturating(function, compute, operands, writer, self.system.dtypes)
        except NoPlainStepsError as e:
            raise writer.make_refusal(e) from None

    def place_arguments(self, step: Call, cast_steps: Mapping[int, int]) -> tuple[Argument, ...]:
        """Return the arguments of a step, with its operands after their casts."""

        def place_argument(x: Argument) -> Argument:
            if isinstance(x, Ref) and x.step in cast_steps:
                return self.refs[cast_steps[x.step]]
            return self.rename_steps(x)

        placed: tuple[Argument, ...] = map_argument(step.args, place_argument)
        return placed

    def cast_operands(
        self, step: Call, promotion: Promotion | None, requested: DType | None
    ) -> dict[int, int]:
        """Map the operands of a call to new steps, cast to the compute dtype or to the requested one."""
        cast_steps = {part: self.new_numbers[part] for part in step.operands}
        if promotion is not None and promotion.compute is not None:
            compared = self.comparison_dtype(step, promotion)
            for part, o in promoting_inputs(step, promotion):
                to = compared or promotion.cast_target(o) or promotion.compute
                cast_steps[part] = self.add_cast(step, part, o, to, promotion)
        elif step.dtype is not None and requested is not None and step.casts_operands:
            cast_steps = {
                part: self.add_cast(step, part, self.operand_of_step(part), requested, None)
                for part in cast_steps
            }
        return cast_steps

    def comparison_dtype(self, step: Call, promotion: Promotion) -> DType | None:
        """Return the first dtype that holds the array's values and an out-of-range number.

        The two operands are compared in this dtype. It is None if the step does not compare, or no number is
        out of range. Raises ProgramError if no dtype holds both.
        """
        out_of_range_values = [
            f.value for f in promotion.fits if f.outcome not in ("fits", "wrap", "inf", "saturate", "raise")
        ]
        if (
            not out_of_range_values
            or step.operation.operation_class not in COMPARING_CLASSES
            or not isinstance(promotion.system, System)
        ):
            return None
        operand_dtypes = [o.dtype for o in promotion.operands if o.dtype]
        for d in promotion.system.dtypes:
            if all(not loss(x, d) for x in operand_dtypes) and all(
                is_in_range(value, d) for value in out_of_range_values
            ):
                return d
        value = out_of_range_values[0]
        what = f"{_step_text(step)} compares with {value}, which no dtype beside {operand_dtypes[0]} holds"
        raise ProgramError(f"{what}; compare with a number within its range")

    def add_cast(
        self, step: Call, operand_step: int, operand: Operand, target: DType, promotion: Promotion | None
    ) -> int:
        """Cast an operand to a dtype if it has another. The system decides how it converts a number."""
        if operand.dtype is target and not operand.weak and operand.tier != "scalar":
            return self.new_numbers[operand_step]
        value = self.number_after_cast(step, operand, target, promotion)
        key = operand_step, target.name, repr(value)
        if key not in self.casts:
            source = self.new_numbers[operand_step]
            if value is not None and value is not operand.value:
                source = self.add_step(
                    Number(value, text=str(value)[:MAX_STEP_CHARS], location=step.location, shape=())
                )
            cast_step = self.steps[operand_step]
            from_dtype = None if operand.tier == "scalar" else operand.dtype
            self.casts[key] = self.write_cast(
                cast_step, source, from_dtype, target, _cast_text(cast_step, target)
            )
        return self.casts[key]

    def number_after_cast(
        self, step: Call, operand: Operand, target: DType, promotion: Promotion | None
    ) -> PythonNumber | None:
        """Return the number that a Python number becomes. Raises ProgramError if the system does not say."""
        if operand.tier != "scalar" or operand.value is None or is_in_range(operand.value, target):
            return operand.value if operand.tier == "scalar" else None
        fits = [
            f
            for f in (promotion.fits if promotion else ())
            if f.value is operand.value or f.value == operand.value
        ]
        if fits and fits[0].becomes is not None:
            return fits[0].becomes
        what = (
            f"{_step_text(step)}: {operand.value} is out of range for {target}, "
            "and it is not said what becomes of it"
        )
        raise ProgramError(f"{what}; use a value within it, or cast first")

    def write_cast(
        self, step: Step, number: int, source: DType | None, target: DType | None, text: str
    ) -> int:
        """Add the steps that cast an array by the system's rule, and return the number of the last.

        `step` is the step of the program that the cast belongs to. Raises ProgramError if the system refuses
        the cast, or if no plain steps follow its rule.
        """
        shape = self.new_steps[number].shape
        cast = Cast(number, self.named_dtype(target), text=text, location=step.location, shape=shape)
        rule = self.system.cast_rule(source, target) if source and target else PLAIN_CAST_RULE
        if rule == PLAIN_CAST_RULE or source is None or target is None:
            return self.add_step(cast)
        if rule.obstacle:
            what = f"{_step_text(step)} casts {source} to {target}, which {self.system.name} does not"
            raise ProgramError(f"{what}: {rule.obstacle}")
        writer = GraphStepWriter(self.add_step, replace(step, shape=shape), text)
        try:
            return write_plain_cast(number, source, target, rule, writer)
        except NoPlainStepsError as e:
            raise writer.make_refusal(e) from None


def _cast_text(step: Step, target: DType | None) -> str:
    """Return the text of a cast of a step's result that the source does not write."""
    text = step.text if step.text.isidentifier() else f"({step.text})"
    return clip_text(f"{text}.astype({target})", MAX_STEP_CHARS)


def _writes_into_operand(step: Call, promotion: Promotion | None) -> bool:
    """Return True if an operation writes into its first operand, or rebinds its name as if it did."""
    in_place = (
        promotion is not None
        and promotion.op is not None
        and promotion.system.find_operation(promotion.op).is_in_place
    )
    return step.name in FUNCTION_OF_IN_PLACE or (step.rebinds and in_place)


def _find_computed_dtype(step: Call, promotion: Promotion | None, result: DType | None) -> DType | None:
    """Find the dtype that a call computes in, if its result is cast after it, or else that of its result."""
    if promotion is None:
        return result
    if step.custom_operation is None and step.dtype is None and step.operation.adds_up:
        return promotion.arithmetic_dtype  # a dtype that the new call states is that of its sum
    narrows = step.custom_operation is None and _narrows_result(step, promotion, result)
    return promotion.compute if narrows or _writes_into_operand(step, promotion) else result


def _narrows_result(step: Call, promotion: Promotion | None, result: DType | None) -> bool:
    """Return True if an operation casts its own result: a bfloat16 sum may add in float32 and then cast.

    Indices and counts are not cast: `argmax`, and the second result of `sort`, have a dtype of their own.
    """
    if (
        promotion is None
        or promotion.compute is None
        or result is None
        or promotion.compute in (result, result.family)
    ):
        return False
    of_values = STANDARD_RULES_BY_CLASS[step.operation.operation_class].gives in (None, "real")
    return (
        promotion.compute.kind is result.kind
        and of_values
        and all(key != RESULT_KEYWORD for key, _ in step.keywords)
    )


def check_no_implicit_cast(steps: Sequence[Step]) -> None:
    """Raise ProgramError unless each operation has operands of one dtype, and states its result's dtype.

    An operation that adds up may take two dtypes and give a third, its accumulator.
    """
    dtypes: list[str | None] = []  # one dtype for each step, or None for a Python number
    for step in steps:
        match step:
            case Input(fixed_result=given) | Opaque(fixed_result=given):
                dtypes.append(_dtype_of(given))
            case Number() | Item():
                dtypes.append(None)
            case Index(operand=source):
                dtypes.append(dtypes[source])
            case Call():
                dtypes.append(_checked_result_dtype(step, [dtypes[part] for part in step.operands]))
            case _:
                dtypes.append(_write_requested_dtype(step))


def _checked_result_dtype(step: Call, operands: Sequence[str | None]) -> str | None:
    """Return the dtype of a call's result. Raises ProgramError if operands need an implicit cast."""
    if step.is_operator and all(d is None for d in operands):
        return None
    if step.name in FUNCTION_OF_IN_PLACE:
        raise ProgramError(f"{_step_text(step)} writes into its left operand; take .explicit(system)")
    promoting_dtypes = operands[step.operation.promoting_slice]
    # an exponent may keep its own dtype
    if (
        step.operation.operation_class in ("power", "shift") and len({*promoting_dtypes}) > 1
    ):
        promoting_dtypes = promoting_dtypes[:1]
    accumulates = step.operation.adds_up and _write_requested_dtype(step) not in promoting_dtypes
    keep_their_own = step.custom_operation is not None or accumulates
    families = {
        d.partition("(")[0] for d in promoting_dtypes if d
    }  # decimals may differ in their number of digits
    if None in promoting_dtypes or (len(families) > 1 and not keep_their_own):
        what = " and ".join(d or "a Python number" for d in dict.fromkeys(promoting_dtypes))
        raise ProgramError(f"{_step_text(step)} casts implicitly, of {what}; take .explicit(system)")
    return _write_requested_dtype(step)


def _write_requested_dtype(step: Step) -> str:
    if not isinstance(step.requested_dtype, NamedDType):
        raise ProgramError(f"{_step_text(step)} does not say its dtype; take .explicit(system)")
    return step.requested_dtype.name


def _dtype_of(described_operand: Operand | str) -> str | None:
    """Return the dtype of an input by name, or None if it is a Python number."""
    if isinstance(described_operand, str):
        return described_operand.partition(":")[0].partition("=")[0]
    if described_operand.tier == "scalar" and described_operand.kind is not Kind.BOOL:
        return None
    return str(described_operand.dtype) if described_operand.tier != "scalar" else None


def _step_text(step: Step) -> str:
    """Return a step's description for an error: its operation, text and place."""
    where = f" ({step.location})" if step.location else ""
    return f"{step.op or 'input'} {step.text!r}{where}"
