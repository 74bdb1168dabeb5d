"""Questions to a library itself: calls that no table describes, and the answers that it gives.

The code that runs libraries stands above the code that reads programs; LIBRARY_ASKER joins them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol, cast

from typelattice.base.objects.library_asker import LIBRARY_ASKER
from typelattice.core.operations.shapes import Shape
from typelattice.programs.calls.steps import (
    Argument,
    DTypeOf,
    LibraryCall,
    NamedDType,
    Ref,
    function_of_call,
    map_argument,
)

FORBID_VARIABLE = "TYPELATTICE_ASK"
"""If this variable of the environment is `no`, no library is asked."""

_is_forbidden = ContextVar("_is_forbidden", default=False)


@dataclass(frozen=True, slots=True)
class AskedOperand:
    """An operand of a question: its string as in recordings, `float32` or `3`, and its known shape."""

    text: str
    shape: Shape | None


@dataclass(frozen=True, slots=True)
class LibraryQuestion:
    """The question which dtype a call gives.

    The fields are those of a LibraryCall, with an AskedOperand in place of each step.
    """

    name: str
    args: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]
    taken: tuple[int | str, ...]

    @property
    def function(self) -> str:
        """The function that is called, or that makes the object that is called."""
        return function_of_call(self.name, self.args, self.taken)


@dataclass(frozen=True, slots=True)
class LibraryAnswer:
    """The answer to a question: an answer as in recordings, `float32` or `!TypeError`, or None if unclear.

    `message` is the library's own, or says why the question has no answer. `source` is the library with its
    version. `has_axes` is false if the result has no dimensions.
    """

    answer: str | None
    message: str
    source: str
    has_axes: bool = True


@dataclass(frozen=True, slots=True)
class CallTrial:
    """The outcome of a call that is tried with dtypes of all kinds.

    `refusal` says why the library refuses it whatever the dtypes are, or why its result is no array; it is
    empty otherwise. `shape` is the shape of the result if those of all operands are known. `made` is the
    class of a result that is no array.
    """

    refusal: str
    shape: Shape | None = None
    made: str = ""


class LibraryAsker(Protocol):
    """An asker of installed libraries."""

    def is_installed(self, library: str) -> bool:
        """Return True if a library can be imported here. Nothing is imported."""

    def has_function(self, library: str, name: str) -> bool:
        """Return True if an installed library has a function, or its arrays have a method `.name`."""

    def try_call(self, library: str, question: LibraryQuestion) -> CallTrial:
        """Make a call with the dtypes at hand or with others, to see if the library takes it at all."""

    def ask(self, system: str, question: LibraryQuestion) -> LibraryAnswer:
        """Ask the library whose rules a system has."""


def make_question(
    call: LibraryCall, describe_step: Callable[[int], AskedOperand], name_dtype: Callable[[int], NamedDType]
) -> LibraryQuestion:
    """Return the question of a call.

    `describe_step` gives the operand of an earlier step, and `name_dtype` its dtype.
    """

    def asked(argument: Argument) -> object:
        match argument:
            case Ref(number):
                return describe_step(number)
            case DTypeOf(number):
                return name_dtype(number)
        return argument

    keywords = tuple((key, map_argument(value, asked)) for key, value in call.keywords)
    return LibraryQuestion(call.name, map_argument(call.args, asked), keywords, call.taken)


@contextmanager
def forbid_questions() -> Iterator[None]:
    """Ask no library within this context."""
    token = _is_forbidden.set(True)
    try:
        yield
    finally:
        _is_forbidden.reset(token)


def find_asker() -> LibraryAsker | None:
    """Return the asker of libraries, or None if there is none, or the user forbids it."""
    if "asker" not in LIBRARY_ASKER or _is_forbidden.get() or os.environ.get(FORBID_VARIABLE) == "no":
        return None
    return cast(LibraryAsker, LIBRARY_ASKER["asker"]())
