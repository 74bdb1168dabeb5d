"""The paths up an order, cover by cover."""
from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from typelattice.facts.order import Order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    N = TypeVar("N", bound=Hashable)


def paths(order: Order[N], a: N, b: N) -> Iterator[tuple[N, ...]]:
    """Yield the chains of covers that lead from a up to b, one by one. The first is one of the shortest.

    Raises OrderError for a node that the order does not have.

    >>> order = Order.parse("a -> b -> d; a -> c -> d")
    >>> list(paths(order, "a", "d")), list(paths(order, "b", "c"))
    ([('a', 'b', 'd'), ('a', 'c', 'd')], [])
    """
    if not order.le(a, b):
        return
    steps = _distances_to(order, a, b)
    # It keeps its own stack, since recursion in Python cannot follow a chain of a thousand nodes.
    path: list[N] = []
    left = [iter([a])]  # for each height, the nodes still to try
    while left:
        for n in left[-1]:
            path.append(n)
            if n != b:
                ways = [c for c in order.covers(n) if c in steps]
                left.append(iter(sorted(ways, key=steps.__getitem__)))
                break
            yield tuple(path)
            path.pop()
        else:
            left.pop()
            del path[-1:]


def _distances_to(order: Order[N], a: N, b: N) -> Mapping[N, int]:
    """Return the fewest covers to climb to b, from each node that lies between a and b."""
    below: dict[N, list[N]] = {n: [] for n in order.bounds(a) if order.le(n, b)}
    for n in below:
        for c in order.covers(n):
            if c in below:
                below[c].append(n)
    steps = {b: 0}
    reached = [b]
    for n in reached:  # grows while nodes are found, the nearest first
        for lower in below[n]:
            if lower not in steps:
                steps[lower] = steps[n] + 1
                reached.append(lower)
    return steps
