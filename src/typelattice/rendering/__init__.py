"""Grids as text, Markdown, HTML, CSV and JSON. Nothing here knows of systems."""
from __future__ import annotations

from importlib import import_module
from typing import Protocol

from typelattice.rendering.grid import Cell, Grid

FORMATS = ("text", "markdown", "html", "csv", "json")  # each a module with a function of its name


class Gridded(Protocol):
    """What can be seen as a grid: a table, a diff."""

    def grid(self) -> Grid: ...


def render(x: Grid | Gridded, format: str = "text") -> str:
    """A grid, or what can be seen as one, in a format: text, markdown, html, csv or json.

    >>> print(render(Grid("", (Cell("a"),), (Cell("b"),), ((Cell("c|d"),),)), "markdown"))
    |  | a |
    |---|---|
    | **b** | c\\|d |
    """
    if format not in FORMATS:
        raise ValueError(f"unknown format {format!r}; these are {', '.join(FORMATS)}")
    written = getattr(import_module(f"typelattice.rendering.{format}"), format)(x if isinstance(x, Grid) else x.grid())
    return str(written)


__all__ = ["FORMATS", "Cell", "Grid", "Gridded", "render"]
