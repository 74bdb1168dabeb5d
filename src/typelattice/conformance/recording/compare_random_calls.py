"""A system against an installed library: random calls, and mismatches made small."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from typelattice.conformance.recording.compare_with_system import ConformanceReport, Mismatch, compare_calls
from typelattice.conformance.recording.library_process import LibraryProcess
from typelattice.conformance.recording.questions import Question, random_questions
from typelattice.core.engine.system import System
from typelattice.core.evidence.departure import Departure
from typelattice.core.evidence.recorded_calls import RecordedCall
from typelattice.core.operations.operations import Operation, find_operation

MAX_SHRUNK_MISMATCHES = 200
"""How many mismatches are made small; the further ones are reported as they were found."""


def compare_live(
    library_process: LibraryProcess,
    system: System,
    calls: int,
    seed: int,
    departures: Sequence[Departure] = (),
    progress: Callable[[int, int, str], None] = lambda done, planned, op: None,
) -> ConformanceReport:
    """Compare a system with a library on random calls, and report the mismatches.

    The first mismatches are reduced to the smallest calls that still fail. Duplicates among them are dropped.
    """
    has = library_process.catalogue
    questions = list(
        random_questions(
            has.operands, has.operations, has.multi_operand_operations, calls, seed, has.custom_operations
        )
    )
    report = compare_calls(system, _ask_questions(library_process, questions, progress), departures)
    small = {
        str(m): m
        for m in (
            shrink_mismatch(library_process, system, m, departures)
            for m in report.mismatches[:MAX_SHRUNK_MISMATCHES]
        )
    }
    return replace(report, mismatches=(*small.values(), *report.mismatches[MAX_SHRUNK_MISMATCHES:]))


def shrink_mismatch(
    library_process: LibraryProcess, system: System, mismatch: Mismatch, departures: Sequence[Departure] = ()
) -> Mismatch:
    """Return the smallest call that is still a mismatch, and not a listed one."""
    known = find_operation(mismatch.call.op, library_process.catalogue.custom_operations)
    while True:
        able = {*library_process.catalogue.operands}
        questions = [
            question for question in _yield_smaller_calls(mismatch.call, known) if set(question[1]) <= able
        ]
        found = (
            compare_calls(system, _ask_questions(library_process, [question]), departures).mismatches
            for question in questions
        )
        smaller = next((mismatches[0] for mismatches in found if mismatches), None)
        if smaller is None:
            return mismatch
        mismatch = smaller


def _yield_smaller_calls(call: RecordedCall, operation: Operation) -> Iterator[Question]:
    """Yield the calls with one operand fewer, then those with one operand replaced by a plain array."""
    if len(call.operands) > max(2, operation.min_operands):
        yield from ((call.op, _drop_operand(call.operands, i)) for i in range(len(call.operands)))
    for i, operand in enumerate(call.operands):
        if ":" in operand:
            yield call.op, (*call.operands[:i], operand.partition(":")[0], *call.operands[i + 1 :])


def _drop_operand(operands: tuple[str, ...], i: int) -> tuple[str, ...]:
    return operands[:i] + operands[i + 1 :]


def _ask_questions(
    library_process: LibraryProcess,
    questions: Sequence[Question],
    progress: Callable[[int, int, str], None] = lambda done, planned, op: None,
) -> Iterator[RecordedCall]:
    """Yield the questions with the library's answers."""
    for done, (answer, _) in enumerate(library_process.answers(questions)):
        op, operands = questions[done]
        progress(done + 1, len(questions), op)
        yield RecordedCall(op, operands, answer)
