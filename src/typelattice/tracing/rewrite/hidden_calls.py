"""The trace and profile functions of a program, which see no call of ours.

A debugger that steps through a followed line would step into the code that records its operations.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from functools import partial
from types import CodeType, FrameType
from typing import Any

from typelattice.base.errors.outside_errors import OWN_FOLDER
from typelattice.tracing.rewrite.hidden_frames import hide_frame

globals()["__builtins__"] = {**vars(builtins)}  # copied, because a program may replace some of them
SETTERS = ("settrace", "setprofile", "_settraceallthreads", "_setprofileallthreads")
GETTERS = ("gettrace", "getprofile")
MAX_CALLERS = 50  # callers of a function among which one of ours is searched


class ProgramsOnly:
    """A trace or profile function that gets the events of all frames but ours, and those that ours call."""

    __slots__ = ("function", "is_followed")

    def __init__(
        self, is_followed: Callable[[CodeType], bool], function: Callable[[FrameType, str, Any], Any]
    ) -> None:
        self.is_followed, self.function = is_followed, function

    @hide_frame
    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        return None if self.is_own_call(frame) else self.function(frame, event, argument)

    def is_own_call(self, frame: FrameType) -> bool:
        """Return True if a frame is ours, or if followed code reached it only through one of ours."""
        caller: FrameType | None = frame
        for _ in range(MAX_CALLERS):
            if caller is None or self.is_followed(caller.f_code):
                return False
            if caller.f_code.co_filename.startswith(OWN_FOLDER):
                return True
            caller = caller.f_back
        return False


class HiddenCalls:
    """The functions of `sys` that set and return the trace and profile functions, in place of Python's own.

    `is_followed` returns True for a code that a file of the program has, if rewritten code runs in its place.
    """

    def __init__(self, is_followed: Callable[[CodeType], bool]) -> None:
        self.is_followed = is_followed
        self._own: dict[str, Callable[..., Any]] = {}

    def hide(self) -> None:
        """Replace the functions."""
        for name in (*SETTERS, *GETTERS):
            function = getattr(sys, name, None)
            if function is not None and name not in self._own:
                self._own[name] = function
                hiding = partial(set_function, self.is_followed) if name in SETTERS else get_function
                setattr(sys, name, partial(hiding, function))

    def restore(self) -> None:
        """Give `sys` its own functions again."""
        for name, function in self._own.items():
            setattr(sys, name, function)
        self._own.clear()


@hide_frame
def set_function(
    is_followed: Callable[[CodeType], bool], set_own: Callable[[Any], None], function: Any, /
) -> None:
    """Set a trace or profile function, or none."""
    set_own(None if function is None else ProgramsOnly(is_followed, function))


@hide_frame
def get_function(get_own: Callable[[], Any], /) -> Any:
    """Return the function that the program has set."""
    found = get_own()
    return found.function if type(found) is ProgramsOnly else found
