"""The designer's completions are those that brute force finds to cost least."""
from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations

import pytest
from samples import one_in
from small_orders import KEPT, SMALL, partial

from typelattice.core.dtypes.dtypes import Node
from typelattice.core.dtypes.order import Order
from typelattice.core.system_files.writer import reduce_order
from typelattice.study.designer import DEMANDS, ConflictError, Demand, design
from typelattice.study.designer.standard_demands import NodeFacts, count_violations, list_node_facts

Relations = frozenset[tuple[Node, Node]]


def completions(given: Order[Node]) -> Iterator[Order[Node]]:
    """Every order on the same nodes that holds the given one, each once."""
    nodes = given.nodes
    start = relations(given)
    seen, waiting = {start}, [start]
    while waiting:
        now = waiting.pop()
        yield reduce_order(nodes, now)
        for a, b in permutations(nodes, 2):
            if (a, b) not in now and (b, a) not in now:
                above, below = [y for x, y in now if x is b], [x for x, y in now if y is a]
                more = now | {(x, y) for x in below for y in above}
                if more not in seen:
                    seen.add(more)
                    waiting.append(more)


def relations(order: Order[Node]) -> Relations:
    return frozenset((a, b) for a in order.nodes for b in order.bounds(a))


def keeps(order: Order[Node], given: Order[Node], rules: list[Demand], of: dict[Node, NodeFacts]) -> bool:
    """Whether what an order adds keeps the rules, and no pair has several lowest bounds."""
    for a, b in combinations(order.nodes, 2):
        bounds = order.minimal_bounds(a, b)
        if len(bounds) > 1 or (not bounds and any(d.counts_unjoined for d in rules)):
            return False
        before = (
            given.le(a, b) or given.le(b, a) or (bounds and given.le(a, bounds[0]) and given.le(b, bounds[0]))
        )
        if (
            bounds
            and not before
            and any(d.breaks_result and d.breaks_result(of[a], of[b], of[bounds[0]]) for d in rules)
        ):
            return False
    return True


AIMS = [
    (["lattice", *KEPT], ["width", "precision", "relations"]),
    (["lattice", *KEPT], ["deference", "kind", "covers"]),
    (KEPT, ["lattice", "precision", "inexact"]),
    (["overflow"], ["lattice", "magnitude", "narrow", "width64", "covers"]),
    (["lattice", "kind", *KEPT], ["width", "relations"]),
]


@pytest.mark.parametrize(
    ("order", "rules", "costs"), one_in(4, [(order, *aims) for order in SMALL for aims in AIMS])
)
def test_optima_are_those_of_brute_force(order: str, rules: list[str], costs: list[str]) -> None:
    system = partial(order)
    of = {m.node: m for m in list_node_facts(system)}
    kept = [o for o in completions(system.order) if keeps(o, system.order, [DEMANDS[r] for r in rules], of)]
    counted = [
        (tuple(count_violations([DEMANDS[c] for c in costs], o, system.order, of).values()), relations(o))
        for o in kept
    ]
    if not counted:
        with pytest.raises(ConflictError):
            design(system, rules, costs)
        return
    least = min(cost for cost, _ in counted)
    best = {order for cost, order in counted if cost == least}
    found = design(system, rules, costs, limit=10_000)
    assert found.is_proven
    assert found.is_complete
    assert tuple(found.costs.values()) == least
    assert len(found) == len(best)
    assert {relations(c.system.order) for c in found} == best
