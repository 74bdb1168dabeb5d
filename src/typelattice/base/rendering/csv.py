"""Grids as comma-separated values (RFC 4180), the labels in the first row and column."""
from __future__ import annotations

import re

from typelattice.base.rendering.grid import Grid, printable

# A spreadsheet computes cells that begin with these signs; an apostrophe makes the cell a text
# (owasp.org/www-community/attacks/CSV_Injection). Numbers are safe, and so is a single sign, or one before a
# bar.
FORMULA_PATTERN = re.compile(r"(?!-?[0-9.]+\Z|-\Z|-\|\w+\*?\Z)\s*[-=+@]")


def csv(grid: Grid) -> str:
    """Return a grid's labels and cells, without title and notes."""
    head = [grid.corner, *(c.text for c in grid.columns)]
    body = [[label.text, *(c.text for c in row)] for label, row in zip(grid.rows, grid.cells, strict=True)]
    return "\n".join(",".join(map(_escape_field, row)) for row in [head, *body])


def _escape_field(text: str) -> str:
    """Escape a field so that it cannot control a terminal or become a spreadsheet's formula."""
    text = "\n".join(map(printable, text.split("\n")))
    text = f"'{text}" if FORMULA_PATTERN.match(text) else text
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n\r') else text
