"""The colours of drawings and tables: distinct for the colour-blind, on light and dark ground, and in print.

They are the colours of Okabe and Ito (jfly.uni-koeln.de/color), made for the colour-blind. No information
depends only on colour: kinds are also rows and letters, lost and dropped parts are also dashed, links are
also dotted.
"""

from __future__ import annotations

KIND_COLOURS = {
    "bool": "#cc79a7", "unsigned": "#56b4e9", "signed": "#0072b2", "float": "#009e73", "complex": "#e69f00",
    "": "#808080",
}  # fmt: skip
CELL_TINT_BY_KIND = {kind: colour for kind, colour in KIND_COLOURS.items() if kind}
ADDED_COLOUR = "#0072b2"  # parts that only a second system has
ACCENT_COLOUR = "#d55e00"  # ties, refusals, losses, dropped relations
WIDE_COLOUR = "#d55e00"  # floats that are wider than they were given, in programs
NODE_FILL_OPACITY = 0.2
