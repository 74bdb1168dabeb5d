"""The source location of the calling code, for the steps of a function called with symbols."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from types import FrameType

from typelattice.base.own_folders import PACKAGE_FOLDER
from typelattice.programs.calls.steps import Excerpt, SourceLocation


def find_caller_location() -> Excerpt:
    """Return the source location of the calling program: its line, and the text of the expression on it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE_FOLDER):
        frame = frame.f_back
    if frame is None:
        return Excerpt("a symbol")
    file, line = frame.f_code.co_filename, frame.f_lineno
    positions = [*frame.f_code.co_positions()][frame.f_lasti // 2]
    text = linecache.getline(file, line)
    start, end = positions[2], positions[3]
    if positions[0] == positions[1] == line and start is not None and end is not None:
        text = text.encode()[start:end].decode("utf-8", "replace")
    return Excerpt(text.strip() or "a symbol", SourceLocation(Path(file).name, line))
