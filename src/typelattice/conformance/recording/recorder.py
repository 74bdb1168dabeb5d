"""Asks a library everything, and writes down its answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from pathlib import Path

from typelattice.conformance.recording.ask_in_parallel import AnswerProcessPool, AnswerSource
from typelattice.conformance.recording.in_process_library import AnswerAndMessage, Catalogue
from typelattice.conformance.recording.library import Library, versions_text
from typelattice.conformance.recording.library_process import CALL_SECONDS, LibraryProcess
from typelattice.conformance.recording.questions import Question
from typelattice.core.evidence.answer_notation import MISSING_IN_RELEASE, Messages
from typelattice.core.evidence.encode_recording import encode_recording
from typelattice.core.evidence.recorded_calls import AnswerByOperands
from typelattice.core.evidence.recording import Recording, RecordingError

ProgressReporter = Callable[[int, int, str], None]
"""Told how many calls are done, how many are planned, and the operation."""


def report_nothing(done: int, planned: int, op_name: str) -> None:
    """Report nothing."""


def record(
    make: Callable[[], Library],
    *,
    limit: float = CALL_SECONDS,
    random_calls_per_operation: int = 1000,
    seed: int = 0,
    recording_to_repeat: Recording | None = None,
    earlier: Recording | None = None,
    progress: ProgressReporter = report_nothing,
    jobs: int = 1,
    scheduler: str = "",
    journal: Path | None = None,
) -> Recording:
    """Return the recording of every call that is planned.

    `make` is called in another process, so it must be picklable. `limit`: seconds that a call may take.
    `random_calls_per_operation`: random calls of three to five operands, for each operation that takes so
    many. `progress` is given the number of calls done, that of calls planned, and the operation. Raises
    CannotAskError, UnknownLibraryError, MissingLibraryError, WorkersError, JournalError, FileError.

    `recording_to_repeat`: a recording whose questions are asked instead, so that the two can be compared call
    by call. Where the library has no such operand or operation, the call is not asked. `earlier`: a recording
    of the same versions, whose answers are taken over; only what it was not asked is asked. Raises
    RecordingError if it is of other versions.

    `jobs`, `scheduler` and `journal` are those of `AnswerProcessPool`: processes, the address of a Dask
    scheduler whose workers ask, and a file that keeps each answer as it comes. A second run goes on from that
    file, which is deleted when all is answered.
    """
    with start_askers(make, limit, jobs, scheduler, journal) as asked:
        if recording_to_repeat is not None:
            recording = repeat_recording(asked, recording_to_repeat, progress, earlier)
        else:
            recording = record_everything(asked, random_calls_per_operation, seed, progress, earlier)
        asked.delete_answers()
        return recording


def start_askers(
    make: Callable[[], Library], limit: float, jobs: int = 1, scheduler: str = "", journal: Path | None = None
) -> AnswerProcessPool:
    """Start the processes of a library; the options are those of `record`."""
    about = {"limit of a call": f"{limit:g} s"}
    return AnswerProcessPool(partial(LibraryProcess, make, limit), jobs, scheduler, journal, about)


def record_everything(
    answer_source: AnswerSource,
    random_calls_per_operation: int = 1000,
    seed: int = 0,
    progress: ProgressReporter = report_nothing,
    earlier: Recording | None = None,
) -> Recording:
    """Return the recording of all that a library in a process has; the options are those of `record`."""
    catalogue = answer_source.catalogue
    questions = catalogue.plan_questions(random_calls_per_operation, seed)
    return _record_new_answers(answer_source, catalogue.operands, questions, seed, progress, earlier)


def repeat_recording(
    answer_source: AnswerSource,
    recording_to_repeat: Recording,
    progress: ProgressReporter,
    earlier: Recording | None = None,
) -> Recording:
    """The recording of the calls that another recording asked, as a library in a process answers them."""
    questions = [
        (op, operands)
        for op in recording_to_repeat.operations
        for operands in recording_to_repeat.answers_of(op)
    ]
    return _record_new_answers(
        answer_source, recording_to_repeat.operands, questions, recording_to_repeat.seed, progress, earlier
    )


def _record_new_answers(
    answer_source: AnswerSource,
    operands: Sequence[str],
    questions: Sequence[Question],
    seed: int,
    progress: ProgressReporter,
    earlier: Recording | None,
) -> Recording:
    """Ask the questions that no earlier recording answers, and record all answers."""
    catalogue = answer_source.catalogue
    known_answers = _read_earlier(earlier, catalogue)
    known_answers |= {
        question: MISSING_IN_RELEASE for question in questions if not _has_call(catalogue, *question)
    }
    answers = answer_source.answers([question for question in questions if question not in known_answers])
    messages = Messages()
    found: dict[str, AnswerByOperands] = {}
    for done, (op, call_operands) in enumerate(questions, 1):
        answer, message = known_answers.get((op, call_operands)) or next(answers)
        found.setdefault(op, {})[call_operands] = messages.name_answer(answer, message)
        progress(done, len(questions), op)
    head = {
        "library": catalogue.name,
        "versions": dict(catalogue.versions),
        "python": catalogue.python,
        "date": date.today().isoformat(),
        "how": catalogue.how,
        "operands": list(operands),
        "seed": seed,
    }
    return encode_recording(head, messages.texts, found)


def _has_call(catalogue: Catalogue, op_name: str, operands: tuple[str, ...]) -> bool:
    """Return True if a library has the operation and the operands of a call."""
    has_operation = op_name in (
        catalogue.operations if len(operands) < 3 else catalogue.multi_operand_operations
    )
    return has_operation and set(operands) <= {*catalogue.operands}


def _read_earlier(earlier: Recording | None, catalogue: Catalogue) -> dict[Question, AnswerAndMessage]:
    """Return the answers of an earlier recording. Raises RecordingError if it is of other versions."""
    if earlier is None:
        return {}
    if (dict(earlier.versions), earlier.python) != (dict(catalogue.versions), catalogue.python):
        then, now = (f"{versions_text(of.versions)} on Python {of.python}" for of in (earlier, catalogue))
        raise RecordingError(f"the earlier recording is of {then}, and not of {now}; leave it out")
    return {(call.op, call.operands): (call.answer, call.message) for call in earlier.calls()}
