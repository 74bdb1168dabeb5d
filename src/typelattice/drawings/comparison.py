"""Two systems in one drawing: what the second adds to the order of the first, and what it drops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from typelattice.drawings.orders import ROW_NUMBERS_AND_KINDS, restrict_order, vertex
from typelattice.engine.rules import Rules
from typelattice.facts.dtypes import DType, Node, sort_key
from typelattice.facts.order import Order
from typelattice.rendering.diagram import Arrow, Diagram, Vertex
from typelattice.study.table_labels import describe_left_out
from typelattice.study.tables import small_nodes

MAX_LISTED_RELATIONS = 6  # relations that are written out


def comparison_diagram(a: Rules, b: Rules, small: bool = False, codes: str = "bits") -> Diagram:
    """Draw the arrows of `b`, with those `added` that `a` does not imply, and those of `a` it `dropped`.

    If `b` puts a node between two of `a`, nothing is dropped: the relation still holds, with two arrows.
    """
    nodes = list(dict.fromkeys((*a.order.nodes, *b.order.nodes)))
    orders_with_small_nodes = [(s.order, small_nodes(s)) for s in (a, b)]
    hidden = (
        []
        if small
        else [n for n in nodes if all(n in few for order, few in orders_with_small_nodes if n in order)]
    )
    hidden = [] if len(hidden) == sum(isinstance(n, DType) for n in nodes) else hidden
    shown = [n for n in nodes if n not in hidden]
    orders = [restrict_order(s.order, [n for n in shown if n in s.order]) for s in (a, b)]
    first, second = orders
    arrows = [
        Arrow(str(x), str(y), () if _le(first, x, y) else ("added",))
        for x in second.nodes
        for y in second.covers(x)
    ]
    arrows += [
        Arrow(str(x), str(y), ("dropped",))
        for x in first.nodes
        for y in first.covers(x)
        if not _le(second, x, y)
    ]
    vertices = tuple(vertex(n, codes, _mark(n, first, second)) for n in shown)
    title = f"{b.name} beside {a.name}: what it adds, what it drops"
    notes = (
        _legend_of_signs(a.name, b.name, vertices, arrows),
        *_describe_changes(a.name, b.name, first, second),
    )
    return Diagram(
        title,
        vertices,
        tuple(arrows),
        (),
        ROW_NUMBERS_AND_KINDS,
        (*filter(None, notes), *describe_left_out(tuple(d for d in hidden if isinstance(d, DType)))),
    )


def _legend_of_signs(a: str, b: str, vertices: Sequence[Vertex], arrows: Sequence[Arrow]) -> str:
    """Return the signs of the drawing that occur in it."""
    marks = {mark for marks in (*(v.marks for v in vertices), *(a.marks for a in arrows)) for mark in marks}
    said = [f"blue and thick: {b} alone has it"] if "added" in marks else []
    said += [f"orange and dashed: {a} alone has it"] if "dropped" in marks else []
    return "; ".join(said)


def _describe_changes(a: str, b: str, first_order: Order[Node], second_order: Order[Node]) -> Iterator[str]:
    """Describe the changes from one order to the other, counted over all relations, arrows or not."""
    common = [n for n in first_order.nodes if n in second_order]
    first_relations, second_relations = (
        {(x, y) for x in common for y in order.bounds(x) if y in common}
        for order in (first_order, second_order)
    )
    common_relations = len(first_relations & second_relations) - len(common)
    yield f"{len(common)} nodes in both; of their relations {common_relations} in both"
    for order, other, verb, relations in (
        (second_order, first_order, f"{b} adds", second_relations - first_relations),
        (first_order, second_order, f"{b} drops", first_relations - second_relations),
    ):
        alone = [n for n in order.nodes if n not in other]
        changes = []
        if alone:
            named = " ".join(map(str, sorted(alone, key=sort_key)))
            changes.append(f"{len(alone)} node{'s' * (len(alone) > 1)}: {named}")
        if relations:
            # List arrows first: they are the most informative relations.
            covers = {(x, y) for x, y in relations if y in order.covers(x)}
            listed = sorted(relations, key=lambda r: (r not in covers, sort_key(r[0]), sort_key(r[1])))
            shown = ", ".join(f"{x} -> {y}" for x, y in listed[:MAX_LISTED_RELATIONS])
            more = (
                f" and {len(relations) - MAX_LISTED_RELATIONS} more"
                if len(relations) > MAX_LISTED_RELATIONS
                else ""
            )
            changes.append(f"{len(relations)} relation{'s' * (len(relations) > 1)}: {shown}{more}")
        yield f"{verb} {'; '.join(changes) or 'nothing'}"


def _mark(node: Node, first_order: Order[Node], second_order: Order[Node]) -> tuple[str, ...]:
    return (
        ()
        if node in first_order and node in second_order
        else ("dropped",)
        if node in first_order
        else ("added",)
    )


def _le(order: Order[Node], x: Node, y: Node) -> bool:
    return x in order and y in order and order.le(x, y)
