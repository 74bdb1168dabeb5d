"""Grids for the renderers: rows and columns of short texts."""
from __future__ import annotations

from collections.abc import Callable

from typelattice.base.objects.frozen_classes import frozen


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


def fold_text(text: str, width: int, indent: str = "") -> list[str]:
    """Fold a text to a width, and indent its further lines. A word that is longer than a line is cut.

    >>> fold_text("int8 to int16: loses nothing", 16, "  ")
    ['int8 to int16:', '  loses nothing']
    """
    lines, line = list[str](), ""
    for word in printable(text).split(" "):
        longer = f"{line} {word}" if line else word
        if len(longer) > width >= len(word) + (len(indent) if lines else 0):
            lines.append(line)
            longer = indent + word
        while len(longer) > width > len(indent):
            lines.append(longer[:width].rstrip())
            longer = indent + longer[width:].lstrip()
        line = longer
    return [*lines, line]
