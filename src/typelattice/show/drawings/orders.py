"""The order of a system as a diagram: kinds are rows, ties and refusals are marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import combinations

from typelattice.base.errors.error_texts import join_words
from typelattice.base.rendering.diagram import Arrow, Diagram, Link, Vertex
from typelattice.core.dtypes.dtypes import DType, Kind, Node, sort_key
from typelattice.core.dtypes.order import Order
from typelattice.core.engine.rules import Rules, UnorderedPair
from typelattice.core.explanations.promotion_in_english import name_node
from typelattice.study.tables.table_labels import describe_left_out, short_label
from typelattice.study.tables.tables import small_nodes

ROW_NUMBERS_AND_KINDS = ((0, "complex"), (1, "float"), (2, "signed"), (3, "unsigned"))
MIDDLE_ROW = 2.5  # rows of bools, and of integers without a sign or a width: between the rows of integers
MAX_DRAWN_LINKS = 8  # dotted lines in a drawing; a note replaces a greater number
MAX_SEARCHED_PAIRS = 50_000  # pairs of nodes to search for ties


def order_diagram(
    system: Rules, small: bool, codes: str, extra_nodes: Iterable[Node] = ()
) -> Diagram:
    """Draw the order of a system; dtypes of less than 8 bits only with `small` or in `extra_nodes`.

    `codes`: labels such as i8 (bits), i1 (bytes, as NumPy counts), or int8 (names).
    """
    shown, hidden = _choose_nodes(system, small, {*extra_nodes})
    order = restrict_order(system.order, shown)
    links = list(_yield_bound_links(system, order))
    refusing = {n for pair in system.refusals if not pair & {*hidden} for n in pair}
    vertices = tuple(make_vertex(n, codes, ("refuses",) if n in refusing else ()) for n in order.nodes)
    arrows = tuple(Arrow(str(a), str(b)) for a in order.nodes for b in order.covers(a))
    shown_links = links if len(links) <= MAX_DRAWN_LINKS else []
    notes = [
        *(f"{SIGN_BY_LINK_MARK[link.mark]} {link.tooltip}" for link in shown_links),
        *_count_links(links[len(shown_links) :]),
    ]
    return Diagram(
        f"{system.name}: {system.title}", vertices, arrows, tuple(shown_links), ROW_NUMBERS_AND_KINDS,
        (*notes, *_describe_other_rules(system, {*hidden}), *describe_left_out(hidden)),
    )  # fmt: skip


SIGN_BY_LINK_MARK = {"tie": "=", "fork": "×"}


def make_vertex(node: Node, codes: str = "bits", marks: tuple[str, ...] = ()) -> Vertex:
    """Return a node of an order as a vertex of a diagram."""
    weak = () if isinstance(node, DType) else ("weak",)
    return Vertex(
        str(node),
        node_code(node, codes),
        row_of_node(node),
        node.kind.value,
        (*weak, *marks),
        _node_title(node),
    )


def node_code(node: Node, codes: str) -> str:
    """Return the name of a node in a drawing."""
    if isinstance(node, DType):
        return short_label(node, codes)
    return name_node(node) if codes == "names" else str(node)


def row_of_node(node: Node) -> float:
    """Return the row of a node, by its kind."""
    if node.kind is Kind.BOOL or (node.kind.category == 1 and not isinstance(node, DType)):
        return MIDDLE_ROW
    return next(i for i, kind in ROW_NUMBERS_AND_KINDS if kind == node.kind.value)


def restrict_order(order: Order[Node], shown_nodes: Sequence[Node]) -> Order[Node]:
    """Return the order among some of its nodes: an arrow joins two if none of them is between these."""
    if len(shown_nodes) == len(order.nodes):
        return order
    kept = {*shown_nodes}
    covers: dict[Node, list[Node]] = {}
    for a in shown_nodes:
        above = [b for b in order.bounds(a) if b in kept and b is not a]
        covers[a] = [b for b in above if not any(c is not b and order.le(c, b) for c in above)]
    return Order(covers)


def _choose_nodes(system: Rules, small: bool, extra_nodes: set[Node]) -> tuple[list[Node], tuple[DType, ...]]:
    """Return the nodes to draw, and the dtypes left out."""
    nodes = system.order.nodes
    few = small_nodes(system)
    narrow = [n for n in nodes if isinstance(n, DType) and n in few]
    dtypes = [n for n in nodes if isinstance(n, DType)]
    if small or len(narrow) == len(dtypes):
        return list(nodes), ()
    hidden = tuple(n for n in narrow if n not in extra_nodes)
    return [n for n in nodes if n not in hidden], tuple(sorted(hidden, key=sort_key))


def _node_title(node: Node) -> str:
    """Describe a node, for the title shown on demand."""
    if not isinstance(node, DType):
        return f"{node}: {name_node(node)}, which counts by its kind and gives way to a dtype beside it"
    said = [f"{node}: {node.kind}"]
    said += [f"{node.bits} bits"] if node.bits else []
    if node.precision:
        said.append(f"{node.precision} bits of precision")
    elif node.kind.category == 1 and node.max is not None:
        said.append(f"{node.min} to {node.max}")
    return ", ".join(said)


def _yield_bound_links(system: Rules, order: Order[Node]) -> Iterator[Link]:
    """Yield each set of lowest bounds of some pair, with the file's decision on it."""
    found: dict[tuple[tuple[Node, ...], Node | None], list[tuple[Node, Node]]] = {}
    some_bound_hidden = False  # True if a lowest bound is hidden
    nodes = order.nodes
    for a, b in combinations(nodes, 2) if len(nodes) ** 2 <= 2 * MAX_SEARCHED_PAIRS else iter(()):
        pair = frozenset((a, b))
        if order.join(a, b) is not None or pair in system.refusals or pair in system.overrides:
            continue
        lowest = system.order.minimal_bounds(a, b)
        shown = tuple(_sort_nodes(n for n in lowest if n in order))
        some_bound_hidden = some_bound_hidden or len(shown) < len(lowest)
        if len(shown) > 1:
            found.setdefault((shown, system.ties.get(frozenset(lowest))), []).append((a, b))
    verb_phrase = "are among the lowest bounds" if some_bound_hidden else "are the lowest bounds"
    for (shown, winner), pairs in found.items():
        more = len(pairs) - 1
        rest = f" and {more} pair{'s' * (more > 1)} more" if more else ""
        said = f"{join_words(shown)} {verb_phrase} of {pairs[0][0]} with {pairs[0][1]}{rest}"
        ids = tuple(map(str, shown))
        if winner is None:
            yield Link("fork", ids, None, f"{said}: the file chooses none, which is a refusal")
        elif winner in order:
            yield Link("tie", ids, str(winner), f"{said}: the file chooses {winner}")


def _count_links(links: Sequence[Link]) -> Iterator[str]:
    """Count the ties and refusals in one line each, if there are too many to draw."""
    for mark, said in (
        ("tie", "ties that the file decides"),
        ("fork", "several lowest bounds, and the file chooses none"),
    ):
        of = [link for link in links if link.mark == mark]
        if of:
            yield f"{SIGN_BY_LINK_MARK[mark]} {len(of)} times {said}, e.g. {of[0].tooltip}"


def _describe_other_rules(system: Rules, hidden_nodes: Set[Node]) -> Iterator[str]:
    """Describe what the file says besides its order: refusals, overrides, replacements.

    Hidden nodes are left out.
    """
    reasons: dict[str, list[UnorderedPair]] = {}
    for pair, reason in system.refusals.items():
        if not pair & hidden_nodes:
            reasons.setdefault(reason, []).append(pair)
    for reason, pairs in reasons.items():
        yield f"× refused outright, {_some(pairs)}: {reason}"
    outright = [pair for pair in system.overrides if not pair & hidden_nodes]
    if outright:
        target = system.overrides[outright[0]]
        yield f"differs from the drawing, {_some(outright)}: {target}, the file says outright"
    for counted, said in ((system.before, "on entry"), (system.after, "on the answer")):
        changes: dict[Node, list[Node]] = {}
        for a, b in counted.items():
            changes.setdefault(b, []).append(a)
        for b, sources in changes.items():
            verb = "become" if len(sources) > 1 else "becomes"
            yield f"{said} {join_words(_sort_nodes(sources))} {verb} {b}"


def _sort_nodes(nodes: Iterable[Node]) -> list[Node]:
    return sorted(nodes, key=sort_key)


def _some(pairs: Sequence[UnorderedPair]) -> str:
    first = " with ".join(map(str, _sort_nodes(pairs[0])))
    return first if len(pairs) == 1 else f"{len(pairs)} pairs such as {first}"
