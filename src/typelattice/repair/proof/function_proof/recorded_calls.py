"""Calls of a program's functions, with copies of their arguments from before the call."""

from __future__ import annotations

import copy
import gc
import inspect
import sys
import threading
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType, FrameType, FunctionType
from typing import Any

MAX_KEPT_CALLS = 4  # of one function, each with other types of arguments
MAX_SEEN_CALLS = 64  # later calls of a function are not looked at
MAX_ARRAY_BYTES = 1 << 26  # of one argument
FunctionKey = tuple[str, str, int]  # file, qualified name and first line


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """The arguments of a call, by the names of the parameters. The values of `*args` and `**named` are apart.

    `positional_count` is the number of the parameters that are passed by position.
    """

    parameters: Mapping[str, Any]
    positional_count: int
    starred: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class RecordedFunction:
    """A function that was called, with some of its calls. `refusal` says why it cannot be called again."""

    function: FunctionType | None
    calls: list[RecordedCall] = field(default_factory=list)
    refusal: str = ""
    seen_count: int = 0
    seen_types: set[object] = field(default_factory=set)


class CallRecorder:
    """Records the calls of the functions of some files, between `start` and `stop`."""

    def __init__(self, files: Collection[str]) -> None:
        self.files = frozenset(files)
        self.functions: dict[FunctionKey, RecordedFunction] = {}
        self.is_copying = False

    def start(self) -> None:
        """Record the calls of all threads from now on."""
        threading.setprofile(self._observe)
        sys.setprofile(self._observe)

    def stop(self) -> None:
        """Record no further calls."""
        sys.setprofile(None)
        threading.setprofile(None)

    def _observe(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or code.co_filename not in self.files or self.is_copying or code.co_name[0] == "<":
            return
        self.is_copying = True
        try:
            self._record_call(frame, code)
        finally:
            self.is_copying = False

    def _record_call(self, frame: FrameType, code: CodeType) -> None:
        key = code.co_filename, code.co_qualname, code.co_firstlineno
        if "<locals>" in code.co_qualname or not code.co_flags & inspect.CO_NEWLOCALS:
            return  # the function around it is called instead; the body of a class is no function
        found = self.functions.get(key)
        if found is None:
            found = self.functions[key] = RecordedFunction(_find_function(frame, code))
            if found.function is None:
                found.refusal = "it cannot be found by its name"
            elif code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
                found.refusal = "it is a generator or a coroutine"
        found.seen_count += 1
        if found.refusal or found.seen_count > MAX_SEEN_CALLS or len(found.calls) >= MAX_KEPT_CALLS:
            return
        try:
            call = _read_call(frame, code)
            values = (*call.parameters.values(), *call.starred, *call.named.values())
            types = tuple((type(x), str(getattr(x, "dtype", ""))) for x in values)
            if types not in found.seen_types and not any(map(_is_large, values)):
                found.calls.append(copy.deepcopy(call))
            found.seen_types.add(types)
        except Exception as e:  # of an object that cannot be copied, or has strange attributes
            found.refusal = f"its arguments cannot be copied ({type(e).__name__})"


def _is_large(value: Any) -> bool:
    size = getattr(value, "nbytes", 0)
    return isinstance(size, int) and size > MAX_ARRAY_BYTES


def _read_call(frame: FrameType, code: CodeType) -> RecordedCall:
    """Read the arguments of the call that a frame has just begun."""
    count = code.co_argcount + code.co_kwonlyargcount
    names, values = code.co_varnames, frame.f_locals
    parameters = {name: values[name] for name in names[:count] if name in values}
    starred: tuple[Any, ...] = ()
    if code.co_flags & inspect.CO_VARARGS:
        starred = values[names[count]]
        count += 1
    named = values[names[count]] if code.co_flags & inspect.CO_VARKEYWORDS else {}
    return RecordedCall(parameters, code.co_argcount, starred, named)


def _find_function(frame: FrameType, code: CodeType) -> FunctionType | None:
    """Find the function object of a code: by its qualified name, or among all objects that refer to it."""
    found: Any = frame.f_globals
    for part in code.co_qualname.split("."):
        found = found.get(part) if isinstance(found, dict) else inspect.getattr_static(found, part, None)
    for function in _unwrap(found):
        if function.__code__ is code:
            return function
    return next(
        (x for x in gc.get_referrers(code) if isinstance(x, FunctionType) and x.__code__ is code), None
    )


def _unwrap(found: Any) -> Iterator[FunctionType]:
    """Yield the functions that a method, a property or decorators wrap."""
    for _ in range(MAX_SEEN_CALLS):
        if isinstance(found, FunctionType):
            yield found
        found = next(
            (
                inner for name in ("__wrapped__", "__func__", "fget")
                if (inner := getattr(found, name, None)) is not None
            ),
            None,
        )  # fmt: skip
        if found is None:
            return
