"""Ctrl-C: it ends the process at once, except where something is to be shown or tidied up first."""
from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


def end_by_interrupt() -> None:
    """Let Ctrl-C end the process without a message, as it ends programs in other languages.

    A KeyboardInterrupt may come up anywhere, also where Python's own modules turn it into another error. A
    process that was started to ignore Ctrl-C goes on ignoring it.
    """
    if _handler() is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def raise_on_interrupt() -> Iterator[None]:
    """Within, Ctrl-C raises KeyboardInterrupt after all."""
    if _handler() is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def end_in_silence() -> None:
    """Print nothing for a KeyboardInterrupt that ends the process.

    Python ends it by the signal itself, after all else that it does on its way out. A shell that runs a loop
    then knows that it was interrupted, and stops.
    """
    sys.excepthook = lambda *given: None


def _handler() -> object:
    """Return the present handler of Ctrl-C; None in a thread, which cannot change it."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    return signal.getsignal(signal.SIGINT) if in_main_thread else None
