"""Grids as text, Markdown, HTML, CSV and JSON, and plain data as JSON. Nothing here knows of systems."""
from __future__ import annotations

from importlib import import_module

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.objects.strange_objects import refuse_strange
from typelattice.base.rendering.grid import Cell, Grid

TYPE_CHECKING = False  # importing `typing` takes a process as long as all that a text needs
if TYPE_CHECKING:
    from typing import Protocol, TypeGuard

    class HasGrid(Protocol):
        """A value that can be shown as a grid: a table, a diff, verdicts."""

        def grid(self) -> Grid: ...

    class HasData(Protocol):
        """A value that can be given as dictionaries, lists, texts and numbers: verdicts, a design."""

        def data(self) -> dict[str, object]: ...


GRID_FORMATS = ("text", "markdown", "html", "csv", "json")  # each a module with a function of its name


class RenderError(TypelatticeError, ValueError):
    """An unknown format, or a value that only JSON can hold."""



def render(x: Grid | HasGrid | HasData, to: str = "text") -> str:
    """Render a grid, or a value that has one, in a format: text, markdown, html, csv or json.

    A value that gives plain data is written as that data in JSON. Without a grid it has no other format.
    Raises RenderError.

    >>> print(render(Grid("", (Cell("a"),), (Cell("b"),), ((Cell("c|d"),),)), "markdown"))
    |  | a |
    |---|---|
    | **b** | c\\|d |
    """
    refuse_strange(x, RenderError, "render a table or another value that has one")
    if to not in GRID_FORMATS:
        near = spelling_hint(str(to), GRID_FORMATS)
        raise RenderError(f"unknown format {quote_short(str(to))}{near}; these are {', '.join(GRID_FORMATS)}")
    if to == "json" and not isinstance(x, Grid) and _gives_data(x):
        from typelattice.base.rendering.json import json_document

        return json_document(type(x).__name__.lower(), x.data())
    if not isinstance(x, Grid):
        if not has_grid(x):
            raise RenderError(f"an object of type {type(x).__name__} is no grid; render it as json")
        x = x.grid()
    return str(getattr(import_module(f"typelattice.base.rendering.{to}"), to)(x))


def has_grid(x: object) -> TypeGuard[HasGrid]:
    """Return True if a value can be shown as a grid."""
    return _has_method(x, "grid")


def _gives_data(x: object) -> TypeGuard[HasData]:
    """Return True if a value can be given as plain data."""
    return _has_method(x, "data")


def _has_method(x: object, name: str) -> bool:
    """Return True if a value's class has a method of this name. The value itself runs no code."""
    return any(callable(vars(cls).get(name)) for cls in type(x).__mro__)


__all__ = ["FORMATS", "Cell", "Grid", "has_grid", "render"]
