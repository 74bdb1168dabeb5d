"""The recordings that come along, each read once for all tests of a process."""

from __future__ import annotations

from functools import cache

from typelattice.recorded.recording import Recording


@cache  # a recording does not change, and one of an older release reads that of the newest, too
def kept(name: str) -> Recording:
    """The recording of a name."""
    return Recording.load(name)
