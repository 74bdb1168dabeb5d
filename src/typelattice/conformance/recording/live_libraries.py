"""Installed libraries, asked live for the dtypes of calls that no table describes, in processes."""

from __future__ import annotations

import atexit
import json
import pickle
import select
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from threading import Lock
from time import monotonic
from typing import Any

from typelattice.conformance.recording.live_process import LENGTH_BYTES
from typelattice.core.evidence.answer_notation import TEXT_BY_BROKEN_ANSWER
from typelattice.core.registry.libraries import libraries, recordings
from typelattice.core.registry.releases import VERSION_SIGN, installed_release
from typelattice.programs.calls.library_questions import CallTrial, LibraryAnswer, LibraryQuestion

HANG_ANSWER, CRASH_ANSWER = TEXT_BY_BROKEN_ANSWER

CALL_SECONDS = 20.0
"""Seconds that an answer may take."""

MAX_PROCESSES = 3
"""Libraries that are loaded at the same time: some take a gigabyte of memory."""

START_SECONDS = 120.0
"""Seconds until a library must be loaded."""


class LiveProcess:
    """The process of one library. It is started when it is needed, and again after it hung or died."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.process: subprocess.Popen[bytes] | None = None
        self.source, self.error = name, ""
        self._received = b""
        self._lock = Lock()

    def request(self, kind: str, question: object) -> Any:
        """Return the answer to a question, HANG_ANSWER or CRASH_ANSWER; or None if it cannot be asked."""
        with self._lock:
            try:
                return self._request(kind, question)
            except BaseException:  # Ctrl-C: the answer may still come, and is not that of the next question
                self.close()
                raise

    def _request(self, kind: str, question: object) -> Any:
        if self.error or not self._start():
            return None
        assert self.process is not None and self.process.stdin is not None
        data = pickle.dumps((kind, question))
        try:
            self.process.stdin.write(len(data).to_bytes(LENGTH_BYTES) + data)
            self.process.stdin.flush()
        except OSError:
            self.close()
            return CRASH_ANSWER
        found = self._read_line(CALL_SECONDS)
        if found in (HANG_ANSWER, CRASH_ANSWER):
            self.close()
        return found

    def _start(self) -> bool:
        """Start the process unless it runs. Return False if the library cannot be asked."""
        if self.process is None:
            module = "typelattice.conformance.recording.live_process"
            # -P: a file of the user's folder is no module of a library
            command = [sys.executable, "-P", "-m", module, self.name]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
            self._received = b""
            head = self._read_line(START_SECONDS)
            if isinstance(head, dict) and "source" in head:
                self.source = head["source"]
            else:
                why = head["error"] if isinstance(head, dict) else TEXT_BY_BROKEN_ANSWER[head]
                self.error = f"{self.name} cannot be asked: {why}" if isinstance(head, str) else why
                self.close()
        return not self.error

    def _read_line(self, seconds: float) -> Any:
        """Return the next line of JSON, HANG_ANSWER if none comes in time, or CRASH_ANSWER at the end."""
        assert self.process is not None and self.process.stdout is not None
        end, stream = monotonic() + seconds, self.process.stdout.fileno()
        while b"\n" not in self._received:
            ready, _, _ = select.select([stream], [], [], max(0.0, end - monotonic()))
            if not ready:
                return HANG_ANSWER
            read = self.process.stdout.read1(1 << 16)  # type: ignore[attr-defined]
            if not read:
                return CRASH_ANSWER
            self._received += read
        line, _, self._received = self._received.partition(b"\n")
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            for stream in (self.process.stdin, self.process.stdout):
                if stream is not None:
                    with suppress(OSError):  # the process may be gone
                        stream.close()
            self.process.wait()
            self.process = None


class LiveLibraries:
    """The libraries that are installed here, as a LibraryAsker. Equal questions are asked once."""

    def __init__(self) -> None:
        self.processes: dict[str, LiveProcess] = {}
        self.answers: dict[tuple[str, LibraryQuestion], LibraryAnswer] = {}
        self.functions: dict[tuple[str, str], bool] = {}
        self.trials: dict[tuple[str, LibraryQuestion], CallTrial] = {}

    def is_installed(self, library: str) -> bool:
        """Return True if a library that was recorded can be imported here. Nothing is imported."""
        modules = libraries()[library].modules if library in recordings() else ()
        return bool(modules) and find_spec(modules[0]) is not None

    def has_function(self, library: str, name: str) -> bool:
        """Return True if a library is installed and has a function, or its arrays have a method `.name`."""
        key = library, name
        if key not in self.functions:
            self.functions[key] = (
                self.is_installed(library)
                and self._process(library).request("has", name) is True
            )
        return self.functions[key]

    def try_call(self, library: str, question: LibraryQuestion) -> CallTrial:
        """Make a call with the dtypes at hand or with others, to see if the library takes it at all."""
        key = library, question
        if key not in self.trials:
            found = self._process(library).request("try", question)
            if found is None:
                self.trials[key] = CallTrial(f"{library} cannot be asked about it")
            elif isinstance(found, str):
                why = TEXT_BY_BROKEN_ANSWER.get(found, found)
                self.trials[key] = CallTrial(f"{library} breaks down: {why}")
            else:
                shape = found["shape"]
                self.trials[key] = CallTrial(**{**found, "shape": None if shape is None else tuple(shape)})
        return self.trials[key]

    def ask(self, system: str, question: LibraryQuestion) -> LibraryAnswer:
        """Return what the library of a system answers."""
        key = system, question
        if key not in self.answers:
            self.answers[key] = self._ask(system, question)
        return self.answers[key]

    def _ask(self, system: str, question: LibraryQuestion) -> LibraryAnswer:
        plain, _, release = system.partition(VERSION_SIGN)
        if plain not in recordings():
            why = f"no library computes by the rules of {system}, so {question.function} cannot be asked"
            return LibraryAnswer(None, why, "")
        process = self._process(plain)
        found = process.request("answer", question)
        if found is None:
            return LibraryAnswer(None, process.error, process.source)
        if isinstance(found, str):
            return LibraryAnswer(found, "", process.source)
        version = process.source.partition(" ")[2]
        if release and installed_release(plain, {plain: version}) != system:
            return LibraryAnswer(
                None, f"{process.source} is installed here, so {system} cannot be asked", process.source
            )
        return LibraryAnswer(**found)

    def _process(self, name: str) -> LiveProcess:
        """Return the process of a library. Of those used before it, only the last ones stay alive."""
        found = self.processes.pop(name, None) or LiveProcess(name)
        for process in [*self.processes.values()][: -(MAX_PROCESSES - 1)]:
            process.close()
        self.processes[name] = found
        return found

    def close(self) -> None:
        """End all processes."""
        for process in self.processes.values():
            process.close()


@cache
def open_live_libraries() -> LiveLibraries:
    """Return the libraries that are asked in this process. They are closed when it ends."""
    made = LiveLibraries()
    atexit.register(made.close)
    return made
