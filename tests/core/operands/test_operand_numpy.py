"""NumPy's objects as operands: arrays, scalars, dtypes and types, and those that are no numbers."""
from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from operand_fields import fields

import typelattice as tl
from typelattice.core.dtypes.dtypes import DTYPES, DType

FOUND = [d for d in DTYPES.values() if hasattr(ml_dtypes, d.name) or hasattr(np, d.name)]


@pytest.mark.parametrize("d", FOUND, ids=repr)
def test_arrays_scalars_types_and_dtypes_of_numpy(d: DType) -> None:
    native = np.dtype(getattr(ml_dtypes, d.name, None) or getattr(np, d.name))
    array = np.ones((2, 3), native)
    assert fields(array) == (d.name, d.kind, False, "array", None)
    assert fields(native) == (d.name, d.kind, False, "array", None)
    assert fields(native.type) == (d.name, d.kind, False, "array", None)
    assert fields(array[:0]) == (d.name, d.kind, False, "array", None)
    one = -1 if d.name == "int1" else 1
    for x in (np.full((), one, native), np.full(1, one, native)[0]):
        assert fields(x) == (d.name, d.kind, False, "0d", one)


def test_values_of_numpys_scalars_are_pythons() -> None:
    for x, value in (
        (np.int16(300), 300),
        (np.float32(1.5), 1.5),
        (np.complex64(1j), 1j),
        (np.True_, True),
        (np.array(7, np.uint8), 7),
    ):
        assert tl.operand(x).value == value
        assert type(tl.operand(x).value) is type(value)


def test_float64_of_numpy_is_no_python_float() -> None:
    """Though it is a subclass of float."""
    assert isinstance(np.float64(1), float)
    assert fields(np.float64(1.5)) == ("float64", "float", False, "0d", 1.5)
    assert fields(np.complex128(1j)) == ("complex128", "complex", False, "0d", 1j)


def test_subclasses_and_views_of_arrays() -> None:
    assert fields(np.ma.array([1, 2], dtype=np.int8))[0] == "int8"
    assert fields(np.array([1], dtype=">i4"))[0] == "int32"
    assert fields(np.zeros(3, np.int8).view(type("Mine", (np.ndarray,), {})))[0] == "int8"


def test_a_text_of_numpy_is_a_text() -> None:
    text = np.array(["int8:weak"])[0]
    assert tl.operand(text) == tl.system("jax").operand(text) == tl.operand("int8:weak")


NO_NUMBERS = [
    np.array(["a"]),
    np.array([None]),
    np.zeros(1, "M8[s]"),
    np.zeros(1, "m8[s]"),
    np.zeros(1, "i4,f4"),
    np.zeros(1, np.longdouble),
    np.dtype("O"),
    np.dtype("S3"),
    np.datetime64("2020"),
]


@pytest.mark.parametrize("x", NO_NUMBERS, ids=repr)
def test_dtypes_of_numpy_that_are_no_numbers_here(x: object) -> None:
    with pytest.raises(
        (tl.DTypeError, tl.OperandError),
        match=r"is in no promotion table; tables are of numbers: convert it first$",
    ):
        tl.operand(x)


@pytest.mark.parametrize("t", [np.generic, np.number, np.integer, np.floating, np.ndarray, np.void])
def test_abstract_types_of_numpy_take_no_part(t: type) -> None:
    with pytest.raises((tl.DTypeError, tl.OperandError)):
        tl.operand(t)
