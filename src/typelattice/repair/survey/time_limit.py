"""Time limits for code in this process. They end Python code, but not compiled code."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TimeLimitError(BaseException):
    """Ends a call that takes too long."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise SlowError in code that runs longer, when it is back in Python. Limits can be nested."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeLimitError

    outer, _ = signal.getitimer(signal.ITIMER_REAL)
    started, before = time.monotonic(), signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, min(seconds, outer or seconds))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if outer:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, outer - (time.monotonic() - started)))
