"""A library in a process of its own, where it may hang, print, crash or exit.

The process first sends a catalogue of what the library has, and then one answer for each call. When it falls
silent, dies or runs out of memory, the answer to that call is `!hang` or `!crash`, and another process goes
on with the next.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Self

from typelattice.base.errors.errors import TypelatticeError
from typelattice.conformance.recording.in_process_library import (
    AnswerAndMessage,
    Catalogue,
    InProcessLibrary,
    exception_answer,
)
from typelattice.conformance.recording.library import CannotAskError, Library
from typelattice.conformance.recording.questions import Question
from typelattice.core.evidence.answer_notation import EXCEPTION_PREFIX, TEXT_BY_BROKEN_ANSWER

try:
    import resource
except ImportError:  # only Python on Unix has this module
    resource = None  # type: ignore[assignment]

HANG_ANSWER, CRASH_ANSWER = TEXT_BY_BROKEN_ANSWER.items()

CALL_SECONDS = 10.0
"""Seconds that a call may take."""

MAX_PROCESS_BYTES = 8 * 2**30
"""Memory that a process may have. Addresses that a GPU's driver reserves do not count."""

QUESTIONS_PER_BATCH = 50
"""Questions at a time, so that several processes finish together."""

START_TIME_FACTOR = 30
"""How many times as long a library may take until it is ready for the first call."""


class LibraryProcess:
    """A library in another process, which ends when the context is left.

    `make` is called in the other process, so it must be picklable. `limit` is the number of seconds that a
    call may take. With `tells_values` answers have the values of results. If the library cannot be asked at
    all, this raises CannotAskError, or an error of ours that `make` raised.
    """

    batch_size = QUESTIONS_PER_BATCH

    def __init__(
        self, make: Callable[[], Library], limit: float = CALL_SECONDS, tells_values: bool = False
    ) -> None:
        self._make, self._limit, self._tells_values = make, limit, tells_values
        self._process: BaseProcess | None = None
        self.catalogue = self._start_process()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_process()

    def stop(self) -> None:
        """End the process at the question that it is at; called from another thread."""
        process = self._process
        if process is not None:
            process.kill()

    def answers(self, questions: Sequence[Question]) -> Iterator[AnswerAndMessage]:
        """Yield the answer to each question in turn."""
        done = 0
        while done < len(questions):
            for answer in self._answers_of_one_process(questions[done:]):
                yield answer
                done += 1

    def _answers_of_one_process(self, questions: Sequence[Question]) -> Iterator[AnswerAndMessage]:
        """Answers until the last question, or until one that hangs or crashes."""
        if self._process is None:
            self._start_process()
        answered = 0
        try:
            with suppress(OSError):  # the process may have died; its answer will say so
                self._pipe.send(questions)
            while answered < len(questions):
                answer = self._receive_answer()
                if answer in (HANG_ANSWER, CRASH_ANSWER):
                    yield answer
                    return
                answered += 1
                yield answer
        finally:
            if answered < len(questions):  # the process is dead, stuck, or about to answer a dropped question
                self._end_process()

    def _receive_answer(self) -> AnswerAndMessage:
        try:
            if not self._pipe.poll(self._limit):
                return HANG_ANSWER
            received = self._pipe.recv()
        except (EOFError, OSError):
            return CRASH_ANSWER
        if isinstance(received, TypelatticeError):
            raise received
        answer, message = received
        return CRASH_ANSWER if answer == f"{EXCEPTION_PREFIX}MemoryError" else (str(answer), str(message))

    def _start_process(self) -> Catalogue:
        """Start a process; return the catalogue of the library in it."""
        context = multiprocessing.get_context("spawn")
        self._pipe, child_end = context.Pipe()
        process_arguments = (self._make, self._tells_values, child_end)
        self._process = context.Process(target=_serve_answers, args=process_arguments, daemon=True)
        self._process.start()
        child_end.close()
        try:
            received = (
                self._pipe.recv()
                if self._pipe.poll(START_TIME_FACTOR * self._limit)
                else self._slow_start_error()
            )
        except (EOFError, OSError):
            received = CannotAskError("the library cannot be asked: its process died before the first call")
        except BaseException:
            self._end_process()
            raise
        if isinstance(received, TypelatticeError):
            self._end_process()
            raise received
        catalogue: Catalogue = received
        return catalogue

    def _slow_start_error(self) -> CannotAskError:
        waited = f"{START_TIME_FACTOR * self._limit:g} seconds, {START_TIME_FACTOR} times the limit of a call"
        return CannotAskError(f"the library cannot be asked: it was not ready within {waited}")

    def _end_process(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None
            self._pipe.close()


def _serve_answers(make: Callable[[], Library], tells_values: bool, pipe: Connection) -> None:
    """The other process: send the catalogue, receive lists of questions, send an answer to each."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the process that asks, and with it this one
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _be_quiet()
    limit_memory()
    try:
        asker = InProcessLibrary(make(), tells_values)
        pipe.send(asker.catalogue())
    except TypelatticeError as error:
        pipe.send(error)
        return
    except BaseException as error:  # a Rust panic is no Exception, and a library may raise one as it is made
        name, message = exception_answer(error)
        pipe.send(CannotAskError(f"the library cannot be asked: it raises {name[1:]}: {message}"))
        return
    with suppress(EOFError, OSError):  # the other end was closed
        while True:
            for op, operands in pipe.recv():
                try:
                    pipe.send(asker.ask(op, operands))
                except TypelatticeError as error:
                    pipe.send(error)


def limit_memory() -> None:
    """Let no allocation take more than a process may have, where the system can limit it."""
    if resource is not None:
        with suppress(OSError, ValueError):
            soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_DATA)
            limit = (
                MAX_PROCESS_BYTES
                if soft_limit == resource.RLIM_INFINITY
                else min(soft_limit, MAX_PROCESS_BYTES)
            )
            resource.setrlimit(resource.RLIMIT_DATA, (limit, hard_limit))


def _end_with_parent() -> None:
    """Ends this process when the one that asks is gone, also where the library hangs."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _be_quiet() -> None:
    warnings.simplefilter("ignore")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
