"""Documents of runs are compared by their upcasts, and those of several processes combined."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import typelattice as tl
from typelattice.show.cli.main import main as command
from typelattice.tracing.report.run_files import RunFileError, combine_documents, compare_documents, read_run


def before(x: np.ndarray) -> np.ndarray:
    return x * np.float64(2) + x


def after(x: np.ndarray) -> np.ndarray:
    y = x - np.linspace(0, 1, 3)
    return x * np.float64(2) + x + y


@cache
def text_of(function: Any) -> str:
    """The document of a run as text; each test changes a reading of its own."""
    return tl.trace(function, np.ones(3, "float32")).to_json()


def document(function: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text_of(function))
    return found


def test_an_upcast_of_one_run_alone_is_named_with_its_place() -> None:
    found = compare_documents(document(before), document(after))
    assert [str(upcast) for _, upcast in found.added] == ["x - np.linspace(0, 1, 3): float32 becomes float64"]
    assert found.kept == 2 and not found.removed and found.bytes[0] < found.bytes[1]
    assert found.added[0][0].endswith(f"test_run_documents.py:{after.__code__.co_firstlineno + 1}")
    back = compare_documents(document(after), document(before))
    assert [u for _, u in back.removed] == [u for _, u in found.added] and not back.added


def test_lines_and_folders_do_not_count() -> None:
    one, two = document(before), document(before)
    for step in two["steps"]:
        step |= {"file": f"/elsewhere/{Path(step['file']).name}", "line": step["line"] + 7}
    assert not (found := compare_documents(one, two)).added and not found.removed and found.kept == 2


def test_combined_runs_have_the_steps_of_all() -> None:
    parts = [document(before), document(after)]
    made = combine_documents(parts)
    first = len(parts[0]["steps"])
    assert len(made["steps"]) == first + len(parts[1]["steps"])
    moved = [[p - first for p in step["operands"]] for step in made["steps"][first:]]
    assert moved == [step["operands"] for step in parts[1]["steps"]]
    assert made.keys() == parts[0].keys() and made["libraries"] == parts[0]["libraries"]
    parts[1]["libraries"] = {"numpy": "numpy1"}
    with pytest.raises(RunFileError, match="combine runs of one environment"):
        combine_documents(parts)


def test_the_command_ends_with_1_for_a_new_upcast(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = []
    for function in (before, after):
        paths.append(str(tmp_path / f"{function.__name__}.json"))
        Path(paths[-1]).write_text(json.dumps(document(function)), encoding="utf-8")
    assert command(["runs", "diff", *paths]) == 1
    printed = capsys.readouterr().out
    assert "adds 1 upcast, removes 0, keeps 2\n" in printed and printed.startswith("+ ")
    assert command(["runs", "diff", *reversed(paths)]) == 0
    assert command(["runs", "combine", *paths, "-o", str(tmp_path / "both.json")]) == 0
    read_run(str(tmp_path / "both.json"))


@pytest.mark.parametrize(
    ("key", "value"),
    [("observed", 3), ("operands", [9]), ("operands", [0.5]), ("file", 1), ("bytes", None), ("code", []),
     ("bytes", 10**400), ("line", -(10**400))],
)
def test_a_step_that_is_not_as_it_should_be_is_refused(tmp_path: Path, key: str, value: object) -> None:
    made = document(before)
    made["steps"][-1][key] = value
    (tmp_path / "a.json").write_text(json.dumps(made), encoding="utf-8")
    with pytest.raises(RunFileError, match="no document of a run"):
        read_run(str(tmp_path / "a.json"))


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "no JSON"), ("{}", "no document of"), ('{"typelattice": "run", "version": 9}', "version 9")],
)
def test_a_file_that_is_no_run_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RunFileError, match="write one with typelattice trace --json") as e:
        read_run(str(path))
    assert words in str(e.value)
    assert command(["runs", "diff", str(path), str(path)]) == 2
    assert command(["runs", "diff", str(path)]) == command(["runs", "combine", str(path)]) == 2
