"""The join of operands in an operation.

An operation may have its own rules: what its operands count as, the order in which they join, and which
results stay weak.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from typelattice.base.objects.frozen_classes import replace
from typelattice.core.dtypes.dtypes import DType, Node
from typelattice.core.dtypes.order import Order
from typelattice.core.engine.decisions import (
    Decision,
    DefaultTaken,
    NodesJoined,
    OutOfTargetRange,
    RefusalError,
    ReplacedInAnswer,
    TiersJoined,
)  # fmt: skip
from typelattice.core.engine.join_one_tier import dtype_or_default
from typelattice.core.engine.join_tiers import join_tiers
from typelattice.core.engine.operand_checks import resolve_target
from typelattice.core.engine.operation_question import OperationQuestion
from typelattice.core.engine.operation_rules import NodesWithSuccessors, look_up
from typelattice.core.engine.rule_enums import CountsAs
from typelattice.core.losses.range_and_overflow import is_in_range
from typelattice.core.operands.operand import Operand


def counted_dtype(question: OperationQuestion, operand: Operand) -> DType | None:
    """Return the dtype that an operand counts as in a join, or None if this is its own dtype.

    A Python scalar has such a dtype only in a system without the tier `scalar`.
    """
    rules = question.rules
    target = (
        look_up(question.of_operation.counts_as_of, operand)
        if operand.tier != "scalar" or "scalar" not in rules.tiers
        else None
    )
    counted_as = resolve_target(rules, target) if target is not None else None
    return None if counted_as is operand.dtype and not operand.weak else counted_as


def _convert_counted_operand(
    question: OperationQuestion, operand: Operand
) -> Operand:
    """Return an operand as the operation counts it."""
    counted_as = counted_dtype(question, operand)
    if counted_as is None:
        return operand
    question.decide((operand.node,), counted_as, "counts_as_of")
    tier = "array" if operand.tier == "scalar" else operand.tier
    return replace(operand, dtype=counted_as, kind=counted_as.kind, weak=False, tier=tier, value=None)


def _count_scalars_without_default(question: OperationQuestion) -> list[Operand]:
    """Return the array that Python scalars count as if they are the only operands and have no default dtype.

    The highest kind decides. Return an empty list for other operands.
    """
    rules, operands = question.rules, question.operands
    highest = max(operands, key=lambda o: o.kind.category)
    target = look_up(question.of_operation.counts_as_of, highest)
    if target is None or highest.kind in rules.defaults or any(o.tier != "scalar" for o in operands):
        return []
    counts = resolve_target(rules, target)
    question.decide((highest.node,), counts, "counts_as_of")
    return [replace(highest, dtype=counts, kind=counts.kind, weak=False, tier="array", value=None)]


def make_arrays(question: OperationQuestion) -> Sequence[Operand]:
    """Convert each operand to an array by itself, if the operation does this before the join."""
    of_operation, operands = question.of_operation, question.operands
    if of_operation.counts_as is CountsAs.ITSELF:
        return operands
    return [
        _make_array(question, o) if o.tier != "array" and of_operation.counts_as_array(i) else o
        for i, o in enumerate(operands)
    ]


def _make_array(question: OperationQuestion, operand: Operand) -> Operand:
    """Count an operand without dimensions as an array of its own dtype.

    Raises RefusalError for a value out of range.
    """
    rules = question.rules
    own = dtype_or_default(rules, operand)
    if own is None:
        # A bool counts as an array of bool everywhere; another scalar may have no dtype without operands.
        return operand
    if rules.combine == "value":
        from typelattice.core.engine import numpy1  # only value-based systems need it

        own = numpy1.dtype_holding_scalar(operand, own)
    if operand.value is not None and not is_in_range(operand.value, own):
        reason = f"{operand.value} is out of range for {own}"
        raise RefusalError(
            reason, "use a value within it", OutOfTargetRange((own,), None, operand.kind.python_name)
        )
    if operand.tier in rules.tiers:
        question.decide((operand.node,), own, "counts_as")
    return replace(operand, dtype=own, kind=own.kind, weak=False, tier="array", value=None)


def join_operands(question: OperationQuestion) -> tuple[Node, DType, bool]:
    """Join operands as the operation counts them: return the node, its dtype, and whether it is weak."""
    of_operation, decisions = question.of_operation, question.decisions
    counted = question.operands
    if of_operation.counts_as_of:
        counted = _count_scalars_without_default(question) or [
            _convert_counted_operand(question, o) for o in question.operands
        ]
    if not of_operation.joins_order:
        return join_tiers(question.rules, counted, decisions)
    rules_of_operation = replace(
        question.rules,
        order=_build_order(of_operation.joins_order),
        ties={},
        overrides={},
        refusals={},
        combine="join",
    )
    nodes = tuple(o.node for o in counted)
    # One decision represents the operation's order. The system's other decisions are the same in every
    # operation.
    operation_decisions: list[Decision] = []
    # decisions that turn the joined node into a dtype
    final_decision_types = (ReplacedInAnswer, DefaultTaken)
    try:
        joined = join_tiers(rules_of_operation, counted, operation_decisions)
    except RefusalError as e:
        raise question.make_refusal(e.reason, e.remedy, nodes, "joins_order") from None
    finally:
        decisions += [
            decision
            for decision in operation_decisions
            if not isinstance(decision, (NodesJoined, TiersJoined, *final_decision_types))
        ]
    question.decide(nodes, joined[0], "joins_order")
    decisions += [decision for decision in operation_decisions if isinstance(decision, final_decision_types)]
    return joined


@lru_cache
def _build_order(covers: NodesWithSuccessors) -> Order[Node]:
    """Return the order with these arrows. Few operations have their own order, and many calls use it."""
    return Order(dict(covers))


def check_same_dtype(question: OperationQuestion, dtype: DType) -> None:
    """Raise RefusalError unless every array has this dtype, or counts as it."""
    arrays = [
        counted_dtype(question, o) or o.dtype or dtype for o in question.operands if o.tier != "scalar"
    ]
    if any(d is not dtype for d in arrays):
        reason = f"{question.name} does not promote: operands have to be of one dtype"
        raise question.make_refusal(reason, question.find_remedy([dtype], "all"), arrays, "joins")


def check_weak_result(question: OperationQuestion, result: DType) -> None:
    """Raise RefusalError for a weak result that is not of the default dtype of its kind."""
    default = question.rules.defaults.get(result.kind, result)
    if result is not default:
        reason = f"{question.name} gives a weak {result.kind} only as {default}, not as {result}"
        remedy = "make an operand an array that is not weak"
        raise question.make_refusal(reason, remedy, (result,), "weak_result")
