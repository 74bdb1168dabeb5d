"""The stack of calls below an operation: the line, the user's line, and the modules of the library.

The frames are read with Python's own attributes, since a traced program sees others
(`rewrite/original_code.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from typelattice.programs.calls.steps import SourceLocation

code_of: Callable[[FrameType], CodeType] = vars(FrameType)["f_code"].__get__
frame_below: Callable[[FrameType], FrameType | None] = vars(FrameType)["f_back"].__get__
offset_in: Callable[[FrameType], int] = vars(FrameType)["f_lasti"].__get__

INSIDE, PACKAGE, USER, MODULE_CALL, OPTIMIZER_STEP, ENGINE = range(6)
"""Sorts of code: the library's own, a package's, the user's, and the library's calls of interest."""


@dataclass(slots=True)
class Stack:
    """The frames of interest, from the innermost on. Each is None or empty if there is none.

    `optimizer` is a step of an optimizer, unless the operation belongs to a function that the step was given.
    """

    place: FrameType | None = None
    caller: FrameType | None = None
    modules: list[FrameType] = field(default_factory=list)
    optimizer: FrameType | None = None
    in_engine: bool = False


class StackReader:
    """Reads stacks. `sort_of_code` sorts a code that is new."""

    def __init__(self, sort_of_code: Callable[[CodeType], int]) -> None:
        self.sort_of_code = sort_of_code
        self.sorts: dict[int, tuple[CodeType, int]] = {}  # keeps the codes, so that their ids stay valid
        self.locations: dict[tuple[int, int], SourceLocation | None] = {}

    def read(self, frame: FrameType | None) -> Stack:
        """Read the stack from a frame on."""
        sorts, found, within = self.sorts, Stack(), INSIDE
        while frame is not None:
            code = code_of(frame)
            known = sorts.get(id(code))
            if known is None:
                known = sorts[id(code)] = code, self.sort_of_code(code)
            sort = known[1]
            if sort:
                if sort in (USER, PACKAGE):
                    if found.place is None:
                        found.place = frame
                    if sort == USER and found.caller is None:
                        found.caller = frame
                elif sort == MODULE_CALL:
                    found.modules.append(frame)
                elif sort == OPTIMIZER_STEP:
                    has_own_step = within in (USER, PACKAGE) and not found.modules
                    is_own = found.place is None or has_own_step
                    found.optimizer = found.optimizer or (frame if is_own else None)
                elif found.place is None:
                    found.in_engine = True
            within = sort
            frame = frame_below(frame)
        return found

    def key_of(self, frame: FrameType | None) -> tuple[int, int] | None:
        """Return a key for the place of a frame, which stays valid."""
        return None if frame is None else (id(code_of(frame)), offset_in(frame))

    def location_of(self, frame: FrameType | None) -> SourceLocation | None:
        """Return the source location of the expression that a frame computes."""
        if frame is None:
            return None
        code, offset = code_of(frame), offset_in(frame)
        key = id(code), offset
        if key not in self.locations:
            self.locations[key] = _find_location(code, offset)
        return self.locations[key]


def _find_location(code: CodeType, offset: int) -> SourceLocation | None:
    """Find the source location of an instruction."""
    positions: list[Any] = [*code.co_positions()]
    index = offset // 2
    if not 0 <= index < len(positions):
        return None
    line, end_line, column, end_column = positions[index]
    if line is None:
        return None
    return SourceLocation(code.co_filename, line, column or 0, end_line or line, end_column or 0)
