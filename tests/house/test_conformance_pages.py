"""The pages of conformance count the calls that `typelattice conform` compares."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from command_line import said

from typelattice.core.evidence.list_departures import list_departures
from typelattice.core.evidence.recording import Recording

sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "docs"))
import conformance

EVERY = 29


@pytest.mark.parametrize("name", ["dask", "c"])
def test_the_counts_add_up_to_those_of_the_command(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both count the same sample of the calls."""
    asked = Recording.calls_of
    monkeypatch.setattr(Recording, "calls_of", lambda self, op: asked(self, op, EVERY))
    monkeypatch.setattr(
        Recording, "calls", lambda self: (call for op in self.operations for call in self.calls_of(op))
    )
    # the page is about operations
    monkeypatch.setattr("typelattice.show.cli.commands.conform.calls_of_functions", lambda name: ())
    found = conformance.conformance(name)
    compared = json.loads(said(capsys, "conform", name, "--format", "json"))
    counts = found.classes.values()
    assert sum(c.right + c.refused + c.departs for c in counts) == compared["compared"] > 0
    departing = sum(len(listed["calls"]) for listed in compared["listed"])
    assert sum(c.departs for c in counts) == departing
    assert (departing > 0) == bool(list_departures(name))
    assert found.date in compared["asked"]


def test_a_page_says_what_was_never_asked() -> None:
    found = conformance.conformance("keras")
    assert "add" in found.classes["arithmetic"].never_asked
    assert found.classes["arithmetic"].asked == 0
    page = conformance.library_page("keras", [found])
    assert "never asked: add" in page
    assert "right by rule" in page


def test_a_share_below_the_whole_is_not_shown_as_the_whole() -> None:
    counts = conformance.Counts(999_999, 0, 1, 0, ())
    newest = conformance.Conformance("c", {}, "", dict.fromkeys(conformance.STANDARD_RULES_BY_CLASS, counts))
    assert "99.99%" in conformance.index([newest])
    assert "100%" not in conformance.index([newest])


def test_a_badge_says_what_was_asked_and_when() -> None:
    found = conformance.conformance("keras")
    asked = sum(counts.asked for counts in found.classes.values())
    badge = conformance.badge(found)
    assert f"{asked:,} calls asked {found.date}" in badge and "all by its rule" in badge
    counts = conformance.Counts(1, 0, 2, 0, ())
    assert "2 depart from its rule" in conformance.badge(
        conformance.Conformance("c", {}, "", {"arithmetic": counts})
    )
