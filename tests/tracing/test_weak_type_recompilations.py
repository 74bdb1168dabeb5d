"""The report of arguments that are weak in one call and strong in another, without a library."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import typelattice as tl
from typelattice.programs.calls.steps import SourceLocation
from typelattice.tracing.report.text_report import write_report
from typelattice.tracing.run_data.merged_runs import merge_runs
from typelattice.tracing.run_data.run import Run, WeaknessChange

STEP = WeaknessChange(
    "step", "x", "float32[]", SourceLocation("a.py", 1), "asarray(1.0)", SourceLocation("a.py", 2),
    SourceLocation("a.py", 3),
)  # fmt: skip


def negative(x: Any) -> Any:
    return -x


def run_with(*found: WeaknessChange, source: str = "") -> Run:
    return replace(tl.trace(negative, np.ones(2)).run, weakness_changes=found, sources={"a.py": source})


def text_of(run: Run) -> str:
    return " ".join(" ".join(write_report(run, ())).split())


def test_the_report_names_the_line_and_both_calls() -> None:
    text = text_of(run_with(STEP))
    assert "functions are compiled anew for 1 weak argument" in text
    said = "`x` of step is a weak float32[] at a.py:2, and a strong one at a.py:3; give it a dtype here"
    assert f"a.py:1: asarray(1.0): {said}" in text
    assert "in one call at a.py:2, and a strong one in another" in text_of(
        run_with(replace(STEP, strong_call=STEP.weak_call))
    )
    assert "anew" not in text_of(run_with())


def test_the_report_names_the_package_whose_line_was_not_followed() -> None:
    follow = "not followed: the line of other that made it; follow it with --package other"
    for change in (replace(STEP, package="other"), replace(STEP, package="other", new_dtype="float64")):
        text = text_of(run_with(change))
        assert follow in text
        assert "here" not in text.partition("anew")[2].partition("every dtype")[0]
    assert "not followed: the line" not in text_of(run_with(STEP))


def test_a_comment_excuses_it() -> None:
    assert "anew" not in text_of(run_with(STEP, source="x = asarray(1.0)  # typelattice: meant\n"))


def test_processes_report_one_argument_once() -> None:
    other = replace(STEP, argument="y")
    assert merge_runs([run_with(STEP), run_with(STEP, other)]).weakness_changes == (STEP, other)
