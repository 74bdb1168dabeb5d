"""A recorder asks every call once, and outlives the library that it asks."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec

import pytest
from tiny import DTYPES, Tiny

import typelattice as tl
from typelattice.conformance.recording.compare_with_system import compare_calls
from typelattice.conformance.recording.library import MissingLibraryError, UnknownLibraryError
from typelattice.conformance.recording.load_library import load_library
from typelattice.conformance.recording.operation_functions import skip_number_first
from typelattice.conformance.recording.questions import (
    ASKED_OF_EVERY_DTYPE,
    MAX_OPERANDS_FOR_OPERATORS,
    MULTI_OPERAND_OPERATIONS,
    operand_indices,
    plan_calls,
    random_questions,
)
from typelattice.conformance.recording.recorder import record
from typelattice.core.evidence.answer_notation import MAX_MESSAGES, Messages, answer_of, split_message
from typelattice.core.evidence.recording import Recording
from typelattice.core.operations.operations import OPERATIONS


def test_every_ordered_pair_is_asked(tiny: Recording) -> None:
    assert tiny.operands == DTYPES
    assert {(c.op, *c.operands) for c in tiny.calls() if len(c.operands) == 2} == {
        (op, x, y) for op in ("result_type", "add", "pow") for x in DTYPES for y in DTYPES
    }
    assert {c.op for c in tiny.calls() if len(c.operands) == 1} == {"result_type", "negative"}
    several = {c.operands for c in tiny.calls() if len(c.operands) > 2}
    assert {len(operands) for operands in several} <= {3, 4, 5}
    threes = {operands for operands in several if len(operands) == 3}
    assert threes == {operands[::-1] for operands in threes} != set()


def test_a_call_that_raises_hangs_or_crashes_is_an_answer_and_the_next_is_asked(tiny: Recording) -> None:
    wrong = {c.operands: c.answer for c in tiny.calls() if c.answer.startswith("!")}
    assert wrong == {
        ("int8", "int16"): "!ValueError",
        ("int16", "int8"): "!hang",
        ("float32", "int8"): "!crash",
    }
    assert tiny.require_answer("pow", "float32", "int16") == "float32"


def test_the_message_of_an_exception_is_kept_on_one_line_and_cut(tiny: Recording) -> None:
    (message,) = (c.message for c in tiny.calls() if c.answer == "!ValueError")
    assert message.startswith("no such power!!!") and len(message) == 160
    assert {c.message for c in tiny.calls() if not c.answer.startswith("!")} == {""}


def test_messages_that_differ_in_dtypes_and_numbers_alone_are_kept_once() -> None:
    messages = Messages()
    first = messages.name_answer("!OverflowError", "Python integer 300 out of bounds for uint8")
    assert first == messages.name_answer("!OverflowError", "Python integer -129 out of bounds for int8")
    other = messages.name_answer("!OverflowError", "Python int too large to convert to C long")
    assert messages.name_answer("int8", "") == "int8"
    assert [answer_of(kept) for kept in (first, other)] == ["!OverflowError"] * 2 and first != other
    assert split_message(first, messages.texts) == ("!OverflowError", "Python integer … out of bounds for …")


def test_past_the_limit_the_class_of_an_exception_is_kept_alone() -> None:
    messages = Messages()
    kept = [messages.name_answer("!TypeError", "x" * n) for n in range(1, MAX_MESSAGES + 2)]
    assert len({*kept}) == MAX_MESSAGES + 1 and kept[-1] == "!TypeError"
    assert split_message("!TypeError", messages.texts) == ("!TypeError", "")


class IntoArrays(Tiny):
    """Adds in place, which a Python scalar takes no part in."""

    def make(self, operand: str) -> object:
        return 1 if operand == "int" else super().make(operand)

    def operations(self) -> Mapping[str, Callable[..., object]]:
        return {"iadd": skip_number_first(lambda x, y: "int8")}


def test_a_call_that_says_nothing_of_a_library_is_recorded_as_not_asked_and_left_out() -> None:
    recording = record(IntoArrays, limit=5.0)
    assert recording.require_answer("+=", "int", "int8") == "!NotAsked"
    assert [*recording.messages.values()] == ["the first operand is no array"]
    assert compare_calls(tl.system("numpy"), recording.calls()).compared_count == len(DTYPES) * (
        len(DTYPES) + 1
    )


class Changed(Tiny):
    """Of the same version, with an operation more; whatever it is asked it answers with int8."""

    def operations(self) -> Mapping[str, Callable[..., object]]:
        return {op: lambda *names: "int8" for op in (*super().operations(), "subtract")}


def test_what_an_earlier_recording_of_the_same_versions_has_is_not_asked_again(tiny: Recording) -> None:
    known = {call.question: call for call in tiny.calls()}
    again = [*record(Changed, earlier=tiny).calls()]
    assert [call for call in again if call != known.get(call.question, call)] == []
    asked = [call for call in again if call.question not in known]
    assert {call.answer for call in asked} == {"int8"}
    assert "subtract" in {call.op for call in asked}


def test_a_library_that_is_not_known_or_not_installed_says_what_to_do() -> None:
    with pytest.raises(UnknownLibraryError, match=r"recorded as 'jax-x3' [(]did you mean jax-x32"):
        load_library("jax-x3")
    if find_spec("triton") is None:
        with pytest.raises(MissingLibraryError, match=r"triton cannot be asked: .*; pip install 'triton=="):
            load_library("triton")


def test_the_wrong_version_is_a_missing_library() -> None:
    numpy = pytest.importorskip("numpy")
    other = "numpy1" if numpy.__version__.startswith("2.") else "numpy"
    with pytest.raises(MissingLibraryError, match=rf"{other} cannot be asked: .*; pip install 'numpy"):
        load_library(other)


# -- which operands an operation is asked of


def test_the_further_operations_are_asked_of_the_usual_dtypes() -> None:
    """Of arrays, and element by element of arrays without dimensions; of these no value beyond `KINDS`."""
    operands = ("int8", "int4", "int8:0d", "int8:weak", "True", "300")
    assert operand_indices("sort", operands) == (0, 3)
    assert operand_indices("+=", operands) == (0, 2, 3, 4)
    assert operand_indices("solve", operands) == (0,)
    assert operand_indices("sqrt", operands) == (0, 1, 2, 3, 4, 5)


def test_operators_are_asked_what_their_functions_are_unless_there_are_many_operands() -> None:
    operands = ("int8", "int4", "int8:0d", "int8:weak", "True", "300")
    assert operand_indices("+", operands) == operand_indices("add", operands) == (0, 1, 2, 3, 4, 5)
    many = (*operands, *(f"int8:0d={value}" for value in range(MAX_OPERANDS_FOR_OPERATORS)))
    assert len(operand_indices("add", many)) == len(many)
    assert operand_indices("+", many) == operand_indices("+=", many) == (0, 2, 3, 4)


def test_the_operations_that_are_asked_of_every_dtype_go_by_their_one_name() -> None:
    """A name that no operation has would be asked of nothing, and nobody would notice."""
    assert {*ASKED_OF_EVERY_DTYPE} <= {*OPERATIONS}


def test_every_operation_is_asked_of_as_many_operands_as_it_takes() -> None:
    operands = ("int8", "float32", "int8:0d", "int8:weak", "int", "300")
    questions = [
        *plan_calls(operands, tuple(OPERATIONS), MULTI_OPERAND_OPERATIONS, 60, seed=0).questions(operands)
    ]
    questions += random_questions(operands, tuple(OPERATIONS), MULTI_OPERAND_OPERATIONS, 5_000, seed=0)
    asked: dict[str, set[int]] = {}
    for op, chosen in questions:
        OPERATIONS[op].check_operand_count(len(chosen))
        asked.setdefault(op, set()).add(len(chosen))
    assert asked.keys() == OPERATIONS.keys()
    assert asked["add"] == {2} and asked["sqrt"] == {1} and asked["clip"] == {1, 2, 3}
    assert asked["result_type"] == asked["concat"] == {1, 2, 3, 4, 5}
