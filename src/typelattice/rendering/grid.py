"""What the renderers draw: rows and columns of short texts."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """A short text; `marks` are words that say how it stands out, `title` is what to say of it on demand.

    A mark is of any name; text knows `refused`, `differs`, `same` and the kinds of numbers, HTML makes
    classes of all. A title may be a function that makes it: only HTML shows titles, and of a large table they
    take long to write.
    """

    text: str
    marks: tuple[str, ...] = ()
    title: str | Callable[[], str] = ""

    @property
    def told(self) -> str:
        """The title as text."""
        return self.title if isinstance(self.title, str) else self.title()


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells in rows and columns with a label each, a title above, notes below; `corner` labels the labels."""

    title: str
    columns: tuple[Cell, ...]
    rows: tuple[Cell, ...]
    cells: tuple[tuple[Cell, ...], ...]  # row by row
    notes: tuple[str, ...] = ()
    corner: str = ""


def printable(text: str) -> str:
    """One line of text in which nothing controls the terminal."""
    line = " ".join(text.split())
    return line if line.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in line)
