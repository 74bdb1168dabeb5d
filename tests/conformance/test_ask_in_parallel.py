"""Several processes record what one does, and a recording that is interrupted goes on where it stopped."""
from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import counting
import pytest
from command_line import refused, said
from counting import Counting, questions_of
from forked import fork_libraries

import typelattice
from typelattice.conformance.recording import library_process
from typelattice.conformance.recording.library import CannotAskError
from typelattice.conformance.recording.recorder import record, start_askers
from typelattice.core.evidence.recording import Recording, RecordingError
from typelattice.show.cli.main import main

PATH = os.pathsep.join([str(Path(typelattice.__file__).parents[1]), str(Path(counting.__file__).parent)])
MINE = ["counting:Counting", "-o", "out.jsonl"]


@pytest.fixture(autouse=True)
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the questions that the library was asked; commands run in its folder."""
    path = tmp_path / "log"
    monkeypatch.setenv(counting.LOG, str(path))
    monkeypatch.setenv("PYTHONPATH", PATH)
    monkeypatch.chdir(tmp_path)
    fork_libraries(monkeypatch)
    return path


def rows_of(path: Path) -> list[str]:
    """List the questions of a file of answers, as the library writes them down."""
    lines = path.read_text(encoding="utf-8").split("\n")[1:-1]
    return [f"{op} {' '.join(operands)}" for op, operands, _, _ in map(json.loads, lines)]


def text_of(recording: Recording) -> str:
    return json.dumps(recording.header) + json.dumps(recording.messages) + recording.lines


def test_two_processes_give_the_recording_of_one_and_ask_no_more(log: Path) -> None:
    one = record(Counting)
    alone = questions_of(log)
    log.unlink()
    assert text_of(record(Counting, jobs=2)) == text_of(one)
    assert questions_of(log) == alone
    assert {*alone.values()} == {1}
    assert one.require_answer("pow", "int8", "int16") == "!crash"
    assert len(one.messages) == 3  # their order, too, is that of the questions


def test_answers_come_in_the_order_of_the_questions_and_each_once(log: Path) -> None:
    with start_askers(Counting, 10.0, jobs=2) as asked:
        questions = [("add", (x, y)) for x in counting.DTYPES for y in counting.DTYPES]
        expected = [max(x, y, key=counting.DTYPES.index) for _, (x, y) in questions]
        assert [answer for answer, _ in asked.answers(questions)] == expected
        first, *_ = asked.answers([*questions, *questions])
        assert first == ("bool", "")
        for answer, _ in asked.answers([("subtract", ("int8", "int8")), ("subtract", ("bool", "int8"))]):
            assert answer == "int8"
            break  # whoever wants no more may ask on
        assert [*asked.answers([("subtract", ("int16", "int8"))])] == [("int8", "")]
    assert max(questions_of(log).values()) == 1


def test_an_interrupted_recording_goes_on_where_it_stopped(tmp_path: Path, log: Path) -> None:
    """The interruption costs the calls that were under way; a line that was torn costs that call."""
    answers = tmp_path / "out.jsonl.answers"
    words = [sys.executable, "-m", "typelattice", "record", *MINE, "--jobs", "2"]
    asking = subprocess.Popen(
        words, env={**os.environ, counting.SECONDS: "0.05"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not (answers.exists() and answers.read_bytes().count(b"\n") > 20):
        assert asking.poll() is None
        time.sleep(0.01)
    asking.send_signal(signal.SIGINT)
    assert asking.communicate(timeout=120) == (b"", b"")
    assert asking.returncode == -signal.SIGINT
    assert {each.name for each in tmp_path.iterdir()} == {"log", "out.jsonl.answers"}
    answers.write_bytes(answers.read_bytes()[:-3])
    kept = rows_of(answers)
    assert len(kept) >= 19
    log.unlink()
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    there = f"{len(kept)} answers are there, and are not asked again; delete the file to ask all"
    assert done.stderr == f"typelattice: out.jsonl.answers: {there}\n"
    asked = questions_of(log)
    assert {*asked.values()} == {1}
    assert not {*asked} & {*kept}
    log.unlink()
    whole = record(Counting)
    assert {*asked, *kept} == {*questions_of(log)}
    assert done.stdout == f"out.jsonl: {len([*whole.calls()])} calls of counting 1.0\n"
    assert not answers.exists()
    assert main(["record", "counting:Counting", "-o", "whole.jsonl"]) == 0
    assert (tmp_path / "whole.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()


def kept_answers(path: Path, **changes: object) -> str:
    """Write a file of one answer, with a head that differs; return its text."""
    with start_askers(Counting, 10.0, journal=path) as asked:
        [*asked.answers([("add", ("int8", "int16"))])]
    head, row = path.read_text(encoding="utf-8").splitlines()
    path.write_text(f"{json.dumps({**json.loads(head), **changes})}\n{row}\n", encoding="utf-8")
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "changes, says",
    [
        ({"versions": "counting 0.9"}, "its versions was counting 0.9, and is now counting 1.0"),
        ({"Python": "3.1"}, f"its Python was 3.1, and is now {sys.version.split()[0]}"),
        ({"limit of a call": "3 s"}, "its limit of a call was 3 s, and is now 10 s"),
        ({"library": "other"}, "its library was other, and is now counting"),
    ],
)
def test_answers_of_other_work_are_refused_and_nothing_is_asked(
    tmp_path: Path, log: Path, changes: dict[str, object], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out.jsonl.answers"
    text = kept_answers(path, **changes)
    log.unlink()
    error = refused(capsys, "record", *MINE)
    assert error == f"typelattice: out.jsonl.answers is of other work: {says}; delete it to begin again\n"
    assert {each.name for each in tmp_path.iterdir()} == {path.name}
    assert path.read_text(encoding="utf-8") == text


def test_rows_that_are_no_answers_are_asked(tmp_path: Path, log: Path) -> None:
    path = tmp_path / "kept"
    kept_answers(path)
    with path.open("a", encoding="utf-8") as file:
        file.write('["add", "int8", "int8", ""]\n["add", ["int8", 3], "int8", ""]\n{}\n["add"]\n17\n')
    with start_askers(Counting, 10.0, journal=path) as asked:
        assert asked.resumed_count == 1


def test_an_earlier_recording_of_other_versions_is_refused(log: Path) -> None:
    class Other:
        versions, python = {"counting": "0.9"}, "3.1"

    other: Any = Other()
    with pytest.raises(RecordingError, match=r"is of counting 0.9 on Python 3.1, and not of counting 1.0 on"):
        record(Counting, earlier=other)
    assert not log.exists()


def test_a_comparison_goes_on_from_the_answers_of_both_sides(
    tmp_path: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", "counting:Counting", "--with", "counting:Counting", "--answers", "kept"]
    assert "cannot write 'kept/any.answers'" in refused(capsys, *words)
    (tmp_path / "kept").mkdir()
    first = said(capsys, *words, "--calls", "40").splitlines()
    assert [each.name for each in (tmp_path / "kept").iterdir()] == ["counting.Counting.answers"]
    before = questions_of(log)
    log.unlink()
    second = said(capsys, *words, "--jobs", "2").splitlines()
    assert "answers were in kept already" in second[1]
    assert second[0].split(":")[:-1] == first[0].split(":")[:-1]
    assert not {*questions_of(log)} & {*before}


@pytest.mark.parametrize("address", ["nowhere", "x://y", "two words"])
def test_no_scheduler_is_one_line(log: Path, capsys: pytest.CaptureFixture[str], address: str) -> None:
    error = refused(capsys, "record", *MINE, "--scheduler", address)
    assert "a cluster needs Dask" in error or f"there is no Dask scheduler at {address}" in error


def test_another_library_in_another_process_is_refused(
    monkeypatch: pytest.MonkeyPatch, log: Path
) -> None:
    """As on the worker of a cluster; there it is a library of another version, say."""
    # The version is read as the library is imported, which a forked process does too early.
    monkeypatch.setattr(library_process, "multiprocessing", multiprocessing)
    with start_askers(Counting, 10.0, jobs=2) as asked:
        monkeypatch.setenv("COUNTING_VERSION", "2.0")
        questions = [("add", (x, y)) for x in counting.DTYPES for y in counting.DTYPES]
        says = r"is counting 2.0 on Python \S+ with a worker, and counting 1.0 on .*; install the same"
        with pytest.raises(CannotAskError, match=says):
            [*asked.answers(questions)]
