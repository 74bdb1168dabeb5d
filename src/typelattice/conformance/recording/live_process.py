"""The process in which a library is asked live: it may hang, crash or print, and can change nothing.

It reads questions, and writes an answer in a line of JSON for each. Once the library is loaded, its Python
code can write no files, read none but those of Python and the system, start no programs and open no
connections. On Linux the kernel also stops files that C code writes. The current folder is an empty one,
which is deleted at once where the system can, so that nothing is left of it.
"""

from __future__ import annotations

import errno
import json
import os
import pickle
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.own_folders import PACKAGE_FOLDER
from typelattice.base.workers.write_guard import WRITE_FLAGS, restrict_process
from typelattice.conformance.recording.library_process import limit_memory
from typelattice.conformance.recording.live_calls import LiveCalls
from typelattice.conformance.recording.load_library import load_library

LENGTH_BYTES = 8
"""Bytes before each question, with its length."""

REFUSED_EVENTS = (
    "os.", "subprocess.", "socket.", "shutil.", "ctypes.dlopen", "webbrowser.", "sqlite3.", "urllib.",
)  # fmt: skip
"""The first characters of events that an answer must not cause."""

HARMLESS_EVENTS = ("os.listdir", "os.scandir", "os.putenv", "os.unsetenv", "socket.__new__")
"""Events that begin so, and change nothing outside the process."""


def serve_questions(name: str) -> None:
    """Load a library, and answer questions until nobody asks any more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    questions = os.fdopen(os.dup(0), "rb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    warnings.simplefilter("ignore")
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    limit_memory()
    try:
        calls = LiveCalls(load_library(name))
    except TypelatticeError as error:
        _write(answers, {"error": str(error)})
        return
    answer_by_kind: Mapping[str, Callable[[Any], object]] = {
        "has": calls.has_function,
        "try": lambda question: asdict(calls.try_call(question)),
        "answer": lambda question: asdict(calls.answer(question)),
    }
    _write(answers, {"source": calls.source})
    folder = tempfile.mkdtemp(prefix="typelattice-")
    os.chdir(folder)
    with suppress(OSError):  # Windows keeps the current folder of a process
        os.rmdir(folder)
    restrict_process(())
    sys.addaudithook(_refuse_event)
    while head := questions.read(LENGTH_BYTES):
        kind, question = pickle.loads(questions.read(int.from_bytes(head)))
        _write(answers, answer_by_kind[kind](question))


def _write(answers: Any, data: object) -> None:
    answers.write(json.dumps(data) + "\n")
    answers.flush()


def _refuse_event(event: str, args: tuple[Any, ...]) -> None:
    """Raise PermissionError if an event would change or read something outside the process."""
    if event == "open":
        path, _, flags = args
        if isinstance(path, int) or (not isinstance(flags, int)):
            return
        allowed = ("/dev", "/proc") if flags & WRITE_FLAGS else _readable()
        if not _is_below(path, allowed):
            raise PermissionError(errno.EACCES, "an answer opens no files", str(path))
    elif event.startswith(REFUSED_EVENTS) and event not in HARMLESS_EVENTS:
        raise PermissionError(errno.EACCES, f"an answer causes no {event}")


def _readable() -> tuple[str, ...]:
    """Return the folders of Python, its packages and the system."""
    of_packages = (path for path in sys.path if "site-packages" in path or "dist-packages" in path)
    return (
        sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.realpath(sys.prefix), *of_packages,
        "/usr", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev", PACKAGE_FOLDER,
    )  # fmt: skip


def _is_below(path: Any, folders: tuple[str, ...]) -> bool:
    try:
        found = os.path.realpath(os.fsdecode(path))
    except (TypeError, ValueError, OSError):  # also a path in the current folder, which is deleted
        return False
    return any(found == folder or found.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


def _end_with_parent(parent: int) -> None:
    """End this process when the one that asks is gone, also where the library hangs."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    with suppress(BrokenPipeError, KeyboardInterrupt):
        serve_questions(sys.argv[1])
