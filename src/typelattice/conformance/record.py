"""Ask a library everything and write down its answers."""

from __future__ import annotations

import argparse
import functools
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from typelattice.conformance.asking import KINDS, Call, CannotAskError, Catalogue, answers, catalogue
from typelattice.conformance.functions import JOINED, PAIRS, SINGLE, USUAL
from typelattice.conformance.library import UNARY, Library, OperandString
from typelattice.conformance.registry import library
from typelattice.recorded.recording import RECORDINGS, Recording
from typelattice.recorded.rows import Line, Square

WHOLE = ("result_type", "add", "divide", "power", "equal", "bitwise_and")
"""Operations asked of every operand; the others only of arrays and of `KINDS`."""

ARRAYS = ("promote_types", "concat", "matmul")
"""Operations asked of arrays only."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The calls to make, by the index of their operands."""

    unary: dict[str, tuple[int, ...]]
    binary: dict[str, tuple[int, ...]]
    nary: tuple[tuple[str, tuple[int, ...]], ...]

    def calls(self, operands: Sequence[str]) -> Iterator[Call]:
        for op, chosen in self.unary.items():
            for only in chosen:
                yield op, (operands[only],)
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
    has = catalogue(make)
    planned = plan(has, several, seed)
    calls = list(planned.calls(has.operands))
    index: dict[str, int] = {}
    errors: dict[str, str] = {}
    told = []
    for done, (answer, message) in enumerate(answers(make, calls, limit)):
        told.append(index.setdefault(answer, len(index)))
        if answer.startswith("!"):
            errors.setdefault(answer, message)
        if progress is not None:
            progress(done + 1, len(calls), calls[done][0])
    untold = iter(told)

    def row(length: int) -> tuple[int, ...]:
        return tuple(next(untold) for _ in range(length))

    unary = {op: Line(chosen, row(len(chosen))) for op, chosen in planned.unary.items()}
    binary = {op: Square(chosen, tuple(row(len(chosen)) for _ in chosen)) for op, chosen in planned.binary.items()}
    nary = tuple((op, operands, next(untold)) for op, operands in planned.nary)
    return Recording(
        library=has.name,
        versions=has.versions,
        python=has.python,
        date=date.today().isoformat(),
        how=has.how,
        operands=has.operands,
        answers=tuple(index),
        errors=errors,
        binary=binary,
        unary=unary,
        nary=nary,
        seed=seed,
    )


def asked(op: str, operands: Sequence[str]) -> tuple[int, ...]:
    """Of which operands an operation is asked, by their index."""
    if op in WHOLE or op in UNARY:
        return tuple(range(len(operands)))
    usual = USUAL if op in (*PAIRS, *JOINED, *SINGLE) else None
    tiers = ("array",) if op in (*ARRAYS, *JOINED) else ("array", "weak")
    read = [OperandString.parse(name) for name in operands]
    arrays = tuple(i for i, o in enumerate(read) if o.tier in tiers and (usual is None or usual.fullmatch(o.dtype or "")))
    if op in (*ARRAYS, *JOINED, *SINGLE):
        return arrays
    return arrays + tuple(i for i, name in enumerate(operands) if name in KINDS)


def plan(has: Catalogue, several: int, seed: int) -> Plan:
    """Which operations are asked of which operands."""
    everything = tuple(range(len(has.operands)))
    strong = asked("concat", has.operands)
    drawn = random.Random(seed)
    return Plan(
        unary={op: asked(op, has.operands) for op in has.operations if op in (*UNARY, *SINGLE) or op in has.nary},
        binary={op: asked(op, has.operands) for op in has.operations if op not in (*UNARY, *SINGLE)},
        nary=tuple(
            (op, tuple(drawn.choices(pool, k=drawn.choice((3, 4, 5)))))
            for op in has.nary
            for pool in (strong, strong if op in ARRAYS else everything)
            for _ in range(several // 2)
        ),
    )


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
    except (LookupError, ImportError, CannotAskError) as error:
        print(error, file=sys.stderr)
        return 2
    path = chosen.output or RECORDINGS / f"{recording.library}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    recording.save(path)
    print(f"{path}: {sum(1 for _ in recording.calls())} calls, {len(recording.answers)} answers")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
