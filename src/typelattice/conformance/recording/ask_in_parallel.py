"""Several processes, or workers of a cluster, that ask one library together; a file keeps the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self

from typelattice.base.disk.journal import Journal
from typelattice.base.workers.pool import LocalPool, WorkerPool, connect_cluster
from typelattice.conformance.recording.in_process_library import AnswerAndMessage, Catalogue
from typelattice.conformance.recording.library import CannotAskError, versions_text
from typelattice.conformance.recording.questions import Question

ANSWERS_FILE_KIND, ANSWERS_FORMAT_VERSION = "answers", 1


class AnswerSource(Protocol):
    """Something that answers calls."""

    catalogue: Catalogue

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def answers(self, questions: Sequence[Question]) -> Iterator[AnswerAndMessage]:
        """Yield the answer to each question in turn."""


class AnswerProcess(AnswerSource, Protocol):
    """A library in a process of its own, or stubs that a checker reads.

    `batch_size` is a good number of questions for one task.
    """

    batch_size: int

    def stop(self) -> None:
        """End the question that it is at; called from another thread."""


class AnswerProcessPool:
    """A group of processes that answer like a single one. No question is asked twice.

    `start` starts one process. `jobs` of them run on this machine. With `scheduler`, the address of a Dask
    scheduler, each worker of that cluster runs one instead, and `start` must be picklable. With `journal`,
    each answer is appended to that file as it comes. A second run takes the answers from there, and
    `resumed_count` is their number. `head_entries` says what else the answers depend on, such as the time
    limit of a call. A file that differs in this is refused. Raises WorkersError, JournalError, FileError,
    CannotAskError, and the errors of `start`.
    """

    def __init__(
        self, start: Callable[[], AnswerProcess], jobs: int = 1, scheduler: str = "",
        journal: Path | None = None, head_entries: Mapping[str, object] = {},
    ) -> None:  # fmt: skip
        first = start()
        self.catalogue, self._batch, self._jobs = first.catalogue, first.batch_size, jobs
        self._known: dict[Question, AnswerAndMessage] = {}
        try:
            self._journal = (
                Journal(journal, _journal_head(first.catalogue, head_entries)) if journal else None
            )
            for row in self._journal.rows if self._journal else ():
                if _is_row(row):
                    op, operands, answer, message = row
                    self._known[op, tuple(operands)] = answer, message
            self.resumed_count = len(self._known)
            if scheduler:
                first.__exit__()
                self._pool: WorkerPool = connect_cluster(
                    partial(AnswerWorker, start, first.catalogue), _refuse_lost, scheduler
                )
            else:
                others = [AnswerWorker(start, first.catalogue) for _ in range(jobs - 1)]
                self._pool = LocalPool([AnswerWorker(start, first.catalogue, first), *others])
        except BaseException:
            first.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.__exit__()
        if self._journal:
            self._journal.close()

    def delete_answers(self) -> None:
        """Delete the file of answers. Raises FileError."""
        if self._journal:
            self._journal.remove()

    def answers(self, questions: Sequence[Question]) -> Iterator[AnswerAndMessage]:
        """Yield the answer to each question in turn, whatever the order in which answers come."""
        unanswered = [each for each in dict.fromkeys(questions) if each not in self._known]
        size = max(1, min(self._batch, -(-len(unanswered) // self._jobs)))
        tasks = [unanswered[at : at + size] for at in range(0, len(unanswered), size)]
        if tasks and self._journal:
            self._journal.open()  # a file that cannot be written is refused before anything is asked
        incoming = self._pool.results(tasks) if tasks else iter(())
        unanswered_count = len(unanswered)
        for question in questions:
            while question not in self._known:
                answered_question, answer = next(incoming)
                if self._journal:
                    self._journal.append([*answered_question, *answer])
                self._known[answered_question] = answer
                unanswered_count -= 1
                if not unanswered_count:  # let the workers finish, whether or not all answers are wanted
                    next(incoming, None)
            yield self._known[question]


class AnswerWorker:
    """A worker that asks a library. It starts the library for its first task, unless it is given one."""

    def __init__(
        self,
        start: Callable[[], AnswerProcess],
        expected: Catalogue,
        answer_process: AnswerProcess | None = None,
    ) -> None:
        self._start, self._expected, self._asked = start, expected, answer_process
        self._stopped = False

    def results(self, task: Sequence[Question]) -> Iterator[tuple[Question, AnswerAndMessage]]:
        """Yield each question with its answer. Raises CannotAskError if the library is another one here."""
        if self._stopped and self._asked is not None:  # the worker's process was ended, so replace it
            self._asked.__exit__()
        self._stopped = False
        if self._asked is None:
            self._asked = self._start()
            _check_same(self._asked.catalogue, self._expected)
        for question, answer in zip(task, self._asked.answers(task), strict=True):
            if self._stopped:
                break
            yield question, answer

    def stop(self) -> None:
        """End the task that it is at, from another thread."""
        self._stopped = True
        if self._asked is not None:
            self._asked.stop()

    def close(self) -> None:
        """End the process of the library."""
        if self._asked is not None:
            self._asked.__exit__()


def _check_same(catalogue: Catalogue, expected: Catalogue) -> None:
    if catalogue != expected:
        here, there = (
            f"{versions_text(has.versions)} on Python {has.python}" for has in (expected, catalogue)
        )
        what = f"is {there} with a worker, and {here} in this process"
        if here == there:
            what = "has other operands or operations with a worker than in this process"
        raise CannotAskError(f"{expected.name} {what}; install the same for both")


def _refuse_lost(task: Sequence[Question]) -> Iterable[Any]:
    """Raise CannotAskError for calls that end each worker of a cluster."""
    op, operands = task[0]
    what = f"{len(task)} calls from {op}({', '.join(operands)}) on end each worker that asks them"
    raise CannotAskError(f"{what}; ask on this machine, without --scheduler")


def _journal_head(catalogue: Catalogue, head_entries: Mapping[str, object]) -> Mapping[str, object]:
    return {
        "typelattice": ANSWERS_FILE_KIND,
        "version": ANSWERS_FORMAT_VERSION,
        "library": catalogue.name,
        "versions": versions_text(catalogue.versions),
        "Python": catalogue.python,
        "how": catalogue.how,
        **head_entries,
    }


def _is_row(row: object) -> bool:
    """Return True for an operation, operands, the answer and its message."""
    return (
        isinstance(row, list)
        and len(row) == 4
        and isinstance(row[1], list)
        and all(isinstance(text, str) for text in (row[0], *row[1], *row[2:]))
    )
