"""Second implementations that come along, against what they imitate: faults that users reported are found."""
from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from typelattice.cli.main import main
from typelattice.conformance.implementation import implementation, implementations, snippet
from typelattice.conformance.implementation_differences import Difference, causes, differences
from typelattice.conformance.process import LibraryProcess
from typelattice.recorded.recording_files import load_recording
from typelattice.recorded.sections import Call

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]

# Calls at which each is known to differ: operation, operands, what is found instead.
KNOWN = [
    ("torch-meta", ">", ("bool", "uint64"), "accepts what is refused"),
    ("torch-fake", "<", ("bool", "uint64"), "accepts what is refused"),
    ("torch-numpy", "/", ("int64", "int8"), "another dtype"),
    ("torch-numpy", "**", ("int8", "-1"), "accepts what is refused"),
    ("tf-function", "pow", ("127", "int64"), "refuses what is accepted"),
    ("dask-computed", "select", ("float16", "float32", "complex128"), "another dtype"),
]


class Made:
    """Makes an implementation in the process that is asked."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self) -> Any:
        return implementation(self.name)


@pytest.mark.parametrize("name, op, operands, sort", KNOWN)
def test_a_known_difference_is_found(name: str, op: str, operands: tuple[str, ...], sort: str) -> None:
    answer = load_recording(implementations()[name]["with"]).call(op, operands)
    expected = answer or Call(op, operands, "float32")
    with LibraryProcess(Made(name), 60) as asked:
        (found,) = causes(filter(None, differences(asked, [expected])))
    assert found.sort == sort, found.differences[0]
    difference: Difference = found.differences[0]
    code = snippet(name, difference.found, difference.expected.answer)
    if code:  # it runs without typelattice, and shows the same
        run = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
        shown = difference.found.answer
        if shown.startswith("!"):
            assert f"{shown[1:]}: " in run.stderr, run.stderr
        else:
            assert shown in run.stdout, run.stderr


@pytest.mark.parametrize("name", ["torch-numpy", "dask-computed"])
def test_most_calls_agree(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", name, "--calls", "500", "--limit", "60", "--format", "json"]) in (0, 1)
    found = json.loads(capsys.readouterr().out)
    assert found["compared"] > 450
    assert sum(cause["calls"] for cause in found["causes"]) < 250


def test_a_compiler_agrees_with_what_it_compiles(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "jax-jit", "--calls", "40", "--limit", "60", "--format", "json"]) in (0, 1)
    assert json.loads(capsys.readouterr().out)["compared"] > 30
