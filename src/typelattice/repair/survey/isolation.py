"""A process without network, windows and input, which can write only into its scratch folder.

Python tells audit hooks what a function is about to do. A hook refuses what leaves the scratch folder, and
notes it in the row of the function.
"""

from __future__ import annotations

import ctypes
import io
import os
import signal
import sys
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from typing import Any

CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1  # an option of prctl
WRITING_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT
SOCKET_EVENTS = (
    "socket.connect",
    "socket.bind",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.sendto",
)
PROCESS_EVENTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.startfile")
FILE_CHANGE_EVENTS = {
    "os.remove": (0,), "os.rmdir": (0,), "os.mkdir": (0,), "os.chmod": (0,), "os.chown": (0,),
    "os.truncate": (0,), "os.utime": (0,), "shutil.rmtree": (0,),
    "os.rename": (0, 1), "os.link": (1,), "os.symlink": (1,),
}  # fmt: skip
"""Events of Python that change files, and which of their arguments are the paths that change."""
ENVIRONMENT_VARIABLES = {
    "MPLBACKEND": "Agg", "QT_QPA_PLATFORM": "offscreen",
    "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1",
}  # fmt: skip
"""No windows, no threads that a fork would lose."""


def make_environment(home: str) -> dict[str, str]:
    """Return the environment of a process with a scratch folder as its home, and without a display."""
    kept = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    folders = dict.fromkeys(
        ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "NUMBA_CACHE_DIR", "TMPDIR"), home
    )
    return {**kept, **ENVIRONMENT_VARIABLES, **folders}


def leave_network() -> None:
    """Remove this process from the network, if the system allows it; audit hooks refuse it anyway."""
    unshare = getattr(os, "unshare", None)  # exists from Python 3.12 on, on Linux
    if unshare is not None:
        with suppress(OSError):
            unshare(CLONE_NEWNET)


def end_with_parent() -> None:
    """Let this process end when its parent ends, if the system offers that, as Linux does."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def isolate_process(home: str, scratch: str, note_attempt: Callable[[str], None]) -> None:
    """Refuse from now on what leaves the home of the survey; `note_attempt` gets the name of each attempt.

    Files in the scratch folder are noted and allowed. Those elsewhere in the home are caches of libraries.
    """
    inside = tuple(os.path.realpath(each) + os.sep for each in (home, "/dev"))
    noted = os.path.realpath(scratch) + os.sep
    sys.stdin = _NoInput(note_attempt)

    def check(path: Any) -> None:
        if isinstance(path, int):
            return
        place = os.path.realpath(os.fsdecode(path)) + os.sep
        if place.startswith(noted) or not place.startswith(inside):
            note_attempt("writes files")
        if not place.startswith(inside):
            raise PermissionError(f"a survey lets nothing write {path!r}")

    def refuse(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = args
            writes = (flags or 0) & WRITING_FLAGS or (isinstance(mode, str) and {*mode} & {*"wax+"})
            if writes:
                check(path)
        elif event in FILE_CHANGE_EVENTS:
            for path in (args[place] for place in FILE_CHANGE_EVENTS[event]):
                check(path)
        elif event in SOCKET_EVENTS:
            note_attempt("opens a connection")
            raise ConnectionRefusedError("a survey has no network")
        elif event in PROCESS_EVENTS:
            note_attempt("starts a program")
            raise PermissionError("a survey starts no programs")
        elif event == "builtins.input":
            note_attempt("asks for input")
            raise EOFError("a survey gives no input")
        elif event in ("os.kill", "os.killpg") and args[0] != os.getpid():
            note_attempt("ends a process")
            raise PermissionError("a survey ends no processes")

    def open_window(*args: Any, **named: Any) -> bool:
        note_attempt("opens a window")
        return False

    webbrowser.open = open_window
    sys.addaudithook(refuse)


class _NoInput(io.TextIOBase):
    """A standard input at its end, which notes its readers."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note

    def readable(self) -> bool:
        """Return True: it can be read."""
        return True

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        """Return the end of the input."""
        self._note("asks for input")
        return ""

    read = readline
