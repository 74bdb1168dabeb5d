"""The paths up an order, cover by cover."""
from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from typelattice.core.dtypes.order import Order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    N = TypeVar("N", bound=Hashable)


def find_paths(order: Order[N], source: N, goal: N) -> Iterator[tuple[N, ...]]:
    """Yield the chains of covers that lead from `source` up to `goal`, one of the shortest first.

    Raises OrderError for a node that the order does not have.

    >>> order = Order.parse("a -> b -> d; a -> c -> d")
    >>> list(find_paths(order, "a", "d")), list(find_paths(order, "b", "c"))
    ([('a', 'b', 'd'), ('a', 'c', 'd')], [])
    """
    if not order.le(source, goal):
        return
    steps = _distances_to(order, source, goal)
    # The search keeps a stack of its own: Python's recursion cannot follow a chain of a thousand nodes.
    path: list[N] = []
    left = [iter([source])]  # for each height, the nodes still to try
    while left:
        for n in left[-1]:
            path.append(n)
            if n != goal:
                ways = [c for c in order.covers(n) if c in steps]
                left.append(iter(sorted(ways, key=steps.__getitem__)))
                break
            yield tuple(path)
            path.pop()
        else:
            left.pop()
            del path[-1:]


def _distances_to(order: Order[N], source: N, goal: N) -> Mapping[N, int]:
    """Return the fewest covers to climb to `goal`, from each node between `source` and `goal`."""
    below: dict[N, list[N]] = {n: [] for n in order.bounds(source) if order.le(n, goal)}
    for n in below:
        for c in order.covers(n):
            if c in below:
                below[c].append(n)
    steps = {goal: 0}
    reached = [goal]
    for n in reached:  # grows while nodes are found, the nearest first
        for lower in below[n]:
            if lower not in steps:
                steps[lower] = steps[n] + 1
                reached.append(lower)
    return steps
