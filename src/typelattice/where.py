"""Where a system file says what decided a promotion."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from typelattice.dtypes import Node
from typelattice.order import Order
from typelattice.promotion import Rule, Step
from typelattice.source import Line, Spec

Covers = Mapping[Line, Sequence[tuple[Node, Node | None]]]  # what each line of an order states; None: a node alone


def where(spec: Spec, covers: Covers, order: Order[Node], step: Step) -> Rule:
    """The lines behind a step. Of an order: lines whose loss changes the bounds, leaving out what can be left out."""
    text = spec.texts.get(step.key, spec.main)
    nodes = [n for n in step.nodes if n in order]
    if step.key == "order" and len(nodes) == len(step.nodes):
        bounds, lines = order.minimal_bounds(*nodes), list(covers)
        for line in covers:
            fewer = [x for x in lines if x != line]
            if fewer and _bounds_without(covers, fewer, nodes) != bounds:
                lines = fewer
        if _bounds_without(covers, lines, nodes) != bounds:
            return Rule(lines[0][0], "order", tuple(n for file, n in lines if file == lines[0][0]))
    at = text.line(step.key, step.entry)
    return Rule(text.file, step.key, (at,) if at else ())


def _bounds_without(covers: Covers, lines: Sequence[Line], nodes: Sequence[Node]) -> tuple[Node, ...] | None:
    """The minimal bounds of nodes in the order that is left without some lines; None if one of them is gone."""
    left: dict[Node, list[Node]] = {}
    for line, stated in covers.items():
        for a, b in stated if line not in lines else ():
            left.setdefault(a, []).extend([b] if b else [])
    order = Order(left)
    return order.minimal_bounds(*nodes) if all(n in order for n in nodes) else None
