"""The one way to an answer: operands, alone or in an operation, become a Promotion under some rules."""
from __future__ import annotations

from collections.abc import Callable, Sequence

from typelattice.engine.answer import Promotion, Rule
from typelattice.engine.combine import combine
from typelattice.engine.fit import fits
from typelattice.engine.operate import Outcome, operated
from typelattice.engine.operations import checked
from typelattice.engine.rules import Rules
from typelattice.engine.steps import RefusalError, Step
from typelattice.engine.taking import check_held
from typelattice.operands.operand import Operand


def ask(
    rules: Rules, operands: tuple[Operand, ...], op: str | None, find_rule: Callable[[Promotion], Rule]
) -> Promotion:
    """The answer to a question: the dtype that operands promote to, alone or in an operation, or a refusal.

    Raises OpError for an operation that is unknown or takes no such operands.
    """
    trail: list[Step] = []
    promoting = operands
    if op is not None:
        known = checked(op, operands)
        op, promoting = known.name, operands[known.promoting]
    try:
        if any(o.guest for o in promoting):
            from typelattice.engine.guests import hosted  # few questions are of another library's arrays

            promoting = hosted(rules, op, promoting, trail)
        found = _promoted(rules, promoting, trail) if op is None else operated(rules, op, promoting, trail)
    except RefusalError as e:
        steps = (*trail, e.step)
        return Promotion(rules, operands, op, steps, find_rule, reason=e.reason, remedy=e.remedy)
    return Promotion(rules, operands, op, tuple(trail), find_rule, *found)


def _promoted(rules: Rules, operands: Sequence[Operand], trail: list[Step]) -> Outcome:
    """What operands come to by promotion alone, without an operation."""
    check_held(rules.holds, operands)
    node, dtype, weak = combine(rules, operands, trail)
    return Outcome(node, dtype, dtype, weak, tuple(fits(rules, operands, dtype, None)))
