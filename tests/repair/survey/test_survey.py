"""A survey of a package of planted functions finds what each does, and is harmed by none."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from command_line import said
from jsonschema import Draft202012Validator
from planted_functions import PACKAGE, TESTS

from typelattice.base.disk.journal import Journal, JournalError
from typelattice.repair.survey import survey_report, surveyor, wide_by_design
from typelattice.repair.survey.survey_packages import ROWS_HEADER, survey_packages
from typelattice.repair.survey.time_limit import TimeLimitError
from typelattice.show.cli.main import main

pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a survey forks")
SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "survey.schema.json").read_text(encoding="utf-8"))
VERDICTS = {
    "keeps": "kept", "widens": "wide", "widens_scalar": "wide", "mixes": "mixed", "widens_on_purpose": "wide",
    "refuses": "refused", "counts": "no floats", "raises": "not reached", "hangs": "not reached",
    "exits": "not reached", "leaves": "not reached", "crashes_in_its_example": "kept", "prints": "kept",
    "writes": "kept", "moves": "kept", "reads": "kept", "reads_lines": "kept", "connects": "kept",
    "starts": "kept", "opens": "kept", "changes_its_argument": "kept", "shown_elsewhere": "kept",
    "by_recipe": "kept", "in_tests": "kept", "takes_integers": "kept", "takes_lists": "kept",
    "takes_callback": "kept", "asks_for_wide": "not reached", "holds": "not reached",
    "widens_integers": "kept", "widens_numbers": "kept", "mixes_integers": "mixed",
    "hides_its_origin": "wide",
}  # fmt: skip
DID = {
    "writes": "writes files", "moves": "writes files", "reads": "asks for input",
    "reads_lines": "asks for input", "connects": "opens a connection", "starts": "starts a program",
    "opens": "opens a window",
}  # fmt: skip


def plant(folder: Path, code: str, tests: str = "") -> None:
    """Write the package `planted`, with tests of its own."""
    (folder / "planted" / "tests").mkdir(parents=True)
    (folder / "planted" / "__init__.py").write_text(code, encoding="utf-8")
    (folder / "planted" / "tests" / "test_planted.py").write_text(tests, encoding="utf-8")


@pytest.fixture(scope="module")
def surveyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("planted")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", str(folder))
        patch.setenv("DISPLAY", ":77")
        plant(folder, PACKAGE + f"\nELSEWHERE = {str(folder / 'elsewhere.txt')!r}\n", TESTS)
        packages = [*survey_packages(["planted"], limit=2.5)]
    data = survey_report.survey_data(packages, date(2026, 1, 2))
    assert not (folder / "elsewhere.txt").exists()
    yield data


def functions_of(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    (package,) = data["packages"]
    return {each["name"].removeprefix("planted."): each for each in package["functions"]}


def test_each_planted_function_has_its_verdict(surveyed: dict[str, Any]) -> None:
    found = {name: each["verdict"] for name, each in functions_of(surveyed).items()}
    assert found == VERDICTS


def test_the_first_wide_line_is_named(surveyed: dict[str, Any]) -> None:
    found = functions_of(surveyed)
    lines = ["", *PACKAGE.splitlines()]
    assert found["widens"]["cause"]["file"] == "planted/__init__.py"
    assert "np.float64(0.5)" in lines[found["widens"]["cause"]["line"]]
    assert "np.zeros(2)" in lines[found["mixes"]["cause"]["line"]]
    assert "np.linspace" in lines[found["hides_its_origin"]["cause"]["line"]]
    assert found["mixes"]["wide"] == ["result['wide']"]


def test_what_a_function_does_beside_is_named(surveyed: dict[str, Any]) -> None:
    found = functions_of(surveyed)
    assert {name: each["did"] for name, each in found.items() if "did" in each} == {
        name: [deed] for name, deed in DID.items()
    }


def test_a_function_that_is_not_reached_has_the_reason(surveyed: dict[str, Any]) -> None:
    found = functions_of(surveyed)
    assert found["raises"]["why"] == "RuntimeError: never"
    assert found["hangs"]["why"] == "it takes more than 2.5 s"
    assert found["exits"]["why"] == "it ends its process with status 3"
    assert found["refuses"]["why"] == "float32 is refused: TypeError: doubles only"
    assert "float64" in found["asks_for_wide"]["why"]


def test_a_source_that_takes_too_long_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object) -> None:
        raise TimeLimitError

    told: list[dict[str, Any]] = []
    monkeypatch.setattr(surveyor, "judge_call", slow)
    surveyor._survey_function(
        "planted", "f", lambda x: x, {}, ["recipes"], 5.0, lambda **row: told.append(row)
    )
    assert told[-1] == {"row": {"verdict": "not reached", "why": "recipes take more than 1.5 s"}}


def test_the_source_of_the_arguments_is_named(surveyed: dict[str, Any]) -> None:
    found = functions_of(surveyed)
    assert found["keeps"]["call"] == "keeps(float32[2])"
    assert "source" not in found["keeps"]  # its own examples
    assert found["shown_elsewhere"]["source"] == "the examples of planted.__doc__"
    assert found["by_recipe"]["source"] == "a recipe"
    assert found["in_tests"]["source"] == "the tests in test_planted.py"


def test_the_document_follows_the_schema(surveyed: dict[str, Any]) -> None:
    validator = Draft202012Validator(SCHEMA)
    text = survey_report.survey_json(surveyed)
    assert json.loads(text) == surveyed
    assert not [*validator.iter_errors(surveyed)]
    broken = json.loads(text)
    broken["packages"][0]["functions"][0]["verdict"] = "narrow"
    assert [*validator.iter_errors(broken)]
    verdicts = SCHEMA["$defs"]["function"]["properties"]["verdict"]["enum"]
    assert verdicts == [*survey_report.VERDICTS]


def test_a_function_that_widens_on_purpose_is_no_finding(
    surveyed: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    reasons = {"planted.*_on_purpose": "it sums in float64"}
    monkeypatch.setattr(wide_by_design, "_read_reasons", lambda: reasons)
    monkeypatch.setattr(survey_report, "reason_of_design", wide_by_design.reason_of_design)
    row = {"verdict": "wide", "call": "f(float32[2])"}
    made = survey_report._function_data("planted.widens_on_purpose", row)
    assert (made["verdict"], made["design"]) == ("wide by design", "it sums in float64")
    assert survey_report._function_data("planted.widens", row)["verdict"] == "wide"
    kept = survey_report._function_data("planted.widens_on_purpose", {"verdict": "kept"})
    assert kept == {"name": "planted.widens_on_purpose", "verdict": "kept"}


def test_every_entry_of_the_list_of_designs_has_a_reason() -> None:
    assert all(len(reason.split()) > 3 for reason in wide_by_design._read_reasons().values())


TWO = """
import numpy as np
def first(x): return x
def second(x):
    return x * np.float64(2)
"""


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    plant(tmp_path, TWO)
    return tmp_path


def test_a_survey_goes_on_where_it_was_stopped(two: Path) -> None:
    rows = two / "rows.jsonl"
    kept = {"package": "planted", "version": "unknown", "verdict": "kept", "function": "planted.second"}
    with Journal(rows, ROWS_HEADER) as journal:
        journal.append({**kept, "version": "0.1", "function": "planted.first"})
        journal.append(kept)  # which a survey of its own would not say
    with rows.open("ab") as file:
        file.write(b'{"package": "planted", "versi')  # where a process was killed
    (package,) = survey_packages(["planted"], rows, limit=5.0)
    assert {name: row["verdict"] for name, row in package.rows.items()} == {
        "planted.first": "kept", "planted.second": "kept",
    }  # fmt: skip
    written = [row["function"].removeprefix("planted.") for row in Journal(rows, ROWS_HEADER).rows]
    assert written == ["first", "second", "first"]


def test_rows_of_another_kind_are_refused(two: Path) -> None:
    rows = two / "rows.jsonl"
    rows.write_text('{"typelattice": "run"}\n')
    with pytest.raises(JournalError, match="is no file of survey rows; name another one"):
        [*survey_packages(["planted"], rows)]


def test_the_command_prints_the_findings_and_writes_the_document(
    two: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = said(capsys, "survey", "planted", "-o", str(two / "out.json"), "--limit", "5")
    assert printed.splitlines()[0] == "planted unknown: 1 kept, 1 wide"
    assert "planted.second: planted/__init__.py:5: " in printed
    assert printed.splitlines()[-1] == "2 functions called with float32; 0 of 2 not reached (0%)"
    assert json.loads((two / "out.json").read_text())["typelattice"] == "survey"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["no_such_package"], "there is no package 'no_such_package'; install it in this Python"),
        (["plantde"], "there is no package 'plantde' (did you mean planted?); install it in this Python"),
        (["not-a-name"], "'not-a-name' is no name of a package; write it as an import does"),
        (["planted", "--limit", "soon"], "'soon' is no number of seconds, such as 0.5 or 10"),
        (["planted", "--scheduler", "nowhere"], ""),
    ],
)
def test_bad_input_is_refused_in_one_line(
    two: Path, words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["survey", *words]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1


def test_a_package_that_exits_while_it_is_imported_is_refused(
    two: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (two / "planted" / "__init__.py").write_text("import os\nos._exit(3)\n")
    assert main(["survey", "planted"]) == 2
    assert "planted cannot be listed: its process ended" in capsys.readouterr().err
    (two / "planted" / "__init__.py").write_text("raise SystemExit('no')\n")
    assert main(["survey", "planted"]) == 2
    assert "planted cannot be imported (SystemExit: 'no')" in capsys.readouterr().err
