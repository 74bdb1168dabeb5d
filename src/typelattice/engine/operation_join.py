"""The join of operands in an operation.

An operation may have its own rules: what its operands count as, the order in which they join, and which
results stay weak.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from typelattice.engine.decisions import (
    Decision,
    Defaulted,
    DtypeByOperation,
    Joined,
    OutOfTargetRange,
    RefusalError,
    ReplacedInAnswer,
    TiersJoined,
)  # fmt: skip
from typelattice.engine.join_one_tier import dtype_or_default
from typelattice.engine.join_tiers import join_tiers
from typelattice.engine.operand_checks import cast_remedy, deciding_entry, resolve_target
from typelattice.engine.operation_rules import Covers, OperationRules, look_up
from typelattice.engine.rule_enums import CountsAs
from typelattice.engine.rules import Rules
from typelattice.facts.dtypes import DType, Node
from typelattice.facts.order import Order
from typelattice.facts.range_and_overflow import is_in_range
from typelattice.operands.operand import Operand
from typelattice.support.frozen_classes import replace


def counted_dtype(rules: Rules, op: OperationRules, o: Operand) -> DType | None:
    """Return the dtype that an operand counts as in a join, or None if this is its own dtype.

    A Python scalar has such a dtype only in a system without the tier `scalar`.
    """
    target = look_up(op.counts_as_of, o) if o.tier != "scalar" or "scalar" not in rules.tiers else None
    counted_as = resolve_target(rules, target) if target is not None else None
    return None if counted_as is o.dtype and not o.weak else counted_as


def _convert_counted_operand(
    rules: Rules, op: OperationRules, o: Operand, decisions: list[Decision]
) -> Operand:
    """Return an operand as the operation counts it."""
    counted_as = counted_dtype(rules, op, o)
    if counted_as is None:
        return o
    decisions.append(DtypeByOperation((o.node,), counted_as, deciding_entry(rules, op, "counts_as_of")))
    tier = "array" if o.tier == "scalar" else o.tier
    return replace(o, dtype=counted_as, kind=counted_as.kind, weak=False, tier=tier, value=None)


def _without_default(
    rules: Rules, op: OperationRules, operands: Sequence[Operand], decisions: list[Decision]
) -> list[Operand]:
    """Return the array that Python scalars count as if they are the only operands and have no default dtype.

    The highest kind decides. Return an empty list for other operands.
    """
    highest = max(operands, key=lambda o: o.kind.category)
    target = look_up(op.counts_as_of, highest)
    if target is None or highest.kind in rules.defaults or any(o.tier != "scalar" for o in operands):
        return []
    counts = resolve_target(rules, target)
    decisions.append(DtypeByOperation((highest.node,), counts, deciding_entry(rules, op, "counts_as_of")))
    return [replace(highest, dtype=counts, kind=counts.kind, weak=False, tier="array", value=None)]


def make_arrays(
    rules: Rules, op: OperationRules, operands: Sequence[Operand], decisions: list[Decision]
) -> Sequence[Operand]:
    """Convert each operand to an array by itself, if the operation does this before the join."""
    if op.counts_as is CountsAs.ITSELF:
        return operands
    return [
        _make_array(rules, op, o, decisions) if o.tier != "array" and op.counts_as_array(i) else o
        for i, o in enumerate(operands)
    ]


def _make_array(rules: Rules, op: OperationRules, o: Operand, decisions: list[Decision]) -> Operand:
    """Count an operand without dimensions as an array of its own dtype.

    Raises RefusalError for a value out of range.
    """
    own = dtype_or_default(rules, o)
    if own is None:
        # A bool counts as an array of bool everywhere; another scalar may have no dtype without operands.
        return o
    if rules.combine == "value":
        from typelattice.engine import numpy1  # only value-based systems need it

        own = numpy1.dtype_holding_scalar(o, own)
    if o.value is not None and not is_in_range(o.value, own):
        reason = f"{o.value} is out of range for {own}"
        raise RefusalError(
            reason, "use a value within it", OutOfTargetRange((own,), None, o.kind.python_name)
        )
    if o.tier in rules.tiers:
        decisions.append(DtypeByOperation((o.node,), own, deciding_entry(rules, op, "counts_as")))
    return replace(o, dtype=own, kind=own.kind, weak=False, tier="array", value=None)


def join_operands(
    rules: Rules, op: OperationRules, operands: Sequence[Operand], decisions: list[Decision]
) -> tuple[Node, DType, bool]:
    """Join operands as the operation counts them: return the node, its dtype, and whether it is weak."""
    counted = operands
    if op.counts_as_of:
        counted = _without_default(rules, op, operands, decisions) or [
            _convert_counted_operand(rules, op, o, decisions) for o in operands
        ]
    if not op.joins_order:
        return join_tiers(rules, counted, decisions)
    rules_of_operation = replace(
        rules, order=_build_order(op.joins_order), ties={}, overrides={}, refusals={}, combine="join"
    )
    nodes = tuple(o.node for o in counted)
    order_entry = deciding_entry(rules, op, "joins_order")
    # One decision represents the operation's order. The system's other decisions are the same in every
    # operation.
    operation_decisions: list[Decision] = []
    final_decision_types = (ReplacedInAnswer, Defaulted)  # decisions that turn the joined node into a dtype
    try:
        joined = join_tiers(rules_of_operation, counted, operation_decisions)
    except RefusalError as e:
        raise RefusalError(e.reason, e.remedy, DtypeByOperation(nodes, None, order_entry)) from None
    finally:
        decisions += [
            decision
            for decision in operation_decisions
            if not isinstance(decision, (Joined, TiersJoined, *final_decision_types))
        ]
    decisions.append(DtypeByOperation(nodes, joined[0], order_entry))
    decisions += [decision for decision in operation_decisions if isinstance(decision, final_decision_types)]
    return joined


@lru_cache
def _build_order(covers: Covers) -> Order[Node]:
    """Return the order with these arrows. Few operations have their own order, and many calls use it."""
    return Order(dict(covers))


def check_same_dtype(rules: Rules, op: OperationRules, operands: Sequence[Operand], dtype: DType) -> None:
    """Raise RefusalError unless every array has this dtype, or counts as it."""
    arrays = [counted_dtype(rules, op, o) or o.dtype or dtype for o in operands if o.tier != "scalar"]
    if any(d is not dtype for d in arrays):
        decision = DtypeByOperation(tuple(arrays), None, deciding_entry(rules, op, "joins"))
        reason = f"{op.name} does not promote: operands have to be of one dtype"
        raise RefusalError(reason, cast_remedy(rules, op, [dtype], "all"), decision)


def check_weak_result(rules: Rules, op: OperationRules, result: DType) -> None:
    """Raise RefusalError for a weak result that is not of the default dtype of its kind."""
    default = rules.defaults.get(result.kind, result)
    if result is not default:
        decision = DtypeByOperation((result,), None, deciding_entry(rules, op, "weak_result"))
        reason = f"{op.name} gives a weak {result.kind} only as {default}, not as {result}"
        raise RefusalError(reason, "make an operand an array that is not weak", decision)
