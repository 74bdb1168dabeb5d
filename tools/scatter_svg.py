"""Plots numbered points with a key beside them, and lines that step from point to point, as SVG."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from textwrap import wrap

from typelattice.base.objects.frozen_classes import frozen
from typelattice.base.rendering.colours import NODE_FILL_OPACITY
from typelattice.base.rendering.grid import printable
from typelattice.base.rendering.style_sheet import BACKGROUND_STYLE

INK, LINES = "currentColor", ("#c0392b", "#2980b9", "#27ae60")
LEFT, TOP, WIDE, HIGH, KEY, ROW = 60, 30, 520, 420, 600, 17  # the frame, where the key begins, a line of text


Place = Callable[[float, float], tuple[float, float]]  # from counts to the picture


@frozen()
class Mark:
    """A point and what the key says of it; a hollow one stands for less than a full one."""

    x: int
    y: int
    text: str
    hollow: bool = False


@frozen()
class Steps:
    """A line through points, none better than another, that steps between them; everything left below it is
    empty."""

    points: Sequence[tuple[int, int]]
    text: str


def plot(title: str, x: str, y: str, marks: Sequence[Mark], lines: Sequence[Steps] = ()) -> str:
    """Draw the plane from the origin on; the axes count things, fewer of which is better."""
    key = [(0, line.text, colour) for line, colour in zip(lines, LINES, strict=False)]
    key += [
        (number if not i else 0, part, "")
        for number, m in enumerate(marks, 1)
        for i, part in enumerate(wrap(m.text, 84))
    ]
    points = [*((m.x, m.y) for m in marks), *(p for line in lines for p in line.points)]
    right, top = (max((p[i] for p in points), default=0) // 5 * 5 + 5 for i in (0, 1))

    def place(px: float, py: float) -> tuple[float, float]:
        return round(LEFT + px / right * WIDE, 1), round(TOP + HIGH - py / top * HIGH, 1)

    high = max(TOP + HIGH + 50, TOP + ROW * (len(key) + 1))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tl-alone" viewBox="0 0 1160 {high}" fill="{INK}"',
        ' font-family="DejaVu Sans, sans-serif" font-size="12">',
        f"<title>{_text(title)}</title>",
        f"<style>\n{BACKGROUND_STYLE}</style>",
        f'<rect class="tl-ground" width="1160" height="{high}" fill="#fff"/>',
        *_axes(x, y, right, top, place),
    ]
    for line, colour in zip(lines, LINES, strict=False):
        corners, before = list[tuple[float, float]](), None
        for px, py in sorted(line.points):
            corners += [place(px, py)] if before is None else [place(px, before), place(px, py)]
            before = py
        path = f"M {' L '.join(map(_pair, corners))}"
        parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{cx}" cy="{cy}" r="3.5" fill="{colour}"/>'
            for cx, cy in (place(*p) for p in line.points)
        ]
    for number, m in enumerate(marks, 1):
        cx, cy = place(m.x, m.y)
        opacity = 0 if m.hollow else NODE_FILL_OPACITY
        parts.append(f'<circle cx="{cx}" cy="{cy}" r="8" fill-opacity="{opacity}" stroke="{INK}"/>')
        centred = 'font-size="10" text-anchor="middle"'
        parts.append(f'<text x="{cx}" y="{cy + 3.5:g}" {centred}>{number}</text>')
    for line_number, (number, said, colour) in enumerate(key):
        at = TOP + 10 + ROW * line_number
        if colour:
            parts.append(f'<path d="M {KEY} {at - 4} h 14" stroke="{colour}" stroke-width="2"/>')
        if number:
            parts.append(f'<text x="{KEY + 14}" y="{at}" text-anchor="end">{number}</text>')
        parts.append(f'<text x="{KEY + 22}" y="{at}">{_text(said)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _axes(x: str, y: str, right: int, top: int, place: Place) -> list[str]:
    (x0, y0), (x1, y1) = place(0, 0), place(right, top)
    parts = [f'<path d="M {x0} {y1} V {y0} H {x1}" fill="none" stroke="{INK}"/>']
    for n in range(0, right + 1, 10 if right > 30 else 5):
        parts.append(f'<text x="{place(n, 0)[0]}" y="{y0 + 16}" text-anchor="middle">{n}</text>')
    for n in range(0, top + 1, 5):
        cy = place(0, n)[1]
        parts.append(f'<path d="M {x0} {cy} H {x1}" stroke="{INK}" stroke-opacity="0.1"/>')
        parts.append(f'<text x="{x0 - 6}" y="{cy + 4}" text-anchor="end">{n}</text>')
    middle = (y0 + y1) / 2
    parts.append(f'<text x="{(x0 + x1) / 2}" y="{y0 + 36}" text-anchor="middle">{_text(x)}</text>')
    turned = f'text-anchor="middle" transform="rotate(-90 18 {middle})"'
    parts.append(f'<text x="18" y="{middle}" {turned}>{_text(y)}</text>')
    return parts


def _pair(point: tuple[float, float]) -> str:
    return f"{point[0]} {point[1]}"


def _text(text: str) -> str:
    return escape(printable(text))
