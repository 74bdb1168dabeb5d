"""Frames of ours that Python itself leaves out, wherever it lists or counts the frames of a program."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from dis import get_instructions, opmap
from itertools import count
from types import FunctionType, TracebackType
from typing import Any, NoReturn, TypeVar

from typelattice.base.errors.outside_errors import OWN_FOLDER
from typelattice.tracing.rewrite.bytecode import UnknownBytecodeError, check_release

globals()["__builtins__"] = {**vars(builtins)}  # copied, because a program may replace some of them
AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])
NAMES_OF_LAST_ERROR = ("last_exc", "last_type", "last_value", "last_traceback")  # in `sys`


def hide_frame(function: AnyFunction) -> AnyFunction:
    """Let Python leave out the frames of a function: in tracebacks, warnings, `sys._getframe`, `f_back`.

    Python leaves out a frame that has not begun, which is one before its instruction RESUME. So the function
    gets code without this instruction. Only faulthandler lists the frame all the same.
    """
    assert isinstance(function, FunctionType)
    try:
        check_release()
    except UnknownBytecodeError:
        return function
    code = bytearray(function.__code__.co_code)
    for each in get_instructions(function):
        if each.opname == "RESUME":
            code[each.offset : each.offset + 2] = opmap["NOP"], 0
    function.__code__ = function.__code__.replace(co_code=bytes(code))
    return function


def call_without_callers(end: Callable[[], NoReturn]) -> NoReturn:
    """Call a hidden function that ends this process, so that no frame is below those that it calls.

    An error that nobody catches leaves all our frames. Python then calls the hook for such errors, which is
    the function. If other code has called us, such as a profiler, it is called at once.
    """
    if sys.flags.inspect or not _started_this_process():
        end()
    hook = sys.excepthook

    @hide_frame
    def call_end(cls: type[BaseException], error: BaseException, traceback: TracebackType | None) -> NoReturn:
        sys.excepthook = hook
        error.__traceback__ = None
        while traceback is not None:  # Python itself holds the frames, until the process has ended
            traceback.tb_frame.clear()
            traceback = traceback.tb_next
        for name in NAMES_OF_LAST_ERROR:
            vars(sys).pop(name, None)
        end()

    sys.excepthook = call_end
    raise _FramesLeft


class _FramesLeft(BaseException):
    """Leaves all our frames. Nobody catches it."""


def _started_this_process() -> bool:
    """Return True if Python itself has called us, as a script, as a module or after `-c`.

    Frames are found by their depth, since a followed program sees `f_back` end above ours.
    """
    for depth in count(1):
        try:
            frame = sys._getframe(depth)
        except ValueError:
            return True
        name = frame.f_globals.get("__name__")
        is_main = name == "__main__" and frame.f_code.co_name == "<module>"
        if not (is_main or name == "runpy" or frame.f_code.co_filename.startswith(OWN_FOLDER)):
            return False
    return True
