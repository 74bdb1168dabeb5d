"""Ctrl-C: it ends the process at once, unless the command first shows or cleans up something."""
from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


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


def end_in_silence() -> None:
    """Print nothing for a KeyboardInterrupt that ends the process.

    Python ends the process by the signal itself, after all other work at exit. A shell that runs a loop then
    knows that it was interrupted, and stops.
    """
    sys.excepthook = lambda *given: None


def _interrupt_handler() -> object:
    """Return the present handler of Ctrl-C, or None in a thread, which cannot change it."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    return signal.getsignal(signal.SIGINT) if in_main_thread else None
