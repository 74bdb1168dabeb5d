"""Grids as plain text, in colour on request."""
from __future__ import annotations

from itertools import pairwise

from typelattice.base.rendering.grid import Cell, Grid, fold_text, printable

SGR_CODE_BY_MARK = {  # mark -> SGR code; the first mark of a cell decides
    "differs": "1;33", "same": "2", "refused": "2",
    "bool": "35", "unsigned": "36", "signed": "34", "float": "32", "complex": "33",
}  # fmt: skip


def text(grid: Grid, width: int = 80, colour: bool = False) -> str:
    """Return a grid in columns; a grid wider than `width` continues below. Cells marked `same` are dots.

    >>> print(text(Grid("", (Cell("x"), Cell("y")), (Cell("a"),), ((Cell("1"), Cell("22")),))))
       | x y
    ---+-----
     a | 1 22
    """
    lines = [
        [Cell(printable(c.text), c.marks) for c in row] for row in (grid.columns, *map(_dot_row, grid.cells))
    ]
    columns = [list(column) for column in zip(*lines, strict=True)]
    stub = [Cell(printable(label)) for label in (grid.corner, *(c.text for c in grid.rows))]
    parts = split_columns([_column_width(c) + 1 for c in columns], width - _column_width(stub) - 3)
    blocks = [_write_block(stub, [columns[i] for i in part], colour) for part in parts]
    title = _wrap_line(grid.title, width)
    notes = "\n".join(_wrap_line(note, width) for note in grid.notes)
    return "\n\n".join(filter(None, (paint_text(title, "1") if colour else title, *blocks, notes)))


def split_columns(widths: list[int], room: int) -> list[range]:
    """Split columns into as few runs as fit in the width, with about equally many in each."""
    for count in range(1, len(widths) + 1):
        ends = [len(widths) * i // count for i in range(count + 1)]
        split = [range(a, b) for a, b in pairwise(ends)]
        if count == len(widths) or all(sum(widths[i] for i in run) <= room for run in split):
            return split
    return []


def paint_text(text: str, style: str) -> str:
    """Text in a terminal's style, line by line."""
    return "\n".join(f"\033[{style}m{line}\033[0m" if line else line for line in text.split("\n"))


def _write_block(stub: list[Cell], columns: list[list[Cell]], colour: bool) -> str:
    """Return some of the columns with the labels, and a rule under the heads."""
    edge, widths = _column_width(stub), [_column_width(column) for column in columns]
    lines = []
    for i, (label, *cells) in enumerate(zip(stub, *columns, strict=True)):
        shown = [_pad_cell(c, wide, colour, bold=not i) for c, wide in zip(cells, widths, strict=True)]
        lines.append(f" {_pad_cell(label, edge, colour, bold=True)} | {' '.join(shown)}".rstrip())
    total = sum(wide + 1 for wide in widths)
    return "\n".join([lines[0], "-" * (edge + 2) + "+" + "-" * total, *lines[1:]])


def _dot_row(row: tuple[Cell, ...]) -> list[Cell]:
    return [Cell(".", c.marks) if "same" in c.marks else c for c in row]


def _pad_cell(cell: Cell, width: int, colour: bool, bold: bool) -> str:
    if not colour:
        return cell.text.ljust(width)
    style = "1" if bold else next((code for mark, code in SGR_CODE_BY_MARK.items() if mark in cell.marks), "")
    return (paint_text(cell.text, style) if style else cell.text) + " " * (width - len(cell.text))


def _column_width(cells: list[Cell]) -> int:
    return max(len(c.text) for c in cells)


def _wrap_line(line: str, width: int) -> str:
    return "\n".join(fold_text(line, width, "  "))
