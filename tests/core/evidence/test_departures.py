"""Lists of departures: read whole or refused, by entry and key; and which calls a departure covers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from typelattice.base.disk.read import FileError
from typelattice.core.evidence.departure import Departure, departure_of
from typelattice.core.evidence.departure_files import DEPARTURES_FOLDER, DepartureError
from typelattice.core.evidence.list_departures import list_departures
from typelattice.core.evidence.recorded_calls import RecordedCall
from typelattice.core.operands.notation import parse_operand as operand
from typelattice.core.registry.libraries import libraries, recordings
from typelattice.core.system_files.reader import parse

ADD = 'ops = "add"\n'
WHY = 'reason = "why"\nsource = "here"\n'
GOOD = f"[[departure]]\n{ADD}{WHY}"


def listed(folder: Path, text: str | bytes, recording: str = "numpy") -> tuple[Departure, ...]:
    (folder / "list.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return tuple(list_departures(recording, folder / "list.toml"))


def covered(found: Departure, *calls: str) -> list[str]:
    """Those of the calls that a departure covers."""
    return [call for call in calls if departure_of(*asked(call), [found])]


def asked(call: str) -> tuple[RecordedCall, list[object]]:
    op, _, operands = call.removesuffix(")").partition("(")
    texts = tuple(operands.split(", "))
    return RecordedCall(op, texts, ""), [*map(operand, texts)]  # type: ignore[list-item]


def test_a_list_of_ones_own_is_read(tmp_path: Path) -> None:
    (found,) = listed(tmp_path, f"{GOOD}count = 3")
    assert (found.reason, found.source, found.count, found.operands) == ("why", "here", 3, ())
    calls = ["add(int8, int8)", "add(1, float)"]
    assert covered(found, *calls, "subtract(int8, int8)") == calls
    assert listed(tmp_path, "") == ()


def test_a_recording_without_a_list_has_none_and_a_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    assert list_departures("nothing") == list_departures("c") == ()
    assert list_departures("\0" + "n" * 10_000) == ()
    with pytest.raises(FileError, match=r"cannot read '.*none\.toml': No such file or directory"):
        list_departures("numpy", tmp_path / "none.toml")


# What an entry says of operands → calls that it covers, and calls that it does not.
OPERANDS: Mapping[str, tuple[str, str]] = {
    '["bool + integer"]': (
        "bool, int8; uint4:0d, bool:weak",
        "bool, bool; int, bool; bool, int8, int8; bool",
    ),
    '["bool then integer"]': ("bool, int8", "int8, bool"),
    '["i8", "u8 + any..."]': ("int8; uint8, uint8; 1, uint8, float", "uint8; int16; int8, int8"),
    '["u8 + u8, bool..."]': ("uint8, bool, bool; bool, uint8; bool, uint8, uint8", "bool, bool; int8, uint8"),
    '["any + u8 + any..."]': ("1, 2, uint8; uint8, 1, 2, 3", "uint8, 1; 1, 2, 3"),
    '["integer:weak"]': ("int8:weak; uint64:weak", "int8; int8:0d; 1"),
    '["integer:strong"]': ("int8; int8:0d; int8:scalar", "int8:weak"),
    '["all:0d"]': ("bool:0d; int16:0d=300", "bool; bool:scalar; True"),
    '["all:scalar"]': ("float64:scalar", "float64:0d; 1.5"),
    '["all:array"]': ("float64", "float64:0d; float64:weak; 1.5"),
    '["all but complex, f16"]': ("float32; bool:weak", "complex64; float16; 1"),
    '["any but complex, c*"]': ("float16; 1; inf", "complex64; 1j; complex"),
    '["b*, i*"]': ("True; -1; int", "bool; 1.0; int8"),
    '["*"]': ("True; -1; 1.5; complex", "bool; float64:0d"),
    '["negative i*"]': ("-1", "0; 1; int; -1.0"),
    '["i* beyond i8"]': ("128; -129", "127; -128; int; 1e39"),
    '["f* beyond f16"]': ("65520.0; 1e39", "65504.0; inf; 65536; float"),
    '["all then i* beyond other"]': ("uint8, 256; uint8:0d, -1", "uint8, 255; 256, uint8; int16, 256"),
    '["i* zero in u8"]': ("256; -512", "0; 255; 257; 256.0; int"),
    '["all then i* zero in other"]': ("uint8, 256; int16:0d, 65536", "uint8, 300; int16, 256; 256, uint8"),
    '["all + other"]': ("int8, int16; int16:0d, int8", "int8, int8; int8, 1"),
    '["256, 1.0, inf"]': ("256; inf; 1.0; float", "256.0; 1; int; -inf"),
    '["nan"]': ("nan", "inf"),
}


@pytest.mark.parametrize("said", OPERANDS)
def test_operands_are_named_by_kinds_tiers_and_values(said: str, tmp_path: Path) -> None:
    these, others = (texts.split("; ") for texts in OPERANDS[said])
    (found,) = listed(tmp_path, f"{GOOD}operands = {said}")
    calls = [f"add({texts})" for texts in (*these, *others)]
    assert covered(found, *calls) == [f"add({texts})" for texts in these]


def test_a_set_and_a_dtype_of_ones_own_are_words(tmp_path: Path) -> None:
    text = f'[sets]\nsmall = "i8, tiny"\n{GOOD}operands = ["small"]'
    path = tmp_path / "own.toml"
    path.write_text(text, encoding="utf-8")
    tiny = '[dtypes]\ntiny = { kind = "signed", bits = 2 }'
    system = parse(f'name = "own"\norder = "tiny -> i8 -> u16"\n{tiny}')
    (found,) = list_departures("own", path, system.custom_dtypes)
    read = [system.operand(text) for text in ("int8", "tiny", "uint16")]
    assert [bool(departure_of(RecordedCall("add", (str(o),), ""), [o], [found])) for o in read] == [
        True,
        True,
        False,
    ]


def test_many_operands_are_shared_out_among_classes(tmp_path: Path) -> None:
    (found,) = listed(tmp_path, f'{GOOD}operands = ["i8, i16 + i8 + i8, u8 + any..."]')
    assert covered(found, "add(int8, int16, uint8, float)", "add(float, uint8, int16, int8)")
    assert not covered(found, "add(int16, int16, uint8, float)")
    assert covered(found, f"add({', '.join(['int8'] * 3000)})")


@pytest.mark.parametrize(("said", "these", "others"), [
    ("add", ["add", "+", "+="], ["subtract"]),
    ("+", ["+", "+="], ["add"]),
    ("arithmetic but add", ["multiply", "*="], ["+", "add"]),
    ("computing but arithmetic, divide", ["pow"], ["add", "divide"]),
    ("all", ["add", "where", "=="], []),
    ("all but result_type", ["add"], ["result_type"]),
    ("in-place", ["+="], ["+"]),
])  # fmt: skip
def test_operations_are_named_as_in_system_files(
    said: str, these: list[str], others: list[str], tmp_path: Path
) -> None:
    """By themselves, by class, by group; what is said of a function is said of its operator, too."""
    (found,) = listed(tmp_path, f'[[departure]]\nops = "{said}"\n{WHY}')
    calls = [f"{op}(int8, int8)" for op in (*these, *others)]
    assert covered(found, *calls) == [f"{op}(int8, int8)" for op in these]


def test_the_first_departure_that_covers_a_call_counts(tmp_path: Path) -> None:
    known = listed(tmp_path, "\n".join(entry(ops=f'"{op}"') for op in ("subtract", "add", "+")))
    assert departure_of(*asked("+(int8, int8)"), known) is known[1]
    assert departure_of(*asked("pow(int8, int8)"), known) is None


def test_an_entry_that_counts_for_recordings_is_one_of_theirs(tmp_path: Path) -> None:
    text = f'{GOOD}count = {{ jax = 3, "jax@0.10" = 1 }}\n[[departure]]\nops = "pow"\n{WHY}'
    assert [d.count for d in listed(tmp_path, text, "jax")] == [3, 0]
    assert [d.count for d in listed(tmp_path, text, "jax@0.10")] == [1, 0]
    assert [d.count for d in listed(tmp_path, text, "numpy")] == [0]


def test_a_cause_that_libraries_share_is_in_the_list_of_each() -> None:
    shared = {d.reason for d in list_departures("numpy")} & {d.reason for d in list_departures("dask")}
    assert shared and not shared & {d.reason for d in list_departures("torch")}
    assert list_departures("jax@0.4")[-len(list_departures("jax")) :] == list_departures("jax")
    assert len(list_departures("jax@0.4")) > len(list_departures("jax"))


def test_every_file_is_one_of_a_library_and_every_entry_reaches_the_recordings_that_it_names() -> None:
    import tomllib

    @cache
    def departures_of(name: str) -> set[tuple[str, str, int]]:
        return {(d.reason, d.source, d.count) for d in list_departures(name)}

    for path in Path(DEPARTURES_FOLDER).glob("*.toml"):
        assert path.stem in libraries()
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["departure"]:
            for name, number in entry["count"].items():
                departure = (entry["reason"], entry["source"], number)
                assert departure in departures_of(name), f"{name}: {entry['reason']}"
    assert {name for name in recordings() if list_departures(name)} > {"dask", "numpy", "tensorflow-legacy"}


def entry(**said: str) -> str:
    """An entry of a list, some of its keys said otherwise."""
    keys = {"ops": '"add"', "reason": '"why"', "source": '"here"', **said}
    return "[[departure]]\n" + "\n".join(f"{key} = {value}" for key, value in keys.items())


@pytest.mark.parametrize(("text", "why"), [
    ("[[departure]", "list.toml: not TOML: .*line 1"),
    (b"\xff", r"list.toml: not UTF-8 text \(byte 0\)"),
    ("a = " + "[" * 10_000, "list.toml: not TOML: nested too deep"),
    ("a = " + "9" * 5_000, "not TOML: "),
    ("a." * 90_000 + "b = 1", "list.toml, line 1: more than 200 dots"),
    ("# " * 100_001, "list.toml: larger than 200,000 bytes"),
    (f"[[deviation]]\n{ADD}", r"list.toml: unknown key 'deviation'; write \[sets\] and tables"),
    (f"[[departures]]\n{ADD}", r"list.toml: unknown key 'departures' [(]did you mean departure\?[)]"),
    ("extends = 'numpy'", r"list.toml: unknown key 'extends'; write \[sets\] and tables \[\[departure\]\]"),
    ("departure = 3", "list.toml: departure is no list"),
    ("departure = [3]", "list.toml, departure 1: no table"),
    (f"{GOOD}{GOOD}operand = 3", r"departure 2: unknown key 'operand' [(]did you mean operands\?[)]"),
    (f"{GOOD}calls = 'add.*'", "1: unknown key 'calls'; the keys are ops, reason, source, operands, count"),
    ('[[departure]]\nops = "add"', "departure 1: reason is missing"),
    (entry(reason="3"), "departure 1, reason: this should be a string, not a whole number"),
    (entry(ops='""'), "departure 1, ops: unknown operation or class ''"),
    (entry(ops='"ad"'), r"departure 1, ops: unknown operation or class 'ad' [(]did you mean add or pad"),
    (entry(ops='"concatenate"'), "unknown operation or class 'concatenate'; write concat"),
    (entry(ops='"add, add"'), "departure 1, ops: add stands twice in this list"),
    (entry(ops='"all but add but pow"'), "ops: `but` stands twice; name all that is left out"),
    (entry(ops='["add"]'), "departure 1, ops: this should be a string, not a list"),
    (entry(count="true"), "departure 1, count: should be how many calls there are, is true or false"),
    (entry(count="-1"), "departure 1, count: should be how many calls there are, is -1"),
    (entry(count="{ nunpy = 3 }"), r"count: no recording is called 'nunpy' [(]did you mean numpy"),
    (entry(operands='"bool"'), r'operands: should be a list of texts, as in \["bool \+ int, i\*"\]'),
    (entry(operands="[]"), "departure 1, operands: should be a list of texts"),
    (entry(operands="[3]"), "departure 1, operands: this should be a string, not a whole number"),
    (entry(operands='["bool", "bool"]'), "departure 1, operands: bool stands twice in this list"),
    (entry(operands='[""]'), "departure 1, operands: a kind is missing"),
    (entry(operands='["bool +"]'), "departure 1, operands: a kind is missing"),
    (entry(operands='["bol"]'), r"operands: unknown kind or dtype 'bol' [(]did you mean bool"),
    (entry(operands='["float46"]'), r"unknown kind or dtype 'float46' [(]did you mean float64"),
    (entry(operands='["othr"]'), r"unknown kind or dtype 'othr' [(]did you mean other\?[)]"),
    (entry(operands='["u*"]'), r"operands: u\* has no width; .*; \*, b\*, i\*, f\*, c\* are Python scalars"),
    (entry(operands='["int:1d"]'), "mark '1d' in 'int:1d'; these are array, 0d, scalar, weak, strong"),
    (entry(operands='["i*:weak"]'), r"operands: i\* has no width; .*Python scalars"),
    (entry(operands='["any, bool"]'), "`any` stands alone, or before `but`"),
    (entry(operands='["a but b but c"]'), "`but` stands twice"),
    (entry(operands='["bool + int then i*"]'), r"'bool \+ int then i\*' has both `\+` and `then`; write two"),
    (entry(operands='["negative c*"]'), r"operands: no complex is negative; write negative i\* or"),
    (entry(operands=f'["{"b" * 5_000}", "{"b" * 5_000}"]'), r"operands: b+\.\.\.$"),
    (entry(ops='"a\\u001b[2Jb, a\\u001b[2Jb"'), "ops: a\ufffd\\[2Jb stands twice"),
    (entry(operands='["f* zero in u8"]'), r"operands: no float wraps; write i\* zero in u8"),
    (entry(operands='["i* zero in u9"]'), "operands: unknown dtype 'u9'"),
    (entry(operands='["i* beyond i9"]'), "operands: unknown dtype 'i9'"),
    (entry(operands='["i* beyond f*"]'), r"operands: f\* has no width"),
    (entry(operands=f'["{"9" * 2_000}"]'), "operands: cannot read '9+...' as a Python number"),
    ("[sets]\nint = 'i8'\n", "list.toml, sets: 'int' is no name for a set"),
    ("[sets]\nsmall = 'i9'\n", "list.toml, sets: unknown dtype 'i9'"),
    ("[sets]\na = 'd'\nd = 'a'\n", "list.toml, sets: a circle of sets: a -> d -> a"),
    ("sets = 3\n", "list.toml, sets: this should be a table, not a whole number"),
    ("[sets]\nsmall = 3\n", "list.toml, sets: this should be a string, not a whole number"),
])  # fmt: skip
def test_a_list_that_cannot_be_right_is_refused_by_entry_key_and_cause(
    tmp_path: Path, text: str | bytes, why: str
) -> None:
    with pytest.raises(DepartureError, match=why) as e:
        listed(tmp_path, text)
    assert len(str(e.value)) < 500
