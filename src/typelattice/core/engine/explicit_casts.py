"""Explicit casts: the dtype that a requested one becomes, and the system's rule for the cast."""

from __future__ import annotations

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.engine.decisions import CastByRule, Decision, RefusalError
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.question import Question
from typelattice.core.engine.requested_dtypes import (
    RequestedDType,
    check_numbers_in_array,
    find_requested_dtype,
)
from typelattice.core.losses.cast_rounding_and_overflow import PLAIN_CAST_RULE

NUMBER_CASTING_FUNCTION = "asarray"  # its rules say which Python numbers may be cast to a dtype


def cast_operand(question: Question, requested: RequestedDType) -> Promotion:
    """Answer the dtype of an operand that the source casts, or the reason why the system refuses the cast.

    The last decision names the system's rule for the cast, if it has one. Otherwise the formats define the
    result.
    """
    rules, (operand,) = question.rules, question.operands
    decisions: list[Decision] = []
    try:
        target = find_requested_dtype(question, requested, decisions)
        check_numbers_in_array(rules, NUMBER_CASTING_FUNCTION, question.operands, target)
        if operand.dtype is not None:  # a Python scalar has no format
            _apply_cast_rule(question, operand.dtype, target, decisions)
    except RefusalError as e:
        return question.refuse(decisions, e)
    return question.answer(decisions, target)


def _apply_cast_rule(question: Question, source: DType, target: DType, decisions: list[Decision]) -> None:
    """Append the decision of the system's rule for a cast. Raises RefusalError if it refuses the cast."""
    cast_rule = question.rules.cast_rule(source, target)
    if cast_rule == PLAIN_CAST_RULE:
        return
    if cast_rule.obstacle:
        remedy = f"call {cast_rule.function}" if cast_rule.function else "cast to another dtype"
        raise RefusalError(
            f"{source} is not cast to {target}: {cast_rule.obstacle}",
            remedy,
            CastByRule((source, target), None, cast_rule.entry),
        )
    decisions.append(CastByRule((source, target), target, cast_rule.entry))
