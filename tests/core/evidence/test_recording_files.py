"""Files of recordings: read as they were written, or refused by the place of the damage."""
from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from kept import kept
from samples import one_in

from typelattice.core.evidence.encode_recording import encode_recording, save_recording
from typelattice.core.evidence.recording import Recording, RecordingError
from typelattice.core.evidence.recording_files import (
    MAX_CALLS,
    RECORDINGS_FOLDER,
    TYPE_BY_HEADER_KEY,
    TYPE_BY_HEADER_KEY_ON_BASE,
    load_recording,
    recording_names,
)


def test_recording_survives_its_file(tiny: Recording, tmp_path: Path) -> None:
    save_recording(tiny, tmp_path / "tiny.jsonl")
    read = load_recording(tmp_path / "tiny.jsonl")
    assert (read.header, read.messages, [*read.calls()]) == (tiny.header, tiny.messages, [*tiny.calls()])


def test_people_can_read_a_row(tiny: Recording, tmp_path: Path) -> None:
    found = {"add": {("int8", "int8"): "int8", ("int8", "int16"): "int16", ("int16", "int8"): "int16",
                     ("int16", "int16"): "int16"}}  # fmt: skip
    save_recording(encode_recording(tiny.header, {}, found), tmp_path / "add.jsonl")
    _, *rows = (tmp_path / "add.jsonl").read_text().splitlines()
    assert rows == [
        '["add", "int8", {"int8": "int8", "int16": "*"}]', '["add", "int16", {"int16": "*"}]'
    ]  # fmt: skip


def test_an_operation_may_be_asked_of_some_operands_only(tiny: Recording, tmp_path: Path) -> None:
    found = {"negative": {("int8",): "int8", ("float32",): "int8"}}
    some = encode_recording(tiny.header, {}, found)
    save_recording(some, tmp_path / "some.jsonl")
    read = load_recording(tmp_path / "some.jsonl")
    assert read.answers_of("negative") == found["negative"]
    with pytest.raises(RecordingError, match=r"tiny was not asked negative\(int16\)"):
        read.require_answer("negative", "int16")


def test_an_operation_is_written_as_what_differs_from_another(tiny: Recording, tmp_path: Path) -> None:
    add = {operands: answer for operands, answer in tiny.answers_of("add").items() if len(operands) == 2}
    some = {operands: answer for operands, answer in add.items() if "int16" not in operands}
    differs = {**add, ("int8", "int8"): "float32"}
    found = {"+=": some, "+": add, "add": add, "subtract": differs}
    save_recording(encode_recording(tiny.header, tiny.messages, found), tmp_path / "kept.jsonl")
    text = (tmp_path / "kept.jsonl").read_text()
    assert '["+=", "add", "int8 float32"]\n["+", "add", "*"]\n' in text
    assert '["subtract", "add", "*"]\n["subtract", "int8", {"float32": "int8"}]\n' in text
    read = load_recording(tmp_path / "kept.jsonl")
    assert {op: read.answers_of(op) for op in read.operations} == found
    (tmp_path / "broken.jsonl").write_text(text.replace('["+", "add"', '["+", "nothing"'))
    with pytest.raises(RecordingError, match=r"broken\.jsonl: line \d+: 'nothing' is no operation above it"):
        load_recording(tmp_path / "broken.jsonl")


def test_a_call_not_asked_is_refused_by_name(tiny: Recording) -> None:
    with pytest.raises(RecordingError, match=r"tiny was not asked add\(int8, int64\)"):
        tiny.require_answer("add", "int8", "int64")
    with pytest.raises(RecordingError, match=r"tiny was not asked sqrt\(int8\)"):
        tiny.require_answer("sqrt", "int8")


@pytest.mark.parametrize("name", one_in(4, recording_names()))
def test_kept_recordings_are_sound(name: str) -> None:
    recording = load_recording(name)
    assert recording.library == name.partition("@")[0] and recording.how and recording.versions
    text = (Path(RECORDINGS_FOLDER) / f"{name}.jsonl").read_text(encoding="utf-8")
    assert "/home/" not in text and "/tmp/" not in text


# -- damage


HEADS: dict[str, Callable[[dict], object]] = {
    r"operands: is missing": lambda d: d.pop("operands"),
    r"format is 2, this version reads 3": lambda d: d.update(format=2),
    r"library: 3 is not a string": lambda d: d.update(library=3),
    r"versions\.tiny: 1 is not a string": lambda d: d.update(versions={"tiny": 1}),
    r"operands, entry 2: 'int8' occurs twice": lambda d: d["operands"].__setitem__(1, "int8"),
    r"seed: True is not an integer": lambda d: d.update(seed=True),
}
ROWS = {
    "[1, 2]": r"is no \[operation, operands …, answers\]",
    '["add", "int8", "int8"]': "'int8' is no operation above it",
    '["add", "int8", ["int8"]]': "does not end in an object of answers",
    '["add", "int9", {"int8": "int8"}]': "there is no operand 'int9'",
    '["add", 8, {"int8": "int8"}]': "8 is not a string of operands",
    '["add", "int8", {"int8": 8}]': "8 is not a string of operands",
    '["add", "int8", {"!TypeError#77": "int8"}]': "there is no message '!TypeError#77'",
    '["add", "int8 int8", {"int8": "int8"}]': r"add\(int8, int8\) occurs twice",
    '["add", {"int8": "int8"}]\n["pow", {"int8": "int8"}]\n["add", {"int8": "int16"}]':
        "the lines of 'add' do not stand together",
    '["add", "int8"': r"is not JSON: column \d+: .*",
    "{}": r"is no \[operation, operands …, answers\]",
}  # fmt: skip


@pytest.mark.parametrize("message", HEADS)
def test_a_damaged_head_is_refused_by_its_key(tiny: Recording, tmp_path: Path, message: str) -> None:
    path = tmp_path / "damaged.jsonl"
    save_recording(tiny, path)
    head, rows = path.read_text().split("\n", 1)
    document = json.loads(head)
    HEADS[message](document)
    path.write_text(f"{json.dumps(document)}\n{rows}")
    with pytest.raises(RecordingError, match=rf"damaged\.jsonl: line 1: {message}; record it again"):
        load_recording(path)


@pytest.mark.parametrize("rows", ROWS)
def test_a_damaged_row_is_refused_by_its_line(tiny: Recording, tmp_path: Path, rows: str) -> None:
    path = tmp_path / "damaged.jsonl"
    save_recording(tiny, path)
    text = "".join(line + "\n" for line in path.read_text().splitlines() if line.startswith("{"))
    path.write_text(f'{text}["first", {{"int8": "int8"}}]\n{rows}\n')
    line = text.count("\n") + 2 + rows.count("\n")
    with pytest.raises(RecordingError, match=rf"damaged\.jsonl: line {line}: {ROWS[rows]}; record it again"):
        load_recording(path)


def test_a_short_file_cannot_state_calls_without_end(tiny: Recording, tmp_path: Path) -> None:
    names = [f"x{number}" for number in range(300)]
    among = " ".join(names)
    rows = json.dumps(["add", among, among, {"int8": among}])
    head = json.dumps({"format": 3, **tiny.header, "operands": names})
    (tmp_path / "many.jsonl").write_text(f"{head}\n{rows}\n")
    with pytest.raises(RecordingError, match=rf"line 2: is beyond {MAX_CALLS:,} calls"):
        load_recording(tmp_path / "many.jsonl")
    chain = "".join(f'["op{n + 1}", "op{n}", "*"]\n' for n in range(5_000))
    (tmp_path / "chain.jsonl").write_text(f'{head}\n["op0", "x1", {{"int8": "x1"}}]\n{chain}')
    with pytest.raises(RecordingError, match=r"line 6: is beyond 4 operations in a chain"):
        load_recording(tmp_path / "chain.jsonl")


def test_a_file_that_is_no_json_is_refused_by_line(tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text('{"format": 1\n,')
    with pytest.raises(RecordingError, match=r"broken\.jsonl: line 1: is not JSON: column 13"):
        load_recording(tmp_path / "broken.jsonl")
    (tmp_path / "binary.jsonl").write_bytes(b"{\xff")
    with pytest.raises(RecordingError, match=r"binary\.jsonl is not UTF-8 at byte 1"):
        load_recording(tmp_path / "binary.jsonl")
    with pytest.raises(RecordingError, match="there is no recording 'nowhere'"):
        load_recording("nowhere")
    with pytest.raises(RecordingError, match=r"no recording 'numpyy' [(]did you mean numpy"):
        load_recording("numpyy")
    with pytest.raises(RecordingError, match=r"there is no recording '.{40}'"):
        load_recording("n" * 100_000)


@pytest.mark.parametrize(("text", "why"), [
    ("[" * 100_000, "nested too deep"), ('{"format": ' + "9" * 5_000 + "}", "a number of too many digits"),
    (" " * 20_000_001, "larger than 20,000,000 bytes"), ("", "is not JSON"),
    ('{"format": 3}', "library: is missing"), ("[]", "no head"),
])  # fmt: skip
def test_a_hostile_file_is_refused_in_one_line(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "hostile.jsonl").write_text(text)
    with pytest.raises(RecordingError, match=rf"hostile\.jsonl.*{why}"):
        load_recording(tmp_path / "hostile.jsonl")


def test_the_schema_names_the_keys_of_a_head() -> None:
    path = Path(__file__).parents[3] / "docs" / "recording.schema.json"
    head = json.loads(path.read_text(encoding="utf-8"))["oneOf"][0]["properties"]
    assert head.keys() == {"format"} | TYPE_BY_HEADER_KEY.keys() | TYPE_BY_HEADER_KEY_ON_BASE.keys()


def test_the_reader_on_the_page_reads_what_the_recording_has() -> None:
    page = (Path(__file__).parents[3] / "docs" / "recordings.md").read_text(encoding="utf-8")
    namespace: dict[str, object] = {}
    code = [line[4:] for line in page.splitlines() if line.startswith((">>> ", "... "))]
    exec("\n".join(code[: code.index("    return calls") + 1]), namespace)
    read = namespace["read"](Path(RECORDINGS_FOLDER) / "arrow.jsonl")  # type: ignore[operator]
    arrow = kept("arrow")
    assert read == {op: arrow.answers_of(op) for op in arrow.operations}
