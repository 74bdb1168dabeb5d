"""Grids as Markdown tables (GitHub's)."""
from __future__ import annotations

import re

from typelattice.base.rendering.grid import Grid, printable

# not within a word such as float8_e5m2
MARKUP_PATTERN = re.compile(r"[\\`*\[\]<>|&#~]|(?<![^\W_])_|_(?![^\W_])")
AUTOLINK_PATTERN = re.compile(r":(?=//)|(?<=\bwww)\.")  # GitHub turns these into links by itself
GITHUB_MARKUP_PATTERN = re.compile(r"[$@]")  # formulas, people, addresses; a backslash would not help


def markdown(grid: Grid) -> str:
    """Return a grid as a table; cells marked `same` are dots."""
    cells = [["." if "same" in c.marks else _escape_markup(c.text) for c in row] for row in grid.cells]
    head = [_escape_markup(grid.corner), *(_escape_markup(c.text) for c in grid.columns)]
    body = [[f"**{_escape_markup(label.text)}**", *row] for label, row in zip(grid.rows, cells, strict=True)]
    table = "\n".join([_write_row(head), "|" + "---|" * len(head), *map(_write_row, body)])
    return "\n\n".join(
        filter(None, (_escape_markup(grid.title), table, *(_escape_markup(note) for note in grid.notes)))
    )


def _write_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape_markup(text: str) -> str:
    """Escape a text so that Markdown finds no markup in it."""
    text = AUTOLINK_PATTERN.sub(r"\\\g<0>", MARKUP_PATTERN.sub(r"\\\g<0>", printable(text)))
    return GITHUB_MARKUP_PATTERN.sub(r"<span>\g<0></span>", text)
