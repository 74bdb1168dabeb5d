"""The outcome of each step of a program under a system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from typelattice.calls.call_tables import NameSort, name_meaning, system_of_array_class, system_of_module
from typelattice.calls.multiple_results import STANDS_FOR_KEYWORD, source_arguments
from typelattice.calls.program_builder import LIBRARY_YIELDING_TO_OTHERS
from typelattice.calls.python_arithmetic import python_result
from typelattice.calls.steps import (
    FUNCTION_OF_IN_PLACE,
    IN_PLACE_OF_FUNCTION,
    SAME_KIND_KEYWORD_AND_VALUE,
    Argument,
    AskedDType,
    Call,
    Cast,
    Created,
    DTypeArgument,
    DTypeOf,
    Either,
    Index,
    Input,
    Item,
    LibraryCall,
    Number,
    Opaque,
    ProgramError,
    Ref,
    Step,
    yield_leaves,
)  # fmt: skip
from typelattice.engine.decisions import RefusalError
from typelattice.engine.evaluate_operation import find_operation_rules, left_dtype_after_write
from typelattice.engine.foreign_arrays import MASK_FORM, converted_dtype, index_refusal_reason
from typelattice.engine.operand_checks import dtype_of_pair
from typelattice.engine.operation_rules import LAST_ARRAY_RESULT
from typelattice.engine.promotion import Promotion
from typelattice.engine.rule_enums import ForeignCountsAs, InPlaceRule, JoinRule
from typelattice.engine.scalar_fit import check_scalar_limits, fit_values
from typelattice.engine.system import System
from typelattice.facts.cast_rounding_and_overflow import PLAIN_CAST_RULE
from typelattice.facts.dtypes import DType, Kind, dtype
from typelattice.facts.operations import OPERATIONS, OpError
from typelattice.facts.range_and_overflow import exceeds_int32, is_in_range
from typelattice.facts.releases import VERSION_SIGN
from typelattice.facts.shapes import Shape
from typelattice.files.reader import system as find_system
from typelattice.operands.notation import read_dtype
from typelattice.operands.operand import (
    BOOL_DTYPE,
    FOREIGN_LIST_MARK,
    FOREIGN_SCALAR_SUFFIX,
    KIND_BY_NAME,
    Operand,
    Tier,
    operand_of_dtype,
    scalar_operand,
)
from typelattice.programs.replay.asked_results import outcome_of_library_call
from typelattice.programs.replay.call_results import result_of_call
from typelattice.programs.replay.outcome import (
    NOT_REACHED_OUTCOME,
    EarlierOutcomes,
    ExplicitCast,
    Outcome,
    merge_alternatives,
)
from typelattice.support.frozen_classes import replace as with_fields

SystemByLibrary = Mapping[str, System]  # the system of each library that owns steps


def replay_steps(steps: Sequence[Step], system: System | SystemByLibrary) -> tuple[Outcome, ...]:
    """Return the outcome of each step, under one system or under the system of the step's library.

    Raises DTypeError or OperandError if an input is not an operand. Raises ProgramError if no system knows
    the library of an operation.
    """
    find_evaluator = evaluator_finder(system, steps)
    found: list[Outcome] = []
    for step in steps:
        found.append(find_evaluator(step).outcome_of_step(step, found))
    return tuple(found)


def predict_each_step(
    steps: Sequence[Step], find_evaluator: EvaluatorFinder, known_outcomes: Sequence[Outcome | None]
) -> tuple[Outcome, ...]:
    """Return the outcome of each step by itself, independent of the outcomes of the earlier steps.

    Later steps use the outcome in `known_outcomes` for each step, or the step's own outcome if that is None.
    Raises as `replay` does.
    """
    outcomes: list[Outcome] = []
    used_outcomes: list[Outcome] = []
    for step, outcome in zip(steps, known_outcomes, strict=True):
        outcomes.append(find_evaluator(step).outcome_of_step(step, used_outcomes))
        used_outcomes.append(
            outcome if outcome and not _adds_known_value(outcome, outcomes[-1]) else outcomes[-1]
        )
    return tuple(outcomes)


def _adds_known_value(known_outcome: Outcome, computed_outcome: Outcome) -> bool:
    """Return True if the computed outcome differs from the given one only by a known value."""
    known_operand, computed_operand = known_outcome.operand, computed_outcome.operand
    return (
        computed_operand is not None
        and computed_operand.value is not None
        and known_operand == replace(computed_operand, value=None)
    )


def evaluator_finder(system: System | SystemByLibrary, steps: Sequence[Step]) -> EvaluatorFinder:
    """Return a function that finds the evaluator of a step: for one system, or for the step's library.

    NumPy's constants keep NumPy's rules in a program of another library, if the system has a rule for NumPy's
    scalars. For example, `np.float64(2.5)` is not a tensor when it is added to one.
    """
    if isinstance(system, System):
        constants = _find_constants(steps) if LIBRARY_YIELDING_TO_OTHERS in system.foreign else ()
        if not constants:
            evaluator = _Evaluator(system)
            return _module_evaluator_finder(lambda step: evaluator, steps)
        constant_step_ids = {id(steps[i]) for i in constants}
        owners = [_foreign_mark(step) if i in constants else None for i, step in enumerate(steps)]
        numpy, evaluator = _Evaluator(find_system(LIBRARY_YIELDING_TO_OTHERS)), _Evaluator(system, owners)
        return _module_evaluator_finder(
            lambda step: numpy if id(step) in constant_step_ids else evaluator, steps
        )
    owners = [None if isinstance(step, Created) else _foreign_mark(step) for step in steps]
    evaluators = {name: _Evaluator(s, owners) for name, s in system.items()}
    return _module_evaluator_finder(lambda step: _find_owner_evaluator(evaluators, step), steps)


def _module_evaluator_finder(find_evaluator: EvaluatorFinder, steps: Sequence[Step]) -> EvaluatorFinder:
    """Return a finder of evaluators for functions of modules such as `jax.lax`, by the modules' systems."""
    found: dict[tuple[str, str], _Evaluator] = {}
    if not any(isinstance(step, Call) and step.module for step in steps):
        return find_evaluator

    def evaluator(step: Step) -> _Evaluator:
        usual = find_evaluator(step)
        if not isinstance(step, Call) or not step.module:
            return usual
        key = usual.system.name, step.module
        if key not in found:
            own = system_of_function(usual.system, step.module, step.owner)
            found[key] = usual if own is None else _Evaluator(own, usual.owners)
        return found[key]

    return evaluator


def system_of_function(system: System, module: str, library: str | None) -> System | None:
    """Return the system of a mode, or of a function's module with the usual system's default dtypes.

    It has the name of a system only if it equals that system: `jax.lax` without 64-bit types was not
    recorded.
    """
    plain, sign, release = system.name.partition(VERSION_SIGN)
    mode = system_of_array_class(module, library, plain)
    if mode is not None:
        return find_system(mode + sign + release)
    name = system_of_module(module, library, plain)
    if name is None:
        return None
    is_of_library = find_system(name).library.partition(" ")[0] == system.library.partition(" ")[0]
    own_system = find_system(name + sign + release if is_of_library else name)
    if (own_system.defaults, own_system.requested, own_system.combine) == (
        system.defaults,
        system.requested,
        system.combine,
    ):
        return own_system
    return with_fields(
        own_system, name=f"{system.name} ({module})", defaults=system.defaults, requested=system.requested,
        before=system.before, combine=system.combine, tiers=system.tiers,
    )  # fmt: skip


def _foreign_mark(step: Step) -> str | None:
    """Return the library that made a step's result, as in `Operand.foreign`: `numpy`, `numpy-scalar`.

    A result that may be a scalar ends in `-scalar`. None if the step has no library.
    """
    return step.owner and step.owner + ("" if isinstance(step, Created) else FOREIGN_SCALAR_SUFFIX)


def _find_constants(steps: Sequence[Step]) -> frozenset[int]:
    """Return NumPy's steps that are computed from constants, or none if no other library is used."""
    owners = {step.owner for step in steps}
    if LIBRARY_YIELDING_TO_OTHERS not in owners or not owners - {LIBRARY_YIELDING_TO_OTHERS, None}:
        return frozenset()
    found: set[int] = set()
    for i, step in enumerate(steps):
        own = (part for part in step.inputs if not isinstance(steps[part], Number))
        if (
            step.owner == LIBRARY_YIELDING_TO_OTHERS
            and not isinstance(step, (Input, Opaque))
            and found.issuperset(own)
        ):
            found.add(i)
    return frozenset(found)


def _find_owner_evaluator(evaluators: Mapping[str, _Evaluator], step: Step) -> _Evaluator:
    """Return the evaluator for the system of a step's owner. Raises ProgramError."""
    if step.owner is not None and step.owner in evaluators:
        return evaluators[step.owner]
    if step.op is None and evaluators:
        return next(iter(evaluators.values()))  # a step without a rule has the same outcome under each system
    where = f" ({step.location})" if step.location else ""
    who = f"is {step.owner}'s, and no system is given for that" if step.owner else "is owned by no library"
    raise ProgramError(f"{step.text}{where} {who}; give one system for all, or one for each library")


class _Evaluator:
    """The evaluator of one program's steps under one system. It evaluates equal operations once.

    `owners` has the library of each step's result in a program of several libraries. It ends in `-scalar` if
    a result without dimensions is a scalar.
    """

    def __init__(self, system: System, owners: Sequence[str | None] = ()) -> None:
        self.system, self.owners = system, owners
        self.outcomes_of_calls: dict[object, Outcome] = {}

    def outcome_of_step(self, step: Step, earlier_outcomes: EarlierOutcomes) -> Outcome:
        if isinstance(step, Either):
            return merge_alternatives([earlier_outcomes[i] for i in step.choices], step.condition)
        for i in step.inputs:
            if earlier_outcomes[i].alternatives:
                return self.outcome_of_alternatives(step, i, earlier_outcomes)
            if earlier_outcomes[i].operand is None:
                return NOT_REACHED_OUTCOME
        match step:
            case Call(rebinds=True, is_operator=True) if self.system.library.partition(" ")[0] != step.owner:
                written = replace(
                    step, name=IN_PLACE_OF_FUNCTION[step.name], is_operator=False, rebinds=False
                )
                return self.outcome_of_step(written, earlier_outcomes)
            case Call():
                return self.outcome_of_operation(step, earlier_outcomes)
            case Number(value=value):
                return Outcome(self.system.operand(value))
            case Input(fixed_result=given) | Opaque(fixed_result=given):
                return Outcome(_with_tier_of_shape(self.system.operand(given), step.shape))
            case Index(operand=source, list_form=lists):
                o = earlier_outcomes[source].operand
                assert o is not None
                if refusal_reason := self.why_index_refused(step.key, lists, earlier_outcomes):
                    return Outcome(None, None, refusal_reason)
                return Outcome(replace(o, tier=_find_tier(step, (o,)), value=None))
            case Cast(operand=source, to=to):
                o = earlier_outcomes[source].operand
                assert o is not None
                # a library's function that makes an array of another library's is a cast to the own dtype
                converts = step.owner is not None and to == DTypeOf(source)
                converted = self.dtype_from_foreign(o, source) if converts else None
                return self.outcome_of_explicit_cast(
                    o, converted or self.requested_dtype(to, earlier_outcomes), _find_tier(step, (o,))
                )
            case Item(operand=source):
                o = earlier_outcomes[source].operand
                assert o is not None
                return Outcome(scalar_operand(KIND_BY_NAME.get(o.kind.python_name, o.kind)))
            case Created():
                return self.outcome_of_creation(step, earlier_outcomes)
            case AskedDType(operand=source):
                return Outcome(earlier_outcomes[source].operand)
            case LibraryCall():
                return outcome_of_library_call(step, self.system, earlier_outcomes)
        raise TypeError(f"a {type(step).__name__} is no step")

    def outcome_of_alternatives(self, step: Step, number: int, earlier_outcomes: EarlierOutcomes) -> Outcome:
        """Return the outcome of a step for each alternative of an earlier one: one outcome if all agree."""
        uncertain = earlier_outcomes[number]
        needed = {i: earlier_outcomes[i] for i in step.inputs}
        found = [
            self.outcome_of_step(step, {**needed, number: each}) for each in uncertain.alternatives
        ]
        return merge_alternatives(found, uncertain.reason or "")

    def outcome_of_operation(self, step: Call, earlier_outcomes: EarlierOutcomes) -> Outcome:
        """Return the outcome of a call. Equal calls are evaluated once."""
        name, operands = step.name, step.operands
        call_operands = tuple([o for i in operands if (o := earlier_outcomes[i].operand)])
        foreign_arrays = self.foreign_arrays(step, call_operands)
        if foreign_arrays:
            pairs = zip(operands, call_operands, strict=True)
            call_operands = tuple(
                [
                    replace(o, foreign_library=foreign_arrays.get(i, o.foreign_library))
                    for i, o in pairs
                ]
            )
        if outcome_of_array := self.outcome_among_arrays(step, earlier_outcomes):
            return outcome_of_array
        requested = None if step.dtype is None else self.requested_dtype(step.dtype, earlier_outcomes)
        number = step.keywords[-1] if step.keywords else step.rebinds
        key = (
            name,
            call_operands,
            step.is_operator,
            requested,
            number,
            _find_tier(step, call_operands),
        )
        cached_outcome = self.outcomes_of_calls.get(key)
        if cached_outcome is None:
            cached_outcome = self.outcomes_of_calls[key] = self.outcome_of_call(
                step, call_operands, requested
            )
        fills = [self.system.operand(x) for x in step.args if isinstance(x, (int, float, complex))]
        refusal_reason = (
            self.why_number_refused("full", fills, cached_outcome) if name == "full_like" else None
        )
        return Outcome(None, reason=refusal_reason) if refusal_reason else cached_outcome

    def dtype_from_foreign(self, operand: Operand, source: int) -> DType | None:
        """Return the dtype of the array that the library makes from another library's array.

        The array promotes by itself: Keras on JAX makes float32 of NumPy's float64. So does MLX, although it
        has float64 arrays.
        """
        owner = self.owners[source] if self.owners else None
        library = (owner or LIBRARY_YIELDING_TO_OTHERS).removesuffix(FOREIGN_SCALAR_SUFFIX)
        made = converted_dtype(self.system, library, operand.dtype) if operand.dtype else None
        return dtype(made) if made else self.system.explain(operand).dtype

    def outcome_among_arrays(self, step: Call, earlier_outcomes: EarlierOutcomes) -> Outcome | None:
        """Return the outcome of one of several arrays if its dtype depends on the others, or None.

        PyTorch's meshgrid takes one dtype only. TensorFlow's meshgrid accepts a bool array together with any
        other. Each result is a product with ones of the first array's dtype, so it is bool if the first array
        is. Under symbolic Keras each result has the dtype of the last array.
        """
        if step.name in FUNCTION_OF_IN_PLACE or step.operation.call_form != "separate":
            return None
        op = find_operation_rules(self.system, step.name)
        if op.gives != LAST_ARRAY_RESULT and op.joins is not JoinRule.SAME_DTYPE:
            return None
        args, _, number = source_arguments(step)
        operands = [o for x in args if isinstance(x, Ref) and (o := earlier_outcomes[x.step].operand)]
        if (number or 0) >= len(operands):  # a run observes each array by itself
            return None
        own_operand = operands[number or 0]
        if op.gives == LAST_ARRAY_RESULT:
            return Outcome(replace(own_operand, dtype=operands[-1].dtype, kind=operands[-1].kind, value=None))
        for o in operands:
            if o.dtype is not operands[0].dtype and not dtype_of_pair(op.joins_of_pairs, (operands[0], o)):
                what = f"{step.name} does not promote: operands have to be of one dtype"
                return Outcome(None, None, f"{what}, and these are {operands[0]} and {o}")
        to = dtype_of_pair(op.joins_of_pairs, (operands[0], own_operand))
        return Outcome(operand_of_dtype(to, tier=own_operand.tier)) if to else None

    def why_out_refused(self, output: Operand, result: Operand) -> str | None:
        """Return the reason why the library does not write a result into the `out=` array."""
        writes, into = find_operation_rules(self.system, "+="), result.dtype
        try:
            if into is not None:
                left_dtype_after_write(self.system, writes, into, output, [])
        except RefusalError as e:
            return e.reason
        return None

    def why_index_refused(self, key: Argument, lists: str, earlier_outcomes: EarlierOutcomes) -> str | None:
        """Return the reason why the system's library refuses a list, or bools, in an index."""
        keys = key if isinstance(key, tuple) else (key,)
        if lists:
            is_mask = any(isinstance(x, bool) for each in keys for x in yield_leaves(each))
            forms = (lists, MASK_FORM) if is_mask else (lists,)
            return next((why for form in forms if (why := index_refusal_reason(self.system, form))), None)
        instead = name_meaning(NameSort.NO_BOOL_INDEX, "index", self.system.library.partition(" ")[0])
        if instead is None:
            return None
        of_keys = (earlier_outcomes[x.step].operand for x in keys if isinstance(x, Ref))
        is_mask = any(o is not None and o.kind is Kind.BOOL for o in of_keys)
        return f"{self.system.name} takes no bools as an index; write {instead}" if is_mask else None

    def foreign_arrays(self, step: Call, operands: Sequence[Operand]) -> Mapping[int, str]:
        """Return the foreign operands by their steps: lists, and scalars such as np.float64(2) in MLX.

        Scalars count only if the system has a rule for their library. Arrays count only if the system casts
        them to its own dtype.
        """
        found = dict.fromkeys(step.list_operands, FOREIGN_LIST_MARK)
        if self.owners and len(operands) > 1:
            for i, o in zip(step.operands, operands, strict=True):
                owner = (self.owners[i] or "").removesuffix(FOREIGN_SCALAR_SUFFIX)
                if owner == step.owner or owner not in self.system.foreign:
                    continue
                if o.tier == "0d" and self.owners[i] != owner:
                    found[i] = owner + FOREIGN_SCALAR_SUFFIX
                elif self.system.foreign[owner].get("array") == ForeignCountsAs.HOST_DTYPE_ARRAY:
                    found[i] = owner
        return found

    def requested_dtype(self, requested: DTypeArgument, earlier_outcomes: EarlierOutcomes) -> DType | Operand:
        """Return the requested dtype, or a Python scalar that stands for the default dtype of its kind."""
        if isinstance(requested, DTypeOf):
            o = earlier_outcomes[requested.step].operand
            assert o is not None
            return o.dtype or o
        if requested.name == "bool":
            return BOOL_DTYPE
        if requested.name in KIND_BY_NAME:
            return scalar_operand(KIND_BY_NAME[requested.name])
        return read_dtype(requested.name, self.system.custom_dtypes)

    def outcome_of_cast(self, operand: Operand, target: DType | Operand, tier: Tier) -> Outcome:
        """Return an operand cast to a dtype. A 0-d operand keeps its value if the value fits."""
        if isinstance(target, Operand):
            p = self.system.explain(target)
            asked = self.system.requested.get(target.kind, p.dtype)
            if asked is None:
                return Outcome(None, p, p.reason)
            target = asked
        target = self.system.dtype_of_new_array(target)
        kept = (
            tier == "0d"
            and operand.value is not None
            and operand.kind.category <= target.kind.category
            and is_in_range(operand.value, target)
        )
        return Outcome(operand_of_dtype(target, tier=tier, value=operand.value if kept else None))

    def outcome_of_explicit_cast(self, operand: Operand, target: DType | Operand, tier: Tier) -> Outcome:
        """Return the outcome of a cast that the source writes, by the system's rule for it if it has one."""
        made = self.outcome_of_cast(operand, target, tier)
        if why := self.why_number_refused("asarray", (operand,), made):
            return Outcome(None, reason=why)
        if operand.dtype is None or made.dtype is None or not self.system.casts:
            return made
        cast_rule = self.system.cast_rule(operand.dtype, made.dtype)
        if cast_rule == PLAIN_CAST_RULE:
            return made
        rule = self.system.origin.rule_of_key("casts", cast_rule.entry)
        cast = ExplicitCast(operand.dtype, made.dtype, cast_rule, rule)
        if cast_rule.obstacle:
            why = f"{operand.dtype} is not cast to {made.dtype}: {cast_rule.obstacle}"
            return Outcome(None, reason=why, cast=cast)
        assert made.operand is not None
        return replace(made, operand=replace(made.operand, value=None), cast=cast)

    def why_number_refused(self, name: str, numbers: Sequence[Operand], outcome: Outcome) -> str | None:
        """Return the reason why the library cannot make an array of a dtype from Python numbers.

        An int may be out of range: `np.uint8(300)`, `np.float32(10**400)`. The rule of that operation
        decides: `asarray`, `full` or `arange`. Numbers of other kinds are cast, unless its rule names them.
        """
        known_numbers = [x for x in numbers if x.tier == "scalar" and x.value is not None]
        to = outcome.dtype
        if to is None or to.kind is Kind.BOOL or not known_numbers:
            return None
        op = find_operation_rules(self.system, name)
        checked = [x for x in known_numbers if x.kind is Kind.SIGNED or x.kind.python_name in (op.fit or ())]
        try:
            check_scalar_limits(
                self.system.limits if op.limits is None else {}, checked
            )  # without an array, the scalar has its default dtype
        except RefusalError as e:
            return e.reason
        fits = fit_values(self.system, [operand_of_dtype(to), *checked], to, op)
        return next((f"{fit.value} {fit.misfit}" for fit in fits if fit.outcome == "raise"), None)

    def outcome_of_creation(self, step: Created, earlier_outcomes: EarlierOutcomes) -> Outcome:
        """Return the outcome of making an array, with the requested dtype or a default one.

        `full`, and `asarray` of a lone Python number, keep the weakness of the number.
        """
        source = step.default_from
        described_operand = earlier_outcomes[source].operand if isinstance(source, int) else source
        tier: Tier = "0d" if step.shape == () else "array"
        assert described_operand is not None
        if step.dtype is not None:
            made = self.outcome_of_cast(
                described_operand, self.requested_dtype(step.dtype, earlier_outcomes), tier
            )
            listed = yield_leaves(step.args[0]) if step.name == "asarray" and step.args else ()
            numbers = [self.system.operand(x) for x in listed if isinstance(x, int)]
            why = self.why_number_refused(step.name, (described_operand, *numbers), made)
            return Outcome(None, reason=why) if why else made
        p = self.promotion_of_new_array(step, described_operand)
        if p.dtype is None:
            return Outcome(None, p, p.reason)
        keeps = step.name == "full" or (step.name == "asarray" and tier == "0d")  # a list's array is not weak
        return Outcome(operand_of_dtype(p.dtype, p.weak and keeps, tier), p)

    def promotion_of_new_array(self, step: Created, described_operand: Operand) -> Promotion:
        """Return the promotion of a new array without a requested dtype: by its operation's rule, if any.

        A library's linspace between whole numbers may have a different dtype than between other numbers. The
        value that fills an array may count only by its kind. In the standard a Python number has no dtype by
        itself, and an array of it has one. If a lone large int is wider, each number of a list counts by
        itself: NumPy makes `[1, 2**63]` a float64 array, because int64 and uint64 join at float64.
        """
        bounds = [x for x in step.args if isinstance(x, (bool, int, float, complex))][:2]
        if step.name == "linspace" and len(bounds) == 2:
            return self.system.explain(*bounds, op="linspace")
        listed = [*yield_leaves(step.args[0])] if step.name == "asarray" and step.args else []
        is_large = any(isinstance(x, int) and exceeds_int32(x) for x in listed)
        if is_large and Kind.SIGNED in self.system.kinds_widening_alone:
            each = [self.system.explain(x, op="asarray") for x in listed]
            refused = next((p for p in each if p.dtype is None), None)
            return refused or self.system.explain(*{p.dtype: p for p in each}, op="stack")
        fills = step.name == "full" or (
            described_operand.tier == "scalar" and described_operand.kind not in self.system.defaults
        )
        asked_op = "full" if fills else step.name if exceeds_int32(described_operand.value) else None
        return self.system.explain(described_operand, op=asked_op)

    def outcome_of_call(
        self, step: Call, operands: Sequence[Operand], requested: DType | Operand | None
    ) -> Outcome:
        """Return the outcome of an operation: Python's for operators of Python numbers, else the system's."""
        if step.is_operator and all(o.tier == "scalar" for o in operands):
            made = python_result(step.name, operands)
            return Outcome(made, reason=None if made else f"Python has no {step.name} of these numbers")
        tier = _find_tier(step, operands)
        if (
            step.name == "setitem"
            and step.is_operator
            and find_operation_rules(self.system, "setitem").gives_into is InPlaceRule.COPY_ANY_CAST
        ):
            cause = f"{self.system.name} has no assignment to elements: its arrays do not change"
            return Outcome(None, reason=f"{cause}; write x = x.at[key].set(value)")
        if SAME_KIND_KEYWORD_AND_VALUE in step.keywords and (why := self.why_out_refused(*operands)):
            return Outcome(None, None, why)
        if requested is not None:
            refused = self.dtype_refusal(step, operands)
            return refused or self.outcome_of_cast(replace(operands[0], value=None), requested, tier)
        name = step.name
        if name in FUNCTION_OF_IN_PLACE:
            return self.outcome_of_in_place(name, operands, tier, step.rebinds)
        asked_of = (step.operation.operator or name) if step.is_operator else name
        stands_for = _function_stood_for(step)
        if _has_function(self.system, stands_for, operands):
            asked_of = stands_for
        if (
            step.module
            and step.custom_operation is not None
            and step.name not in self.system.custom_operations
        ):
            name = step.name.removeprefix(f"{step.module.rpartition('.')[2]}_")
            return Outcome(None, reason=f"{self.system.name} has no rule for {step.module}.{name}")
        try:
            p = self.system.explain(*operands, op=asked_of)
        except OpError as e:  # under another system, the indices may be integers
            return Outcome(None, reason=str(e))
        if p.dtype is None:
            return Outcome(None, p, _name_function(stands_for, asked_of, p))
        given, why = result_of_call(self.system, p, step, operands, tier)
        return Outcome(given, p, why)

    def dtype_refusal(self, step: Call, operands: Sequence[Operand]) -> Outcome | None:
        """Return the refusal of an operation that is given a dtype, or None if it accepts its operands."""
        asked = [self.system.explain(o) for o in operands if o.foreign_library]
        takes_dtype = step.name not in FUNCTION_OF_IN_PLACE and step.operation.takes_dtype
        if takes_dtype and operands[0].kind not in find_operation_rules(self.system, step.name).kernels:
            asked.append(self.system.explain(*operands, op=step.name))
        return next((Outcome(None, p, p.reason) for p in asked if p.dtype is None), None)

    def outcome_of_in_place(
        self, name: str, operands: Sequence[Operand], tier: Tier, rebinds: bool
    ) -> Outcome:
        """Return the outcome of `x *= y`. A Python number on the left is replaced and not written into."""
        library = self.system.library.partition(" ")[0]
        rebound = operands[0].tier == "scalar" or (
            rebinds and name_meaning(NameSort.IN_PLACE_REBINDS_SCALARS, "0d", library) is not None
        )
        function = FUNCTION_OF_IN_PLACE[name]
        # NumPy's scalars compute with functions. `**` of an array may call a function other than np.power.
        function_or_operator = OPERATIONS[function].operator if operands[0].tier == "scalar" else function
        asked_op = function_or_operator if rebound else name
        p = self.system.explain(*operands, op=asked_op)
        if p.dtype is None:
            return Outcome(None, p, p.reason)
        return Outcome(operand_of_dtype(p.dtype, p.weak, tier), p)


EvaluatorFinder = Callable[[Step], _Evaluator]  # finds the evaluator of a step


def _function_stood_for(step: Call) -> str:
    """Return the function of the source that a call has the dtype of, or an empty text if it is itself."""
    return next((str(value) for key, value in step.keywords if key == STANDS_FOR_KEYWORD), "")


def _has_function(system: System, function: str, operands: Sequence[Operand]) -> bool:
    """Return True if the library's book has a function that takes as many operands."""
    own = system.custom_operations
    return function in own and own[function].min_operands == len(operands)


def _name_function(function: str, asked_of: str, p: Promotion) -> str | None:
    """Return the reason of a refusal. It names the function of the source if another was asked of."""
    return p.reason if function in ("", asked_of) else f"{function} counts as {asked_of} here: {p.reason}"


def _find_tier(step: Step, operands: Sequence[Operand]) -> Tier:
    """Return the tier of a result: by its shape if known, or else an array if any operand is one."""
    if step.shape is not None:
        return "array" if step.shape else "0d"
    return "array" if any(o.tier == "array" for o in operands) else "0d"


def _with_tier_of_shape(operand: Operand, shape: Shape | None) -> Operand:
    """Return an operand, in the tier `0d` if its shape is `()` but a string described it as an array."""
    return replace(operand, tier="0d") if shape == () and operand.tier == "array" else operand
