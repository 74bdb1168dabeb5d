"""The front of a tuning as SVG: the error of each point against its bytes, both on logarithmic axes."""

from __future__ import annotations

from html import escape
from math import ceil, floor, inf, log10

from typelattice.base.rendering.colours import ACCENT_COLOUR, KIND_COLOURS
from typelattice.base.rendering.grid import printable
from typelattice.base.rendering.style_sheet import BACKGROUND_STYLE, SVG_STYLE_SHEET
from typelattice.repair.tune.tuning_result import Point, Tuning
from typelattice.tracing.report.formatting import size_text

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 420, 84, 56, 24, 56
POINT_COLOUR = KIND_COLOURS["float"]
LETTER_WIDTH = 7.0
NO_ERROR = 1e-17  # where a point without any error stands


def draw_front(tuning: Tuning) -> str:
    """Draw the points that were measured. One without a finite error is left out, and counted in a note."""
    points = [p for p in tuning.points if p.float_bytes and p.error < inf]
    errors = [max(p.error, NO_ERROR) for p in points] + [tuning.tolerance]
    low, high = floor(log10(min(errors))) - 0.5, ceil(log10(max(errors))) + 0.5
    sizes = [log10(p.float_bytes or 1) for p in points] or [0.0]
    left, right = min(sizes) - 0.1, max(sizes) + 0.1

    def x_of(size: float) -> float:
        return round(LEFT + (size - left) / (right - left) * (WIDTH - LEFT - RIGHT), 1)

    def y_of(error: float) -> float:
        share = (log10(max(error, NO_ERROR)) - low) / (high - low)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tl-drawing tl-alone" role="img" width="{WIDTH}"'
        f' height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">',
        "<title>error against the bytes of float arrays</title>",
        f"<style>{SVG_STYLE_SHEET}{BACKGROUND_STYLE}</style>",
        f'<rect class="tl-ground" width="{WIDTH}" height="{HEIGHT}"/>',
        text("tl-title", 16, 28, "error against the bytes of float arrays, both logarithmic"),
        f'<path class="tl-edge" d="M{LEFT},{TOP} V{HEIGHT - BOTTOM} H{WIDTH - RIGHT}"/>',
    ]
    step = max(1, (floor(high) - ceil(low)) // 8)
    for exponent in range(ceil(low), floor(high) + 1, step):
        parts.append(text("tl-row", 20, y_of(10.0**exponent) + 4, f"1e{exponent:+03d}"))
    line = y_of(tuning.tolerance)
    parts.append(
        f'<path d="M{LEFT},{line} H{WIDTH - RIGHT}" stroke="{ACCENT_COLOUR}" stroke-dasharray="5 4"'
        ' fill="none"/>'
    )
    parts.append(text("tl-note", LEFT + 6, line - 5, f"tolerance {tuning.tolerance:g}"))
    for p in points:
        parts += draw_point(p, x_of(log10(p.float_bytes or 1)), y_of(p.error), p.error <= tuning.tolerance)
    left_out = len(tuning.points) - len(points)
    note = "left is narrower, and lower is more exact"
    if any(p.error < NO_ERROR for p in points):
        note += f"; an error of 0 stands at {NO_ERROR:.0e}"
    parts.append(text("tl-note", LEFT, HEIGHT - 12, note + (f"; {left_out} not shown" if left_out else "")))
    return "\n".join([*parts, "</svg>"]) + "\n"


def draw_point(point: Point, x: float, y: float, is_within: bool) -> list[str]:
    """Draw one point: full if it keeps the tolerance, hollow if it misses it."""
    fill = POINT_COLOUR if is_within else "none"
    time = f", {point.seconds:.3g} s" if point.seconds is not None else ""
    said = f"point {point.number}: {point.label}, error {point.error:.1e}{time}"
    name = f"{point.number} {point.label}, {size_text(point.float_bytes or 0)}"
    anchor = -8 if x + LETTER_WIDTH * len(name) > WIDTH - RIGHT else 9
    style = ' text-anchor="end"' if anchor < 0 else ""
    return [
        f'<circle cx="{x}" cy="{y}" r="5" fill="{fill}" stroke="{POINT_COLOUR}" stroke-width="2">'
        f"<title>{escape(printable(said))}</title></circle>",
        f'<text class="tl-note" x="{x + anchor}" y="{y - 6}"{style}>{escape(printable(name))}</text>',
    ]


def text(style: str, x: float, y: float, said: str) -> str:
    """Write a line of text at a position."""
    return f'<text class="{style}" x="{x:g}" y="{y:g}">{escape(printable(said))}</text>'
