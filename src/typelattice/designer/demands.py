"""Demands on an order: each has a name, and counts the relations or results that violate it."""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from typelattice.engine.system import System
from typelattice.facts.dtypes import DType, Kind, Node, Weak
from typelattice.facts.loss import Loss, loss
from typelattice.facts.order import Order
from typelattice.study.criteria import WIDE, width

FLOAT = Kind.FLOAT.category


@dataclass(frozen=True, slots=True)
class Member:
    """A node and the dtype with its facts, or None if a weak node has no default dtype."""

    node: Node
    dtype: DType | None

    @property
    def width(self) -> int | None:
        """The bits of a number, or of one part of a complex number, or None for an unknown dtype."""
        return _width(self.dtype) if self.dtype else None

    @property
    def category(self) -> int:
        return self.node.kind.category


@dataclass(frozen=True, slots=True)
class Demand:
    """A word for what an order should be. It counts, `weight` each:

    `result(a, b, c)`: pairs a + b with the join c; `relation(a, b)`: relations added; `wanted`: relations
    that are not there; `unjoined`: pairs without a join; `several`: pairs with several lowest bounds that no
    tie settles; `uncovered`: arrows added.
    """

    name: str
    counts: str
    result: Callable[[Member, Member, Member], bool] | None = None
    relation: Callable[[Member, Member], bool] | None = None
    wanted: frozenset[tuple[Node, Node]] = frozenset()
    unjoined: bool = False
    several: bool = False
    uncovered: bool = False
    weight: int = 1


_width = cache(width)


def members(system: System) -> tuple[Member, ...]:
    """Return the nodes of its order, weak ones with the default dtypes of the system."""
    return tuple(Member(n, dtype_or_default(n, system)) for n in system.order.nodes)


def dtype_or_default(node: Node, system: System) -> DType | None:
    """Return the dtype with a node's facts: its own, or the default of its kind."""
    return node if isinstance(node, DType) else node.dtype or system.defaults.get(node.kind)


def is_widened(a: Member, b: Member, c: Member) -> bool:
    """Return True if c is wider than a and b; False if a width is unknown."""
    return all(x.width is not None and c.width is not None and c.width > x.width for x in (a, b))


def lost(a: Member, b: Member) -> Loss:
    """Return what a cast from a to b can lose; nothing if one of them has no dtype."""
    return loss(a.dtype, b.dtype) if a.dtype and b.dtype else Loss()


def _cast(bad: Callable[[Member, Member], bool]) -> Callable[[Member, Member, Member], bool]:
    """Return a test for results with a bad cast. A weak operand may take the other's dtype freely."""
    return lambda a, b, c: (bad(a, c) and not _yields(a, b, c)) or (bad(b, c) and not _yields(b, a, c))


def _yields(a: Member, b: Member, c: Member) -> bool:
    return isinstance(a.node, Weak) and c.node is b.node and a.category <= c.category


def _wraps(a: Member, c: Member) -> bool:
    return c.category < FLOAT and (lost(a, c).magnitude or lost(a, c).sign)


def _bursts(a: Member, c: Member) -> bool:
    return c.category >= FLOAT and lost(a, c).magnitude


def _narrower(a: Member, c: Member) -> bool:
    return a.width is not None and c.width is not None and c.width < a.width


def _subset(a: Member, c: Member) -> bool:
    strong = isinstance(a.node, DType) and isinstance(c.node, DType)
    return strong and a.node.kind is c.node.kind and bool(lost(a, c))


def _submits(a: Member, b: Member, c: Member) -> bool:
    """Return True if an inexact array and a weak operand have a weak result."""
    strong = [x.node for x in (a, b) if isinstance(x.node, DType) and x.category >= FLOAT]
    return len(strong) == 1 and isinstance(c.node, Weak)


def _undeferring(a: Member, b: Member, c: Member) -> bool:
    low, high = sorted((a, b), key=lambda x: x.category)
    return low.category == 1 and high.category >= FLOAT and c.node is not high.node


DEMANDS = {d.name: d for d in (
    Demand("lattice", "pairs without a join", unjoined=True),
    Demand("single", "pairs with several lowest bounds that no tie settles", several=True),
    Demand(
        "component", "results that drop a component: imaginary parts, fractions",
        _cast(lambda a, c: a.category > c.category),
    ),
    Demand("overflow", "results at an integer that wraps", _cast(_wraps)),
    Demand("magnitude", "results at a float too small for some finite values", _cast(_bursts)),
    Demand("precision", "results that lose precision", _cast(lambda a, c: lost(a, c).precision)),
    Demand("subset", "results at a dtype of the same kind that does not hold all values", _cast(_subset)),
    Demand(
        "kind", "results of a higher kind than both operands'",
        lambda a, b, c: c.category > max(a.category, b.category),
    ),
    Demand("width", "results wider than both operands", is_widened),
    Demand(
        "width64", "64-bit results without a 64-bit operand",
        lambda a, b, c: is_widened(a, b, c) and (c.width or 0) >= WIDE,
    ),
    Demand("narrow", "results narrower than an operand", _cast(_narrower)),
    Demand("weak", "inexact arrays that turn weak with a weak operand", _submits),
    Demand("deference", "an integer and a float that do not join at the float", _undeferring),
    Demand("inexact", "relations added that lose precision", relation=lambda a, b: lost(a, b).precision),
    Demand("relations", "relations added", relation=lambda a, b: True),
    Demand("covers", "arrows added", uncovered=True),
)}  # fmt: skip


def tally(
    demands: Sequence[Demand],
    order: Order[Node],
    given: Order[Node],
    of: Mapping[Node, Member],
    ties: Collection[frozenset[Node]] = (),
) -> dict[str, int]:
    """Count how often an order violates each demand, multiplied by the demand's weight.

    `given` is the order that it completes, `ties` are the lowest bounds that ties settle.
    """
    return {d.name: d.weight * sum(1 for _ in shortfalls(d, order, given, of, ties)) for d in demands}


def shortfalls(
    d: Demand,
    order: Order[Node],
    given: Order[Node],
    of: Mapping[Node, Member],
    ties: Collection[frozenset[Node]],
) -> Iterator[tuple[Node, ...]]:
    """Yield each violation of a demand: a pair or relation (a, b), or (a, b, c) for a + b = c."""
    for a, b in combinations(order.nodes, 2):
        c = order.join(a, b)
        if c is None and d.unjoined:
            yield a, b
        if d.several and c is None:
            bounds = frozenset(order.minimal_bounds(a, b))
            if bounds and bounds not in ties:
                yield a, b
        if c is not None and d.result and d.result(of[a], of[b], of[c]):
            yield a, b, c
        for low, high in (a, b), (b, a):
            if order.le(low, high) and not given.le(low, high):
                if d.relation and d.relation(of[low], of[high]):
                    yield low, high
                if d.uncovered and high in order.covers(low):
                    yield low, high
    yield from ((a, b) for a, b in d.wanted if not order.le(a, b))
