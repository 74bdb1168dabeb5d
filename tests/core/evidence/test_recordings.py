"""Every system gives the recorded answers of its library, but for listed departures, each with a reason."""
from __future__ import annotations

from itertools import chain
from pathlib import Path
from zlib import compress

import pytest
from kept import calls_of, kept, some
from samples import one_in

import typelattice as tl
from typelattice.conformance.recording.compare_with_system import ConformanceReport, compare_calls
from typelattice.core.evidence.list_departures import list_departures
from typelattice.core.evidence.recording_files import RECORDINGS_FOLDER, calls_of_functions, recording_names
from typelattice.core.registry.releases import VERSION_SIGN

EVERY = 83  # of the calls: all of them are for `make whole`
EVERY_OF_OLDER = 167  # of those of an older release, whose rules are mostly those of the newest
FEW = 40  # a sample of fewer calls is no sample: then each call of those operations is asked
NEWEST = [name for name in recording_names() if VERSION_SIGN not in name]
OLDER = [name for name in recording_names() if VERSION_SIGN in name]
OPERATIONS = 8  # of those that an older release answers as the newest does, one is asked of so many


def told(found: ConformanceReport) -> str:
    """What a system answers otherwise than its library, but for the listed departures; by cause, in words."""
    assert found.compared_count > 20
    groups = found.group_by_cause().items()
    return "\n".join(
        f"{len(group)} × {cause}, e.g. {'; '.join(map(str, group[:3]))}" for cause, group in groups
    )


@pytest.mark.parametrize("name", [*NEWEST, *one_in(4, OLDER)])
def test_a_system_answers_a_sample_as_its_library_did(name: str) -> None:
    recording = kept(name)
    operations = recording.operations
    if (
        VERSION_SIGN in name
    ):  # where it answers as the newest release, so do its rules, which are those of the newest
        operations = {*recording.first_lines(), *some(name, operations, OPERATIONS)}
    calls = [*calls_of(name, operations, EVERY_OF_OLDER if VERSION_SIGN in name else EVERY)]
    if len(calls) < FEW:
        calls = [*calls_of(name, operations, 1)]
    assert told(compare_calls(tl.system(name), calls, list_departures(name))) == ""


@pytest.mark.whole
@pytest.mark.parametrize("name", recording_names())
def test_a_system_answers_every_call_as_its_library_did(name: str) -> None:
    """But for the listed departures. Each of its own is met exactly as often as it says."""
    calls = chain(kept(name).calls(), calls_of_functions(name))
    found = compare_calls(tl.system(name), calls, list_departures(name))
    assert told(found) == ""
    newest, _, older = name.partition(VERSION_SIGN)
    for departure in {*list_departures(name)} - ({*list_departures(newest)} if older else set()):
        assert len(found.mismatches_by_departure[departure]) == departure.count, departure
        assert departure.reason
        assert departure.source


def test_the_recordings_take_less_than_a_megabyte_of_the_wheel() -> None:
    """A wheel deflates what it holds; whole it has to stay under five megabytes."""
    assert (
        sum(len(compress(path.read_bytes())) for path in Path(RECORDINGS_FOLDER).glob("*.jsonl")) < 1_000_000
    )
