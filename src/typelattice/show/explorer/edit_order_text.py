"""Arrows added to and removed from the text of a system file; all other text is unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.dtypes.dtypes import Node
from typelattice.core.dtypes.order import Order
from typelattice.core.engine.system import System
from typelattice.core.system_files.positions import SCALAR_PATTERN, find_positions
from typelattice.core.system_files.reader import parse
from typelattice.core.system_files.system_origin import SystemOrigin
from typelattice.core.system_files.writer import node_code, reduce_order, write_chains

NamedCover = tuple[str, str]  # two nodes as texts: the lower, the upper


class EditError(TypelatticeError, ValueError):
    """An arrow that cannot be added or removed."""


def edit_covers(text: str, file: str, add: Sequence[NamedCover] = (), drop: Sequence[NamedCover] = ()) -> str:
    """Return the text of a system file with some arrows added and some removed.

    An arrow that the added ones imply is also removed, because a file must not state it twice. A node stays
    when its last arrow is removed. Raises EditError, or FormatError if the text is not a valid system.

    >>> print(edit_covers('name = "mine"\\norder = "i8 -> i16 -> f32"', "mine.toml", add=[("bf16", "f32")]))
    Traceback (most recent call last):
        ...
    typelattice.show.explorer.edit_order_text.EditError: mine has no node bf16; write it into the text first
    >>> print(edit_covers('name = "mine"\\norder = "i8 -> i16 -> f32"', "mine.toml", drop=[("i8", "i16")]))
    name = "mine"
    order = \"""
    i8; i16 -> f32
    \"""
    """
    system = parse(text, file)
    nodes = {name: node for node in system.order.nodes for name in (str(node), node_code(node))}
    added, dropped = ([_nodes_of_cover(system, nodes, pair) for pair in pairs] for pairs in (add, drop))
    order = system.order
    for a, b in added:
        if order.le(b, a):
            raise EditError(f"{b} lies below {a} already: with {a} -> {b} there would be a cycle")
        if order.le(a, b) and (a, b) not in dropped:
            raise EditError(f"{a} lies below {b} already; nothing to add")
    for a, b in dropped:
        if b not in order.covers(a):
            raise EditError(f"{a} -> {b} is not an arrow of {system.name}")
    remaining_covers = {(a, b) for a in order.nodes for b in order.covers(a)} - set(dropped)
    new_order = reduce_order(order.nodes, _transitive_closure(order.nodes, [*remaining_covers, *added]))
    removed_covers = {(a, b) for a in order.nodes for b in order.covers(a)} - _list_covers(new_order)
    new = [(a, b) for a, b in added if b in new_order.covers(a)]
    return _rewrite_lines(text, file, system, removed_covers, new)


def _nodes_of_cover(system: System, nodes: dict[str, Node], pair: NamedCover) -> tuple[Node, Node]:
    missing = next((name for name in pair if name not in nodes), None)
    if missing is not None:
        raise EditError(f"{system.name} has no node {missing[:40]}; write it into the text first")
    return nodes[pair[0]], nodes[pair[1]]


def _list_covers(order: Order[Node]) -> set[tuple[Node, Node]]:
    return {(a, b) for a in order.nodes for b in order.covers(a)}


def _transitive_closure(nodes: Iterable[Node], pairs: Sequence[tuple[Node, Node]]) -> list[tuple[Node, Node]]:
    """Return all relations that follow from pairs."""
    above: dict[Node, set[Node]] = {a: {b for x, b in pairs if x is a} for a in nodes}
    for via in above:
        for a in above:
            if via in above[a]:
                above[a] |= above[via]
    return [(a, b) for a in above for b in above[a]]


def _rewrite_lines(
    text: str,
    file: str,
    system: System,
    dropped_covers: set[tuple[Node, Node]],
    new_covers: Sequence[tuple[Node, Node]],
) -> str:
    """Return the text without the removed arrows, and with a line for each new one."""
    assert isinstance(system.origin, SystemOrigin)
    stated = system.origin.covers
    elsewhere = next(
        (line for line, pairs in stated.items() if line[0] != file and {*pairs} & dropped_covers), None
    )
    if elsewhere:
        there = f"{elsewhere[0]}, line {elsewhere[1]}"
        raise EditError(f"it is stated in {there}, which {file} extends; edit that")
    found = find_positions(text)
    start = found.value_offsets.get(("order",))
    if start is None:
        raise EditError(f'{file} has no order of its own; write one into the text first: order = "..."')
    literal = SCALAR_PATTERN.match(found.text, start)
    assert literal, "the text was read as a system before"
    rows = found.lines_of_rows("order")
    lines = dict(zip(rows, str(system.origin.definition.values["order"]).split("\n"), strict=False))
    named_nodes = {
        a
        for pairs in stated.values()
        for pair in pairs
        if pair[1] and pair not in dropped_covers
        for a in pair
    }
    named_nodes |= {a for pair in new_covers for a in pair}
    for line, pairs in stated.items():
        if line[0] == file and {*pairs} & dropped_covers:
            lines[line[1]] = _remaining_line(
                lines[line[1]], [p for p in pairs if p not in dropped_covers], named_nodes
            )
    body = [line for line in lines.values() if line.strip()]
    body += [f"{node_code(a)} -> {node_code(b)}" for a, b in new_covers]
    value = "\n".join(['"""', *body, '"""'])
    return found.text[:start] + value + found.text[literal.end() :]


def _remaining_line(
    line: str, pairs: Sequence[tuple[Node, Node | None]], left_nodes: set[Node | None]
) -> str:
    """Return the rest of a line, with its comment, and the nodes that no other line names."""
    comment = line.partition("#")[2]
    covers: dict[Node, list[Node]] = {}
    for a, b in pairs:
        if b is not None:
            covers.setdefault(a, []).append(b)
        elif a not in left_nodes:
            covers.setdefault(a, [])
            left_nodes.add(a)
    said = "; ".join(write_chains(Order(covers))) if covers else ""
    return f"{said}{'  #' + comment if comment else ''}"
