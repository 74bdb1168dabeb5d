"""Implicit casts of a program: the operand and the step of each, the dtype cast to, and the loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.engine.promotion import Promotion
from typelattice.core.losses.loss import Loss, loss
from typelattice.core.operands.operand import Operand
from typelattice.programs.calls.program_builder import RESULT_KEYWORD
from typelattice.programs.calls.result_shapes import count_elements
from typelattice.programs.calls.steps import Call, Step
from typelattice.programs.replay.outcome import Outcome


@dataclass(frozen=True, slots=True)
class ImplicitCast:
    """A cast that the source does not write: at step `step_number`, of the result of step `operand`.

    If both are the same step, its own result is cast as it is written into an array. `bytes` is the size of
    the new array, or None if its shape is unknown. A Python number has a kind, no dtype, and a loss of None.
    """

    step_number: int
    step: Step
    operand: int
    source: DType | Kind
    target: DType
    loss: Loss | None
    bytes: int | None


def implicit_casts(steps: Sequence[Step], outcomes: Sequence[Outcome]) -> Iterator[ImplicitCast]:
    """Yield the implicit casts of a program under a system, step by step."""
    cast: set[object] = set()
    for i, (step, outcome) in enumerate(zip(steps, outcomes, strict=True)):
        p = outcome.promotion
        if not isinstance(step, Call) or p is None or p.compute is None or outcome.operand is None:
            continue
        call = step.name, step.args, step.keywords[:-1]
        if step.keywords and step.keywords[-1][0] == RESULT_KEYWORD:
            if call in cast:
                continue  # several results of one call share its casts, so they are listed once
            cast.add(call)
        for part, o in promoting_inputs(step, p):
            to = p.cast_target(o)
            if to is not None and o.dtype is not to:
                yield _make_cast(i, steps, part, o.dtype or o.kind, to)
        given = outcome.operand.dtype
        computed = p.compute if p.op and p.system.find_operation(p.op).is_in_place else p.dtype
        if any(key == RESULT_KEYWORD for key, _ in step.keywords):
            continue  # the choice between several results decides the dtype, and casts nothing
        # the result is cast into an array that exists already
        if computed is not None and given is not None and given is not computed:
            yield _make_cast(i, steps, i, computed, given)


def promoting_inputs(step: Call, promotion: Promotion) -> list[tuple[int, Operand]]:
    """Return the operand steps that promote. Conditions, indices and ignored exponents do not."""
    assert promotion.op is not None
    chosen = [*zip(step.operands, promotion.operands, strict=True)][
        promotion.system.find_operation(promotion.op).promoting_slice
    ]
    return chosen[promotion.joining_places]


def _make_cast(
    number: int, steps: Sequence[Step], operand_step: int, source: DType | Kind, target: DType
) -> ImplicitCast:
    count, bits = count_elements(steps[operand_step].shape), target.storage_bits
    made = None if count is None or bits is None else count * bits // 8
    lost = loss(source, target) if isinstance(source, DType) else None
    return ImplicitCast(number, steps[number], operand_step, source, target, lost, made)
