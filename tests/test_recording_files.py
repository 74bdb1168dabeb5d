"""Files of recordings: read as they were written, or refused by the place of the damage."""
from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from kept import kept

from typelattice.recorded.recording import RECORDINGS, Recording, recorded
from typelattice.recorded.rows import AS, Line, RecordingError, Square


def test_recording_survives_its_file(tiny: Recording, tmp_path: Path) -> None:
    tiny.save(tmp_path / "tiny.json")
    assert Recording.load(tmp_path / "tiny.json") == tiny


def test_more_answers_than_characters_survive_the_file(tiny: Recording, tmp_path: Path) -> None:
    many = tuple(f"answer{i}" for i in range(200))
    wide = replace(tiny, answers=many, unary={"negative": Line((0, 1, 2), (0, 91, 199))})
    wide.save(tmp_path / "wide.json")
    assert Recording.load(tmp_path / "wide.json") == wide
    assert wide.answer("negative", "float32") == "answer199"


def test_a_unary_operation_may_be_asked_of_some_operands_only(tiny: Recording, tmp_path: Path) -> None:
    some = replace(tiny, unary={"negative": Line((0, 2), (1, 0))})
    some.save(tmp_path / "some.json")
    assert Recording.load(tmp_path / "some.json") == some
    assert some.answer("negative", "float32") == tiny.answers[0]
    with pytest.raises(RecordingError, match=r"tiny was not asked negative\(int16\)"):
        some.answer("negative", "int16")


def test_an_operator_is_written_as_what_differs_from_its_function(tiny: Recording, tmp_path: Path) -> None:
    add = tiny.binary["add"]
    some = Square((0, 2), tuple(tuple(row[i] for i in (0, 2)) for row in (add.rows[0], add.rows[2])))
    kept = replace(tiny, binary={"+=": some, "+": add, **tiny.binary})
    kept.save(tmp_path / "kept.json")
    written = json.loads((tmp_path / "kept.json").read_text(encoding="utf-8"))["binary"]
    assert written["+"] == {AS: "add", "rows": []}
    found = Recording.load(tmp_path / "kept.json")
    assert found.binary == kept.binary
    written["+"][AS] = "nothing"
    document = json.loads((tmp_path / "kept.json").read_text(encoding="utf-8")) | {"binary": written}
    (tmp_path / "broken.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(RecordingError, match=r"binary\.\+\.as: 'nothing' is no operation above it"):
        Recording.load(tmp_path / "broken.json")


def test_a_call_not_asked_is_refused_by_name(tiny: Recording) -> None:
    with pytest.raises(RecordingError, match=r"tiny was not asked add\(int8, int64\)"):
        tiny.answer("add", "int8", "int64")
    with pytest.raises(RecordingError, match=r"tiny was not asked sqrt\(int8\)"):
        tiny.answer("sqrt", "int8")


@pytest.mark.parametrize("name", recorded())
def test_kept_recordings_are_sound(name: str) -> None:
    recording = kept(name)
    assert recording.library == name.partition("@")[0] and recording.how and recording.versions
    # An exception without a message is kept as its class alone.
    refusals = {answer for answer in recording.answers if answer.startswith("!")}
    assert {answer for answer in refusals if "#" in answer} <= set(recording.errors) <= refusals
    text = (RECORDINGS / f"{name}.json").read_text(encoding="utf-8")
    assert "/home/" not in text and "/tmp/" not in text


# -- damage


def cut(document: dict) -> None:
    document["binary"]["add"]["rows"][1] = document["binary"]["add"]["rows"][1][:-1]


def smudge(document: dict) -> None:
    row = document["binary"]["add"]["rows"][2]
    document["binary"]["add"]["rows"][2] = row[0] + "~" + row[2:]


DAMAGE: dict[str, Callable[[dict], object]] = {
    r"operands: is missing": lambda d: d.pop("operands"),
    r"format: is 1, this version reads 2": lambda d: d.update(format=1),
    r"library: 3 is not a string": lambda d: d.update(library=3),
    r"versions\.tiny: 1 is not a string": lambda d: d.update(versions={"tiny": 1}),
    r"operands, entry 2: 'int8' occurs twice": lambda d: d["operands"].__setitem__(1, "int8"),
    r"binary\.add, row 2: 2 characters, not 3": cut,
    r"binary\.add, row 3, column 2: '~' is no answer": smudge,
    r"binary\.add, row 3: there is no row 2 above": lambda d: d["binary"]["add"]["rows"].__setitem__(2, 2),
    r"binary\.pow: 2 rows for 3 operands": lambda d: d["binary"]["pow"]["rows"].pop(),
    r"binary\.add\.rows: is not a list": lambda d: d["binary"]["add"].pop("rows"),
    r"binary\.add\.operands, entry 1: there is no operand 9": lambda d: d["binary"]["add"].update(
        operands=[9, 1, 2]
    ),
    r"unary\.negative: is not a string": lambda d: d["unary"].update(negative=[1, 2, 3]),
    r"unary\.negative: 3 characters, not 2": lambda d: d["unary"].update(
        negative={"operands": [0, 2], "row": "!!!"}
    ),
    r"unary\.negative\.operands, entry 2: there is no operand 3": lambda d: d["unary"].update(
        negative={"operands": [0, 3], "row": "!!"}
    ),
    r"row: is missing": lambda d: d["unary"].update(negative={"operands": [0, 2]}),
    r"nary, call 4: there is no answer 77": lambda d: d["nary"][3].__setitem__(2, 77),
    r"nary, call 1: is not \[operation, operands, answer\]": lambda d: d["nary"][0].pop(),
    r"seed: True is not an integer": lambda d: d.update(seed=True),
}


@pytest.mark.parametrize("message", DAMAGE)
def test_damage_is_refused_by_name_and_position(tiny: Recording, tmp_path: Path, message: str) -> None:
    path = tmp_path / "damaged.json"
    tiny.save(path)
    document = json.loads(path.read_text())
    DAMAGE[message](document)
    path.write_text(json.dumps(document))
    with pytest.raises(RecordingError, match=rf"damaged\.json: {message}; record it again"):
        Recording.load(path)


def test_a_file_that_is_no_json_is_refused_by_line(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text('{\n"format": 1,\n,')
    with pytest.raises(RecordingError, match=r"broken\.json is not JSON: line 3, column 1"):
        Recording.load(tmp_path / "broken.json")
    (tmp_path / "binary.json").write_bytes(b"{\xff")
    with pytest.raises(RecordingError, match=r"binary\.json is not UTF-8 at byte 1"):
        Recording.load(tmp_path / "binary.json")
    with pytest.raises(RecordingError, match="there is no recording 'nowhere'"):
        Recording.load("nowhere")
    with pytest.raises(RecordingError, match=r"there is no recording '.{40}'"):
        Recording.load("n" * 100_000)


@pytest.mark.parametrize(("text", "why"), [
    ("[" * 100_000, "nested too deep"), ('{"format": ' + "9" * 5_000 + "}", "a number of too many digits"),
    (" " * 20_000_001, "larger than 20,000,000 bytes"),
])  # fmt: skip
def test_a_hostile_file_is_refused_in_one_line(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "hostile.json").write_text(text)
    with pytest.raises(RecordingError, match=rf"hostile\.json is .*{why}"):
        Recording.load(tmp_path / "hostile.json")
