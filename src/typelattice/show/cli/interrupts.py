"""Signals that end a command: at once, unless it first shows or cleans up something."""
from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

END_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def end_by_interrupt() -> None:
    """Let Ctrl-C end the process without a message, as it ends programs in other languages.

    A KeyboardInterrupt may come at any place, even where Python's own modules turn it into another error. A
    process that was started to ignore Ctrl-C continues to ignore it.
    """
    if _interrupt_handler() is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def raise_on_interrupt(ends_process: bool = False) -> Iterator[None]:
    """Raise KeyboardInterrupt on Ctrl-C within the block, and also after it if it ends the process."""
    if _interrupt_handler() is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if not ends_process:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


class EndedBySignal(BaseException):
    """Ends a command that a signal asks to end, so that it can clean up."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextmanager
def raise_on_end_signals() -> Iterator[None]:
    """Raise EndedBySignal on Ctrl-C, SIGTERM and SIGHUP within the block. Later signals are ignored.

    A signal that this process was started to ignore, as by `nohup`, stays ignored.
    """
    defaults = (signal.SIG_DFL, signal.default_int_handler)
    numbers = [number for number in END_SIGNALS if _signal_handler(number) in defaults]
    old = {number: signal.getsignal(number) for number in numbers}

    def end(number: int, frame: FrameType | None) -> None:
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)
        raise EndedBySignal(number)

    for number in numbers:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def end_by_signal(number: int) -> None:
    """End this process as the signal does by default, after Ctrl-C by KeyboardInterrupt."""
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def end_in_silence() -> None:
    """Print nothing for a KeyboardInterrupt that ends the process.

    Python ends the process by the signal itself, after all other work at exit. A shell that runs a loop then
    knows that it was interrupted, and stops.
    """
    sys.excepthook = lambda *given: None


def _interrupt_handler() -> object:
    """Return the present handler of Ctrl-C, or None in a thread, which cannot change it."""
    return _signal_handler(signal.SIGINT)


def _signal_handler(number: int) -> object:
    """Return the present handler of a signal, or None in a thread, which cannot change it."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    return signal.getsignal(number) if in_main_thread else None
