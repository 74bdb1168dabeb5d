"""The style sheet of drawings. Every class begins with `tl-`, so that the page around keeps its own style."""

from __future__ import annotations

from typelattice.base.rendering.colours import (
    ACCENT_COLOUR,
    ADDED_COLOUR,
    KIND_COLOURS,
    NODE_FILL_OPACITY,
    WIDE_COLOUR,
)

STYLE_RULES = {  # rules in a drawing
    "": "font: 13px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace",
    "text": "fill: currentColor; stroke: none",
    ".tl-label": "text-anchor: middle",
    ".tl-title": "font: 600 14px system-ui, 'DejaVu Sans', sans-serif",
    ".tl-note": "font: 12px system-ui, 'DejaVu Sans', sans-serif",
    ".tl-row": "font: 12px system-ui, 'DejaVu Sans', sans-serif; fill-opacity: 0.6",
    "rect": f"fill-opacity: {NODE_FILL_OPACITY}; stroke-width: 1.5",
    **{
        f".tl-{kind or 'plain'}": f"fill: {colour}; stroke: {colour}" for kind, colour in KIND_COLOURS.items()
    },
    ".tl-box": "fill-opacity: 0.06; stroke-opacity: 0.5; stroke-width: 1",
    ".tl-edge": "fill: none; stroke: currentColor; stroke-opacity: 0.55; stroke-width: 1.3",
    ".tl-head": "fill: currentColor; fill-opacity: 0.75; stroke: none",
    ".tl-weak rect": "stroke-dasharray: 4 2.5",
    ".tl-weak text": "font-style: italic",
    ".tl-link": (
        f"fill: none; stroke: {ACCENT_COLOUR}; stroke-width: 1.6; stroke-dasharray: 1.5 3; "
        "stroke-linecap: round"
    ),
    ".tl-sign": f"fill: {ACCENT_COLOUR}; stroke: none",
    ".tl-sign-text": ("fill: #fff; font: 700 11px system-ui, 'DejaVu Sans', sans-serif; text-anchor: middle"),
    ".tl-cross": "fill: none; stroke: #fff; stroke-width: 1.4; stroke-linecap: round",
    # an answer: its operands, the ways up, the join, and the bounds that lost
    ".tl-faded": "opacity: 0.28",
    ".tl-way .tl-edge": "stroke-opacity: 1; stroke-width: 3",
    ".tl-way .tl-head": "fill-opacity: 1",
    ".tl-operand rect": "fill-opacity: 0.45; stroke-width: 3",
    ".tl-join rect": "fill-opacity: 0.55; stroke-width: 4",
    ".tl-join text": "font-weight: 700",
    ".tl-bound": "opacity: 0.6",
    ".tl-lost": "opacity: 0.7",
    ".tl-lost rect": f"stroke: {ACCENT_COLOUR}; stroke-dasharray: 2 3; fill-opacity: 0.05",
    ".tl-lost text": "text-decoration: line-through",
    # two systems
    ".tl-added .tl-edge": f"stroke: {ADDED_COLOUR}; stroke-opacity: 1; stroke-width: 2.6",
    ".tl-added rect": f"stroke: {ADDED_COLOUR}; stroke-width: 2.6",
    ".tl-added .tl-head": f"fill: {ADDED_COLOUR}; fill-opacity: 1",
    ".tl-dropped .tl-edge": (
        f"stroke: {ACCENT_COLOUR}; stroke-opacity: 1; stroke-width: 1.8; stroke-dasharray: 5 4"
    ),
    ".tl-dropped rect": f"stroke: {ACCENT_COLOUR}; stroke-width: 1.8; stroke-dasharray: 5 4",
    ".tl-dropped .tl-head": f"fill: {ACCENT_COLOUR}; fill-opacity: 1",
    # programs
    ".tl-wide rect": f"fill: {WIDE_COLOUR}; stroke: {WIDE_COLOUR}; fill-opacity: 0.3",
    ".tl-culprit text": "font-weight: 700",
    "rect.tl-ring": f"fill: none; stroke: {WIDE_COLOUR}; stroke-width: 3",
    ".tl-cast .tl-edge": "stroke-dasharray: 6 3; stroke-opacity: 0.9",
    ".tl-lossy .tl-edge": f"stroke: {ACCENT_COLOUR}; stroke-opacity: 1; stroke-width: 2.2",
    ".tl-lossy .tl-head": f"fill: {ACCENT_COLOUR}; fill-opacity: 1",
    ".tl-refused rect": f"stroke: {ACCENT_COLOUR}; stroke-dasharray: 2 3",
}
SVG_STYLE_SHEET = (
    "".join(f"\n.tl-drawing {selector} {{ {said}; }}" for selector, said in STYLE_RULES.items()) + "\n"
)
# A drawing in its own file: black on white, or white on black as the reader's system is set; paper is white.
BACKGROUND_STYLE = """.tl-alone { color: #1a1a1a; }
.tl-alone .tl-ground { fill: #fff; fill-opacity: 1; stroke: none; }
@media (prefers-color-scheme: dark) {
 .tl-alone { color: #e6e6e6; }
 .tl-alone .tl-ground { fill: #161616; }
}
@media print {
 .tl-alone { color: #000; }
 .tl-alone .tl-ground { fill: #fff; }
}
"""
