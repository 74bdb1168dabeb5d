"""What a terminal takes: its width, its colours, its encoding; plain text of 80 columns elsewhere."""
from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cache
from textwrap import wrap
from typing import TextIO

from typelattice.rendering.grid import printable
from typelattice.rendering.text import paint


@cache
def width() -> int:
    """The columns of the terminal; COLUMNS where set, 80 where there is no terminal."""
    try:
        return max(40, int(os.environ.get("COLUMNS") or os.get_terminal_size(sys.stdout.fileno()).columns) or 80)
    except (OSError, ValueError, AttributeError):
        return 80


@cache
def colour() -> bool:
    """Whether to use colours: on a terminal, if NO_COLOR is not set (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def bold(line: str) -> str:
    return paint(line, "1") if colour() else line


def dim(line: str) -> str:
    return paint(line, "2") if colour() else line


def folded(line: str, room: int, indent: str = "") -> list[str]:
    """A line as lines of the room there is, the further ones indented."""
    return wrap(printable(line), room, subsequent_indent=indent, break_on_hyphens=False) or [""]


def beside(heading: str, lines: Sequence[str], stub: int = 14) -> str:
    """A heading, and lines beside it."""
    first, *rest = [part for line in lines for part in folded(line, width() - stub, "  ")] or [""]
    head = heading.ljust(stub - 1) if len(heading) < stub else f"{heading}\n{' ' * (stub - 1)}"
    return "\n".join([f"{bold(head)} {first}".rstrip(), *(" " * stub + line for line in rest)])


def show(paragraph: str, stream: TextIO) -> None:
    """Prints what the stream can encode; the rest in escapes."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(paragraph.encode(encoding, "backslashreplace").decode(encoding) + "\n")
