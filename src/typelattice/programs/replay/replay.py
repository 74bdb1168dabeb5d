"""The outcome of each step of a program under a system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from typelattice.base.objects.frozen_classes import replace as with_fields
from typelattice.core.dtypes.dtypes import DType, Kind, dtype
from typelattice.core.engine.decisions import CastByRule
from typelattice.core.engine.element_access import ASSIGNMENT, OUTPUT, index_array
from typelattice.core.engine.evaluate_operation import find_operation_rules
from typelattice.core.engine.foreign_arrays import converted_dtype
from typelattice.core.engine.new_arrays import (
    FUNCTION_OF_NUMBERS,
    FUNCTION_OF_ONE_VALUE,
    NewArray,
    create_array,
)
from typelattice.core.engine.operand_checks import dtype_of_pair
from typelattice.core.engine.operation_rules import LAST_ARRAY_RESULT
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.question import Question
from typelattice.core.engine.requested_dtypes import may_refuse_operand
from typelattice.core.engine.rule_enums import ForeignCountsAs, JoinRule
from typelattice.core.engine.system import System
from typelattice.core.losses.range_and_overflow import is_in_range
from typelattice.core.operands.notation import read_dtype
from typelattice.core.operands.operand import (
    BOOL_DTYPE,
    FOREIGN_LIST_MARK,
    FOREIGN_SCALAR_SUFFIX,
    KIND_BY_NAME,
    Operand,
    Tier,
    operand_of_dtype,
    scalar_operand,
)
from typelattice.core.operations.operations import OPERATIONS, OpError
from typelattice.core.operations.shapes import Shape
from typelattice.core.registry.releases import VERSION_SIGN, list_releases
from typelattice.core.system_files.reader import system as find_system
from typelattice.programs.calls.call_tables import (
    NameSort,
    is_mode_of_library,
    name_meaning,
    system_of_array_class,
    system_of_module,
)
from typelattice.programs.calls.multiple_results import STANDS_FOR_KEYWORD, source_arguments
from typelattice.programs.calls.program_builder import LIBRARY_YIELDING_TO_OTHERS
from typelattice.programs.calls.python_arithmetic import python_result
from typelattice.programs.calls.steps import (
    FUNCTION_OF_IN_PLACE,
    IN_PLACE_OF_FUNCTION,
    SAME_KIND_KEYWORD_AND_VALUE,
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
    Refused,
    Step,
    yield_leaves,
)  # fmt: skip
from typelattice.programs.replay.asked_results import outcome_of_library_call
from typelattice.programs.replay.call_results import result_of_call
from typelattice.programs.replay.outcome import (
    NOT_REACHED_OUTCOME,
    EarlierOutcomes,
    ExplicitCast,
    Outcome,
    merge_alternatives,
)

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
            if own is not None:
                found[key] = _Evaluator(own, usual.owners)
            elif is_mode_of_library(step.module, step.owner, usual.system.library):
                found[key] = _EvaluatorWithoutMode(usual.system, usual.owners)
            else:
                found[key] = usual
        return found[key]

    return evaluator


def system_of_function(system: System, module: str, library: str | None) -> System | None:
    """Return the system of a mode, or of a function's module with the usual system's default dtypes.

    It has the name of a system only if it equals that system: `jax.lax` without 64-bit types was not
    recorded.
    """
    plain, sign, release = system.name.partition(VERSION_SIGN)
    mode = system_of_array_class(module, library, plain)
    if mode is not None and (not release or release in list_releases(mode)):
        return find_system(mode + sign + release)
    name = system_of_module(module, library, plain)
    if name is None:
        return None
    is_of_library = find_system(name).library.partition(" ")[0] == system.library.partition(" ")[0]
    own_system = find_system(name + sign + release if is_of_library else name)
    if own_system.library.partition(" ")[0] == library and not is_of_library:
        return own_system  # a library whose functions take the arrays of others
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
    """Return NumPy's steps that are computed from constants and from arrays that were made NumPy's.

    There are none if no other library is used.
    """
    owners = {step.owner for step in steps}
    if LIBRARY_YIELDING_TO_OTHERS not in owners or not owners - {LIBRARY_YIELDING_TO_OTHERS, None}:
        return frozenset()
    found: set[int] = set()
    for i, step in enumerate(steps):
        if step.owner != LIBRARY_YIELDING_TO_OTHERS or isinstance(step, (Input, Opaque)):
            continue
        own = [part for part in step.inputs if not isinstance(steps[part], Number)]
        is_converted = isinstance(step, Cast) and all(steps[part].owner != step.owner for part in own)
        if is_converted or found.issuperset(own):
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
            case Index():
                return self.outcome_of_index(step, earlier_outcomes)
            case Cast(operand=source, to=to, is_conversion=is_conversion):
                o = earlier_outcomes[source].operand
                assert o is not None
                converted = self.dtype_from_foreign(o, source) if is_conversion else None
                requested = converted or self.requested_dtype(to, earlier_outcomes)
                return self.outcome_of_cast(o, requested, _find_tier(step, (o,)))
            case Item(operand=source):
                o = earlier_outcomes[source].operand
                assert o is not None
                return Outcome(scalar_operand(KIND_BY_NAME.get(o.kind.python_name, o.kind)))
            case Created():
                return self.outcome_of_creation(step, earlier_outcomes)
            case AskedDType(operand=source):
                return Outcome(earlier_outcomes[source].operand)
            case Refused(reason=reason):
                return Outcome(None, reason=reason)
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
        if name == "full_like" and fills and cached_outcome.dtype is not None:
            filled = NewArray(FUNCTION_OF_ONE_VALUE, fills[0], requested=cached_outcome.dtype)
            if self.outcome_of_new_array(filled).operand is None:
                return self.outcome_of_new_array(filled)
        return cached_outcome

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

    def outcome_of_index(self, step: Index, earlier_outcomes: EarlierOutcomes) -> Outcome:
        """Return the outcome of taking elements of an array."""
        operand = earlier_outcomes[step.operand].operand
        assert operand is not None
        keys = step.key if isinstance(step.key, tuple) else (step.key,)
        items = [x for each in keys for x in yield_leaves(each)]
        of_keys = [o for x in items if isinstance(x, Ref) and (o := earlier_outcomes[x.step].operand)]
        if step.list_form and any(isinstance(x, bool) for x in items):
            of_keys.append(scalar_operand(Kind.BOOL))
        question = Question(self.system, (operand,), self.system.origin.rule_of_answer, text=step.text)
        p = index_array(question, step.list_form, of_keys)
        if p.reason is not None:
            return Outcome(None, reason=p.reason)
        return Outcome(replace(operand, tier=_find_tier(step, (operand,)), value=None))

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
        """Return the outcome of an explicit cast. A 0-d operand keeps its value if the value fits."""
        p = self.system.cast(operand, target)
        cast = None
        if isinstance(p.decision, CastByRule):
            from_dtype, to_dtype = p.decision.dtypes
            cast = ExplicitCast(from_dtype, to_dtype, self.system.cast_rule(from_dtype, to_dtype), p.rule)
        if p.dtype is None:
            return Outcome(None, reason=p.reason, cast=cast)
        keeps_value = (
            cast is None
            and tier == "0d"
            and operand.value is not None
            and operand.kind.category <= p.dtype.kind.category
            and is_in_range(operand.value, p.dtype)
        )
        value = operand.value if keeps_value else None
        return Outcome(operand_of_dtype(p.dtype, tier=tier, value=value), cast=cast)

    def outcome_of_creation(self, step: Created, earlier_outcomes: EarlierOutcomes) -> Outcome:
        """Return the outcome of making an array, with the requested dtype or a default one."""
        source = step.default_from
        described_operand = earlier_outcomes[source].operand if isinstance(source, int) else source
        assert described_operand is not None
        tier: Tier = "0d" if step.shape == () else "array"
        requested = None if step.dtype is None else self.requested_dtype(step.dtype, earlier_outcomes)
        listed = step.args[:1] if step.name == FUNCTION_OF_NUMBERS else step.args[:2]
        numbers = [x for x in yield_leaves(listed) if isinstance(x, (bool, int, float, complex))]
        new = NewArray(
            step.name, described_operand, tuple(map(self.system.operand, numbers)), requested, tier
        )
        made = self.outcome_of_new_array(new)
        function = _function_stood_for(step)
        if made.operand is None or not _has_function(self.system, function, [made.operand]):
            return made
        p = self.system.explain(made.operand, op=function)  # the function may make no arrays of the dtype
        return made if p.dtype is not None else Outcome(None, p, p.reason)

    def outcome_of_new_array(self, new: NewArray) -> Outcome:
        p = create_array(self.system, new, self.system.origin.rule_of_answer)
        if p.dtype is None:
            return Outcome(None, p.basis, p.reason)
        return Outcome(operand_of_dtype(p.dtype, p.weak, new.tier), p.basis)

    def outcome_of_call(
        self, step: Call, operands: Sequence[Operand], requested: DType | Operand | None
    ) -> Outcome:
        """Return the outcome of an operation: Python's for operators of Python numbers, else the system's."""
        if step.is_operator and all(o.tier == "scalar" for o in operands):
            made = python_result(step.name, operands)
            return Outcome(made, reason=None if made else f"Python has no {step.name} of these numbers")
        tier = _find_tier(step, operands)
        if step.name == ASSIGNMENT and step.is_operator:
            written = self.system.write(operands[0], operands[1], ASSIGNMENT)
            if written.basis is None:
                return Outcome(None, reason=f"{written.reason}; {written.remedy}")
        if SAME_KIND_KEYWORD_AND_VALUE in step.keywords:
            written = self.system.write(operands[0], operands[1], OUTPUT)
            if written.dtype is None:
                return Outcome(None, reason=written.reason)
        if requested is not None:
            new = NewArray(step.name, replace(operands[0], value=None), (), requested, tier)
            refusal = self.dtype_refusal(step, operands) or self.cast_refusal(step, operands, requested)
            return refusal or self.outcome_of_new_array(new)
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
        is_function = step.name not in FUNCTION_OF_IN_PLACE
        if is_function and may_refuse_operand(self.system, step.operation, operands[0]):
            asked.append(self.system.explain(*operands, op=step.name))
        return next((Outcome(None, p, p.reason) for p in asked if p.dtype is None), None)

    def cast_refusal(
        self, step: Call, operands: Sequence[Operand], requested: DType | Operand
    ) -> Outcome | None:
        """Return the refusal of a cast to the dtype that a call states, or None if the system casts to it."""
        if not self.system.casts or not step.casts_operands:
            return None
        asked = [self.system.cast(o, requested) for o in operands if o.tier != "scalar"]
        return next((Outcome(None, reason=p.reason) for p in asked if p.dtype is None), None)

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


class _EvaluatorWithoutMode(_Evaluator):
    """The evaluator of calls in a mode for which a system of the mode's library has no rules."""

    def outcome_of_operation(self, step: Call, earlier_outcomes: EarlierOutcomes) -> Outcome:
        return Outcome(None, reason=f"{self.system.name} has no rules for {step.module}")


def _function_stood_for(step: Call | Created) -> str:
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
