"""Grids as SVG, for places that show only pictures: coloured cells with their texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from typelattice.base.rendering.colours import ACCENT_COLOUR, CELL_TINT_BY_KIND
from typelattice.base.rendering.grid import Cell, Grid, printable
from typelattice.base.rendering.style_sheet import BACKGROUND_STYLE

# letter of a monospaced font of 13 pixels; space next to a text; line
LETTER_WIDTH, CELL_PADDING, CELL_HEIGHT = 7.83, 7.0, 22.0
GRID_MARGIN = 12.0
GRID_STYLE_SHEET = """
.tl-sheet { font: 13px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; }
.tl-sheet text { fill: currentColor; text-anchor: middle; }
.tl-sheet .tl-label, .tl-sheet .tl-differs + text { font-weight: 700; }
.tl-sheet .tl-said { text-anchor: start; }
.tl-sheet .tl-cell { fill: none; stroke: currentColor; stroke-opacity: 0.25; }
.tl-sheet .tl-refused + text, .tl-sheet .tl-same + text { fill-opacity: 0.55; }
.tl-sheet .tl-weak + text { font-style: italic; }
"""
GRID_STYLE_SHEET += "".join(
    f".tl-sheet .tl-{kind} {{ fill: {c}; fill-opacity: 0.2; }}\n" for kind, c in CELL_TINT_BY_KIND.items()
)
GRID_STYLE_SHEET += f".tl-sheet .tl-differs {{ fill: {ACCENT_COLOUR}; fill-opacity: 0.35; }}\n"


def grid_svg(grid: Grid) -> str:
    """Return a grid as a complete SVG file, the title above and the notes below."""
    stub = [Cell(grid.corner), *grid.rows]
    across = list(zip(*grid.cells, strict=True)) or [()] * len(grid.columns)
    columns = [stub, *([head, *cells] for head, cells in zip(grid.columns, across, strict=True))]
    wide = [
        2 * CELL_PADDING + LETTER_WIDTH * max(len(printable(c.text)) for c in column) for column in columns
    ]
    lefts = [GRID_MARGIN + sum(wide[:i]) for i in range(len(wide))]
    top = GRID_MARGIN + CELL_HEIGHT * bool(grid.title)
    lines = [*([(GRID_MARGIN + 10, grid.title)] if grid.title else [])]
    below = top + CELL_HEIGHT * (len(grid.rows) + 1)
    lines += [(below + CELL_HEIGHT * (i + 1) - 4, note) for i, note in enumerate(grid.notes)]
    width = (
        max([lefts[-1] + wide[-1], *(GRID_MARGIN + LETTER_WIDTH * len(text) for _, text in lines)])
        + GRID_MARGIN
    )
    size = f'width="{width:g}" height="{below + CELL_HEIGHT * len(grid.notes) + GRID_MARGIN:g}"'
    cells = [
        part
        for column, left, room in zip(columns, lefts, wide, strict=True)
        for i, cell in enumerate(column)
        for part in _write_cell(cell, left, top + i * CELL_HEIGHT, room, label=column is stub or not i)
    ]
    said = [
        f'<text class="tl-said" x="{GRID_MARGIN:g}" y="{y:g}">{_escape_text(text)}</text>'
        for y, text in lines
    ]
    viewed = size.replace('width="', 'viewBox="0 0 ').replace('" height="', " ")
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tl-sheet tl-alone" role="img" {size} {viewed}>',
        f"<title>{_escape_text(grid.title)}</title>",
        f'<style>{GRID_STYLE_SHEET}{BACKGROUND_STYLE}</style>\n<rect class="tl-ground" {size}/>',
        *cells, *said, "</svg>\n",
    ])  # fmt: skip


def _write_cell(cell: Cell, left: float, top: float, width: float, label: bool) -> Iterator[str]:
    marks = "".join(f" tl-{re.sub('[^a-z0-9-]', '-', mark.lower())}" for mark in cell.marks)
    position = f'x="{left:g}" y="{top:g}" width="{width:g}" height="{CELL_HEIGHT:g}"'
    yield f'<rect class="tl-cell{marks}" {position}/>'
    bold = ' class="tl-label"' if label else ""
    position = f'x="{left + width / 2:g}" y="{top + CELL_HEIGHT - 6:g}"'
    yield f"<text{bold} {position}>{_escape_text(cell.text)}</text>"


def _escape_text(text: str) -> str:
    return escape(printable(text))
