"""Python's garbage collector, held off while a command makes a great many objects that are all kept."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_off() -> Iterator[None]:
    """A block in which Python does not look for objects that only refer to each other in a circle.

    Answers have no circles. A large table is a million objects, and Python would look through all of them
    again whenever they have grown by a quarter.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
