"""Recordings: a recorder that outlives the library it asks, and files that are read whole or refused."""
from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from kept import kept

import typelattice as tl
from typelattice.conformance.compare import compare
from typelattice.conformance.functions import into_array
from typelattice.conformance.library import (
    MissingLibraryError,
    NoSuchOperandError,
    OperandString,
    UnknownLibraryError,
)
from typelattice.conformance.questions import (
    EVERY_DTYPE,
    MANY,
    TAKE_SEVERAL,
    asked_of,
    planned_calls,
    random_questions,
)
from typelattice.conformance.recorder import record
from typelattice.conformance.registry import library
from typelattice.facts.operations import OPERATIONS
from typelattice.recorded.messages import MOST, Messages, answer_of, told
from typelattice.recorded.recording import RECORDINGS, Recording, recorded
from typelattice.recorded.rows import AS, Line, RecordingError, Square

DTYPES = ("int8", "int16", "float32")


class Tiny:
    """Three dtypes, each an array by its name; the later one wins, and three calls go wrong."""

    name = "tiny"
    versions: Mapping[str, str] = {"tiny": "1.0"}
    how = "by hand"

    def dtypes(self) -> Sequence[str]:
        return DTYPES

    def make(self, operand: str) -> object:
        wanted = OperandString.parse(operand)
        if wanted.tier != "array" or wanted.dtype is None:
            raise NoSuchOperandError(operand)
        return wanted.dtype

    def read(self, result: object) -> str:
        return str(result)

    def operations(self) -> Mapping[str, Callable[..., object]]:
        return {"result_type": later, "add": later, "pow": power, "negative": later}


def later(*names: str) -> str:
    return max(names, key=DTYPES.index)


def power(x: str, y: str) -> str:
    match x, y:
        case "int8", "int16":
            raise ValueError("no\n  such power" + 300 * "!")
        case "int16", "int8":
            time.sleep(60)
        case "float32", "int8":
            os._exit(1)
    return later(x, y)


@pytest.fixture(scope="module")
def tiny() -> Recording:
    return record(Tiny, limit=1.0, several=10)


def test_every_ordered_pair_is_asked(tiny: Recording) -> None:
    assert tiny.operands == DTYPES
    assert {(c.op, *c.operands) for c in tiny.calls() if len(c.operands) == 2} == {
        (op, x, y) for op in ("result_type", "add", "pow") for x in DTYPES for y in DTYPES
    }
    assert {c.op for c in tiny.calls() if len(c.operands) == 1} == {"result_type", "negative"}
    assert {len(operands) for _, operands, _ in tiny.nary} <= {3, 4, 5}
    threes = [operands for _, operands, _ in tiny.nary[:10] if len(operands) == 3]
    assert [operands for _, operands, _ in tiny.nary[10:]] == [operands[::-1] for operands in threes] != []


def test_a_call_that_raises_hangs_or_crashes_is_an_answer_and_the_next_is_asked(tiny: Recording) -> None:
    wrong = {c.operands: c.answer for c in tiny.calls() if c.answer.startswith("!")}
    assert wrong == {
        ("int8", "int16"): "!ValueError",
        ("int16", "int8"): "!hang",
        ("float32", "int8"): "!crash",
    }
    assert tiny.answer("pow", "float32", "int16") == "float32"


def test_the_message_of_an_exception_is_kept_on_one_line_and_cut(tiny: Recording) -> None:
    (message,) = (c.message for c in tiny.calls() if c.answer == "!ValueError")
    assert message.startswith("no such power!!!") and len(message) == 160
    assert {c.message for c in tiny.calls() if not c.answer.startswith("!")} == {""}


def test_messages_that_differ_in_dtypes_and_numbers_alone_are_kept_once() -> None:
    messages = Messages()
    first = messages.kept("!OverflowError", "Python integer 300 out of bounds for uint8")
    assert first == messages.kept("!OverflowError", "Python integer -129 out of bounds for int8")
    other = messages.kept("!OverflowError", "Python int too large to convert to C long")
    assert messages.kept("int8", "") == "int8"
    assert [answer_of(kept) for kept in (first, other)] == ["!OverflowError"] * 2 and first != other
    assert told(first, messages.errors) == ("!OverflowError", "Python integer … out of bounds for …")


def test_past_the_limit_the_class_of_an_exception_is_kept_alone() -> None:
    messages = Messages()
    kept = [messages.kept("!TypeError", "x" * n) for n in range(MOST + 1)]
    assert len({*kept}) == MOST + 1 and kept[-1] == "!TypeError"
    assert told("!TypeError", messages.errors) == ("!TypeError", "")


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


def test_the_further_operations_are_asked_of_the_usual_dtypes() -> None:
    """Of arrays, and element by element of arrays without dimensions; of these no value beyond `KINDS`."""
    operands = ("int8", "int4", "int8:0d", "int8:weak", "True", "300")
    assert asked_of("sort", operands) == (0, 3)
    assert asked_of("+=", operands) == (0, 2, 3, 4)
    assert asked_of("solve", operands) == (0,)
    assert asked_of("sqrt", operands) == (0, 1, 2, 3, 4, 5)


def test_operators_are_asked_what_their_functions_are_unless_there_are_many_operands() -> None:
    operands = ("int8", "int4", "int8:0d", "int8:weak", "True", "300")
    assert asked_of("+", operands) == asked_of("add", operands) == (0, 1, 2, 3, 4, 5)
    many = (*operands, *(f"int8:0d={value}" for value in range(MANY)))
    assert len(asked_of("add", many)) == len(many)
    assert asked_of("+", many) == asked_of("+=", many) == (0, 2, 3, 4)


def test_the_operations_that_are_asked_of_every_dtype_go_by_their_one_name() -> None:
    """A name that no operation has would be asked of nothing, and nobody would notice."""
    assert {*EVERY_DTYPE} <= {*OPERATIONS}


def test_every_operation_is_asked_of_as_many_operands_as_it_takes() -> None:
    operands = ("int8", "float32", "int8:0d", "int8:weak", "int", "300")
    questions = [*planned_calls(operands, tuple(OPERATIONS), TAKE_SEVERAL, 60, seed=0).questions(operands)]
    questions += random_questions(operands, tuple(OPERATIONS), TAKE_SEVERAL, 5_000, seed=0)
    asked: dict[str, set[int]] = {}
    for op, chosen in questions:
        OPERATIONS[op].check(len(chosen))
        asked.setdefault(op, set()).add(len(chosen))
    assert asked.keys() == OPERATIONS.keys()
    assert asked["add"] == {2} and asked["sqrt"] == {1} and asked["clip"] == {1, 2, 3}
    assert asked["result_type"] == asked["concat"] == {1, 2, 3, 4, 5}


class IntoArrays(Tiny):
    """Adds in place, which a Python scalar takes no part in."""

    def make(self, operand: str) -> object:
        return 1 if operand == "int" else super().make(operand)

    def operations(self) -> Mapping[str, Callable[..., object]]:
        return {"iadd": into_array(lambda x, y: "int8")}


def test_a_call_that_says_nothing_of_a_library_is_recorded_as_not_asked_and_left_out() -> None:
    recording = record(IntoArrays, limit=5.0)
    assert recording.answer("+=", "int", "int8") == "!NotAsked"
    assert [*recording.errors.values()] == ["the first operand is no array"]
    assert compare(tl.system("numpy"), recording.calls()).compared == len(DTYPES) * (len(DTYPES) + 1)


def test_a_call_not_asked_is_refused_by_name(tiny: Recording) -> None:
    with pytest.raises(RecordingError, match=r"tiny was not asked add\(int8, int64\)"):
        tiny.answer("add", "int8", "int64")
    with pytest.raises(RecordingError, match=r"tiny was not asked sqrt\(int8\)"):
        tiny.answer("sqrt", "int8")


class Changed(Tiny):
    """Of the same version, with an operation more; whatever it is asked it answers with int8."""

    def operations(self) -> Mapping[str, Callable[..., object]]:
        return {op: lambda *names: "int8" for op in (*super().operations(), "subtract")}


class Newer(Changed):
    versions: Mapping[str, str] = {"tiny": "1.1"}


def test_what_an_earlier_recording_of_the_same_versions_has_is_not_asked_again(tiny: Recording) -> None:
    known = {call.question: call for call in tiny.calls()}
    again = [*record(Changed, earlier=tiny).calls()]
    assert [call for call in again if call != known.get(call.question, call)] == []
    asked = [call for call in again if call.question not in known]
    assert {call.answer for call in asked} == {"int8"}
    assert "subtract" in {call.op for call in asked}


def test_an_earlier_recording_of_other_versions_is_of_no_use(tiny: Recording) -> None:
    assert {call.answer for call in record(Newer, earlier=tiny).calls()} == {"int8"}


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


def test_a_library_that_is_not_known_or_not_installed_says_what_to_do() -> None:
    with pytest.raises(UnknownLibraryError, match="no library is recorded as 'jax-x3': did you mean jax-x32"):
        library("jax-x3")
    if find_spec("triton") is None:
        with pytest.raises(MissingLibraryError, match=r"triton cannot be asked: .*; pip install 'triton=="):
            library("triton")


def test_the_wrong_version_is_a_missing_library() -> None:
    numpy = pytest.importorskip("numpy")
    other = "numpy1" if numpy.__version__.startswith("2.") else "numpy"
    with pytest.raises(MissingLibraryError, match=rf"{other} cannot be asked: .*; pip install 'numpy"):
        library(other)


@pytest.mark.parametrize("name", recorded())
def test_kept_recordings_are_sound(name: str) -> None:
    recording = kept(name)
    assert recording.library == name.partition("@")[0] and recording.how and recording.versions
    # An exception without a message is kept as its class alone.
    refusals = {answer for answer in recording.answers if answer.startswith("!")}
    assert {answer for answer in refusals if "#" in answer} <= set(recording.errors) <= refusals
    text = (RECORDINGS / f"{name}.json").read_text(encoding="utf-8")
    assert "/home/" not in text and "/tmp/" not in text
