"""A guard in the processes of a run: it stops writes outside the folders that the run may change.

Python's audit hooks see the writes of Python code, and know the line that makes them. On Linux the kernel
(Landlock) also stops those of C libraries and of programs that are no Python. This module imports only the
standard library: each Python process of a run loads it before anything else.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

MODULE_NAME = "_typelattice_write_guard"  # this module's name in a process that it guards
WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGED_ENTRIES = {
    "os.link": ((0, 2), (1, 3)), "os.mkdir": ((0, 2),), "os.remove": ((0, 1),),
    "os.rename": ((0, 2), (1, 3)), "os.rmdir": ((0, 1),), "os.symlink": ((1, 2),),
}  # fmt: skip
"""For each event: where its arguments have a changed entry of a folder, and the descriptor of the folder."""
CHANGED_FILES = {
    "os.chflags": None, "os.chmod": 2, "os.chown": 3, "os.removexattr": None, "os.setxattr": None,
    "os.truncate": None, "os.utime": 3,
}  # fmt: skip
"""For each event whose first argument is a file: where its arguments have the descriptor of the folder."""
PROCESS_EVENTS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn"}
NETWORK_EVENTS = {"socket.connect", "socket.sendto"}
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # Landlock's system calls
NO_NEW_PRIVILEGES = 38
LEAST_LANDLOCK = 2  # the first version that can allow a rename from one folder into another
WRITE_FILE, TRUNCATE = 1 << 1, 1 << 14
CHANGES = WRITE_FILE | sum(1 << bit for bit in range(4, 14))  # make, remove and rename entries of folders
STOPPED_MESSAGE = "typelattice fix stops writes outside its copy"


@dataclass(frozen=True, slots=True)
class GuardSettings:
    """The settings of a guard.

    A run may change what `allowed` names. Paths that begin with one of `caches` hold the caches of libraries:
    a write there is refused as on a read-only disk, and the program may go on. What the guard notices is
    added to `notes`. The program's own files are below `copy`.
    """

    allowed: tuple[str, ...]
    caches: tuple[str, ...]
    notes: str
    copy: str


class Guard:
    """The hook of one process. `is_kernel_guarded` is true if the kernel also stops writes."""

    def __init__(self, settings: GuardSettings) -> None:
        self.settings, self.is_kernel_guarded = settings, False
        self.noted: set[tuple[str, str]] = set()

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        """Raise PermissionError if an event is a write that is not allowed."""
        if event == "open":
            if isinstance(args[2], int) and args[2] & WRITE_FLAGS:
                self.check_file(args[0], -1)
        elif event in CHANGED_ENTRIES:
            for path, folder in CHANGED_ENTRIES[event]:
                self.check_entry(args[path], args[folder])
        elif event in CHANGED_FILES:
            position = CHANGED_FILES[event]
            self.check_file(args[0], -1 if position is None else args[position])
        elif event == "sqlite3.connect":
            self.check_database(args[0])
        elif event == "socket.bind":
            if isinstance(args[1], (str, bytes)) and args[1][:1] not in ("", b"", "\0", b"\0"):
                self.check_entry(args[1], -1)
        elif event in NETWORK_EVENTS:
            if isinstance(args[1], tuple):
                self.note("network", ":".join(map(str, args[1][:2])))
        elif event in PROCESS_EVENTS:
            command = _name_command(args)
            if not command.startswith("python"):  # a guard of its own is in it
                self.note("process", command)

    def check_file(self, path: Any, folder: Any) -> None:
        """Raise PermissionError if a file may not be written. The path may lead through links."""
        found = _absolute_path(path, folder)
        if found is not None:
            self.check_path(os.path.realpath(found))

    def check_entry(self, path: Any, folder: Any) -> None:
        """Raise PermissionError if an entry of a folder, such as a link, may not be changed."""
        found = _absolute_path(path, folder)
        if found is not None:
            found = found.rstrip("/") or "/"
            self.check_path(os.path.join(os.path.realpath(os.path.dirname(found)), os.path.basename(found)))

    def check_database(self, database: Any) -> None:
        """Check a database that is opened. Where the kernel stops its writes, it may be read."""
        found = _absolute_path(database, -1)
        if found is None or os.path.basename(found) in ("", ":memory:") or "mode=ro" in found:
            return
        found = os.path.realpath(os.fspath(found).partition("file:")[2].partition("?")[0] or found)
        if self.is_kernel_guarded and os.path.isfile(found):
            if not self.is_allowed(found):
                self.note("read-only", found)
        else:
            self.check_path(found)

    def check_path(self, path: str) -> None:
        """Raise PermissionError if a path without links may not be written."""
        if self.is_allowed(path):
            return
        is_cache = "__pycache__" in path.split(os.sep) or path.startswith(self.settings.caches)
        self.note("cache" if is_cache else "write", path)
        raise PermissionError(errno.EACCES, STOPPED_MESSAGE, path)

    def is_allowed(self, path: str) -> bool:
        """Return True if a path without links may be written: a file of the run, a device, shared memory."""
        if any(_is_below(path, folder) for folder in self.settings.allowed) or _is_below(path, "/proc"):
            return True
        if _is_below(path, "/dev/shm"):
            return True
        return _is_below(path, "/dev") and os.path.exists(path) and not os.path.isfile(path)

    def note(self, kind: str, what: str) -> None:
        """Add what the program did, and its line, to the notes. Each is added once."""
        if (kind, what) in self.noted:
            return
        self.noted.add((kind, what))
        file, line = self.find_program_line()
        words = json.dumps([kind, what, file, line, self.is_kernel_guarded])
        descriptor = os.open(self.settings.notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, f"{words}\n".encode())
        finally:
            os.close(descriptor)

    def find_program_line(self) -> tuple[str, int]:
        """Find the innermost line of the program's own files, or of any file if there is none."""
        frames = [frame for frame in _walk_frames(sys._getframe()) if frame.f_code.co_filename != __file__]
        own = (frame for frame in frames if _is_below(frame.f_code.co_filename, self.settings.copy))
        found = next(own, None)
        return ("", 0) if found is None else (found.f_code.co_filename, found.f_lineno or 0)


def _walk_frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _absolute_path(path: Any, folder: Any) -> str | None:
    """Return the absolute form of a path, or None for a descriptor of an open file."""
    if path is None or isinstance(path, int):
        return None
    try:
        found = os.fsdecode(path)
        if isinstance(folder, int) and folder >= 0 and not os.path.isabs(found):
            return os.path.join(os.readlink(f"/proc/self/fd/{folder}"), found)
        return os.path.join(os.getcwd(), found)
    except (TypeError, ValueError, OSError):  # the call itself then fails, or the kernel decides
        return None


def _name_command(args: tuple[Any, ...]) -> str:
    """Name the program of a command that starts a process."""
    words = args[1] if len(args) > 1 and isinstance(args[1], (list, tuple)) and args[1] else args[0]
    first = words[0] if isinstance(words, (list, tuple)) and words else words
    try:
        text = os.fsdecode(first).strip()
    except TypeError:
        return "a command"
    return os.path.basename(text.split()[0])[:40] if text else "a command"


def start_guard(settings: GuardSettings) -> Guard:
    """Guard this process, and all that it starts, from now on. It cannot be undone."""
    guard = Guard(settings)
    guard.is_kernel_guarded = restrict_process(settings.allowed)
    sys.addaudithook(guard)
    return guard


def restrict_process(folders: Sequence[str]) -> bool:
    """Make the kernel refuse changes outside some folders. Return False if it cannot.

    The restriction also holds in all processes that this one starts, whatever they run.
    """
    if sys.platform != "linux":
        return False
    import ctypes

    class Rules(ctypes.Structure):
        _fields_ = (("handled_accesses", ctypes.c_uint64),)

    class Rule(ctypes.Structure):
        _pack_ = 1
        _fields_ = (("allowed_accesses", ctypes.c_uint64), ("folder", ctypes.c_int32))

    library = ctypes.CDLL(None, use_errno=True)
    call: Callable[..., int] = library.syscall
    version = call(CREATE_RULESET, None, 0, 1)
    if version < LEAST_LANDLOCK:
        return False
    handled = CHANGES | (TRUNCATE if version > LEAST_LANDLOCK else 0)
    rules = Rules(handled)
    descriptor = call(CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(ctypes.sizeof(rules)), 0)
    if descriptor < 0:
        return False
    try:
        devices = (WRITE_FILE | TRUNCATE) & handled
        changes = [(path, handled if os.path.isdir(path) else devices) for path in (*folders, "/dev/shm")]
        for path, accesses in (*changes, ("/dev", devices), ("/proc", WRITE_FILE)):
            if not os.path.exists(path):
                continue
            folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
            try:
                rule = Rule(accesses, folder)
                if call(ADD_RULE, descriptor, 1, ctypes.byref(rule), 0):
                    return False
            finally:
                os.close(folder)
        if library.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0):
            return False
        return call(RESTRICT_SELF, descriptor, 0) == 0
    finally:
        os.close(descriptor)
