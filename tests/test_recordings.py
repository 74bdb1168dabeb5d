"""Every system gives the recorded answers of its library, but for listed departures, each with a reason."""
from __future__ import annotations

from dataclasses import replace
from zlib import compress

import pytest
from kept import kept

import typelattice as tl
from typelattice.conformance.compare import Report, compare
from typelattice.facts.releases import SIGN
from typelattice.recorded.departures import departures
from typelattice.recorded.lookup import of_several
from typelattice.recorded.recording import RECORDINGS, recorded

EVERY = 11  # of the calls: all of them are for `make conform`


def told(found: Report) -> str:
    """What a system answers otherwise than its library, but for the listed departures; by cause, in words."""
    assert found.compared > 100
    groups = found.groups().items()
    return "\n".join(
        f"{len(group)} × {cause}, e.g. {'; '.join(map(str, group[:3]))}" for cause, group in groups
    )


@pytest.mark.parametrize("name", recorded())
def test_a_system_answers_a_sample_as_its_library_did(name: str) -> None:
    assert told(compare(tl.system(name), kept(name).calls(EVERY), departures(name))) == ""


@pytest.mark.parametrize("name", recorded())
def test_calls_of_several_operands_are_looked_up_as_they_are_read(name: str) -> None:
    several = replace(kept(name), unary={}, binary={})
    read = [c for c in several.calls() if c.op == "result_type" and len(c.operands) > 2]
    assert [*of_several(name, "result_type")] == read


@pytest.mark.live
@pytest.mark.parametrize("name", recorded())
def test_a_system_answers_every_call_as_its_library_did(name: str) -> None:
    """But for the listed departures. Each of its own is met exactly as often as it says."""
    found = compare(tl.system(name), kept(name).calls(), departures(name))
    assert told(found) == ""
    newest, _, older = name.partition(SIGN)
    for departure in {*departures(name)} - ({*departures(newest)} if older else set()):
        assert len(found.listed[departure]) == departure.count, departure
        assert departure.reason
        assert departure.source


def test_the_recordings_take_less_than_a_megabyte_of_the_wheel() -> None:
    """A wheel deflates what it holds; whole it has to stay under five megabytes."""
    assert sum(len(compress(path.read_bytes())) for path in RECORDINGS.glob("*.json")) < 1_000_000
