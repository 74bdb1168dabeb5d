"""Demands on an order: each has a name, and counts the relations or results that violate it."""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from typelattice.core.dtypes.dtypes import DType, Kind, Node, WeakNode
from typelattice.core.dtypes.order import Order
from typelattice.core.engine.system import System
from typelattice.core.losses.loss import Loss, loss
from typelattice.study.laws.jep9407_criteria import WIDE_BITS, part_width

FLOAT_CATEGORY = Kind.FLOAT.category


@dataclass(frozen=True, slots=True)
class NodeFacts:
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

    `breaks_result(a, b, c)`: pairs a + b with the join c; `breaks_relation(a, b)`: relations added;
    `required_relations`: those that are not there; `counts_unjoined`: pairs without a join;
    `counts_unsettled`: pairs with several lowest bounds that no tie settles; `counts_covers`: arrows added.
    """

    name: str
    description: str
    breaks_result: Callable[[NodeFacts, NodeFacts, NodeFacts], bool] | None = None
    breaks_relation: Callable[[NodeFacts, NodeFacts], bool] | None = None
    required_relations: frozenset[tuple[Node, Node]] = frozenset()
    counts_unjoined: bool = False
    counts_unsettled: bool = False
    counts_covers: bool = False
    weight: int = 1


_width = cache(part_width)


def list_node_facts(system: System) -> tuple[NodeFacts, ...]:
    """Return the nodes of its order, weak ones with the default dtypes of the system."""
    return tuple(NodeFacts(n, dtype_of_node(n, system)) for n in system.order.nodes)


def dtype_of_node(node: Node, system: System) -> DType | None:
    """Return the dtype with a node's facts: its own, or the default of its kind."""
    return node if isinstance(node, DType) else node.dtype or system.defaults.get(node.kind)


def is_widened(a: NodeFacts, b: NodeFacts, c: NodeFacts) -> bool:
    """Return True if c is wider than a and b; False if a width is unknown."""
    return all(x.width is not None and c.width is not None and c.width > x.width for x in (a, b))


def loss_between(a: NodeFacts, b: NodeFacts) -> Loss:
    """Return what a cast from a to b can lose; nothing if one of them has no dtype."""
    return loss(a.dtype, b.dtype) if a.dtype and b.dtype else Loss()


def _cast_demand(
    is_lossy: Callable[[NodeFacts, NodeFacts], bool],
) -> Callable[[NodeFacts, NodeFacts, NodeFacts], bool]:
    """Return a test for results with a bad cast. A weak operand may take the other's dtype freely."""
    return lambda a, b, c: (
        (is_lossy(a, c) and not _gives_way(a, b, c)) or (is_lossy(b, c) and not _gives_way(b, a, c))
    )


def _gives_way(a: NodeFacts, b: NodeFacts, c: NodeFacts) -> bool:
    return isinstance(a.node, WeakNode) and c.node is b.node and a.category <= c.category


def _wraps_integer(a: NodeFacts, c: NodeFacts) -> bool:
    return c.category < FLOAT_CATEGORY and (loss_between(a, c).magnitude or loss_between(a, c).sign)


def _overflows_float(a: NodeFacts, c: NodeFacts) -> bool:
    return c.category >= FLOAT_CATEGORY and loss_between(a, c).magnitude


def _is_narrower(a: NodeFacts, c: NodeFacts) -> bool:
    return a.width is not None and c.width is not None and c.width < a.width


def _leaves_subset(a: NodeFacts, c: NodeFacts) -> bool:
    strong = isinstance(a.node, DType) and isinstance(c.node, DType)
    return strong and a.node.kind is c.node.kind and bool(loss_between(a, c))


def _turns_weak(a: NodeFacts, b: NodeFacts, c: NodeFacts) -> bool:
    """Return True if an inexact array and a weak operand have a weak result."""
    strong = [x.node for x in (a, b) if isinstance(x.node, DType) and x.category >= FLOAT_CATEGORY]
    return len(strong) == 1 and isinstance(c.node, WeakNode)


def _float_does_not_win(a: NodeFacts, b: NodeFacts, c: NodeFacts) -> bool:
    low, high = sorted((a, b), key=lambda x: x.category)
    return low.category == 1 and high.category >= FLOAT_CATEGORY and c.node is not high.node


DEMANDS = {d.name: d for d in (
    Demand("lattice", "pairs without a join", counts_unjoined=True),
    Demand("single", "pairs with several lowest bounds that no tie settles", counts_unsettled=True),
    Demand(
        "component", "results that drop a component: imaginary parts, fractions",
        _cast_demand(lambda a, c: a.category > c.category),
    ),
    Demand("overflow", "results at an integer that wraps", _cast_demand(_wraps_integer)),
    Demand(
        "magnitude", "results at a float too small for some finite values", _cast_demand(_overflows_float),
    ),
    Demand(
        "precision", "results that lose precision", _cast_demand(lambda a, c: loss_between(a, c).precision),
    ),
    Demand(
        "subset", "results at a dtype of the same kind that does not hold all values",
        _cast_demand(_leaves_subset),
    ),
    Demand(
        "kind", "results of a higher kind than both operands'",
        lambda a, b, c: c.category > max(a.category, b.category),
    ),
    Demand("width", "results wider than both operands", is_widened),
    Demand(
        "width64", "64-bit results without a 64-bit operand",
        lambda a, b, c: is_widened(a, b, c) and (c.width or 0) >= WIDE_BITS,
    ),
    Demand("narrow", "results narrower than an operand", _cast_demand(_is_narrower)),
    Demand("weak", "inexact arrays that turn weak with a weak operand", _turns_weak),
    Demand("deference", "an integer and a float that do not join at the float", _float_does_not_win),
    Demand(
        "inexact", "relations added that lose precision",
        breaks_relation=lambda a, b: loss_between(a, b).precision,
    ),
    Demand("relations", "relations added", breaks_relation=lambda a, b: True),
    Demand("covers", "arrows added", counts_covers=True),
)}  # fmt: skip


def count_violations(
    demands: Sequence[Demand],
    order: Order[Node],
    given_order: Order[Node],
    facts_of_node: Mapping[Node, NodeFacts],
    ties: Collection[frozenset[Node]] = (),
) -> dict[str, int]:
    """Count how often an order violates each demand, multiplied by the demand's weight.

    `given_order` is the order that it completes, `ties` are the lowest bounds that ties settle.
    """
    return {
        d.name: d.weight * sum(1 for _ in list_violations(d, order, given_order, facts_of_node, ties))
        for d in demands
    }


def list_violations(
    demand: Demand,
    order: Order[Node],
    given_order: Order[Node],
    facts_of_node: Mapping[Node, NodeFacts],
    ties: Collection[frozenset[Node]],
) -> Iterator[tuple[Node, ...]]:
    """Yield each violation of a demand: a pair or relation (a, b), or (a, b, c) for a + b = c."""
    for a, b in combinations(order.nodes, 2):
        c = order.join(a, b)
        if c is None and demand.counts_unjoined:
            yield a, b
        if demand.counts_unsettled and c is None:
            bounds = frozenset(order.minimal_bounds(a, b))
            if bounds and bounds not in ties:
                yield a, b
        if (
            c is not None
            and demand.breaks_result
            and demand.breaks_result(facts_of_node[a], facts_of_node[b], facts_of_node[c])
        ):
            yield a, b, c
        for low, high in (a, b), (b, a):
            if order.le(low, high) and not given_order.le(low, high):
                if demand.breaks_relation and demand.breaks_relation(facts_of_node[low], facts_of_node[high]):
                    yield low, high
                if demand.counts_covers and high in order.covers(low):
                    yield low, high
    yield from ((a, b) for a, b in demand.required_relations if not order.le(a, b))
