"""Errors that reach our code from outside: from a signal handler, or from another thread.

Python may raise them at any instruction, also at ours. They belong to the program, which must get them.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable

from typelattice.base.own_folders import PACKAGE_FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any, TypeVar

    Result = TypeVar("Result")

globals()["__builtins__"] = {**vars(builtins)}  # copied, because a program may replace some of them
OWN_FOLDER = PACKAGE_FOLDER + os.sep
DEPTH_MESSAGES = frozenset({"maximum recurs", "Stack overflow"})
"""The first 14 characters of Python's own RecursionError. At that depth no function can be called.

A search in a tuple compares strings by a call that fails at that depth, too. A search in a set does not.
"""
SET_NAME_MESSAGE = "Error calling __set_name__ on "
"""How the RuntimeError begins that Python 3.11 makes of any error while we make a class."""


def raise_if_from_outside(error: Exception, repeat: Callable[[], object]) -> None:
    """Raise an error again if it came from outside. Return if our own work, repeated, fails as it did.

    If the repeated work succeeds, the origin of the error decides: a race in our own code is not raised.
    """
    if str(error).startswith(SET_NAME_MESSAGE) and error.__cause__ is not None:
        if not isinstance(error.__cause__, Exception):
            raise error.__cause__
        error = error.__cause__
    is_outside = came_from_outside(error)
    places = _list_places(error)[1:]  # the first one is the caller's
    later: Exception | None = None
    try:
        repeat()
    except Exception as again:
        if type(again) is type(error) and (not places or _list_places(again)[-len(places) :] == places):
            return
        later = again
    if is_outside:
        raise error
    if later is not None:
        raise later


def came_from_outside(error: Exception) -> bool:
    """Return True if other code than ours raised an error, or if Python raised it without a message.

    Another thread names only a class of errors (`PyThreadState_SetAsyncExc`), so its error has no arguments.
    """
    places = _list_places(error)
    return not error.args or not places or not places[-1][0].co_filename.startswith(OWN_FOLDER)


def run_locked(lock: Any, work: Callable[[], Result]) -> Result:
    """Do some work while this thread holds a lock. No error from outside leaves the lock held.

    A `with` block may: since Python 3.14 an error can arrive after the lock is taken, and before the block.
    """
    is_held = was_held = lock._is_owned()
    try:
        if not was_held:
            lock.acquire()
            is_held = True
        return work()
    except BaseException:
        if not is_held and lock._is_owned():
            lock.release()
        raise
    finally:
        if is_held and not was_held:
            lock.release()


def leave_out_own_frames(error: BaseException) -> None:
    """Remove our frames from the traceback of an error that a program sees."""
    kept = []
    trace = error.__traceback__
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(OWN_FOLDER):
            kept.append(trace)
        trace = trace.tb_next
    following = None
    for each in reversed(kept):
        each.tb_next = following
        following = each
    error.__traceback__ = following


def _list_places(error: Exception) -> list[tuple[CodeType, int]]:
    """List the code and the line of each frame that an error has passed, from the outermost on."""
    places = []
    trace = error.__traceback__
    while trace is not None:
        places.append((trace.tb_frame.f_code, trace.tb_lineno))
        trace = trace.tb_next
    return places
