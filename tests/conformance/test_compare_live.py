"""Second implementations that come along, against what they imitate: faults that users reported are found."""
from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from samples import one_in

from typelattice.conformance.imitations.compare_implementation import (
    Comparison,
    compare_implementation,
    find_imitated,
)
from typelattice.conformance.imitations.difference_reproducer import write_snippet
from typelattice.conformance.imitations.implementation import implementations, load_implementation
from typelattice.conformance.imitations.implementation_differences import (
    BREAKS_DOWN,
    OTHER_VALUE,
    Difference,
    calls_of_implementation,
    find_differences,
)
from typelattice.conformance.recording.library_process import LibraryProcess
from typelattice.conformance.recording.questions import Question
from typelattice.core.evidence.recorded_calls import RecordedCall
from typelattice.core.evidence.recording_files import load_recording
from typelattice.show.cli.main import main

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]

RUNNER = Path(__file__).with_name("run_snippets.py")
COMMENT = re.compile(r"  # (\S+), (?:expected|found)$")

# Calls at which each is known to differ: operation, operands, what is found instead. Most are from public
# reports, such as pytorch/pytorch#198056, #197091 and #194381.
KNOWN: dict[str, list[tuple[str, tuple[str, ...], str]]] = {
    "torch-meta": [(">", ("bool", "uint64"), "accepts what is refused")],
    "torch-fake": [("<", ("bool", "uint64"), "accepts what is refused")],
    "torch-numpy": [
        ("/", ("int64", "int8"), "another dtype"),
        ("**", ("int8", "-1"), "accepts what is refused"),
        ("cumsum", ("int8",), "another dtype"),
        ("square", ("int8",), "another dtype"),
        ("reciprocal", ("int32",), "another dtype"),
        ("sum", ("uint8",), "another dtype"),
        ("any", ("uint8",), "another dtype"),
    ],
    "torch-inductor": [
        ("torch_ldexp", ("bool", "float16"), "another dtype"),
        ("torch_ldexp", ("float16", "float32"), "another dtype"),
    ],
    "torch-onnx": [("-", ("float", "int64"), "refuses what is accepted")],
    "tf-function": [
        ("pow", ("127", "int64"), "refuses what is accepted"),
        ("maximum", ("int", "int8"), "refuses what is accepted"),
    ],
    "dask-computed": [("select", ("float16", "float32", "complex128"), "another dtype")],
    "keras-torch-symbolic": [("softmax", ("int32",), "accepts what is refused")],
    "polars-schema": [("&", ("float32", "float64"), "accepts what is refused")],
    "scipy-torch": [("erf", ("float16",), "another dtype")],
}


@pytest.mark.parametrize("name", one_in(2, [*KNOWN]))
def test_known_differences_are_found(name: str) -> None:
    expected = answers(find_imitated(name) or "", [(op, operands) for op, operands, _ in KNOWN[name]])
    with LibraryProcess(partial(load_implementation, name), 60) as asked:
        found = [each for _, each in find_differences(asked, expected)]
        spellings = asked.catalogue.spellings
    assert [each and each.difference_type for each in found] == [sort for *_, sort in KNOWN[name]], found
    check([write_snippet(implementations()[name], each, spellings) for each in found if each])


def answers(other: str, questions: list[Question]) -> list[RecordedCall]:
    if other in implementations():
        with LibraryProcess(partial(load_implementation, other), 60) as asked:
            return [*calls_of_implementation(asked, questions)]
    recording = load_recording(other)
    return [recording.find_call(*question) or RecordedCall(*question, "float32") for question in questions]


APART = ("openvino", "tvm")
"""Implementations whose package is in no environment of ours, and is asked where it is installed."""

RUN_HERE = [name for name, entry in implementations().items() if "checker" not in entry and "with" in entry]


@pytest.mark.parametrize("name", one_in(7, RUN_HERE))
def test_every_snippet_shows_its_difference(name: str) -> None:
    if name in APART:
        pytest.importorskip(name)
    calls = 10 if implementations()[name].get("slow") else 150
    found = compare_implementation(name, calls=calls, limit=60)
    assert found.compared_count > calls * 0.8
    assert sum(len(cause.differences) for cause in found.causes) < 0.6 * found.compared_count
    check(snippets(found))


def snippets(found: Comparison) -> list[str]:
    return [found.find_example(cause)[1] for cause in found.causes if cause.difference_type != BREAKS_DOWN]


def check(codes: list[str]) -> None:
    """Run programs in one process, without typelattice; each prints what its comments say."""
    codes = [code for code in codes if code]
    assert not any("typelattice" in code or code.count("\n") > 9 for code in codes)
    run = subprocess.run(
        [sys.executable, "-I", str(RUNNER)], input=json.dumps(codes), capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr[-2000:]
    for code, (printed, error) in zip(codes, json.loads(run.stdout.splitlines()[-1]), strict=True):
        said = [found[1] for line in code.splitlines() if (found := COMMENT.search(line))]
        assert len(said) == 2, code
        *_, first, last = ["", *printed, *([error] if error else [])]
        assert said[0] != said[1] and shows(first, said[0]) and shows(last, said[1]), (code, printed, error)


def shows(shown: Any, answer: str) -> bool:
    """Tell whether what a line printed, or the classes of what it raised, is an answer."""
    if isinstance(shown, list):
        return answer in shown
    dtype = shown.lower().replace("boolean", "bool")
    weak = "~" in dtype or "weak_type=true" in dtype
    return bool(re.search(rf"\b{re.escape(answer.rstrip('*'))}\b", dtype)) and weak == answer.endswith("*")


def test_the_snippet_check_fails_for_what_is_not_shown() -> None:
    code = "x = 1\nprint('int8')  # int8, expected\nprint('{}')  # float32, found"
    check([code.format("torch.float32")])
    for other in ("int8", "~float32"):
        with pytest.raises(AssertionError):
            check([code.format(other)])


def test_values_of_libraries_are_compared() -> None:
    question = [("+", ("complex64=(0.3+0.7j)", "inf")), ("+", ("bool=True", "float32=0.3"))]
    calls = []
    for name in ("numpy", "torch-numpy"):
        with LibraryProcess(partial(load_implementation, name), 60, tells_values=True) as asked:
            calls.append([*calls_of_implementation(asked, question)])
    assert [call.message.split()[0] for call in calls[1]] == ["inf+nanj", "1.2999999523162842"]
    found = Difference(*(answers[0] for answers in calls))
    assert (found.difference_type, found.cause) == (OTHER_VALUE, "add: complex")
    code = write_snippet(implementations()["torch-numpy"], found, {})
    run = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    printed = [line.partition("+")[2] for line in run.stdout.splitlines()]
    assert printed == ["0.7j inf+0.7j]", "nanj, inf+nanj])"]


def test_a_compiler_agrees_with_what_it_compiles(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "jax-jit", "--calls", "40", "--limit", "60", "--format", "json"]) in (0, 1)
    assert json.loads(capsys.readouterr().out)["compared"] > 30
