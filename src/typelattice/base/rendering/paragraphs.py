"""The layout of paragraphs: folded to a width, with or without colour."""

from __future__ import annotations

from collections.abc import Sequence

from typelattice.base.objects.frozen_classes import frozen
from typelattice.base.rendering.grid import Grid, fold_text
from typelattice.base.rendering.text import paint_text, text

HEADING_WIDTH = 14


@frozen()
class Layout:
    """A number of columns, with or without a terminal's colours."""

    width: int = 80
    coloured: bool = False

    def bold(self, line: str) -> str:
        """Return a line folded to the width, in bold."""
        return self._paint_lines(self.fold_line(line), "1")

    def dim(self, line: str) -> str:
        """Return a line folded to the width, in a weak colour."""
        return self._paint_lines(self.fold_line(line), "2")

    def fold_line(self, line: str, margin: int = 0) -> str:
        """Return a line folded to the width that a margin leaves."""
        return "\n".join(" " * margin + row for row in fold_text(line, self.width - margin))

    def join_columns(self, heading: str, lines: Sequence[str], stub: int = HEADING_WIDTH) -> str:
        """Write a heading in a column of `stub` characters, with lines next to it; a longer one goes above.

        >>> lines = ["int8 to int16: loses nothing", "uint8 to int16: loses nothing"]
        >>> print(Layout().join_columns("casts", lines))
        casts         int8 to int16: loses nothing
                      uint8 to int16: loses nothing
        """
        rows = [row for line in lines for row in fold_text(line, self.width - stub, "  ")] or [""]
        head = heading.ljust(stub - 1) if len(heading) < stub else f"{heading}\n{' ' * (stub - 1)}"
        first = f"{self._paint_lines(head, '1')} {rows[0]}".rstrip()
        return "\n".join([first, *(" " * stub + row for row in rows[1:])])

    def grid(self, grid: Grid) -> str:
        """Return a grid; a grid that is too wide continues below."""
        return text(grid, self.width, self.coloured)

    def _paint_lines(self, lines: str, style: str) -> str:
        return paint_text(lines, style) if self.coloured else lines


PLAIN_LAYOUT = Layout()  # layout without a terminal
