"""Asks a library everything, and writes down its answers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from typelattice.conformance.asker import Answer, Catalogue
from typelattice.conformance.library import Library
from typelattice.conformance.process import LIMIT, LibraryProcess
from typelattice.conformance.questions import PlannedCalls, Question, planned_calls
from typelattice.recorded.answers import LACKED
from typelattice.recorded.messages import Messages
from typelattice.recorded.recording import Recording
from typelattice.recorded.rows import Line, Row, Square

Progress = Callable[[int, int, str], None]
"""Told how many calls are done, how many are planned, and the operation."""


def in_silence(done: int, planned: int, op: str) -> None:
    """Tells no one."""


def record(
    make: Callable[[], Library],
    *,
    limit: float = LIMIT,
    several: int = 1000,
    seed: int = 0,
    like: Recording | None = None,
    earlier: Recording | None = None,
    progress: Progress = in_silence,
) -> Recording:
    """The recording of every call that is planned.

    `make` is called in another process, so it must be picklable. `limit`: seconds that a call may take.
    `several`: random calls of three to five operands, for each operation that takes so many. `progress` is
    given the number of calls done, that of calls planned, and the operation. Raises CannotAskError,
    UnknownLibraryError, MissingLibraryError.

    `like`: a recording whose questions are asked instead, so that the two can be compared call by call. Where
    the library has no such operand or operation, the call is not asked. `earlier`: a recording whose answers
    are taken over if it is of the same versions; only what it was not asked is asked.
    """
    with LibraryProcess(make, limit) as asked:
        if like is not None:
            return asked_again(asked, like, progress, earlier)
        return asked_everything(asked, several, seed, progress, earlier)


def asked_everything(
    asked: LibraryProcess,
    several: int = 1000,
    seed: int = 0,
    progress: Progress = in_silence,
    earlier: Recording | None = None,
) -> Recording:
    """The recording of all that a library in a process has; the options are those of `record`."""
    has = asked.catalogue
    planned = planned_calls(has.operands, has.operations, has.several, several, seed)
    return _recording(asked, has.operands, planned, seed, progress, earlier)


def asked_again(
    asked: LibraryProcess,
    like: Recording,
    progress: Progress = in_silence,
    earlier: Recording | None = None,
) -> Recording:
    """The recording of the calls that another recording asked, as a library in a process answers them."""
    planned = PlannedCalls(
        unary={op: line.operands for op, line in like.unary.items()},
        binary={op: square.operands for op, square in like.binary.items()},
        nary=tuple((op, operands) for op, operands, _ in like.nary),
    )
    return _recording(asked, like.operands, planned, like.seed, progress, earlier)


def _recording(
    asked: LibraryProcess,
    named: tuple[str, ...],
    planned: PlannedCalls,
    seed: int,
    progress: Progress,
    earlier: Recording | None,
) -> Recording:
    """The recording of planned calls of operands that are named."""
    has = asked.catalogue
    questions = list(planned.questions(named))
    known = _known(earlier, has)
    known |= {question: LACKED for question in questions if not _has(has, *question)}
    answers = asked.answers([question for question in questions if question not in known])
    index: dict[str, int] = {}
    messages = Messages()
    told = []
    for done, question in enumerate(questions):
        answer, message = known.get(question) or next(answers)
        kept = messages.kept(answer, message) if message else answer
        told.append(index.setdefault(kept, len(index)))
        progress(done + 1, len(questions), question[0])
    plain = {kept: earlier.errors[kept] for kept in index if earlier and kept in earlier.errors}
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
        operands=named,
        answers=tuple(index),
        errors=plain | messages.errors,
        binary=binary,
        unary=unary,
        nary=nary,
        seed=seed,
    )


def _has(catalogue: Catalogue, op: str, operands: tuple[str, ...]) -> bool:
    """Whether a library has what a call is made of."""
    able = op in (catalogue.operations if len(operands) < 3 else catalogue.several)
    return able and set(operands) <= {*catalogue.operands}


def _known(earlier: Recording | None, has: Catalogue) -> dict[Question, Answer]:
    """The answers of an earlier recording, by their question; none if it was of other versions."""
    if earlier is None or (dict(earlier.versions), earlier.python) != (dict(has.versions), has.python):
        return {}
    return {(call.op, call.operands): (call.answer, call.message) for call in earlier.calls()}
