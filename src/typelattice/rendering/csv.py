"""Grids as comma-separated values (RFC 4180), the labels in the first row and column."""
from __future__ import annotations

from typelattice.rendering.grid import Grid


def csv(grid: Grid) -> str:
    """A grid's labels and cells; no title, no notes."""
    head = [grid.corner, *(c.text for c in grid.columns)]
    body = [[label.text, *(c.text for c in row)] for label, row in zip(grid.rows, grid.cells, strict=True)]
    return "\n".join(",".join(map(_field, row)) for row in [head, *body])


def _field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n\r') else text
