"""Count of the processes that a program starts while it is followed, whether they are followed or not."""

from __future__ import annotations

import sys
from functools import cache
from itertools import count
from types import TracebackType
from typing import Any

FORKS = frozenset(("os.fork", "os.forkpty"))  # of Python's audit events
OTHERS = frozenset(("os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen"))


class Children:
    """A context that counts the processes started within it, without wrapping anything of the program.

    Python reports most of them to audit hooks. It does not report a process that multiprocessing starts
    without a fork, but multiprocessing numbers all its processes.
    """

    def __init__(self) -> None:
        self.forks = self.others = self.made = self.made_before = 0

    @property
    def started(self) -> int:
        """The number of processes so far. A process that multiprocessing forks is counted once."""
        made = _made_by_multiprocessing() if self in LISTENING else self.made
        return self.others + max(self.forks, made - self.made_before)

    def forget(self) -> None:
        """Count from nothing, as in a process that was just forked."""
        self.forks = self.others = 0
        self.made_before = _made_by_multiprocessing()

    def __enter__(self) -> None:
        _hook()
        self.made_before = _made_by_multiprocessing()
        LISTENING.add(self)

    def __exit__(
        self,
        cls: type[BaseException] | None = None,
        e: BaseException | None = None,
        where: TracebackType | None = None,
    ) -> None:
        self.made = _made_by_multiprocessing()
        LISTENING.discard(self)


LISTENING: set[Children] = set()


@cache
def _hook() -> None:
    """Add one audit hook for all contexts, as Python cannot remove a hook. It is idle most of the time."""
    sys.addaudithook(_heard)


def _heard(event: str, given: Any) -> None:
    if not LISTENING:
        return
    if event in FORKS:
        for each in [*LISTENING]:
            each.forks += 1
    elif event in OTHERS and not _told_before(event):
        for each in [*LISTENING]:
            each.others += 1


def _told_before(event: str) -> bool:
    """Return True if subprocess raised this second event: its own event was counted already."""
    return event == "os.posix_spawn" and sys._getframe(2).f_globals.get("__name__") == "subprocess"


def _made_by_multiprocessing() -> int:
    """Return the number of multiprocessing's last process. Its counter, when printed, shows the next one."""
    counter = getattr(sys.modules.get("multiprocessing.process"), "_process_counter", None)
    return int(repr(counter).strip("count()")) - 1 if type(counter) is count else 0
