"""An answer in the drawing of its system: the ways up to the join, and the bounds that lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from typelattice.base.rendering.diagram import Link
from typelattice.base.rendering.layout.layered import PlacedDiagram, PlacedEdge, lay_out
from typelattice.core.dtypes.dtypes import Node
from typelattice.core.dtypes.order import Order
from typelattice.core.dtypes.order_paths import find_paths
from typelattice.core.engine.promotion import Promotion
from typelattice.core.explanations.promotion_in_english import (
    answer_text,
    explain_in_sections,
    question_of_promotion,
)
from typelattice.show.drawings.orders import order_diagram, restrict_order


def draw_highlighted(promotion: Promotion, small: bool, codes: str) -> PlacedDiagram:
    """Return the order of the answer's system, with the answer lit and the reason in words below.

    The marks of nodes are `operand`, `join`, `way` (between them), `lost` (a lowest bound that did not win),
    `bound` (an upper bound above the join), and `faded` for all others. The marks of edges are `way` and
    `faded`.
    """
    order = promotion.system.order
    operands, join = _entry_nodes(promotion), _join_node(promotion)
    lowest = order.minimal_bounds(*operands) if operands else ()
    ways = [next(find_paths(order, n, join), (n,)) for n in operands] if join else []
    also = {*operands, *lowest, *([join] if join else []), *(n for way in ways for n in way)}
    diagram = order_diagram(promotion.system, small, codes, also)
    drawn = lay_out(diagram)
    there = {str(n): n for n in order.nodes}
    shown = restrict_order(order, [there[v.id] for v in diagram.vertices])
    steps = {*_yield_way_arrows(shown, operands, join)}
    bounds = order.bounds(*operands) if operands else ()
    marks = {
        id: _node_marks(node, operands, join, lowest, bounds, {n for step in steps for n in step})
        for id, node in there.items()
    }

    def edge_marks(edge: PlacedEdge) -> tuple[str, ...]:
        pairs = {(there[a], there[b]) for a in edge.sources for b in edge.targets}
        return ("way",) if pairs & steps else ("faded",)

    links: Sequence[Link] = [k for k in diagram.links if {*k.nodes} == {*map(str, lowest)}]
    return drawn.replace_marks(
        f"{question_of_promotion(promotion)} under {promotion.system.name}: {answer_text(promotion)}",
        marks,
        edge_marks,
        links,
        describe_reason(promotion),
    )


def describe_reason(p: Promotion) -> list[str]:
    """Return the reason in words, one line for each fact."""
    said = [f"{heading}: {'; '.join(lines)}" for heading, lines in explain_in_sections(p)]
    return [*said, f"rule: {p.rule}"]


def _entry_nodes(promotion: Promotion) -> tuple[Node, ...]:
    """Return the nodes where the operands enter the order."""
    results: set[Node] = set()
    found: dict[Node, None] = {}
    for step in promotion.decisions:
        for n in step.nodes:
            if n in promotion.system.order and n not in results:
                found[n] = None
        if step.node is not None and step.node not in step.nodes:
            results.add(step.node)
    return tuple(found)


def _join_node(p: Promotion) -> Node | None:
    """Return the node where the operands join, before any operation."""
    return p.node if p.node is not None and p.node in p.system.order else None


def _yield_way_arrows(
    order: Order[Node], operands: Sequence[Node], join: Node | None
) -> Iterator[tuple[Node, Node]]:
    """Yield the arrows on the shortest way of each operand to the join."""
    for n in operands:
        way = next(find_paths(order, n, join), ()) if join is not None else ()
        yield from pairwise(way)


def _node_marks(
    node: Node, operands: Sequence[Node], join: Node | None, lowest: Sequence[Node], bounds: Sequence[Node],
    on_the_way: set[Node],
) -> tuple[str, ...]:  # fmt: skip
    if node is join:
        return ("operand", "join") if node in operands else ("join",)
    if node in operands:
        return ("operand",)
    if node in on_the_way:
        return ("way",)
    return ("lost",) if node in lowest else ("bound",) if node in bounds else ("faded",)
