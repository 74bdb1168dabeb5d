"""The routes of links: dotted lines between nodes that no arrow joins."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from typelattice.base.rendering.diagram import Link
from typelattice.base.rendering.layout.layered import PlacedDiagram, Point, Rect

MAX_LINK_LENGTH = 160.0  # pixels to the side; a longer line would cross the whole drawing
STUB_LENGTH = 14.0
LINK_BULGE = 26.0  # how far a link bends away from the nodes between its ends


def route_links(placed_diagram: PlacedDiagram) -> Iterator[tuple[Link, list[str], Point]]:
    """Return each link with the `d` of the paths between its nodes, and the position of its sign."""
    at = {n.vertex.id: n.rect for n in placed_diagram.nodes}
    for link in placed_diagram.diagram.links:
        ends = sorted(link.nodes, key=lambda v: (at[v].centre_y, at[v].centre_x))
        lines, middle = list[str](), (0.0, 0.0)
        for a, b in pairwise(ends):
            others = [r for v, r in at.items() if v not in (a, b)]
            if abs(at[a].centre_x - at[b].centre_x) > MAX_LINK_LENGTH:
                line, middle = _make_stubs(at[a], at[b], b == link.winner)
            else:
                line, middle = _route_between(at[a], at[b], others)
            lines.append(line)
        if link.winner:
            lines.append(_frame_winner(at[link.winner]))
        yield link, lines, middle


def _route_between(a: Rect, b: Rect, other_rects: list[Rect]) -> tuple[str, Point]:
    """Return a path from the upper node to the lower one, and its middle."""
    if abs(a.centre_y - b.centre_y) < 1:  # the nodes are next to each other, so draw an arc above them
        above_a, above_b = a.centre_y - a.height / 2, b.centre_y - b.height / 2
        top = min(above_a, above_b)
        peak = top - LINK_BULGE
        start_x, end_x = f"{a.centre_x:g}", f"{b.centre_x:g}"
        line = f"M {start_x} {above_a:g} C {start_x} {peak:g} {end_x} {peak:g} {end_x} {above_b:g}"
        return line, (round((a.centre_x + b.centre_x) / 2, 1), round(top - LINK_BULGE * 0.75, 1))
    start, end = (a.centre_x, a.centre_y + a.height / 2), (b.centre_x, b.centre_y - b.height / 2)
    blocked = abs(a.centre_x - b.centre_x) < 1 and any(
        r.left < a.centre_x < r.right and start[1] < r.centre_y < end[1] for r in other_rects
    )
    if not blocked:
        middle = round((start[0] + end[0]) / 2, 1), round((start[1] + end[1]) / 2, 1)
        return f"M {start[0]:g} {start[1]:g} L {end[0]:g} {end[1]:g}", middle
    aside = max(a.right, b.right) + LINK_BULGE
    start_y, end_y = f"{a.centre_y:g}", f"{b.centre_y:g}"
    line = f"M {a.right:g} {start_y} C {aside:g} {start_y} {aside:g} {end_y} {b.right:g} {end_y}"
    return line, (round((max(a.right, b.right) + 3 * aside) / 4, 1), round((a.centre_y + b.centre_y) / 2, 1))


def _make_stubs(a: Rect, b: Rect, is_below: bool) -> tuple[str, Point]:
    """Return two short ends instead of a path, and the position of the sign, at one of the ends.
    """
    end_a, end_b = a.centre_y + a.height / 2, b.centre_y - b.height / 2
    line = f"M {a.centre_x:g} {end_a:g} v {STUB_LENGTH:g} M {b.centre_x:g} {end_b:g} v {-STUB_LENGTH:g}"
    return line, (b.centre_x, end_b - STUB_LENGTH) if is_below else (a.centre_x, end_a + STUB_LENGTH)


def _frame_winner(rect: Rect) -> str:
    """Return a frame around the winning node."""
    left, top, wide, high = (
        rect.left - 4,
        rect.centre_y - rect.height / 2 - 4,
        rect.width + 8,
        rect.height + 8,
    )
    return f"M {left:g} {top:g} h {wide:g} v {high:g} h {-wide:g} z"
