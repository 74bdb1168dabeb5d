"""The join of one tier's operands: each enters the order at a node, and the nodes become one."""
from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import combinations

from typelattice.core.dtypes.dtypes import DType, Kind, Node, sort_key, weak_node
from typelattice.core.engine.decisions import (
    Decision,
    NodesJoined,
    PairOverridden,
    RefusalError,
    RefusedJoin,
    RefusedPair,
    ReplacedOnEntry,
    TieSettled,
    WidenedDefault,
)  # fmt: skip
from typelattice.core.engine.rules import Rules
from typelattice.core.losses.range_and_overflow import is_in_range
from typelattice.core.operands.operand import BOOL_DTYPE, Operand


def find_entry_node(
    rules: Rules, operand: Operand, decisions: list[Decision], is_alone: bool = False
) -> Node:
    """Return the node at which an operand enters the order. `is_alone`: it is the only operand."""
    if operand.weak:
        return _find_weak_entry_node(rules, operand, decisions, is_alone)
    own = operand.dtype or BOOL_DTYPE
    node = rules.before.get(own, own)
    if node is not own:
        decisions.append(ReplacedOnEntry((own,), node, str(own)))
    if node not in rules.order:
        default = rules.defaults.get(node.kind)
        remedy = f"cast it to a dtype that it has{f', e.g. {default}' if default else ''}"
        raise RefusalError(f"{rules.name} has no {node}", remedy, NodesJoined((node,), None))
    return node


def dtype_or_default(rules: Rules, operand: Operand, is_alone: bool = True) -> DType | None:
    """Return an operand's own dtype, or the default dtype of a Python scalar's kind, or None.

    If the kind has several defaults, choose the first that holds the value, or the last if none does. With
    other operands, a kind of `kinds_widening_alone` has only its first default.
    """
    first = rules.defaults.get(operand.kind)
    if (
        operand.dtype
        or first is None
        or operand.value is None
        or (operand.kind in rules.kinds_widening_alone and not is_alone)
    ):
        return operand.dtype or first
    choices = (first, *rules.wider_defaults.get(operand.kind, ()))
    return next((d for d in choices if is_in_range(operand.value, d)), choices[-1])


def _find_weak_entry_node(rules: Rules, operand: Operand, decisions: list[Decision], is_alone: bool) -> Node:
    """Return the node at which a weak operand enters the order.

    The candidates are the weak node of its kind, the weak node of its kind and width, and its default dtype.
    The result is the first candidate that is in the order. If none is, it is the weak node of the kind.
    """
    kind = (
        Kind.SIGNED
        if operand.kind is Kind.UNSIGNED and weak_node(operand.kind) not in rules.order
        else operand.kind
    )
    own = dtype_or_default(rules, operand, is_alone)
    if own in rules.wider_defaults.get(operand.kind, ()):
        decisions.append(WidenedDefault((weak_node(operand.kind),), own, operand.kind.python_name))
    by_kind = weak_node(kind)
    if own is None or by_kind in rules.order:
        return by_kind
    by_width = weak_node(own.kind, own)
    return by_width if by_width in rules.order else own if own in rules.order else by_kind


def join_tier(rules: Rules, nodes: Sequence[Node], decisions: list[Decision]) -> Node:
    """Return the node of one tier's operands."""
    absent = [n for n in nodes if n not in rules.order]
    if absent and len(absent) == len(nodes) and rules.tiers[-1] == "scalar":
        return max(absent, key=lambda n: n.kind.category)  # of Python scalars alone, the highest kind counts
    if absent:
        reason = f"nothing is said of a Python {absent[0].kind.python_name}"
        to = next((f", e.g. {n}" for n in nodes if isinstance(n, DType)), "")
        raise RefusalError(reason, f"cast it to a dtype{to}", NodesJoined(tuple(nodes), None))
    if rules.combine in ("fold", "comparable"):
        return _join_in_pairs(rules, nodes, decisions)
    for a, b in combinations(dict.fromkeys(nodes), 2) if rules.refusals else ():
        check_pair_refusal(rules, a, b)
    return join_nodes(rules, nodes, decisions)


def _join_in_pairs(rules: Rules, nodes: Sequence[Node], decisions: list[Decision]) -> Node:
    """Join nodes pair by pair, from the left."""
    first = join_nodes(rules, nodes[:1], decisions)
    pair = _join_comparable if rules.combine == "comparable" else join_nodes
    return reduce(
        lambda a, b: find_override(rules, a, b, decisions) or pair(rules, (a, b), decisions), nodes[1:], first
    )


def _join_comparable(rules: Rules, pair: Sequence[Node], decisions: list[Decision]) -> Node:
    """Return the join of a pair. Raises RefusalError if the join is neither of the two."""
    bounds = rules.order.minimal_bounds(*dict.fromkeys(pair))
    if not bounds or bounds[0] in pair:
        return join_nodes(rules, pair, decisions)
    raise RefusalError(
        "neither represents all values of the other",
        f"cast both, e.g. to {bounds[0]}",
        RefusedJoin(tuple(pair), None),
    )


def check_pair_refusal(rules: Rules, a: Node, b: Node) -> None:
    """Raise RefusalError for a pair that the file refuses."""
    pair = frozenset((a, b))
    if pair in rules.refusals:
        decision = RefusedPair((a, b), None, rules.entries["refusals", pair])
        wide = max((n for n in (a, b) if isinstance(n, DType)), key=sort_key, default=None)
        to = f", e.g. to {wide}" if wide else ""
        raise RefusalError(rules.refusals[pair], f"cast one operand{to}", decision)


def find_override(rules: Rules, a: Node, b: Node, decisions: list[Decision]) -> Node | None:
    """Return the override for a pair, or None without one. Raises RefusalError for a refused pair."""
    check_pair_refusal(rules, a, b)
    pair = frozenset((a, b))
    node = rules.overrides.get(pair)
    if node:
        decisions.append(PairOverridden((a, b), node, rules.entries["overrides", pair]))
    return node


def join_nodes(rules: Rules, nodes: Sequence[Node], decisions: list[Decision]) -> Node:
    """Return the least upper bound of a set, or the recorded choice among its minimal bounds."""
    distinct = tuple(dict.fromkeys(nodes))
    node = rules.order.join(*distinct)
    if node is not None:
        decisions.append(NodesJoined(distinct, node))
        return node
    bounds = rules.order.minimal_bounds(*distinct)
    tie = frozenset(bounds)
    if tie in rules.ties:
        decisions.append(TieSettled(distinct, rules.ties[tie], rules.entries["ties", tie]))
        return rules.ties[tie]
    decision = NodesJoined(distinct, None)
    if not bounds:
        reason = f"nothing lies above {'both' if len(distinct) == 2 else 'all'}"
        raise RefusalError(reason, "cast one operand to the other's dtype", decision)
    both = f"{'both' if len(distinct) == 2 else 'all'} can become {' or '.join(map(str, bounds))}"
    raise RefusalError(
        f"{both}, and no tie says which one", f"cast one operand, e.g. to {bounds[0]}", decision
    )


def join_or_tie(rules: Rules, *nodes: Node) -> Node | None:
    """Return the join, or the winner of the tie, or None without either. No decision is added."""
    return rules.order.join(*nodes) or rules.ties.get(frozenset(rules.order.minimal_bounds(*nodes)))
