"""Random programs with a planted widening: a sample of those that `make widenings` fixes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from samples import one_in

import typelattice as tl
from typelattice.tracing.source.source_file import SourceFile

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))
import widenings


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(tl.__file__).parents[1]))


def wrong(seed: int) -> str:
    return "".join(mistake for _, mistake, *_ in widenings.outcomes([seed]))


@pytest.mark.parametrize("seed", one_in(8, (16, 22, 36, 1009, 1049, 1061, 2020, 4044), 1))
def test_a_planted_widening_is_fixed_and_nothing_else_changes(seed: int) -> None:
    assert wrong(seed) == ""


def test_a_patch_that_changes_another_byte_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    edited = SourceFile.apply_edits
    monkeypatch.setattr(
        SourceFile, "apply_edits", lambda self, edits: edited(self, edits).replace(b"Odd ", b"odd ")
    )
    assert "changed, which the patch does not name" in wrong(0)


def test_each_sort_of_widening_is_planted() -> None:
    assert {widenings.program(seed)[1] for seed in range(200)} == {
        code.format(n=widenings.N) for code in widenings.WIDENINGS
    }
