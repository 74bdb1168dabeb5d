"""Reports say what they looked at, which wide floats they cannot see, and which values were not checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.tracing.entry_points.script import run_script
from typelattice.tracing.entry_points.width_budget import WidthBudget, budget_message
from typelattice.tracing.findings.findings import collect_findings
from typelattice.tracing.report.html_report import report_html
from typelattice.tracing.report.report_entries import make_report
from typelattice.tracing.report.text_report import write_report
from typelattice.tracing.report.tool_formats import build_sarif, write_github_annotations
from typelattice.tracing.run_data.merged_runs import merge_runs
from typelattice.tracing.run_data.run import Run

LIBRARY = """import numpy as np
class Image:
    def __init__(self, data):
        self._data, self.notes = data, {"weights": [np.ones(2)]}
    @property
    def data(self):
        raise SystemExit("a property of the program ran")
    def __getattr__(self, name):
        raise SystemExit("code of the program ran")
class Slotted:
    __slots__ = ("values", "empty")
    def __init__(self, values):
        self.values = values
def image(x):
    return Image(x.astype(np.float64))
def slotted(x):
    return Slotted(x.astype(np.float64))
def narrow(x):
    return Slotted(x)
def ones(count):
    return np.ones(count)
def several(count):
    return {"a": np.ones(count)}, [np.ones(count)]
"""


def traced(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch, values: bool = False) -> Run:
    (folder / "seen_by_nobody.py").write_text(LIBRARY)
    (folder / "s.py").write_text(f"import numpy as np\nimport seen_by_nobody as lib\n{code}\n")
    monkeypatch.chdir(folder)
    ended = run_script("s.py", [], [], values=values)
    assert ended.status == 0
    return ended.run


def notes_of(run: Run, chapter: str = "causes") -> Sequence[str]:
    (found,) = (each for each in make_report(collect_findings(run)).chapters if each.name == chapter)
    return found.notes


def test_a_report_without_findings_says_what_it_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = traced("x = np.ones(3, np.float32) * 2", tmp_path, monkeypatch)
    assert notes_of(run) == ("looked at 2 operations of numpy in s.py",)
    assert notes_of(run, "mismatches") == ("compared 2 operations",)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("lib.image(x)", "took float32 and returned an Image that holds float64 in ._data"),
        ("lib.image(x)", "took float32 and returned an Image that holds float64 in .notes['weights'][0]"),
        ("lib.slotted(x)", "took float32 and returned a Slotted that holds float64 in .values"),
        ("lib.ones(3)", "returned float64; no rule of it is known"),
    ],
)
def test_a_wide_float_that_no_rule_sees_is_named(
    call: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = traced(f"x = np.ones(3, np.float32) * 2\ny = {call}", tmp_path, monkeypatch)
    assert not collect_findings(run).causes
    follow = "" if "no rule" in says else "; follow it with --package seen_by_nobody"
    assert f"not seen: s.py:4: {call} {says}{follow}" in notes_of(run)


@pytest.mark.parametrize("call", ["lib.narrow(x)", "lib.Slotted(x.astype(np.float64)).values", "print(x)"])
def test_an_object_with_arrays_that_are_narrow_or_followed_is_not_named(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = traced(f"x = np.ones(3, np.float32) * 2\ny = {call}", tmp_path, monkeypatch)
    assert not run.held_arrays or not collect_findings(run).scope.held_arrays


def test_every_form_of_a_report_says_what_was_not_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = traced("x = np.ones(3, np.float32) * 2\ny = lib.slotted(x)", tmp_path, monkeypatch)
    made = make_report(collect_findings(run))
    says = "a Slotted that holds float64 in .values"
    assert says in " ".join(write_report(run, (), width=1_000))
    assert says in report_html(run, ())
    assert says in json.dumps(build_sarif(made, "1"))
    assert says in " ".join(write_github_annotations(made))


def test_a_budget_is_exceeded_by_a_wide_array_in_an_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = WidthBudget(DTYPES["float32"])
    narrow = traced("x = np.ones(3, np.float32)\ny = lib.narrow(x)", tmp_path, monkeypatch)
    assert budget_message(narrow, None, budget) == ""
    wide = traced("x = np.ones(3, np.float32)\ny = lib.slotted(x)", tmp_path, monkeypatch)
    assert "returned a Slotted that holds float64 in .values" in budget_message(wide, None, budget)


UNCHECKED = {
    "np.arange(3) * 2; x = np.arange(3); x *= 2": "1 result of multiply in place, which overwrote",
    "np.int8([1]); y = np.lcm(x, x)": "1 result of lcm, for which there is no check",
    "np.ones(1 << 25, np.int8)": "1 result of large arrays; the largest has 33.6 MB",
    "lib.ones(3); y = np.ones(2)": "1 result of ones, which no array library defines",
    "np.divmod(np.int8([7]), np.int8([2]))": "2 results of divmod, which gives several",
    "np.unwrap(np.float32([1]))": "1 result of unwrap, but for",
    "np.ma.array([1, 2]) + 1": " with objects of MaskedArray, which may compute in another way",
    "np.sum(np.complex64([1, 2]))": "1 result of sums in complex64, for lost digits",
    "np.linalg.multi_dot([np.int8([[9]])] * 3)": "1 result of multi_dot, for which there is no check",
    "np.linspace(0, 1, 3, dtype=int)": "1 result of linspace, for which there is no check",
    "np.arange(0.5, 3, dtype=int)": "1 result of arange, with arguments that no check reads",
    "np.concatenate([np.ones(2), [3.5]], dtype=int, casting='unsafe')": "1 result of concatenate, with",
    "np.int8([1, 2]); np.add.at(x, [0, 0], 99)": "1 call of at, which returns nothing and may write into",
    "np.int8([1, 2]); np.copyto(x, [3.5, 1], casting='unsafe')": "1 call of copyto, which returns nothing",
    "lib.several(3); y = np.ones(2)": "2 results of several, which no array library defines",
    "np.sum(np.int8([1, 2]), where=True)": "1 result of sum, with arguments that no check reads",
}


@pytest.mark.parametrize("code", UNCHECKED)
def test_results_whose_values_were_not_checked_are_counted_by_reason(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = traced(f"x = {code}", tmp_path, monkeypatch, values=True)
    notes = [note for note in notes_of(run, "values") if note.startswith("not checked: ")]
    assert any(UNCHECKED[code] in note for note in notes)


@pytest.mark.parametrize(
    "code", ["np.arange(3, dtype=np.int8)", "np.int8([2, 1]); x.sort()", "np.ones(2); print(x)"]
)
def test_a_call_that_loses_no_value_is_checked(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = traced(f"x = {code}", tmp_path, monkeypatch, values=True)
    assert not [note for note in notes_of(run, "values") if note.startswith("not checked: ")]


def test_no_value_is_said_to_be_kept_if_none_was_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = traced("x = lib.ones(3)\ny = np.ones(1 << 25, np.int8)", tmp_path, monkeypatch, values=True)
    text = " ".join(write_report(run, ()))
    assert "no values were checked" in text and "no value was lost" not in text


def test_runs_of_several_processes_add_up_what_they_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = traced("x = np.lcm(np.int8([1]), np.int8([1]))", tmp_path, monkeypatch, values=True)
    merged = merge_runs([run, run]).value_scope
    assert run.value_scope and merged and merged.checked_count == 2 * run.value_scope.checked_count
    assert [each.count for each in merged.unchecked] == [2]
