"""Recordings of older releases, kept as what differs from the newest, and where these are asked."""
from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from kept import kept

import typelattice as tl
from typelattice.facts.releases import release_of
from typelattice.recorded.answers import NOT_ASKED
from typelattice.recorded.lookup import look_up
from typelattice.recorded.reading import Reader
from typelattice.recorded.recording import RECORDINGS, Recording, base_of, recorded
from typelattice.recorded.rows import RecordingError

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
import releases as tool


@pytest.mark.parametrize("name", [name for name in recorded() if "@" in name])
def test_a_recording_of_an_older_release_answers_the_same_questions(name: str) -> None:
    recording, base = kept(name), kept(name.partition("@")[0])
    assert recording.operands == base.operands
    for ours, theirs in ((recording.unary, base.unary), (recording.binary, base.binary)):
        assert {op: asked.operands for op, asked in ours.items()} == {
            op: asked.operands for op, asked in theirs.items()
        }
    assert [call[:2] for call in recording.nary] == [call[:2] for call in base.nary]
    version = next(iter(recording.versions.values()))
    assert release_of(name.partition("@")[0], version) == name


BASES = {
    name: base_of(Reader(name, json.loads((RECORDINGS / f"{name}.json").read_text()))) for name in recorded()
}
RESTING = {name: base for name, base in BASES.items() if base is not None}


def test_recordings_of_older_releases_rest_on_the_newest() -> None:
    assert {name: RESTING[name] for name in recorded() if "@" in name} == {
        name: name.partition("@")[0] for name in recorded() if "@" in name
    }


def test_what_a_recording_rests_on_may_rest_on_a_third_and_ends_at_a_whole_one() -> None:
    assert BASES["keras-tensorflow@3.12"] == "keras-tensorflow"
    assert BASES["keras-tensorflow"] == "keras-jax"
    for name in RESTING:
        beneath = [name]
        while (base := BASES[beneath[-1]]) is not None:
            assert base not in beneath
            beneath.append(base)


@pytest.mark.parametrize("name", RESTING)
def test_a_recording_is_read_as_it_was_written(name: str, tmp_path: Path) -> None:
    recording = kept(name)
    recording.save_changes(tmp_path / "again.json", RESTING[name])
    assert (tmp_path / "again.json").read_text() == (RECORDINGS / f"{name}.json").read_text()
    recording.save(tmp_path / "whole.json")
    assert Recording.load(tmp_path / "whole.json") == recording


def test_what_a_release_lacks_is_stated_once_and_no_call_of_it_was_asked() -> None:
    document = json.loads((RECORDINGS / "mlx@0.29.json").read_text(encoding="utf-8"))
    assert "positive" in document["lacks"]["operations"]
    answers = [call.answer for call in Recording.load("mlx@0.29").calls() if call.op == "positive"]
    assert {*answers} == {NOT_ASKED}
    assert tl.observed(tl.system("mlx@0.29").explain("int8", op="positive")) is None
    assert tl.observed(tl.system("mlx").explain("int8", op="positive")) is not None


def test_an_exception_says_what_it_said_in_the_older_release() -> None:
    newer, older = (look_up(name, "ceil", ("complex64",)) for name in ("mlx", "mlx@0.29"))
    assert newer is not None and older is not None
    assert newer.answer == older.answer
    assert "[ceil]" in newer.message and "[floor]" in older.message
    assert older in [*Recording.load("mlx@0.29").calls()]


DAMAGE: dict[str, Callable[[dict[str, object]], object]] = {
    r"base: 'nothing' is no recording that comes along": lambda d: d.update(base="nothing"),
    r"base: 'numpy@2.4' is no recording that comes along": lambda d: d.update(base="numpy@2.4"),
    r"base: 1 is not a string": lambda d: d.update(base=1),
    r"format: is 1, this version reads \d": lambda d: d.update(format=1),
    r"digest: the recording numpy that it rests on is another by now": lambda d: d.update(digest="0"),
    r"unary.floor, entry 1: is no \[row, its numbers\]": lambda d: d.update(
        unary={"floor": {"rows": [["!"]]}}
    ),
    r"unary.floor, entry 1, entry 1: there is no operand 1": lambda d: d.update(
        unary={"floor": {"rows": [["!", [1]]]}}
    ),
    r"unary.mine: is no operation of the recording": lambda d: d.update(unary={"mine": {"rows": []}}),
    r"unary.floor, entry 1, column 2: '~' is no answer": lambda d: d.update(
        unary={"floor": {"rows": [[" ~", [0]]]}}
    ),
    r"unary.floor: 9999 answers, not \d+": lambda d: d.update(unary={"floor": {"rows": [["!" * 9999, [0]]]}}),
    r"binary.add, entry 1, entry 1: there is no operand 9999": lambda d: d.update(
        binary={"add": {"rows": [["!", [9999]]]}}
    ),
    r"nary, entry 1: is no \[number of a call, answer\]": lambda d: d.update(nary=[[1]]),
    r"answers, entry 1: 1 is not a string": lambda d: d.update(answers=[1]),
    r"reworded\.!MyError#1: is no exception of the recording that it rests on": lambda d: d.update(
        reworded={"!MyError#1": "no"}
    ),
    r"lacks: is not an object": lambda d: d.update(lacks=[]),
    r"lacks\.operations, entry 1: the base was not asked of 'mine'": lambda d: d.update(
        lacks={"operations": ["mine"], "operands": []}
    ),
    r"lacks\.operands, entry 2: the base was not asked of 'mine'": lambda d: d.update(
        lacks={"operations": [], "operands": ["int8", "mine"]}
    ),
}


@pytest.mark.parametrize("told", DAMAGE)
def test_a_damaged_recording_of_changes_is_refused_by_its_place(told: str, tmp_path: Path) -> None:
    document = json.loads((RECORDINGS / "numpy@2.0.json").read_text(encoding="utf-8"))
    DAMAGE[told](document)
    (tmp_path / "damaged.json").write_text(json.dumps(document))
    with pytest.raises(RecordingError, match=told):
        Recording.load(tmp_path / "damaged.json")


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
