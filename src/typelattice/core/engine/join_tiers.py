"""Join operands to one node: each tier joins its own operands, and a lower tier counts only by its kind."""
from __future__ import annotations

from collections.abc import Sequence

from typelattice.core.dtypes.dtypes import DType, Kind, Node, sort_key, weak_node
from typelattice.core.engine.decisions import (
    Decision,
    DefaultTaken,
    JoinedByValue,
    RefusalError,
    ReplacedInAnswer,
    TiersJoined,
)
from typelattice.core.engine.join_one_tier import (
    dtype_or_default,
    find_entry_node,
    find_override,
    join_or_tie,
    join_tier,
)
from typelattice.core.engine.rules import Rules
from typelattice.core.losses.range_and_overflow import is_in_range
from typelattice.core.operands.operand import Operand


def join_tiers(
    rules: Rules, operands: Sequence[Operand], decisions: list[Decision]
) -> tuple[Node, DType, bool]:
    """Join the operands and return (node, dtype, is_weak). Raises RefusalError if no rule joins them."""
    widths = _weak_dtypes_joined_by_width(rules, operands)
    if widths:
        node = join_tier(rules, widths, decisions)
        return node, *_dtype_of_node(rules, node, node.kind is not Kind.BOOL or len(operands) == 1, decisions)
    if rules.combine == "value":
        from typelattice.core.engine import numpy1  # only NumPy 1 promotes by value

        node = numpy1.join_by_value(
            rules, operands, [find_entry_node(rules, o, decisions) for o in operands], decisions
        )
    else:
        node = _join_by_tiers(rules, operands, decisions)
    return node, *_dtype_of_node(rules, node, False, decisions)


def _weak_dtypes_joined_by_width(rules: Rules, operands: Sequence[Operand]) -> Sequence[Node]:
    """Return the dtypes of weak operands that join by their widths, or nothing if they do not.

    Weak operands join in this way if the system has `weak-join = "width"`. A single weak array does so in
    every system.
    """
    alone = len(operands) == 1 and operands[0].dtype is not None
    if not (alone or rules.weak_join == "width") or not all(o.weak for o in operands):
        return ()
    return rules.dtypes_if_all_in_order([dtype_or_default(rules, o) for o in operands])


def _join_by_tiers(rules: Rules, operands: Sequence[Operand], decisions: list[Decision]) -> Node:
    """Join the operands of each tier, then the tiers, beginning with the lowest."""
    scalars_alone = rules.first_is_array and all(o.tier == "scalar" for o in operands)
    tiers: dict[str, list[Node]] = {}
    for i, o in enumerate(operands):
        node = find_entry_node(rules, o, decisions, len(operands) == 1)
        tiers.setdefault(_find_tier(rules, o, scalars_alone and i == 0), []).append(node)
    joined = [
        (tier, join_tier(rules, tiers[tier], decisions)) for tier in reversed(rules.tiers) if tier in tiers
    ]
    if len(joined) > 1 and rules.int_join_dtypes and not scalars_alone:
        highest, node = joined[-1]
        joined[-1] = highest, _join_large_ints(rules, node, operands, decisions)
    (lower, node), *higher = joined
    for tier, high in higher:
        node = _join_lower_tier(rules, node, lower, high, decisions)
        lower = tier
    return node


def _join_large_ints(
    rules: Rules, node: Node, operands: Sequence[Operand], decisions: list[Decision]
) -> Node:
    """Join to the node of arrays, by its value, each Python int that they cannot hold.

    Ignore an int that no dtype of `int_join_dtypes` holds.
    """
    for o in operands:
        if o.tier != "scalar" or o.kind.category != node.kind.category or not isinstance(node, DType):
            continue
        if not isinstance(o.value, int) or is_in_range(o.value, node):
            continue
        kind = Kind.SIGNED if o.value < 0 else node.kind
        holding = [d for d in rules.int_join_dtypes if d in rules.order and is_in_range(o.value, d)]
        wide = next((d for d in holding if d.kind is kind), holding[0] if holding else None)
        if wide is None:
            continue
        decisions.append(JoinedByValue((weak_node(o.kind),), wide, o.kind.python_name))
        if kind is not node.kind:
            node = _signed_counterpart(rules, node, decisions)
        node = join_tier(rules, [node, wide], decisions)
    return node


def _signed_counterpart(rules: Rules, dtype: DType, decisions: list[Decision]) -> DType:
    """Return the signed dtype that an unsigned one counts as beside a negative int, e.g. int16 for uint8.

    This is the next wider signed dtype of `int_join_dtypes`. If there is no wider one, it is the dtype of the
    same width, e.g. int64 for uint64. Without either, it is the unsigned dtype itself.
    """
    signed = [s for s in rules.int_join_dtypes if s.kind is Kind.SIGNED and s in rules.order]
    wider = [s for s in signed if _count_bits(s) > _count_bits(dtype)] or [
        s for s in signed if _count_bits(s) == _count_bits(dtype)
    ]
    if not wider:
        return dtype
    decisions.append(JoinedByValue((dtype,), wider[0], Kind.SIGNED.python_name))
    return wider[0]


def _count_bits(d: DType) -> int:
    return d.bits or 0


def _find_tier(rules: Rules, operand: Operand, is_first: bool) -> str:
    """Return the operand's own tier if the file distinguishes it, or the highest tier.

    Python's bool counts as an array of bool, unless the file gives bool a default dtype, as PyTorch's does.
    """
    plain_bool = operand.kind is Kind.BOOL and operand.tier == "scalar" and Kind.BOOL not in rules.defaults
    return rules.tiers[0] if plain_bool or is_first or operand.tier not in rules.tiers else operand.tier


def _join_lower_tier(rules: Rules, low: Node, tier: str, high: Node, decisions: list[Decision]) -> Node:
    """Return the node of a higher tier after a lower tier joins it. Raises RefusalError without a rule.

    The lower tier adds nothing, unless its kind is higher or the file states the pair. `tier` is its name.
    """
    stated = find_override(rules, high, weak_node(low.kind), decisions)
    if stated:
        return stated
    node = high if low.kind.category <= high.kind.category else _node_of_higher_kind(rules, low, high)
    decision = TiersJoined((high, low), node)
    if node is None:
        low_operand_text = f"a Python {low.kind.python_name}" if tier == "scalar" else f"a 0-d array of {low}"
        article = "an" if low.kind is Kind.UNSIGNED else "a"
        narrow = min((d for d in rules.dtypes if d.kind is low.kind), key=sort_key, default=None)
        to = low if isinstance(low, DType) else rules.defaults.get(low.kind, narrow)
        remedy = f"cast the array to {article} {low.kind} dtype{f', e.g. {to}' if to else ''}"
        raise RefusalError(f"no rule takes {high} to {low_operand_text}", remedy, decision)
    decisions.append(decision)
    return node


def _node_of_higher_kind(rules: Rules, low: Node, high: Node) -> Node | None:
    """Return the node that a higher tier gets from a lower tier of a higher kind, or None without a rule.

    A float beside a complex scalar goes to the narrowest complex dtype above it, whatever the default is.
    """
    if high.kind is Kind.FLOAT and high in rules.order:
        above = [n for n in rules.order.bounds(high) if n.kind is Kind.COMPLEX]
        if above:
            return min(above, key=lambda n: (n.bits or 0) if isinstance(n, DType) else 0)
    return join_or_tie(rules, high, low) if low in rules.order and high in rules.order else None


def _dtype_of_node(rules: Rules, node: Node, is_weak: bool, decisions: list[Decision]) -> tuple[DType, bool]:
    """Return (dtype, is_weak) of a node: apply the file's `after` map, then a kind's default dtype."""
    replacement = rules.after.get(node, node)
    if replacement is not node:
        decisions.append(ReplacedInAnswer((node,), replacement, repr(node)))
    if isinstance(replacement, DType):
        return replacement, is_weak
    found = replacement.dtype or (
        rules.defaults.get(replacement.kind) if replacement in rules.order else None
    )
    decision = DefaultTaken((replacement,), found, replacement.kind.python_name)
    if found is None:
        raise RefusalError(
            f"a Python {replacement.kind.python_name} alone has no dtype here",
            "give an array or a dtype too",
            decision,
        )
    decisions.append(decision)
    return found, True
