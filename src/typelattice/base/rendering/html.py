"""Grids as HTML fragments, without scripts or other files."""
from __future__ import annotations

import re
from html import escape

from typelattice.base.rendering.colours import CELL_TINT_BY_KIND
from typelattice.base.rendering.grid import Cell, Grid, printable

# Notebooks align the cells of tables by rules with two classes. Our rules also name two, so that they win.
TABLE_STYLE_SHEET = """
.tl-grid { font: 13px/1.4 system-ui, sans-serif; overflow-x: auto; print-color-adjust: exact; }
.tl-grid table { border-collapse: collapse; font-family: ui-monospace, monospace; }
.tl-grid caption { text-align: left; padding: 0.3em 0; font: 600 14px system-ui, sans-serif; }
.tl-grid .tl-cells th, .tl-grid .tl-cells td { padding: 0.1em 0.4em; border: 1px solid #8884; }
.tl-grid .tl-cells th, .tl-grid .tl-cells td { text-align: center; white-space: nowrap; }
.tl-grid .tl-cells tbody th { text-align: right; }
.tl-grid .tl-refused { opacity: 0.5; }
.tl-grid .tl-weak { font-style: italic; } .tl-grid .tl-lossy { text-decoration: underline dotted; }
.tl-grid .tl-same { background: none; opacity: 0.4; }
.tl-grid .tl-differs { background: #f28e2b66; font-weight: 600; }
.tl-grid .tl-cells .tl-prose { white-space: normal; text-align: left; min-width: 20em; }
.tl-grid p { margin: 0.3em 0; }
"""
# Tints through which the page shows, light or dark; browsers print them only on request.
TABLE_STYLE_SHEET += "".join(
    f".tl-grid .tl-{kind} {{ background: {c}33; }}\n" for kind, c in CELL_TINT_BY_KIND.items()
)
MIN_SENTENCE_LENGTH = 40  # characters; a longer cell is a sentence, and its whole column may be folded


def html(grid: Grid) -> str:
    """Return a grid as a table within a div; every class begins with `tl-`."""
    prose = {j for row in grid.cells for j, c in enumerate(row) if len(c.text) > MIN_SENTENCE_LENGTH}
    head = "".join(_write_cell("th", c, j in prose, ' scope="col"') for j, c in enumerate(grid.columns))
    caption = f"<caption>{_escape_text(grid.title)}</caption>\n" if grid.title else ""
    notes = "".join(f"<p>{_escape_text(note)}</p>\n" for note in grid.notes)
    body = "\n".join(_write_row(label, row, prose) for label, row in zip(grid.rows, grid.cells, strict=True))
    head = f"<thead>\n<tr><td>{_escape_text(grid.corner)}</td>{head}</tr>\n</thead>"
    table = f'<table class="tl-cells">\n{caption}{head}\n<tbody>\n{body}\n</tbody>\n</table>'
    return f'<div class="tl-grid">\n<style>{TABLE_STYLE_SHEET}</style>\n{table}\n{notes}</div>'


def _write_row(label: Cell, row: tuple[Cell, ...], prose: set[int]) -> str:
    """Return a row; `prose` holds the columns of sentences."""
    cells = "".join(_write_cell("td", c, j in prose) for j, c in enumerate(row))
    return (
        "<tr>"
        + _write_cell("th", label, len(label.text) > MIN_SENTENCE_LENGTH, ' scope="row"')
        + cells
        + "</tr>"
    )


def _write_cell(tag: str, cell: Cell, is_prose: bool, extra_attributes: str = "") -> str:
    named = (*cell.marks, "prose") if is_prose else cell.marks
    marks = " ".join(f"tl-{re.sub('[^a-z0-9-]', '-', mark.lower())}" for mark in named)
    classes = f' class="{marks}"' if marks else ""
    title_text = cell.tooltip_text
    title = f' title="{_escape_text(title_text)}"' if title_text else ""
    return f"<{tag}{extra_attributes}{classes}{title}>{_escape_text(cell.text)}</{tag}>"


def _escape_text(text: str) -> str:
    return escape(printable(text))
