"""The recordings that come along, each read once for all tests of a process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from typelattice.core.evidence.recorded_calls import RecordedCall
from typelattice.core.evidence.recording import Recording
from typelattice.core.evidence.recording_files import open_recording, recording_names


@cache  # a recording does not change, and one of an older release reads that of the newest, too
def kept(name: str) -> Recording:
    """The recording of a name. That each line is right is for the one test that loads it."""
    recording = open_recording(name)
    assert recording is not None
    return recording


def some(name: str, operations: Iterable[str], every: int) -> list[str]:
    """One of so many operations, others for each recording: it takes seconds to decode the calls of all."""
    found = [*operations]
    return found[recording_names().index(name) % every :: every] or found


def calls_of(name: str, operations: Iterable[str], every: int) -> Iterator[RecordedCall]:
    """One of so many calls of each operation."""
    for op in operations:
        yield from kept(name).calls_of(op, every)
