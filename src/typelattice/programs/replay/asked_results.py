"""The outcome of a call that no table describes: what the library answers when it is asked."""

from __future__ import annotations

from typelattice.core.engine.system import System
from typelattice.core.evidence.answer_notation import (
    EXCEPTION_PREFIX,
    PYTHON_NUMBER_PREFIX,
    TEXT_BY_BROKEN_ANSWER,
)
from typelattice.core.operands.operand import (
    KIND_BY_PYTHON_TYPE,
    Operand,
    Tier,
    operand_of_dtype,
    scalar_operand,
)
from typelattice.core.operations.shapes import Shape
from typelattice.programs.calls.library_questions import AskedOperand, find_asker, make_question
from typelattice.programs.calls.steps import LibraryCall, NamedDType, function_of_call
from typelattice.programs.replay.outcome import EarlierOutcomes, Outcome

WEAK_MARK = "*"  # the end of an answer that is weak
TIERS_WITHOUT_AXES = ("0d", "scalar")


def outcome_of_library_call(
    step: LibraryCall, system: System, earlier_outcomes: EarlierOutcomes
) -> Outcome:
    """Ask the library of a system what a call gives. The rules of other libraries do not know the call."""
    library = system.library.partition(" ")[0]
    name = function_of_call(step.name, step.args, step.taken).removeprefix(".")
    if library != step.owner:
        return Outcome(None, reason=f"{system.name} has no rule for {name}, a function of {step.owner}")
    asker = find_asker()
    if asker is None:
        return Outcome(None, reason=f"no rule describes {name}, and {library} may not be asked")

    shapes = dict(zip(step.inputs, step.input_shapes, strict=True))

    def name_dtype(number: int) -> NamedDType:
        operand = earlier_outcomes[number].operand
        return NamedDType(str(operand and operand.dtype))

    question = make_question(
        step, lambda i: _describe_operand(earlier_outcomes[i].operand, shapes[i]), name_dtype
    )
    found = asker.ask(system.name, question)
    source = f"asked of {found.source} just now"
    if found.answer is None:
        return Outcome(None, reason=found.message)
    if found.answer.startswith(EXCEPTION_PREFIX):
        why = TEXT_BY_BROKEN_ANSWER.get(found.answer, found.answer.removeprefix(EXCEPTION_PREFIX))
        message = f": {found.message}" if found.message else ""
        return Outcome(None, reason=f"{why}{message}", asked=source)
    if found.answer.startswith(PYTHON_NUMBER_PREFIX):
        name = found.answer.removeprefix(PYTHON_NUMBER_PREFIX)
        kinds = (kind for number, kind in KIND_BY_PYTHON_TYPE.items() if number.__name__ == name)
        return Outcome(scalar_operand(next(kinds)), asked=source)
    dtype = system.operand(found.answer.removesuffix(WEAK_MARK)).dtype
    assert dtype is not None
    tier: Tier = "array" if found.has_axes else "0d"
    return Outcome(operand_of_dtype(dtype, found.answer.endswith(WEAK_MARK), tier), asked=source)


def _describe_operand(operand: Operand | None, shape: Shape | None) -> AskedOperand:
    assert operand is not None
    if operand.dtype is None:
        text = operand.kind.python_name if operand.value is None else repr(operand.value)
        return AskedOperand(text, ())
    if operand.weak:
        return AskedOperand(f"{operand.dtype}:weak", shape)
    is_scalar = operand.tier in TIERS_WITHOUT_AXES
    return AskedOperand(str(operand.dtype), () if is_scalar else shape)
