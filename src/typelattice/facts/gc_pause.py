"""A pause of Python's garbage collector while many objects are made that are all kept."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_gc() -> Iterator[None]:
    """Pause the search for reference cycles within a block.

    Answers and syntax trees have no circles. Python would look through all of a million objects again
    whenever they have grown by a quarter: a third of the time that a large table takes, or a large module.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
