"""The distributive law, for orders with few meets.

In a lattice this is the law of meets, `a ∧ (b ∨ c) = (a ∧ b) ∨ (a ∧ c)`. An order of dtypes has few meets,
and this form needs none. If a lies below the join of b and c but below neither, it must be the join of a node
below b and a node below c.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from typelattice.core.dtypes.dtypes import Node
from typelattice.core.dtypes.order import Order
from typelattice.study.tables.study_scope import BeyondReachError

MAX_NODES = 64  # nodes; the time grows with their fourth power


@dataclass(frozen=True, slots=True)
class DistributivityFailure:
    """A node below the join of two others that is not itself a join of nodes below them."""

    node: Node
    left: Node
    right: Node
    join: Node


def find_uneven(
    order: Order[Node], nodes: Sequence[Node], has_join: Callable[[Node, Node], bool] = lambda a, b: True
) -> tuple[list[DistributivityFailure], int]:
    """Return the cases that break distributivity, and the number of all cases.

    A case is a pair with a join, and a third node below that join; all three are among the given nodes.
    `has_join` is False for a pair that does not promote to its join. Raises BeyondReachError.
    """
    if len(order.nodes) > MAX_NODES:
        raise BeyondReachError(f"{len(order.nodes)} nodes are more than the {MAX_NODES} that are tried")
    below = {a: [x for x in order.nodes if order.le(x, a)] for a in order.nodes}
    joins = {(a, b): order.join(a, b) for a in order.nodes for b in order.nodes}
    found, cases = [], 0
    for left, right in combinations(nodes, 2):
        top = joins[left, right]
        if top is None or not has_join(left, right):
            continue
        from_below = {joins[x, y] for x in below[left] for y in below[right]} | {*below[left], *below[right]}
        under = [a for a in nodes if order.le(a, top)]
        cases += len(under)
        found += [DistributivityFailure(a, left, right, top) for a in under if a not in from_below]
    return found, cases
