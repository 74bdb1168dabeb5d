"""Count of the processes that a program starts while it is followed, whether they are followed or not."""

from __future__ import annotations

import os
import sys
from functools import cache
from itertools import count
from types import TracebackType
from typing import Any

FORK_EVENTS = frozenset(("os.fork", "os.forkpty"))  # names in Python's audit events
SPAWN_EVENTS = frozenset(("os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen"))

SHELL_PATHS = ("/bin/sh", "/system/bin/sh")  # shells that subprocess uses with shell=True


class ChildProcessCounter:
    """A context that counts the processes started within it, without wrapping anything of the program.

    Python reports most of them to audit hooks. It does not report a process that multiprocessing starts
    without a fork, but multiprocessing numbers all its processes. `commands` has the names of the programs
    that ran in them, if Python reports them.
    """

    def __init__(self) -> None:
        self.forks = self.spawned = self.numbered = self.numbered_before = 0
        self.commands: dict[str, None] = {}

    @property
    def started_count(self) -> int:
        """The number of processes so far. A process that multiprocessing forks is counted once."""
        made = _last_process_number() if self in LISTENING_COUNTERS else self.numbered
        return self.spawned + max(self.forks, made - self.numbered_before)

    def restart_count(self) -> None:
        """Start the count from 0, as in a process that was just forked."""
        self.forks = self.spawned = 0
        self.numbered_before = _last_process_number()

    def __enter__(self) -> None:
        _add_audit_hook()
        self.numbered_before = _last_process_number()
        LISTENING_COUNTERS.add(self)

    def __exit__(
        self,
        cls: type[BaseException] | None = None,
        e: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        self.numbered = _last_process_number()
        LISTENING_COUNTERS.discard(self)


LISTENING_COUNTERS: set[ChildProcessCounter] = set()


@cache
def _add_audit_hook() -> None:
    """Add one audit hook for all contexts, because Python cannot remove a hook. It is mostly idle."""
    sys.addaudithook(_on_audit_event)


def _on_audit_event(event: str, arguments: Any) -> None:
    if not LISTENING_COUNTERS:
        return
    if event in FORK_EVENTS:
        for each in [*LISTENING_COUNTERS]:
            each.forks += 1
    elif event in SPAWN_EVENTS and not _is_second_event(event):
        name = _command_name(event, arguments)
        for each in [*LISTENING_COUNTERS]:
            each.spawned += 1
            each.commands |= {name: None} if name else {}


def _command_name(event: str, arguments: tuple[Any, ...]) -> str:
    """Return the name of the program that an audit event starts, such as `lscpu`, or "" if it has none."""
    command = arguments[1] if event == "os.spawn" else arguments[0]
    if event == "subprocess.Popen" and isinstance(arguments[1], list) and arguments[1][1:2] == ["-c"]:
        command = arguments[1][2] if arguments[1][0] in SHELL_PATHS else command
    try:
        words = os.fsdecode(command).split()
    except TypeError:
        return ""
    return os.path.basename(words[0]) if words else ""


def _is_second_event(event: str) -> bool:
    """Return True if subprocess raised this second event: its own event was counted already."""
    return event == "os.posix_spawn" and sys._getframe(2).f_globals.get("__name__") == "subprocess"


def _last_process_number() -> int:
    """Return the number of multiprocessing's last process. Its counter, when printed, shows the next one."""
    counter = getattr(sys.modules.get("multiprocessing.process"), "_process_counter", None)
    return int(repr(counter).strip("count()")) - 1 if type(counter) is count else 0
