"""NumPy 1 on Windows: wherever NumPy 1 takes its default integer, that is int32, and nothing else differs."""

from __future__ import annotations

import re

import pytest
from kept import kept

import typelattice as tl

NARROWED = {("int64", "int32"), ("uint64", "uint32")}
OPERANDS = {"x": "int8[3]", "f": "float32[3]", "b": "bool[3]"}


def dtypes_of(text: str) -> list[str]:
    """The dtype of a line on Linux and on Windows."""
    operands = {name: x for name, x in OPERANDS.items() if re.search(rf"\b{name}\b", text)}
    return [str(tl.program(text, **operands).under(name).dtype) for name in ("numpy1", "numpy1-windows")]


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.whole), 13])
def test_of_recorded_calls_only_those_with_the_default_integer_differ(every: int) -> None:
    linux, windows = tl.system("numpy1"), tl.system("numpy1-windows")
    recording = kept("numpy1")
    changed = set()
    for op in recording.operations:
        for call in recording.calls_of(op, every):
            before, after = (str(s.explain(*call.operands, op=op).dtype) for s in (linux, windows))
            if before != after:
                assert (before, after) in NARROWED, (op, call.operands, before, after)
                changed.add(op)
    assert {"sum", "cumsum", "prod", "arange", "add"} <= changed
    assert every > 1 or "asarray" in changed
    assert not {"argmax", "searchsorted", "mean", "bincount", "count_nonzero"} & changed


@pytest.mark.parametrize(
    ("value", "dtype"),
    [("300", "int32"), (str(2**31), "int64"), (str(2**40), "int64"), (str(2**63), "uint64")],
)
def test_a_python_int_gets_the_first_of_long_and_long_long_that_holds_it(value: str, dtype: str) -> None:
    """https://github.com/numpy/numpy/blob/v1.26.4/numpy/core/src/multiarray/abstractdtypes.c"""
    assert str(tl.system("numpy1-windows").result_type(value)) == dtype


@pytest.mark.parametrize(
    "text", ["np.sum(x)", "np.arange(9)", "x.astype(int)", "np.array([1, 2])", "100 * np.int32(7)",
             "np.random.randint(5, size=3)", "np.random.poisson(2.0, size=3)"]
)
def test_what_takes_the_default_integer_is_int32(text: str) -> None:
    assert dtypes_of(text) == ["int64", "int32"]


@pytest.mark.parametrize("text", ["np.argmax(x)", "np.argsort(x)", "np.nonzero(x)[0]", "np.bincount(x)"])
def test_indices_and_counts_are_int64(text: str) -> None:
    assert dtypes_of(text) == ["int64", "int64"]
