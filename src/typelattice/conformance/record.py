"""Ask a library everything and write down its answers.

The library lives in a child process, which sends back one answer a call: when it falls silent or
dies, the call it was at is recorded as `!hang` or `!crash`, and another child goes on behind it.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import os
import platform
import random
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Self

from typelattice.conformance.library import UNARY, Library, NoSuchOperand, OperandString, library
from typelattice.conformance.recording import RECORDINGS, Recording, Square

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

WHOLE = ("result_type", "add", "divide", "power", "equal", "bitwise_and")
"""Operations asked of every operand; the others only of arrays and of `KINDS`."""

ARRAYS = ("promote_types", "concat", "matmul")
"""Operations asked of arrays only."""

MESSAGE = 160
"""Characters kept of an exception's message."""

Call = tuple[str, tuple[str, ...]]
Answer = tuple[str, str]
"""An answer string, and the message if it is an exception."""


class CannotRecord(RuntimeError):
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


@dataclass(frozen=True, slots=True)
class Plan:
    """The calls to make, by the index of their operands."""

    unary: tuple[str, ...]
    binary: dict[str, tuple[int, ...]]
    nary: tuple[tuple[str, tuple[int, ...]], ...]

    def calls(self, operands: Sequence[str]) -> Iterator[Call]:
        for op in self.unary:
            for name in operands:
                yield op, (name,)
        for op, chosen in self.binary.items():
            for first in chosen:
                for second in chosen:
                    yield op, (operands[first], operands[second])
        for op, several in self.nary:
            yield op, tuple(operands[i] for i in several)


def record(
    make: Callable[[], Library],
    *,
    limit: float = 10.0,
    several: int = 1000,
    seed: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
) -> Recording:
    """Make every call and record it.

    `make` is called in each child, so it must be picklable. `limit`: seconds a call may take;
    `several`: how many random calls of three to five operands; `progress` is given the calls
    done, those planned, and the operation.
    """
    catalogue = _catalogue(make)
    operands = catalogue.operands
    planned = plan(catalogue, several, seed)
    calls = list(planned.calls(operands))
    index: dict[str, int] = {}
    errors: dict[str, str] = {}

    def asked() -> Iterator[int]:
        for done, (answer, message) in enumerate(_answers(make, calls, limit)):
            if message:
                errors.setdefault(answer, message)
            if progress is not None:
                progress(done + 1, len(calls), calls[done][0])
            yield index.setdefault(answer, len(index))

    told = asked()

    def row(length: int) -> tuple[int, ...]:
        return tuple(next(told) for _ in range(length))

    unary = {op: row(len(operands)) for op in planned.unary}
    binary = {op: Square(chosen, tuple(row(len(chosen)) for _ in chosen)) for op, chosen in planned.binary.items()}
    nary = tuple((op, several, next(told)) for op, several in planned.nary)
    return Recording(
        library=catalogue.name,
        versions=catalogue.versions,
        python=catalogue.python,
        date=date.today().isoformat(),
        how=catalogue.how,
        operands=operands,
        answers=tuple(index),
        errors=errors,
        binary=binary,
        unary=unary,
        nary=nary,
        seed=seed,
    )


def plan(catalogue: Catalogue, several: int, seed: int) -> Plan:
    """Which operations are asked of which operands."""
    tiers = {i: OperandString.parse(name).tier for i, name in enumerate(catalogue.operands)}
    everything = tuple(tiers)
    arrays = tuple(i for i, tier in tiers.items() if tier in ("array", "weak"))
    strong = tuple(i for i, tier in tiers.items() if tier == "array")
    kinds = tuple(i for i, name in enumerate(catalogue.operands) if name in KINDS)
    chosen = dict.fromkeys(WHOLE, everything) | dict.fromkeys(ARRAYS, strong)
    drawn = random.Random(seed)
    return Plan(
        unary=tuple(op for op in catalogue.operations if op in UNARY or op in catalogue.nary),
        binary={op: chosen.get(op, arrays + kinds) for op in catalogue.operations if op not in UNARY},
        nary=tuple(
            (op, tuple(drawn.choices(pool, k=drawn.choice((3, 4, 5)))))
            for op in catalogue.nary
            for pool in (strong, strong if op in ARRAYS else everything)
            for _ in range(several // 2)
        ),
    )


def _answers(make: Callable[[], Library], calls: Sequence[Call], limit: float) -> Iterator[Answer]:
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


HANG = ("!hang", "no answer within the time limit")
CRASH = ("!crash", "the process died")


def _catalogue(make: Callable[[], Library]) -> Catalogue:
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
            raise CannotRecord("the library's process died before the first call") from None
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
        pipe.send(CannotRecord(f"the library could not be asked: {type(error).__name__}: {error}"))
        return
    operations = asked.operations()
    made = functools.cache(asked.make)
    with suppress(EOFError, BrokenPipeError):
        for op, operands in pipe.recv():
            try:
                answer = asked.read(operations[op](*map(made, operands))), ""
            except KeyboardInterrupt:
                raise
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
    except NoSuchOperand:
        return False
    return True


def _exception(error: BaseException) -> Answer:
    """Named by its nearest class that is not private; the message on one line."""
    public = next(c.__name__ for c in type(error).__mro__ if not c.__name__.startswith("_"))
    return f"!{public}", " ".join(str(error).split())[:MESSAGE]


def _bar(done: int, planned: int, op: str) -> None:
    if done % 200 == 0 or done == planned:
        filled = "█" * (30 * done // planned)
        end = "\n" if done == planned else ""
        print(f"\r{filled:░<30} {done}/{planned} {op:<20}", end=end, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m typelattice.conformance.record NAME`."""
    parser = argparse.ArgumentParser(prog="record", description="Record a library's promotion.")
    parser.add_argument("name", help="a recording's name, or module:attribute of your own library")
    parser.add_argument("-o", "--output", type=Path, help="the file to write")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds a call may take")
    chosen = parser.parse_args(arguments)
    try:
        recording = record(
            functools.partial(library, chosen.name),
            limit=chosen.limit,
            progress=_bar if sys.stderr.isatty() else None,
        )
    except (LookupError, ImportError, CannotRecord) as error:
        print(error, file=sys.stderr)
        return 2
    path = chosen.output or RECORDINGS / f"{recording.library}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    recording.save(path)
    print(f"{path}: {sum(1 for _ in recording.calls())} calls, {len(recording.answers)} answers")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
