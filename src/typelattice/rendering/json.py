"""Grids, and plain data, as JSON."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from json import dumps

from typelattice.rendering.grid import Grid


def json(grid: Grid) -> str:
    """A grid's texts row by row, and of each mark the [row, column] places that bear it."""
    marks: dict[str, list[list[int]]] = {}
    for i, row in enumerate(grid.cells):
        for j, cell in enumerate(row):
            for mark in cell.marks:
                marks.setdefault(mark, []).append([i, j])
    cells = [[c.text for c in row] for row in grid.cells]
    parts = {
        "title": grid.title,
        "columns": [c.text for c in grid.columns],
        "rows": [c.text for c in grid.rows],
        "cells": cells,
        "marks": marks,
        "notes": list(grid.notes),
    }
    lines = [
        f"  {dumps(key)}: {_lines(cells) if key == 'cells' else dumps(value)}" for key, value in parts.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}"


def document(data: Mapping[str, object]) -> str:
    """Dictionaries, lists, texts and numbers as JSON."""
    return dumps(data, indent=1, ensure_ascii=False)


def _lines(rows: Sequence[Sequence[str]]) -> str:
    """A list of lists, a row on each line."""
    return "[\n" + ",\n".join(f"    {dumps(row)}" for row in rows) + "\n  ]"
