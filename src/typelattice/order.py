"""Finite partial orders of any nodes.

A set of nodes is a bit mask. `up(a)` is all that lies above a, a included, and

    join(a, b) = c   exactly when   up(a) & up(b) = up(c)

so the join of any number of nodes is one AND a node and one look-up: bits are handed out from the top of the order
down, which makes the highest bit of a common up-set the only node that can be its least.
"""
from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import reduce
from graphlib import CycleError, TopologicalSorter
from itertools import product
from operator import and_
from typing import Generic, TypeVar

N = TypeVar("N", bound=Hashable)


class OrderError(ValueError):
    """A description that is no partial order given by its covers; also a node that an order does not have."""


class Order(Generic[N]):
    """A finite partial order, made from its covers: `{a: [b]}` says that b is an immediate successor of a.

    Raises OrderError for a cycle, and for a cover stated twice or implied by others.

    >>> order = Order({"a": ["b", "c"], "b": ["d"], "c": ["d"]})
    >>> order.join("b", "c"), order.meet("b", "c"), order.le("a", "d")
    ('d', 'a', True)
    """

    __slots__ = ("nodes", "_above", "_bit", "_up", "_down", "_downward")

    def __init__(self, covers: Mapping[N, Iterable[N]]) -> None:
        above: dict[N, list[N]] = {a: list(bs) for a, bs in covers.items()}
        for a, bs in list(above.items()):
            for b in bs:
                if bs.count(b) > 1:
                    raise OrderError(f"the cover {a} -> {b} is stated twice")
                above.setdefault(b, [])
        try:
            self._downward = tuple(TopologicalSorter(above).static_order())
        except CycleError as e:
            raise OrderError(f"a cycle: {' -> '.join(map(str, e.args[1][::-1]))}; an order has none") from None
        self.nodes = tuple(above)
        self._above = {a: tuple(bs) for a, bs in above.items()}
        self._bit = {a: 1 << i for i, a in enumerate(self._downward)}
        self._up = dict(self._bit)
        self._down = dict(self._bit)
        for a in self._downward:
            for b in above[a]:
                self._up[a] |= self._up[b]
        for a in reversed(self._downward):
            for b in above[a]:
                self._down[b] |= self._down[a]
        for a, bs in above.items():
            for b, c in product(bs, repeat=2):
                if b is not c and self._up[b] & self._bit[c]:
                    raise OrderError(f"the cover {a} -> {c} is implied by {a} -> {b}; leave it out")

    @classmethod
    def parse(cls, text: str) -> Order[str]:
        """The order that arrow text describes: `a, b -> c -> d; e`. A list means each of its members.

        >>> print(Order.parse("a -> b -> d; a -> c -> d").join("b", "c"))
        d
        >>> Order.parse("a -> b -> c -> a")
        Traceback (most recent call last):
            ...
        typelattice.order.OrderError: a cycle: a -> b -> c -> a; an order has none
        """
        return Order(collect(chain for _, chain in statements(text)))

    def le(self, a: N, b: N) -> bool:
        """Whether a may become b: b lies above a, or is a."""
        return bool(self._mask(self._up, (a,)) & self._mask(self._bit, (b,)))

    def join(self, *nodes: N) -> N | None:
        """The least upper bound; None where there is no single one."""
        up = self._up
        try:
            rest = iter(nodes)
            common = up[next(rest)]
            for a in rest:
                common &= up[a]
        except (KeyError, StopIteration):
            common = self._mask(up, nodes)
        least = self._downward[common.bit_length() - 1]
        return least if up[least] == common else None

    def meet(self, *nodes: N) -> N | None:
        """The greatest lower bound; None where there is no single one."""
        common = self._mask(self._down, nodes)
        greatest = self._downward[(common & -common).bit_length() - 1]
        return greatest if self._down[greatest] == common else None

    def bounds(self, *nodes: N) -> tuple[N, ...]:
        """All upper bounds: what lies above every one of the nodes."""
        return self._members(self._mask(self._up, nodes))

    def minimal_bounds(self, *nodes: N) -> tuple[N, ...]:
        """The lowest of the upper bounds. One: the join. None, or several: there is no join.

        >>> Order.parse("a, b -> c, d").minimal_bounds("a", "b")
        ('c', 'd')
        """
        common = self._mask(self._up, nodes)
        return tuple(a for a in self._members(common) if self._down[a] & common == self._bit[a])

    def lower_bounds(self, *nodes: N) -> tuple[N, ...]:
        """All lower bounds: what lies below every one of the nodes."""
        return self._members(self._mask(self._down, nodes))

    def covers(self, a: N) -> tuple[N, ...]:
        """The immediate successors of a node."""
        self._mask(self._bit, (a,))
        return self._above[a]

    def paths(self, a: N, b: N) -> Iterator[tuple[N, ...]]:
        """The chains of covers that lead from a up to b, shortest first, made as they are asked for.

        >>> list(Order.parse("a -> b -> d; a -> c -> d").paths("a", "d"))
        [('a', 'b', 'd'), ('a', 'c', 'd')]
        """
        between = self._mask(self._up, (a,)) & self._mask(self._down, (b,))
        queue = deque([(a,)] if between else [])
        while queue:
            path = queue.popleft()
            if path[-1] == b:
                yield path
            queue.extend((*path, c) for c in self._above[path[-1]] if self._bit[c] & between)

    @property
    def top(self) -> N | None:
        """The node above all others, if there is one."""
        return self.join(*self.nodes) if self.nodes else None

    @property
    def bottom(self) -> N | None:
        """The node below all others, if there is one."""
        return self.meet(*self.nodes) if self.nodes else None

    def __contains__(self, node: object) -> bool:
        return node in self._bit

    def _mask(self, of: dict[N, int], nodes: Iterable[N]) -> int:
        try:
            return reduce(and_, [of[a] for a in nodes])
        except KeyError as e:
            raise OrderError(f"no node {e.args[0]} in this order; it has {', '.join(map(str, self.nodes))}") from None
        except TypeError:
            raise OrderError("a bound of no nodes at all; name at least one") from None

    def _members(self, mask: int) -> tuple[N, ...]:
        return tuple(a for a in self.nodes if self._bit[a] & mask)


def statements(text: str, names: Callable[[str], list[N]] | None = None) -> Iterator[tuple[int, list[list[N]]]]:
    """(line, chain) of each statement of arrow text; a statement ends at `;` or the end of the line.

    `names` reads a list such as `u8, u16`; as it is, the nodes are the words themselves. Raises OrderError.
    """
    for number, line in enumerate(text.split("\n")):
        for statement in filter(str.strip, line.split(";")):
            parts = [part.strip() for part in re.split(r"->", statement)]
            chain = [[name.strip() for name in part.split(",")] for part in parts]
            if not all(name and not re.search(r"\s", name) for names_ in chain for name in names_):
                raise OrderError(f"cannot read {statement.strip()!r}; write a, b -> c")
            yield number, [names(part) for part in parts] if names else chain  # type: ignore[misc]


def collect(chains: Iterable[list[list[N]]]) -> dict[N, list[N]]:
    """The covers that chains of lists state, as a mapping; a chain of one list states its nodes alone."""
    covers: dict[N, list[N]] = {}
    for chain in chains:
        for names in chain:
            for a in names:
                if names.count(a) > 1 or len(chain) == 1 and a in covers:
                    raise OrderError(f"{a} is named twice")
                covers.setdefault(a, [])
        for lower, upper in zip(chain, chain[1:]):
            for a, b in product(lower, upper):
                covers[a].append(b)
    return covers
