"""How many processes a program starts while it is followed: what they compute is not seen."""

from __future__ import annotations

import sys
from functools import cache
from itertools import count
from types import TracebackType
from typing import Any

FORKS = frozenset(("os.fork", "os.forkpty"))  # of Python's audit events
OTHERS = frozenset(("os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen"))


class Children:
    """Counts the processes that are started within it. Nothing of the program's is wrapped for that.

    Python tells audit hooks of most. Of a process that multiprocessing starts otherwise than by a fork it
    does not, but multiprocessing numbers all that it makes.
    """

    def __init__(self) -> None:
        self.forks = self.others = self.made = self.made_before = 0

    @property
    def started(self) -> int:
        """The processes so far: of multiprocessing's own, those are forks that it forks."""
        made = _made_by_multiprocessing() if self in LISTENING else self.made
        return self.others + max(self.forks, made - self.made_before)

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
    """Python takes no audit hook back, so there is one for all, which most of the time tells nobody."""
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
    """Whether subprocess, of which there was an event, asks the system by one that has its own."""
    return event == "os.posix_spawn" and sys._getframe(2).f_globals.get("__name__") == "subprocess"


def _made_by_multiprocessing() -> int:
    """The number of the last process that multiprocessing made: its counter names the next when printed."""
    counter = getattr(sys.modules.get("multiprocessing.process"), "_process_counter", None)
    return int(repr(counter).strip("count()")) - 1 if type(counter) is count else 0
