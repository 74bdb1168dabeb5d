"""Grids, and plain data, as JSON."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from json import dumps

from typelattice.base.rendering.grid import Grid

DOCUMENT_VERSION = 1  # version of the documents


def json(grid: Grid) -> str:
    """Return a grid's texts row by row, and the [row, column] places of each mark."""
    marks: dict[str, list[list[int]]] = {}
    for i, row in enumerate(grid.cells):
        for j, cell in enumerate(row):
            for mark in cell.marks:
                marks.setdefault(mark, []).append([i, j])
    cells = [[c.text for c in row] for row in grid.cells]
    parts = {
        "typelattice": "grid",
        "version": DOCUMENT_VERSION,
        "title": grid.title,
        "columns": [c.text for c in grid.columns],
        "rows": [c.text for c in grid.rows],
        "cells": cells,
        "marks": marks,
        "notes": list(grid.notes),
    }
    lines = [
        f"  {dumps(key)}: {_write_rows(cells) if key == 'cells' else dumps(value)}"
        for key, value in parts.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}"


def json_document(kind: str, data: Mapping[str, object]) -> str:
    """Write data as a JSON document that names its kind and version; docs/output.schema.json has each kind.

    >>> print(json_document("example", {"x": 1}))
    {
     "typelattice": "example",
     "version": 1,
     "x": 1
    }
    """
    return dumps({"typelattice": kind, "version": DOCUMENT_VERSION, **data}, indent=1)


def _write_rows(rows: Sequence[Sequence[str]]) -> str:
    """Write a list of lists with a row on each line."""
    return "[\n" + ",\n".join(f"    {dumps(row)}" for row in rows) + "\n  ]"
