"""Grids for the renderers: rows and columns of short texts."""
from __future__ import annotations

from collections.abc import Callable

from typelattice.support.frozen_classes import frozen


@frozen()
class Cell:
    """A short text; `marks` are words for its style, `tooltip` is the detail shown on demand.

    A mark may have any name. Text knows `refused`, `differs`, `same` and the kinds of numbers; HTML turns
    every mark into a class. A title may be a function that makes it, because only HTML shows titles, and the
    titles of a large table take long to write.
    """

    text: str
    marks: tuple[str, ...] = ()
    tooltip: str | Callable[[], str] = ""

    @property
    def tooltip_text(self) -> str:
        return self.tooltip if isinstance(self.tooltip, str) else self.tooltip()


@frozen()
class Grid:
    """Cells in labelled rows and columns, a title above and notes below; `corner` labels the labels.
    """

    title: str
    columns: tuple[Cell, ...]
    rows: tuple[Cell, ...]
    cells: tuple[tuple[Cell, ...], ...]  # row by row
    notes: tuple[str, ...] = ()
    corner: str = ""


def printable(text: str) -> str:
    """Escape a text to one line that cannot control a terminal."""
    line = " ".join(text.split())
    return line if line.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in line)
