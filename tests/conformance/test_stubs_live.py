"""The stubs of the installed NumPy, as mypy and basedpyright read them, against its recorded answers."""
from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from samples import one_in

import typelattice as tl
from typelattice.conformance.imitations.compare_implementation import start_implementation
from typelattice.conformance.imitations.difference_reproducer import write_snippet
from typelattice.conformance.imitations.implementation import implementations
from typelattice.conformance.imitations.implementation_differences import (
    ARRAY_OR_SCALAR,
    OTHER_DTYPE,
    Difference,
    calls_of_implementation,
    calls_of_system,
    find_differences,
    group_by_cause,
    questions_of_both,
    select_askable,
)

pytestmark = pytest.mark.live

SYSTEM = "numpy" if version("numpy").startswith("2.5.") else "numpy@2.4"
STUBS = [
    name
    for name, entry in implementations().items()
    if entry.get("stubs") == "numpy-eager" and "distribution" not in entry
]


def asked(name: str, op: str) -> tuple[list[Difference | None], str]:
    """The differences of an operation, and a snippet of the first cause."""
    with start_implementation(name, 30) as stubs:
        calls = select_askable(calls_of_system(tl.system(SYSTEM), stubs.catalogue), stubs.catalogue)
        found = [each for _, each in find_differences(stubs, [call for call in calls if call.op == op])]
        (first, *_) = (c for c in group_by_cause(filter(None, found)) if c.difference_type == OTHER_DTYPE)
        return found, write_snippet(implementations()[name], first.differences[0], stubs.catalogue.spellings)


@pytest.mark.parametrize("name", one_in(2, STUBS))
def test_28_quotients_of_narrow_floats_are_float64_in_the_stubs(name: str, tmp_path: Path) -> None:
    found, code = asked(name, "/")
    assert len(found) > 900
    wrong = {
        each.found.operands
        for each in found
        if each
        and each.difference_type == OTHER_DTYPE
        and not any(":scalar" in operand for operand in each.found.operands)
    }
    assert len(wrong) == 28
    assert {("float32", "int8"), ("int", "float16"), ("bool", "float16"), ("uint16", "float32")} <= wrong
    file = tmp_path / "snippet.py"
    file.write_text(code)
    checker = implementations()[name]["checker"]
    ran, checked = (
        subprocess.run([sys.executable, *words, str(file)], capture_output=True, text=True, cwd=tmp_path)
        for words in ((), ("-m", checker))
    )
    assert ran.stdout == "float16\n"
    assert "dtype[float64]" in checked.stdout.replace("numpy.", "")


@pytest.mark.parametrize("name", one_in(2, STUBS, 1))
def test_stubs_that_are_right_give_no_difference(name: str) -> None:
    with start_implementation(name, 30) as stubs:
        calls = select_askable(calls_of_system(tl.system(SYSTEM), stubs.catalogue), stubs.catalogue)
        calls = [call for call in calls if call.op in ("sqrt", "inv", "<", "isnan")]
        found = [each for _, each in find_differences(stubs, calls)]
    assert len(found) > 300
    assert not [each for each in found if each and each.difference_type == OTHER_DTYPE]


def test_stubs_that_give_an_array_for_a_scalar_are_found() -> None:
    with start_implementation("numpy-stubs", 30) as stubs, start_implementation("numpy-eager", 30) as eager:
        questions = questions_of_both(eager.catalogue, stubs.catalogue)
        asked = [each for each in questions if each[0] in ("@", "clip", "take", "sqrt")]
        calls = select_askable(calls_of_implementation(eager, asked), stubs.catalogue)
        found = [each for _, each in find_differences(stubs, calls)]
    assert {each.cause for each in found if each and each.difference_type == ARRAY_OR_SCALAR} == {
        "products: array for scalar", "clip: scalar for array",
    }  # fmt: skip
