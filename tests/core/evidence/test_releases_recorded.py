"""Recordings of older releases, kept as what differs from the newest, and where these are asked."""
from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from kept import kept, some
from samples import one_in

import typelattice as tl
from typelattice.core.evidence.answer_notation import NOT_ASKED_ANSWER
from typelattice.core.evidence.encode_recording import encode_as_differences, save_recording
from typelattice.core.evidence.recording import RecordingError
from typelattice.core.evidence.recording_files import (
    RECORDINGS_FOLDER,
    load_recording,
    open_recording,
    recording_names,
)
from typelattice.core.registry.releases import system_for_version

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))
import releases as tool

OLDER = [name for name in recording_names() if "@" in name]


@pytest.mark.parametrize("name", one_in(4, OLDER, 1))
def test_a_recording_of_an_older_release_answers_the_same_questions(name: str) -> None:
    recording, base = kept(name), kept(name.partition("@")[0])
    assert (recording.operands, recording.operations) == (base.operands, base.operations)
    # An operation without lines of its own is answered by the base.
    for op in {*recording.first_lines(), *some(name, base.operations, 8)}:
        assert recording.answers_of(op).keys() == base.answers_of(op).keys()
    version = next(iter(recording.versions.values()))
    assert system_for_version(name.partition("@")[0], version) == name


BASES = {name: found.header.get("base") for name in recording_names() if (found := open_recording(name))}
RESTING = {name: base for name, base in BASES.items() if base is not None}


def test_recordings_of_older_releases_rest_on_the_newest() -> None:
    assert {name: RESTING[name] for name in recording_names() if "@" in name} == {
        name: name.partition("@")[0] for name in recording_names() if "@" in name
    }


def test_what_a_recording_rests_on_may_rest_on_a_third_and_ends_at_a_whole_one() -> None:
    assert BASES["keras-tensorflow@3.12"] == "keras-tensorflow"
    assert BASES["keras-tensorflow"] == "keras-jax"
    for name in RESTING:
        beneath = [name]
        while (base := BASES[beneath[-1]]) is not None:
            assert base not in beneath
            beneath.append(base)


@pytest.mark.parametrize("name", ["mlx@0.29", "keras-tensorflow@3.12"])
def test_a_recording_is_written_on_its_base_as_it_was_read(name: str, tmp_path: Path) -> None:
    save_recording(encode_as_differences(kept(name), RESTING[name]), tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_text() == (Path(RECORDINGS_FOLDER) / f"{name}.jsonl").read_text()


def test_what_a_release_lacks_is_stated_once_and_no_call_of_it_was_asked() -> None:
    assert "positive" in kept("mlx@0.29").header["lacks"]["operations"]
    answers = [call.answer for call in load_recording("mlx@0.29").calls() if call.op == "positive"]
    assert {*answers} == {NOT_ASKED_ANSWER}
    assert tl.observed(tl.system("mlx@0.29").explain("int8", op="positive")) is None
    assert tl.observed(tl.system("mlx").explain("int8", op="positive")) is not None


def test_an_exception_says_what_it_said_in_the_older_release() -> None:
    newer, older = (kept(name).find_call("ceil", ("complex64",)) for name in ("mlx", "mlx@0.29"))
    assert newer is not None and older is not None
    assert newer.answer == older.answer
    assert "[ceil]" in newer.message and "[floor]" in older.message
    assert older in [*load_recording("mlx@0.29").calls()]


DAMAGE: dict[str, Callable[[dict], object]] = {
    r"line 1: base: 'nothing' is no recording that comes along": lambda d: d.update(base="nothing"),
    r"line 1: base: 'numpy@2.4' is no recording that comes along": lambda d: d.update(base="numpy@2.4"),
    r"line 1: base: 1 is not a string": lambda d: d.update(base=1),
    r"line 1: format is 1, this version reads \d": lambda d: d.update(format=1),
    r"line 1: digest: the recording numpy that it rests on is another by now": lambda d: d.update(digest="0"),
    r"line 1: reworded\.!MyError#1: is no exception of the recording": lambda d: d.update(
        reworded={"!MyError#1": "no"}
    ),
    r"line 1: lacks: \[\] is not an object": lambda d: d.update(lacks=[]),
    r"line 1: lacks\.operands: is missing": lambda d: d["lacks"].pop("operands"),
    r"line 1: lacks\.operations, entry 1: the base was not asked of 'mine'": lambda d: d.update(
        lacks={"operations": ["mine"], "operands": []}
    ),
    r"line 1: lacks\.operands, entry 2: the base was not asked of 'mine'": lambda d: d.update(
        lacks={"operations": [], "operands": ["int8", "mine"]}
    ),
}
ROWS = {
    '["mine", {"int8": "int8"}]': "'mine' is no operation of the recording that it rests on",
    '["fft", {"int8": "True"}]': r"the base was not asked fft\(True\)",
    '["floor", {"int8": "mine"}]': "there is no operand 'mine'",
    '["floor", {"!TypeError#999": "int8"}]': "there is no message '!TypeError#999'",
}


@pytest.mark.parametrize("told", DAMAGE)
def test_a_damaged_head_on_a_base_is_refused_by_its_place(told: str, tmp_path: Path) -> None:
    head, rows = (Path(RECORDINGS_FOLDER) / "numpy@2.0.jsonl").read_text(encoding="utf-8").split("\n", 1)
    document = json.loads(head)
    DAMAGE[told](document)
    (tmp_path / "damaged.jsonl").write_text(f"{json.dumps(document)}\n{rows}")
    with pytest.raises(RecordingError, match=told):
        load_recording(tmp_path / "damaged.jsonl")


@pytest.mark.parametrize("row", ROWS)
def test_a_row_that_the_base_has_no_call_for_is_refused_by_its_line(row: str, tmp_path: Path) -> None:
    head = (Path(RECORDINGS_FOLDER) / "numpy@2.0.jsonl").read_text(encoding="utf-8").split("\n", 1)[0]
    (tmp_path / "damaged.jsonl").write_text(f"{head}\n{row}\n")
    with pytest.raises(RecordingError, match=rf"damaged\.jsonl: line 2: {ROWS[row]}; record it again"):
        load_recording(tmp_path / "damaged.jsonl")


def test_an_environment_is_made_again_once_the_registry_names_other_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[object, ...]] = []
    finds = tmp_path / "tools" / "find-python"
    finds.parent.mkdir()
    finds.write_text("#!/bin/sh\necho python\n")
    finds.chmod(0o755)
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(tool, "packages", lambda environment: [f"{environment}==1.0"])

    def run(*command: object) -> None:
        made.append(command)
        (tmp_path / ".venv-mine").mkdir(exist_ok=True)

    monkeypatch.setattr(tool, "run", run)
    for _ in range(2):
        assert tool.installed("mine", tmp_path)[1] is None
    assert [command[-1] for command in made] == [tmp_path / ".venv-mine", "mine==1.0"]
    monkeypatch.setattr(tool, "packages", lambda environment: [f"{environment}==1.1"])
    assert tool.installed("mine", tmp_path)[1] is None
    assert made[-1][-1] == "mine==1.1"
