"""A library in a process of its own, where it may hang or crash.

The child first sends a catalogue of what the library has, and then one answer a call: when it falls
silent or dies, the call it was at is answered `!hang` or `!crash`, and another child goes on behind it.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import platform
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Self

from typelattice.conformance.library import NOT_ASKED, Library, NoSuchOperandError, NotAskedError
from typelattice.facts.errors import TypelatticeError

TIERS = ("", ":0d", ":scalar", ":weak")
KINDS = ("True", "int", "float", "complex")
EDGES = (
    *("-129", "-1", "127", "128", "255", "256", "300", "32767", "32768", "65535", "65536"),
    *("-32769", "2147483647", "2147483648", "4294967295", "4294967296"),
    *("9223372036854775807", "9223372036854775808"),
    *("18446744073709551615", "18446744073709551616"),
    *("65504.0", "65520.0", "1e39", "1e300", "inf", "1e39j"),
)
"""Python scalars about the limits of the dtypes."""

MESSAGE = 160
"""Characters kept of an exception's message."""

Call = tuple[str, tuple[str, ...]]
Answer = tuple[str, str]
"""An answer string, and the message if it is an exception."""


HANG = ("!hang", "no answer within the time limit")
CRASH = ("!crash", "the process died")


class CannotAskError(TypelatticeError, RuntimeError):
    """The library could not even be asked."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What a library in a child process says it has."""

    name: str
    versions: dict[str, str]
    how: str
    python: str
    operands: tuple[str, ...]
    operations: tuple[str, ...]
    nary: tuple[str, ...]


def answers(make: Callable[[], Library], calls: Sequence[Call], limit: float) -> Iterator[Answer]:
    """The answer to each call in turn; `limit` is in seconds, of one call."""
    done = 0
    while done < len(calls):
        with _Child(make) as child:
            child.pipe.send(calls[done:])
            while done < len(calls):
                answer = child.answer(limit)
                yield answer
                done += 1
                if answer in (HANG, CRASH):
                    break


def catalogue(make: Callable[[], Library]) -> Catalogue:
    """What the library has. ImportError or LookupError as the library raises them, else CannotAskError."""
    with _Child(make) as child:
        return child.catalogue


class _Child:
    """A process with the library in it; on leaving, it is ended."""

    def __init__(self, make: Callable[[], Library]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(make, theirs), daemon=True)
        self.process.start()
        theirs.close()
        try:
            first = self.pipe.recv()
        except EOFError:
            self.__exit__()
            raise CannotAskError("the library's process died before the first call") from None
        if isinstance(first, BaseException):
            self.__exit__()
            raise first
        self.catalogue: Catalogue = first

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()

    def answer(self, limit: float) -> Answer:
        try:
            if not self.pipe.poll(limit):
                return HANG
            answer: Answer = self.pipe.recv()
            return answer
        except (EOFError, ConnectionError):
            return CRASH


def _serve(make: Callable[[], Library], pipe: Connection) -> None:
    """The child: send the catalogue, receive the calls, send an answer for each."""
    _be_quiet()
    try:
        asked = make()
        pipe.send(_describe(asked))
    except (ImportError, LookupError) as error:
        pipe.send(error)
        return
    except BaseException as error:
        pipe.send(CannotAskError(f"the library could not be asked: {type(error).__name__}: {error}"))
        return
    operations = asked.operations()
    made = functools.cache(asked.make)
    with suppress(EOFError, BrokenPipeError):
        for op, operands in pipe.recv():
            try:
                answer = asked.read(operations[op](*map(made, operands))), ""
            except KeyboardInterrupt:
                raise
            except NotAskedError as error:
                answer = NOT_ASKED, str(error)
            except BaseException as error:  # Rust panics, for one, are no Exceptions
                answer = _exception(error)
            pipe.send(answer)
        pipe.recv()  # until the other end closes


def _be_quiet() -> None:
    warnings.simplefilter("ignore")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)


def _describe(asked: Library) -> Catalogue:
    dtypes = asked.dtypes()
    candidates = [dtype + tier for tier in TIERS for dtype in dtypes]
    candidates += [*KINDS, *EDGES, *getattr(asked, "extra_operands", ())]
    operations = asked.operations()
    nary = getattr(asked, "nary", ("result_type",))
    return Catalogue(
        name=asked.name,
        versions=dict(asked.versions),
        how=asked.how,
        python=platform.python_version(),
        operands=tuple(name for name in candidates if _makes(asked, name)),
        operations=tuple(operations),
        nary=tuple(op for op in nary if op in operations),
    )


def _makes(asked: Library, name: str) -> bool:
    try:
        asked.make(name)
    except NoSuchOperandError:
        return False
    return True


def _exception(error: BaseException) -> Answer:
    """Named by its nearest class that is not private; the message on one line."""
    public = next(c.__name__ for c in type(error).__mro__ if not c.__name__.startswith("_"))
    return f"!{public}", " ".join(str(error).split())[:MESSAGE]
