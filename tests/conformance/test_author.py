"""The example of a library author: the planted mistake is found, a baseline holds it, growth is noticed."""
from __future__ import annotations

import operator
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from typelattice.conformance.pytest import (
    compare_all,
    is_undefined,
    make_library,
    promotion_tests,
    yield_library_calls,
)
from typelattice.conformance.recording.compare_with_system import ConformanceReport, Mismatch
from typelattice.conformance.recording.library import CannotAskError
from typelattice.core.evidence.list_departures import list_departures
from typelattice.core.evidence.recorded_calls import RecordedCall
from typelattice.show.cli.main import main

AUTHOR = Path(__file__).parents[2] / "examples" / "author"


@pytest.fixture(autouse=True)
def beside_the_example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(AUTHOR)
    monkeypatch.syspath_prepend(str(AUTHOR))


def test_the_planted_mistake_is_found() -> None:
    from little import Little  # type: ignore[import-not-found]

    report = compare_all(Little(), "array-api")
    assert report.compared_count == 36
    assert "add(int8, uint8) = int8, the system says int16" in map(str, report.mismatches)
    assert list(report.group_by_cause()) == ["arithmetic: both answer, differently"]


def test_the_baseline_holds_it_and_must_not_grow(tmp_path: Path) -> None:
    from little import Little

    listed = list_departures("little", AUTHOR / "known.toml")
    assert not compare_all(Little(), "array-api", listed).mismatches
    promotion_tests(Little, "array-api", baseline="known.toml")("add")
    smaller = tmp_path / "known.toml"
    smaller.write_text((AUTHOR / "known.toml").read_text().replace("count    = 12", "count    = 11"))
    with pytest.raises(AssertionError, match="12 calls, 11 are known"):
        promotion_tests(Little, "array-api", baseline=smaller)("add")


def test_the_command_finds_it_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "little:Little", "--system", "array-api", "--live", "500"]) == 1
    assert "both answer, differently" in capsys.readouterr().out
    assert main(["conform", "little:Nothing", "--system", "array-api", "--live", "5"]) == 2
    assert main(["conform", "nolibrary", "--system", "array-api", "--live", "5"]) == 2


def test_its_own_tests_run() -> None:
    source = str(Path(__file__).parents[2] / "src")
    run = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull,
            "--rootdir", ".", "test_little.py",
        ],
        env={**os.environ, "PYTHONPATH": source}, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout
    assert "1 passed" in run.stdout


def test_a_failure_names_each_cause_once_with_different_examples() -> None:
    from little import Little

    with pytest.raises(AssertionError) as caught:
        promotion_tests(Little, "array-api")("add")
    heading, *examples = str(caught.value).splitlines()[:4]
    assert heading == "12 calls, arithmetic: both answer, differently"
    assert [example.strip() for example in examples] == [
        "add(int8, uint8) = int8, the system says int16",
        "add(int8, uint16) = uint16, the system says int32",
        "add(int8, uint32) = uint32, the system says int64",
    ]


def test_what_python_answers_is_not_held_against_the_library() -> None:
    from little import Little

    class Scalars(Little):  # type: ignore[misc]
        """Takes Python scalars among themselves, and leaves them to Python."""

        def make(self, operand: str) -> object:
            return 1 if operand == "int" else super().make(operand)

        def read(self, result: object) -> str:
            return "py:int" if isinstance(result, int) else super().read(result)

    asked = {call.operands for call in yield_library_calls(Scalars())}
    assert ("int", "int8") in asked and ("int8", "int") in asked
    assert ("int", "int") not in asked


def test_a_namespace_of_the_standard_needs_no_adapter() -> None:
    report = compare_all(make_library(np), "array-api", op="add")
    assert report.compared_count > 1_000
    assert {m.system_answer for m in report.mismatches} == {
        "-"
    }  # NumPy answers what the standard leaves undefined
    promotion_tests(np, "array-api", undefined=True)("add")
    with pytest.raises(AssertionError, match="calls, arithmetic: the library answers, the system refuses"):
        promotion_tests(np, "array-api")("add")


def test_answers_that_are_let_pass_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    promotion_tests(np, "array-api", undefined=True)("add")
    assert re.fullmatch(r"add: [\d,]+ answers where array-api refuses\n", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("op", "answer", "passes"),
    [
        ("add", "float64", True),
        ("less", "bool", True),
        ("less", "float64", False),
        ("+=", "int8", True),
        ("+=", "float64", False),
        ("argmax", "int32", True),
        ("argmax", "float64", False),
        ("add", "!TypeError", False),
    ],
)
def test_what_the_standard_states_of_every_result_holds_where_it_leaves_operands_undefined(
    op: str, answer: str, passes: bool
) -> None:
    assert is_undefined(Mismatch(RecordedCall(op, ("int8", "float32"), answer), "-")) is passes
    assert not is_undefined(Mismatch(RecordedCall(op, ("int8", "float32"), answer), "float32"))


def test_examples_of_one_cause_differ_in_more_than_numbers_and_the_order_of_operands() -> None:
    with pytest.raises(AssertionError) as caught:
        promotion_tests(np, "array-api", undefined=True)("clip")
    _, *examples = str(caught.value).splitlines()
    forms = {re.sub(r"\d+", "", example.partition(" = ")[0]) for example in examples}
    assert len(examples) == len(forms) == 3


def test_calls_with_their_operands_swapped_come_last() -> None:
    swapped = [("int8", "uint8"), ("uint8", "int8"), ("int16", "uint16"), ("float32", "int8")]
    found = tuple(Mismatch(RecordedCall("add", operands, "int8"), "int16") for operands in swapped)
    (shown,) = ConformanceReport(4, 0, found, {}).group_by_cause().values()
    assert [m.call.operands for m in shown] == [swapped[0], swapped[3], swapped[2], swapped[1]]


def test_what_is_neither_a_namespace_nor_a_library_says_what_to_give() -> None:
    with pytest.raises(CannotAskError, match=r"operator has no __array_name.*; give a namespace"):
        promotion_tests(operator, "array-api")
    with pytest.raises(CannotAskError, match="3 has no __array_namespace_info__"):
        promotion_tests(3, "array-api")


@pytest.mark.live
def test_the_reference_of_the_standard_passes_where_the_standard_says_something() -> None:
    strict = pytest.importorskip("array_api_strict")
    for undefined in (True, False):  # its listed departures are known
        for op in ("arange", "full", "linspace", "add", "clip", "matmul", "<", "maximum", "tensordot"):
            promotion_tests(strict, "array-api", undefined=undefined)(op)


def test_functions_that_take_python_numbers_are_asked_nothing_of_arrays() -> None:
    answers = {call.answer for call in yield_library_calls(make_library(np), "full")}
    assert answers <= {"!NotAsked"}


class Asked:
    """An implementation with the method `ask`, which gives int8 for all."""

    name, versions, operations = "asked", {"asked": "1"}, ("add",)

    def dtypes(self) -> tuple[str, ...]:
        return "int8", "float32"

    def ask(self, operation: str, operands: list[str], arguments: list[object]) -> str:
        return "int8"


def test_instances_are_taken_as_well_as_classes() -> None:
    from little import Little

    for made in (Little(), Little):
        promotion_tests(made, "array-api", baseline="known.toml")("add")
        assert make_library(made).name == "little"
    for asked in (Asked(), Asked, lambda: Asked()):
        assert make_library(asked).name == "asked"
        with pytest.raises(AssertionError, match="the system says"):
            promotion_tests(asked, "array-api")("add")


def test_the_command_takes_an_instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "instance_of_little.py").write_text("from little import Little\nLITTLE = Little()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["conform", "instance_of_little:LITTLE", "--system", "array-api", "--live", "500"]) == 1
