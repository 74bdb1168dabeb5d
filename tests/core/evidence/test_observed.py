"""What libraries did when they were asked stands beside what their rule says, and is found quickly."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kept import calls_of, kept, some
from samples import one_in

import typelattice as tl
from typelattice.conformance.recording.compare_with_system import compare_calls
from typelattice.core.evidence import recording_files as store
from typelattice.core.evidence.answer_notation import answer_of
from typelattice.core.evidence.departure import departure_of
from typelattice.core.evidence.encode_recording import encode_recording, save_recording
from typelattice.core.evidence.list_departures import list_departures
from typelattice.core.evidence.recorded_answer import find_recorded_answer, recorded_library_version
from typelattice.core.evidence.recorded_calls import RecordedCall
from typelattice.core.evidence.recording import RecordingError
from typelattice.core.evidence.recording_files import (
    RECORDINGS_FOLDER,
    load_recording,
    open_recording,
    recording_names,
)
from typelattice.core.explanations.recorded_answer_in_english import describe_recorded_answer
from typelattice.core.operands.notation import parse_operand
from typelattice.core.registry.system_headings import LIBRARIES_HEADING, heading_of


def look_up(name: str, op: str, operands: tuple[str, ...]) -> RecordedCall | None:
    """One call of a recording; None if there is no such recording."""
    recording = open_recording(name)
    return recording.find_call(op, operands) if recording else None


EVERY, OPERATIONS = 29, 8  # of the calls, and of the operations of a recording
NEWEST = [name for name in recording_names() if "@" not in name]
OLDER = [name for name in recording_names() if "@" in name]
HALF, FACTORED = "float16", "eig"  # NumPy has no kernel for it, and its rule does not say so


@pytest.mark.parametrize("name", one_in(3, NEWEST, 1))
def test_calls_are_looked_up_as_the_whole_recording_has_them_and_depart_as_compared(name: str) -> None:
    system = tl.system(name)
    for call in calls_of(name, some(name, kept(name).operations, OPERATIONS), EVERY):
        assert look_up(name, call.op, call.operands) == call
        op = None if call.op == "result_type" else call.op
        promotion = system.explain(*call.operands, op=op)
        o = find_recorded_answer(promotion)
        if o is None:
            of_python = all(parse_operand(operand).tier == "scalar" for operand in call.operands)
            of_scalars = ":scalar" in call.question  # an operand does not tell them from 0-d arrays
            assert call.answer == "!NotAsked" or of_python or of_scalars, str(call)
        elif o.call.operands == call.operands and call.answer[1:] not in ("NotImplementedError", "hang"):
            report = compare_calls(system, [call])
            both_refuse = promotion.dtype is None and o.error is not None
            assert o.departs == (bool(report.mismatches) and not both_refuse), str(call)
            no_dtype = ("!", "py:", "object", "NotImplementedType")
            assert (o.dtype is None) == call.answer.startswith(no_dtype), str(call)


def test_a_refusal_of_promotion_is_no_departure_though_the_rule_of_result_type_answers() -> None:
    legacy, found = tl.system("tensorflow-legacy"), 0
    for call in kept(legacy.name).calls_of("result_type"):
        if len(call.operands) > 2 and "18446744073709551616" in call.operands and call.answer[0] == "!":
            promotion = legacy.explain(*call.operands)
            if promotion.dtype is None and legacy.explain(*call.operands, op="result_type").dtype:
                o = find_recorded_answer(promotion)
                assert o is not None and not o.departs, str(call)
                found += 1
    assert found


def test_an_operation_or_an_operand_that_was_not_asked_is_none() -> None:
    numpy = tl.system("numpy")
    assert find_recorded_answer(numpy.explain("uint8", "-3", op="hypot")) is None
    assert find_recorded_answer(tl.system("jep9407-3").explain("int8", "uint8")) is None
    assert look_up("nothing", "add", ("int8", "int8")) is None
    assert look_up("numpy", "nothing", ("int8", "int8")) is None


def test_a_number_that_was_not_asked_is_looked_up_as_its_kind_where_it_counts_as_that() -> None:
    numpy = tl.system("numpy")
    o = find_recorded_answer(numpy.explain("uint8", "7", op="add"))
    assert o and o.call.question == "add(uint8, int)" and not o.departs
    false = find_recorded_answer(numpy.explain("uint8", "False", op="add"))
    assert false and false.call.question == "add(uint8, True)"
    exact = find_recorded_answer(numpy.explain("uint8", "300", op="add"))
    assert exact and exact.call.operands == ("uint8", "300") and exact.dtype is None
    assert find_recorded_answer(numpy.explain("uint8", "301", op="add")) is None
    assert find_recorded_answer(numpy.explain("float32", "nan", op="add")) is None


def test_an_operator_is_looked_up_as_itself_or_as_its_function_where_it_was_not_asked() -> None:
    tensorflow, jax = tl.system("tensorflow"), tl.system("jax")
    of_function, of_operator = (
        find_recorded_answer(tensorflow.explain("1", "uint8", op=op)) for op in ("add", "+")
    )
    assert of_function is not None and of_operator is not None
    assert (of_function.dtype, of_operator.dtype) == (None, tl.dtype("uint8"))
    promotion = jax.explain("uint8", "300", op="+")
    asked = find_recorded_answer(promotion)
    assert asked is not None and asked.call.op == "add"
    assert "asked as jnp.add(uint8, 300)" in describe_recorded_answer(promotion, asked)[0]
    assert find_recorded_answer(jax.explain("uint8", "300", op="+=")) is None


def test_a_departure_carries_its_reason_and_its_source() -> None:
    o = find_recorded_answer(tl.system("numpy").explain(HALF, op=FACTORED))
    assert o and o.departs and o.dtype is None and o.error and o.error.startswith("TypeError")
    listed = departure_of(o.call, [parse_operand(HALF)], list_departures("numpy"))
    assert listed
    assert (o.reason, o.source) == (listed.reason, listed.source)
    agreed = find_recorded_answer(tl.system("torch").explain("int8", "uint8"))
    assert agreed and (agreed.departs, agreed.reason, agreed.source) == (False, None, None)


def test_a_file_of_ones_own_is_compared_with_no_recording_but_one_of_its_name_and_library(
    tmp_path: Path,
) -> None:
    ways = (("mine", "numpy 2.4", False), ("numpy", "", False), ("numpy", "numpy 2", True))
    for name, library, asked in ways:
        path = tmp_path / "own.toml"
        rest = 'title = "T"\norder = "u8 -> i16; i8 -> i16"\n'
        path.write_text(f'name = "{name}"\nlibrary = "{library}"\n{rest}')
        assert (find_recorded_answer(tl.system(path).explain("int8", "uint8")) is not None) is asked


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of recordings in place of those that come along."""
    monkeypatch.setattr(store, "RECORDINGS_FOLDER", tmp_path)
    open_recording.cache_clear()
    yield tmp_path
    open_recording.cache_clear()


def test_the_message_of_an_exception_is_that_of_the_very_call() -> None:
    error = find_recorded_answer(tl.system("numpy").explain("uint8", "300", op="add")).error  # type: ignore[union-attr]
    assert error == "OverflowError: Python integer … out of bounds for …"
    error = find_recorded_answer(tl.system("numpy").explain("int8", "-1", op="pow")).error  # type: ignore[union-attr]
    assert error == "ValueError: Integers to negative integer powers are not allowed."


def test_an_exception_whose_message_was_not_kept_has_its_class_alone(folder: Path) -> None:
    known = load_recording(Path(RECORDINGS_FOLDER) / "numpy.jsonl")
    add = {operands: answer_of(kept) for operands, kept in known.answers_of("add").items()}
    save_recording(encode_recording(known.header, {}, {"add": add}), folder / "numpy.jsonl")
    o = find_recorded_answer(tl.system("numpy").explain("uint8", "300", op="add"))
    assert o and o.error == "OverflowError"


@pytest.mark.parametrize("name", one_in(4, OLDER, 2))
def test_an_older_release_is_looked_up_where_it_differs_from_the_newest_and_where_not(name: str) -> None:
    whole, newest = kept(name), kept(name.partition("@")[0])
    for op in some(name, whole.first_lines(), OPERATIONS):
        pairs = zip(whole.calls_of(op), newest.calls_of(op), strict=True)
        for number, (call, now) in enumerate(pairs):
            if call.answer != now.answer or number % EVERY == 0:
                assert look_up(name, call.op, call.operands) == call


@pytest.mark.parametrize("cut", [100, 5_000, 30_000])
def test_a_damaged_recording_is_named(folder: Path, cut: int) -> None:
    text = (Path(RECORDINGS_FOLDER) / "numpy.jsonl").read_text(encoding="utf-8")
    (folder / "numpy.jsonl").write_text(text[:cut], encoding="utf-8")
    with pytest.raises(RecordingError, match=r"numpy\.jsonl: line \d+: .*; install typelattice again"):
        look_up("numpy", "add", ("int8", "int8"))
        look_up("numpy", "add", ("int8", "int8", "int8"))


def test_the_library_is_named_as_it_was_recorded() -> None:
    recording = load_recording("keras-jax")
    assert recorded_library_version(tl.system("keras-jax")) == ", ".join(
        f"{package} {recording.versions[package]}" for package in ("keras", "jax")
    )


def test_print_tells_what_the_library_did() -> None:
    p = tl.system("numpy").explain(HALF, op=FACTORED)
    o = find_recorded_answer(p)
    assert o and o.reason
    shown = str(p)
    assert shown.partition("\n")[0].endswith(f"under numpy: refused when asked, {p.dtype} by rule")
    assert "\nobserved      numpy 2." in shown
    words = " ".join(shown.split())
    assert f"raises {o.error}" in words and o.reason in words
    never = str(tl.system("polars").explain("int8", "int8", op="promote_types"))
    assert (
        f"never asked of {recorded_library_version(tl.system('polars'))}: this is what the rule says" in never
    )
    assert "never asked: there is no recording of torch-2021" in str(tl.system("torch-2021").explain("int8"))
    assert "observed" not in str(tl.system("jep9407-3").explain("int8"))


@pytest.mark.parametrize(
    ("name", "source", "dtype", "reason"),
    [
        ("torch", "x ** 0", "uint16", "x ** 0 and 1 ** x are ones"),  # where the rule refuses
        ("torch", "x ** 7e4", "float16", "an exponent that its base's dtype cannot hold raises"),
        ("numpy", "np.clip(x, 300, None)", "uint8", "a lower bound below the dtype"),
    ],
)
def test_a_call_that_was_never_asked_is_told_of_a_listed_departure(
    name: str, source: str, dtype: str, reason: str
) -> None:
    p = tl.program(source, x=f"{dtype}[3]").under(name)[-1].promotion
    shown = " ".join(str(p).split())
    assert "never asked" in shown and f"such calls may depart from it: {reason}" in shown
    never = str(tl.system("polars").explain("int8", "int8", op="promote_types"))
    assert "never asked" in never and "may depart" not in never


@pytest.mark.parametrize("name", ["numpy", "numpy1", "arrow", "polars"])
def test_a_weak_array_was_never_asked_where_no_array_is_weak(name: str) -> None:
    system = tl.system(name)
    assert find_recorded_answer(system.explain("float32:0d", op="sum")) is not None
    assert find_recorded_answer(system.explain("float32:0d:weak", op="sum")) is None


def test_a_reduction_of_a_series_is_a_number_of_python() -> None:
    p = tl.system("polars-series").explain("int8", op="sum")
    o = find_recorded_answer(p)
    assert o and o.dtype is None and not o.error and not o.departs
    assert str(p).partition("\n")[0].endswith("Python int")


def test_what_libraries_stand_for_is_stated_of_systems_that_exist() -> None:
    groups = {heading_of(name) for name in tl.systems()}
    assert LIBRARIES_HEADING in groups and len(groups) == 5
    stated = Path(tl.__file__).with_name("core") / "registry" / "system_headings.txt"
    rows = [row.split()[1:] for row in stated.read_text(encoding="ascii").splitlines() if row[0] != "#"]
    assert {name for row in rows for name in row} <= {*tl.systems(functions=True)}


@pytest.mark.parametrize(
    ("number", "op", "asked"),
    [
        ("255.0", "/", True), ("-0.5", "*", True), ("0.0", "add", True), ("1e5", "add", False),
        ("1e-7", "add", False), ("0.5", "**", False), ("2.5", "**", True), ("-3", "add", False),
    ],
)  # fmt: skip
def test_floats_that_fit_float16_count_as_asked_but_as_exponents(number: str, op: str, asked: bool) -> None:
    found = find_recorded_answer(tl.system("numpy").explain("float32", number, op=op))
    assert (found is not None) == asked
