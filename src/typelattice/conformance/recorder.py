"""Asks a library everything, and writes down its answers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from typelattice.conformance.library import Library
from typelattice.conformance.process import LIMIT, LibraryProcess
from typelattice.conformance.questions import planned_calls
from typelattice.recorded.messages import Messages
from typelattice.recorded.recording import Recording
from typelattice.recorded.rows import Line, Row, Square


def record(
    make: Callable[[], Library],
    *,
    limit: float = LIMIT,
    several: int = 1000,
    seed: int = 0,
    progress: Callable[[int, int, str], None] = lambda done, planned, op: None,
) -> Recording:
    """The recording of every call that is planned.

    `make` is called in another process, so it must be picklable. `limit`: seconds that a call may take.
    `several`: random calls of three to five operands, for each operation that takes so many. `progress` is
    given the number of calls done, that of calls planned, and the operation. Raises CannotAskError,
    UnknownLibraryError, MissingLibraryError.
    """
    with LibraryProcess(make, limit) as asked:
        has = asked.catalogue
        planned = planned_calls(has.operands, has.operations, has.several, several, seed)
        questions = list(planned.questions(has.operands))
        index: dict[str, int] = {}
        messages = Messages()
        told = []
        for done, (answer, message) in enumerate(asked.answers(questions)):
            told.append(index.setdefault(messages.kept(answer, message), len(index)))
            progress(done + 1, len(questions), questions[done][0])
    untold = iter(told)

    def row(length: int) -> Row:
        return tuple(next(untold) for _ in range(length))

    unary = {op: Line(chosen, row(len(chosen))) for op, chosen in planned.unary.items()}
    binary = {
        op: Square(chosen, tuple(row(len(chosen)) for _ in chosen)) for op, chosen in planned.binary.items()
    }
    nary = tuple((op, operands, next(untold)) for op, operands in planned.nary)
    return Recording(
        library=has.name,
        versions=has.versions,
        python=has.python,
        date=date.today().isoformat(),
        how=has.how,
        operands=has.operands,
        answers=tuple(index),
        errors=messages.errors,
        binary=binary,
        unary=unary,
        nary=nary,
        seed=seed,
    )
