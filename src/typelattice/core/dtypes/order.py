"""Finite partial orders of any nodes.

A set of nodes is a bit mask. `up(a)` is all that lies above a, a included, and

    join(a, b) = c   exactly when   up(a) & up(b) = up(c)

so a join is one AND a node and one look-up. Bits are assigned from the top of the order down. So only the
highest bit of a common up-set can be its least node.
"""
from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise, permutations, product
from operator import and_, or_

from typelattice.base.errors.error_texts import clip_text
from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.objects.display_hooks import NotebookDisplay

TYPE_CHECKING = False  # `typing` costs a process as much as all of this
if TYPE_CHECKING:
    from typing import Generic, TypeVar

    N = TypeVar("N", bound=Hashable)
else:
    N = Hashable

    class Generic:
        __slots__ = ()
        __class_getitem__ = classmethod(lambda cls, _: cls)

MAX_SPELLED_NODES = 20  # nodes of a cycle in an error message


class OrderError(TypelatticeError, ValueError):
    """A description that is not a partial order given by its covers, or a node that an order does not have.

    `word` is the part of the text that is wrong, or an empty string if no single part is.
    """

    __module__ = "typelattice"

    def __init__(self, cause: str, word: str = "") -> None:
        super().__init__(cause)
        self.word = word


class Order(NotebookDisplay, Generic[N]):
    """A finite partial order, made from its covers: `{a: [b]}` says that b is an immediate successor of a.

    Raises OrderError for a cycle, and for a cover stated twice or implied by others.

    >>> order = Order.parse("a -> b -> d; a -> c -> d; d -> e, f")
    >>> order.join("b", "c"), order.join("e", "f"), order.meet("b", "c"), order.minimal_bounds("b", "d")
    ('d', None, 'a', ('d',))
    """

    __slots__ = ("_above", "_below", "_bit", "_downward", "_place", "_up", "nodes")

    def __init__(self, covers: Mapping[N, Iterable[N]]) -> None:
        above = {a: tuple(bs) for a, bs in covers.items()}
        above |= {b: () for bs in list(above.values()) for b in bs if b not in above}
        try:
            self._downward: tuple[N, ...] = tuple(TopologicalSorter(above).static_order())
        except CycleError as e:
            cycle = _spell_cycle(e.args[1][::-1])
            raise OrderError(f"a cycle: {cycle}; leave out one of these arrows") from None
        self.nodes, self._above = tuple(above), above
        self._place = {a: i for i, a in enumerate(self.nodes)}
        self._bit = {a: 1 << i for i, a in enumerate(self._downward)}
        self._up = dict(self._bit)
        self._below: dict[N, int] = {}
        for a in self._downward:
            for b in above[a]:
                self._up[a] |= self._up[b]
        for a, bs in above.items():
            stated = beyond = 0
            for b in bs:
                if stated & self._bit[b]:
                    raise OrderError(f"the arrow {a} -> {b} is stated twice; remove one")
                stated |= self._bit[b]
                beyond |= self._up[b] & ~self._bit[b]
            if stated & beyond:
                b, c = next(pair for pair in permutations(bs, 2) if self._up[pair[0]] & self._bit[pair[1]])
                raise OrderError(f"the arrow {a} -> {c} follows from {a} -> {b} -> {c}; remove it")

    @property
    def _down(self) -> dict[N, int]:
        """All nodes below each node, itself included.

        They are computed at the first use, since few callers need them.
        """
        if not self._below:
            below = dict(self._bit)
            for a in reversed(self._downward):
                for b in self._above.get(a, ()):
                    below[b] |= below[a]
            self._below = below
        return self._below

    def without(self, covers: Collection[tuple[N, N]], nodes: Collection[N] = ()) -> Order[N]:
        """Return the order without some covers, and without nodes that then have no cover.

        >>> order = Order.parse("a -> b -> d; a -> c -> d").without([("a", "b"), ("b", "d")], ["b"])
        >>> order.nodes, order.join("a", "d"), order.meet("c", "d")
        (('a', 'd', 'c'), 'd', 'c')
        """
        # The remaining nodes still form an order. The set above a node changes only if one of its own covers
        # was removed, or if the set above one of its covers changed.
        reduced_order: Order[N] = object.__new__(Order)
        reduced_order._downward, reduced_order._place, reduced_order._below = self._downward, self._place, {}
        reduced_order.nodes = tuple(a for a in self.nodes if a not in nodes) if nodes else self.nodes
        reduced_order._bit, reduced_order._above, reduced_order._up = (
            dict(self._bit),
            dict(self._above),
            dict(self._up),
        )
        for a, b in covers:
            reduced_order._above[a] = tuple(c for c in reduced_order._above[a] if c != b)
        changed = {a for a, _ in covers}
        for a in self._downward:
            if a in changed or not changed.isdisjoint(reduced_order._above.get(a, ())):
                up = reduce(or_, (reduced_order._up[b] for b in reduced_order._above[a]), self._bit[a])
                if up != reduced_order._up[a]:
                    reduced_order._up[a] = up
                    changed.add(a)
        for a in nodes:
            del reduced_order._bit[a], reduced_order._above[a], reduced_order._up[a]
        return reduced_order

    @classmethod
    def parse(cls, text: str) -> Order[str]:
        """Parse the order in arrow text: `a, b -> c -> d; e`. A list means each of its members."""
        if type(text) is not str:
            raise OrderError(f"an order is a text, not an object of type {type(text).__name__}; write a -> b")
        return Order(collect_covers([chain for _, chain in split_statements(text)]))

    def le(self, a: N, b: N) -> bool:
        """Return True if a may become b: b lies above a, or is a."""
        if a not in self or b not in self:
            self._common_nodes(self._up, a, b)  # raises an error that names the missing node
        return bool(self._up[a] & self._bit[b])

    def join(self, *nodes: N) -> N | None:
        """Return the least upper bound, or None if there is not exactly one."""
        up = self._up
        try:
            rest = iter(nodes)
            common = up[next(rest)]
            for a in rest:
                common &= up[a]
        except (KeyError, StopIteration):
            common = self._common_nodes(up, *nodes)
        least = self._downward[common.bit_length() - 1]
        return least if up.get(least) == common else None

    def meet(self, *nodes: N) -> N | None:
        """Return the greatest lower bound, or None if there is not exactly one."""
        common = self._common_nodes(self._down, *nodes)
        greatest = self._downward[(common & -common).bit_length() - 1]
        return greatest if self._down.get(greatest) == common else None

    def bounds(self, *nodes: N) -> tuple[N, ...]:
        """Return all upper bounds: the nodes above every given node."""
        return self._nodes_of_mask(self._common_nodes(self._up, *nodes))

    def lower_bounds(self, *nodes: N) -> tuple[N, ...]:
        """Return all lower bounds: the nodes below every given node."""
        return self._nodes_of_mask(self._common_nodes(self._down, *nodes))

    def minimal_bounds(self, *nodes: N) -> tuple[N, ...]:
        """Return the lowest of the upper bounds.

        A single one is the join; otherwise the join does not exist.
        """
        common = self._common_nodes(self._up, *nodes)
        found: list[N] = []
        while common:
            # every node below it has a higher bit, and no such bit is left
            lowest = self._downward[common.bit_length() - 1]
            common &= ~self._up[lowest]
            found.append(lowest)
        return tuple(sorted(found, key=self._place.__getitem__) if len(found) > 1 else found)

    def covers(self, a: N) -> tuple[N, ...]:
        """Return the immediate successors of a node."""
        return self._above[a] if self._common_nodes(self._bit, a) else ()

    @property
    def top(self) -> N | None:
        """The node above all others, or None if no node is."""
        return self.join(*self.nodes) if self.nodes else None

    @property
    def bottom(self) -> N | None:
        """The node below all others, or None if no node is."""
        return self.meet(*self.nodes) if self.nodes else None

    def __contains__(self, node: object) -> bool:
        return node in self._bit

    def _common_nodes(self, masks: dict[N, int], *nodes: N) -> int:
        if not nodes:
            raise OrderError("a bound of no nodes at all; name at least one")
        if missing := [a for a in nodes if a not in masks]:
            there = clip_text(", ".join(map(str, self.nodes)), 400)
            raise OrderError(f"no node {clip_text(str(missing[0]), 40)} in this order; it has {there}")
        return reduce(and_, (masks[a] for a in nodes))

    def _nodes_of_mask(self, mask: int) -> tuple[N, ...]:
        return tuple(a for a in self.nodes if self._bit[a] & mask)


def _spell_cycle(cycle: Sequence[object]) -> str:
    """Return a cycle, node by node. A long cycle is reduced to its beginning and end."""
    shown = [str(node) for node in cycle]
    if len(shown) > MAX_SPELLED_NODES:
        shown[MAX_SPELLED_NODES // 2 : -MAX_SPELLED_NODES // 2] = [f"({len(shown) - MAX_SPELLED_NODES} more)"]
    return " -> ".join(shown)


def split_statements(text: str) -> Iterator[tuple[int, list[list[str]]]]:
    """Split arrow text into statements: (line, chain of lists of words).

    A statement ends at `;` or with its line.
    """
    for number, line in enumerate(text.split("\n")):
        for statement in filter(str.strip, line.split(";")):
            chain = [[word.strip() for word in part.split(",")] for part in statement.split("->")]
            if any(len(word.split()) != 1 for part in chain for word in part):
                wrong = statement.strip()
                raise OrderError(f"cannot read {wrong[:60]!r}; write a, b -> c", wrong)
            yield number, chain


def collect_covers(chains: Iterable[list[list[N]]]) -> dict[N, list[N]]:
    """Return the covers that chains of lists state. A chain of one list only states its nodes."""
    covers: dict[N, list[N]] = {}
    for chain in chains:
        for part in chain:
            for a in part:
                if len(chain) == 1 and a in covers:
                    raise OrderError(f"{a} is named twice; name it once")
                covers.setdefault(a, [])
            if len({*part}) < len(part):
                raise OrderError(f"{next(a for a in part if part.count(a) > 1)} is named twice; name it once")
        for lower, upper in pairwise(chain):
            for a, b in product(lower, upper):
                covers[a].append(b)
    return covers
