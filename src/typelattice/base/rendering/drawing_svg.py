"""Drawings as SVG, without scripts or other files; light, dark and printed.

The colours of fills and lines show on any background. Letters have the colour of the page around them. A
drawing in a file of its own has a white or black background, as the reader's system is set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

from typelattice.base.rendering.grid import fold_text, printable
from typelattice.base.rendering.layout.layered import (
    LINE_HEIGHT,
    NodeGroup,
    PlacedDiagram,
    PlacedEdge,
    PlacedNode,
    Point,
    Rect,
)
from typelattice.base.rendering.layout.link_routes import route_links
from typelattice.base.rendering.style_sheet import BACKGROUND_STYLE, SVG_STYLE_SHEET

MARGIN, TITLE_HEIGHT = 16.0, 30.0
ROW_NAME_WIDTH = 76.0
TITLE_LETTER_WIDTH, TITLE_LINE_HEIGHT = 8.8, 20.0
NOTE_HEIGHT, NOTE_LETTER_WIDTH = 17.0, 6.3  # the height of a line of notes, the width of a letter
MIN_NOTE_WIDTH, MIN_NOTE_WIDTH_DOWN = 480.0, 360.0  # a telephone shows the second one without reduction
BADGE_RADIUS = 8.0  # radius of a badge
RING_GAP = 5.0  # between a node and the ring around it


def write_svg(placed_diagram: PlacedDiagram, is_embedded: bool = False) -> str:
    """Write a drawing as SVG text; one that is embedded in a page has no background."""
    left = MARGIN + (ROW_NAME_WIDTH if placed_diagram.rows else 0)
    title, flows_down = placed_diagram.diagram.title, placed_diagram.diagram.flows_down
    wide = max(left + placed_diagram.width + MARGIN, MIN_NOTE_WIDTH_DOWN if flows_down else MIN_NOTE_WIDTH)
    titles = fold_text(title, int((wide - 2 * MARGIN) / TITLE_LETTER_WIDTH), "  ") if title else []
    notes = [row for note in placed_diagram.diagram.notes for row in _fold_note(note, wide - 2 * MARGIN)]
    top = MARGIN + (TITLE_HEIGHT + TITLE_LINE_HEIGHT * (len(titles) - 1) if title else 0)
    high = top + placed_diagram.height + MARGIN + (len(notes) * NOTE_HEIGHT + MARGIN / 2 if notes else 0)
    below = top + placed_diagram.height + MARGIN
    alone = "" if is_embedded else " tl-alone"
    size = f'width="{wide:g}" height="{high:g}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tl-drawing{alone}" role="img"',
        f' {size} viewBox="0 0 {wide:g} {high:g}">',
        f"<title>{_escape_text(title or f'a drawing of {len(placed_diagram.nodes)} nodes')}</title>",
        f"<style>{SVG_STYLE_SHEET}{'' if is_embedded else BACKGROUND_STYLE}</style>",
        "" if is_embedded else f'<rect class="tl-ground" {size}/>',
        *(
            _write_text_line("tl-title", MARGIN, MARGIN + 12 + TITLE_LINE_HEIGHT * i, line)
            for i, line in enumerate(titles)
        ),
        f'<g transform="translate({left:g} {top:g})">',
        *(
            _write_text_line("tl-row", -ROW_NAME_WIDTH, y + 4, name)
            for name, y in placed_diagram.rows
            if name
        ),
        *(_write_box(b) for b in placed_diagram.boxes),
        *(_draw_ring(n) for n in placed_diagram.nodes if "culprit" in n.vertex.marks),
        *(
            _write_edge(e, flows_down)
            for e in sorted(placed_diagram.edges, key=lambda e: "way" in e.arrow.marks)
        ),
        *(_write_node(n) for n in placed_diagram.nodes),
        *_write_links(placed_diagram),
        *(_draw_badge(e, flows_down) for e in placed_diagram.edges if e.arrow.badge),
        "</g>",
        *(
            _write_text_line("tl-note", MARGIN, below + NOTE_HEIGHT * i, note)
            for i, note in enumerate(notes, 1)
        ),
        "</svg>",
    ]
    return "\n".join(filter(None, parts)) + "\n"


def path_data(points: Sequence[Point], flows_down: bool = False) -> str:
    """Return the `d` of a path through some points: level at each point, straight between equal heights.

    A path that flows down is upright at each point.

    >>> path_data([(0, 0), (10, 0), (30, 8)])
    'M 0 0 H 10 C 20 0 20 8 30 8'
    """
    commands = f"M {points[0][0]:g} {points[0][1]:g}"
    for (x1, y1), (x2, y2) in pairwise(points):
        x, y = round((x1 + x2) / 2, 1), round((y1 + y2) / 2, 1)
        if flows_down:
            commands += f" V {y2:g}" if x1 == x2 else f" C {x1:g} {y:g} {x2:g} {y:g} {x2:g} {y2:g}"
        else:
            commands += f" H {x2:g}" if y1 == y2 else f" C {x:g} {y1:g} {x:g} {y2:g} {x2:g} {y2:g}"
    return commands


def _write_box(box: NodeGroup) -> str:
    return _write_rect(box.rect, f"tl-box tl-{box.kind or 'plain'}", 6)


def _write_node(node: PlacedNode) -> str:
    v, at = node.vertex, node.rect
    lines = v.label.split("\n")
    first = at.centre_y - (len(lines) - 1) * LINE_HEIGHT / 2 + 4.5
    texts = "".join(
        _write_text_line("tl-label", at.centre_x, first + i * LINE_HEIGHT, line)
        for i, line in enumerate(lines)
    )
    title = f"<title>{_escape_text(v.tooltip)}</title>" if v.tooltip else ""
    rounded = at.height / 2 if "weak" in v.marks else 5
    inner = _write_rect(at, f"tl-{v.kind or 'plain'}", rounded)
    corner = _draw_refusal_cross(at) if "refuses" in v.marks else ""
    attributes = f'class="tl-node{_css_classes(v.marks)}" data-id="{_escape_text(v.id)}"'
    return f"<g {attributes}>{title}{inner}{texts}{corner}</g>"


def _draw_ring(node: PlacedNode) -> str:
    """Draw a ring around the node at which something begins. Arrows are drawn over it."""
    at, rounded = node.rect, 5 + RING_GAP
    around = Rect(at.centre_x, at.centre_y, at.width + 2 * RING_GAP, at.height + 2 * RING_GAP)
    return _write_rect(around, "tl-ring", rounded)


def _draw_refusal_cross(rect: Rect) -> str:
    """Return a small cross at the upper right, for a node in a refused pair."""
    x, y = rect.right, rect.centre_y - rect.height / 2
    cross = f"M {x - 2:g} {y - 2:g} l 4 4 m -4 0 l 4 -4"
    return f'<circle class="tl-sign" cx="{x:g}" cy="{y:g}" r="4.5"/><path class="tl-cross" d="{cross}"/>'


def _write_edge(edge: PlacedEdge, flows_down: bool) -> str:
    *_, (x0, y0), (x, y) = edge.points
    back = 1 if (y0 <= y if flows_down else x0 <= x) else -1
    end = (x, y - back * 5) if flows_down else (x - back * 5, y)
    line = path_data((*edge.points[:-1], end), flows_down)
    head = f"M {x:g} {y:g} l " + (f"-4 {-back * 8:g} h 8 z" if flows_down else f"{-back * 8:g} -4 v 8 z")
    title = f"<title>{_escape_text(edge.arrow.tooltip)}</title>" if edge.arrow.tooltip else ""
    ends = (
        f'data-from="{_escape_text(" ".join(edge.sources))}" data-to="{_escape_text(" ".join(edge.targets))}"'
    )
    return (
        f'<g class="tl-arrow{_css_classes(edge.arrow.marks)}" {ends}>{title}'
        f'<path class="tl-edge" d="{line}"/>'
        f'<path class="tl-head" d="{head}"/></g>'
    )


def _draw_badge(edge: PlacedEdge, flows_down: bool) -> str:
    """Draw the badge of an arrow, before its head."""
    x, y = edge.points[-1]
    before = (x, y - 20) if flows_down else (x - 20, y)
    return _write_sign(*before, edge.arrow.badge)


def _write_sign(x: float, y: float, text: str) -> str:
    return (
        f'<circle class="tl-sign" cx="{x:g}" cy="{y:g}" r="{BADGE_RADIUS:g}"/>'
        f"{_write_text_line('tl-sign-text', x, y + 4, text)}"
    )


def _write_links(placed_diagram: PlacedDiagram) -> Iterator[str]:
    for link, lines, (x, y) in route_links(placed_diagram):
        title = f"<title>{_escape_text(link.tooltip)}</title>" if link.tooltip else ""
        drawn_lines = "".join(f'<path class="tl-link" d="{d}"/>' for d in lines)
        sign = _write_sign(x, y, SIGN_BY_BADGE.get(link.mark, "")) if link.mark in SIGN_BY_BADGE else ""
        yield f'<g class="tl-{link.mark}">{title}{drawn_lines}{sign}</g>'


SIGN_BY_BADGE = {"tie": "=", "fork": "×", "refusal": "×"}


def _write_rect(rect: Rect, classes: str, rounded: float) -> str:
    top = rect.centre_y - rect.height / 2
    return (
        f'<rect class="{classes}" x="{rect.left:g}" y="{top:g}" width="{rect.width:g}" '
        f'height="{rect.height:g}" rx="{rounded:g}"/>'
    )


def _write_text_line(style: str, x: float, y: float, text: str) -> str:
    return f'<text class="{style}" x="{x:g}" y="{y:g}">{_escape_text(text)}</text>'


def _css_classes(marks: Sequence[str]) -> str:
    return "".join(f" tl-{re.sub('[^a-z0-9-]', '-', mark.lower())}" for mark in marks)


def _fold_note(note: str, width: float) -> list[str]:
    return fold_text(note, int(width / NOTE_LETTER_WIDTH), "  ")


def _escape_text(text: str) -> str:
    return escape(printable(text))
