"""A signal that is repeated until Python has handled it.

Python handles a signal between two steps of its interpreter. The main thread may be about to wait in compiled
code, for a lock or for input. A signal that arrives just before the wait is handled only after it, possibly
never. For example, a worker of a pool waits if it is ended as soon as it has no task. A signal that arrives
during the wait does end it.
"""

from __future__ import annotations

import os
import signal
import threading
from _thread import start_new_thread
from collections.abc import Callable
from contextlib import suppress
from time import sleep

RESEND_SECONDS = 0.02  # seconds between two attempts to send the signal


class RepeatedSignal:
    """A thread that sends a signal to the main thread again, for as long as `is_unhandled()` is true.

    Python reports signals to it through the file of `signal.set_wakeup_fd`. A file that the program has set
    itself stays, and the thread gets no report: that file also wakes up the program. `threading` does not
    list the thread.
    """

    def __init__(self, number: int, is_unhandled: Callable[[], bool]) -> None:
        self.number, self.is_unhandled = number, is_unhandled
        self.process = 0
        self.written = self.inherited = -1

    def start(self) -> None:
        """Start the thread from the main thread, unless this process has it. A fork does not copy the thread.

        A later call sets the file again, because asyncio unsets it after a fork.
        """
        if not hasattr(signal, "pthread_kill"):
            return
        with suppress(OSError, RuntimeError):  # there are too many open files, or Python is about to end
            if self.process != os.getpid():
                self.inherited = self.written
                read, self.written = os.pipe()
                os.set_blocking(self.written, False)
                start_new_thread(self._resend_signal, (read, threading.get_ident()))
                self.process = os.getpid()
            found = signal.set_wakeup_fd(self.written, warn_on_full_buffer=False)
            if found not in (-1, self.written, self.inherited):
                signal.set_wakeup_fd(found)

    def _resend_signal(self, pipe: int, main_thread: int) -> None:
        with suppress(OSError):  # the program closed all files
            while number := os.read(pipe, 1):
                while number[0] == self.number and self.is_unhandled():
                    sleep(RESEND_SECONDS)
                    if self.is_unhandled():
                        signal.pthread_kill(main_thread, self.number)
