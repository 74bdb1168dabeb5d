"""Two systems in one drawing: what the second adds to the order of the first, and what it drops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from typelattice.base.rendering.diagram import Arrow, Diagram, Vertex
from typelattice.core.dtypes.dtypes import DType, Node, sort_key
from typelattice.core.dtypes.order import Order
from typelattice.core.engine.rules import Rules
from typelattice.show.drawings.orders import ROW_NUMBERS_AND_KINDS, make_vertex, restrict_order
from typelattice.study.tables.table_labels import describe_left_out
from typelattice.study.tables.tables import small_nodes

MAX_LISTED_RELATIONS = 6  # relations that are written out


def comparison_diagram(
    first_rules: Rules, second_rules: Rules, small: bool = False, codes: str = "bits"
) -> Diagram:
    """Draw the arrows of `second_rules`, those that it `added`, and those of `first_rules` that it `dropped`.

    An arrow is added if `first_rules` does not imply it. If `second_rules` puts a node between two of
    `first_rules`, nothing is dropped: the relation still holds, with two arrows.
    """
    nodes = list(dict.fromkeys((*first_rules.order.nodes, *second_rules.order.nodes)))
    orders_with_small_nodes = [(s.order, small_nodes(s)) for s in (first_rules, second_rules)]
    hidden = (
        []
        if small
        else [n for n in nodes if all(n in few for order, few in orders_with_small_nodes if n in order)]
    )
    hidden = [] if len(hidden) == sum(isinstance(n, DType) for n in nodes) else hidden
    shown = [n for n in nodes if n not in hidden]
    orders = [
        restrict_order(s.order, [n for n in shown if n in s.order]) for s in (first_rules, second_rules)
    ]
    first, second = orders
    arrows = [
        Arrow(str(x), str(y), () if _is_below(first, x, y) else ("added",))
        for x in second.nodes
        for y in second.covers(x)
    ]
    arrows += [
        Arrow(str(x), str(y), ("dropped",))
        for x in first.nodes
        for y in first.covers(x)
        if not _is_below(second, x, y)
    ]
    vertices = tuple(make_vertex(n, codes, _node_marks(n, first, second)) for n in shown)
    title = f"{second_rules.name} beside {first_rules.name}: what it adds, what it drops"
    notes = (
        _legend_of_signs(first_rules.name, second_rules.name, vertices, arrows),
        *_describe_changes(first_rules.name, second_rules.name, first, second),
    )
    return Diagram(
        title,
        vertices,
        tuple(arrows),
        (),
        ROW_NUMBERS_AND_KINDS,
        (*filter(None, notes), *describe_left_out(tuple(d for d in hidden if isinstance(d, DType)))),
    )


def _legend_of_signs(
    first_name: str, second_name: str, vertices: Sequence[Vertex], arrows: Sequence[Arrow]
) -> str:
    """Return the signs of the drawing that occur in it."""
    marks = {
        mark
        for marks in (*(v.marks for v in vertices), *(first_name.marks for first_name in arrows))
        for mark in marks
    }
    said = [f"blue and thick: {second_name} alone has it"] if "added" in marks else []
    said += [f"orange and dashed: {first_name} alone has it"] if "dropped" in marks else []
    return "; ".join(said)


def _describe_changes(
    first_name: str, second_name: str, first_order: Order[Node], second_order: Order[Node]
) -> Iterator[str]:
    """Describe the changes from one order to the other, counted over all relations, arrows or not."""
    common = [n for n in first_order.nodes if n in second_order]
    first_relations, second_relations = (
        {(x, y) for x in common for y in order.bounds(x) if y in common}
        for order in (first_order, second_order)
    )
    common_relations = len(first_relations & second_relations) - len(common)
    yield f"{len(common)} nodes in both; of their relations {common_relations} in both"
    for order, other, verb, relations in (
        (second_order, first_order, f"{second_name} adds", second_relations - first_relations),
        (first_order, second_order, f"{second_name} drops", first_relations - second_relations),
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


def _node_marks(node: Node, first_order: Order[Node], second_order: Order[Node]) -> tuple[str, ...]:
    return (
        ()
        if node in first_order and node in second_order
        else ("dropped",)
        if node in first_order
        else ("added",)
    )


def _is_below(order: Order[Node], x: Node, y: Node) -> bool:
    return x in order and y in order and order.le(x, y)
