"""What is read as an operand: Python's numbers and types, and arrays of the standard."""
from __future__ import annotations

import copy
import enum
import pickle
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from operand_fields import fields

import typelattice as tl
from typelattice.core.dtypes.dtypes import DTYPES, Kind
from typelattice.core.operands.operand import Operand
from typelattice.core.operands.read_objects import (
    _READERS_BY_OBJECT_CLASS,
    CACHE_KEY_BY_CLASS,
    MAX_CLASSES,
    clear_reader_cache,
)


class Flag(enum.IntEnum):
    ON = 1


class Bits(enum.IntFlag):
    LOW = 1


class Count(int):
    pass


class Metres(float):
    pass


class Phase(complex):
    pass


@pytest.mark.parametrize(
    ("x", "kind", "value"),
    [
        (300, "signed", 300),
        (2**100, "signed", 2**100),
        (1.5, "float", 1.5),
        (2j, "complex", 2j),
        (Flag.ON, "signed", 1),
        (Bits.LOW, "signed", 1),
        (Count(7), "signed", 7),
        (Metres(2), "float", 2.0),
        (Phase(1j), "complex", 1j),
    ],
    ids=repr,
)
def test_python_numbers_are_weak_scalars(x: object, kind: str, value: object) -> None:
    assert fields(x) == (None, kind, True, "scalar", value)
    assert type(tl.operand(x).value) is type(value)


def test_python_bools_have_a_dtype_and_are_not_weak() -> None:
    assert fields(True) == ("bool", "bool", False, "scalar", True)


def test_one_true_and_one_float_are_told_apart() -> None:
    """They are equal, and equal as keys."""
    assert [fields(x)[1] for x in (1, True, 1.0, 1 + 0j)] == ["signed", "bool", "float", "complex"]
    jax = tl.system("jax")
    assert [str(jax.result_type("int8", x)) for x in (1, True, 1.0, 1 + 0j)] == [
        "int8",
        "int8",
        "float64",
        "complex128",
    ]


def test_types_stand_for_scalars_of_any_value() -> None:
    assert [fields(t) for t in (int, float, complex)] == [
        (None, k, True, "scalar", None) for k in ("signed", "float", "complex")
    ]


def test_an_operand_and_a_dtype_are_read_as_they_are() -> None:
    o = tl.operand("int8:0d")
    assert tl.operand(o) is o
    assert fields(tl.dtype("int8")) == fields("int8")


def test_a_subclass_of_str_is_a_string() -> None:
    assert fields(type("Name", (str,), {})("int8:0d")) == fields("int8:0d")


@pytest.mark.parametrize(
    "x",
    [None, b"int8", [1, 2], (1,), {"a": 1}, Fraction(1, 2), Decimal(1), object(), ..., str, list, lambda: 1],
)
def test_other_objects_take_no_part(x: object) -> None:
    with pytest.raises(
        tl.OperandError,
        match=r"takes no part in promotion; give an array, a dtype, a number or a string such as 'int8'$",
    ):
        tl.operand(x)


def test_an_operand_is_a_value() -> None:
    a, b = tl.operand("int16:0d=300"), tl.operand("int16:0d=300")
    assert a == b == copy.deepcopy(a) == pickle.loads(pickle.dumps(a))
    assert hash(a) == hash(b)
    assert a != tl.operand("int16:0d=3")


def test_an_operand_is_an_array_and_not_weak_unless_it_says_so() -> None:
    o = Operand(DTYPES["int8"], Kind.SIGNED)
    assert (o.weak, o.tier, o.value) == (False, "array", None)


class Own:
    """An array of a library that nobody knows, but for the array API standard."""

    def __init__(self, dtype: str, ndim: int) -> None:
        self.dtype, self.ndim = dtype, ndim

    def __array_namespace__(self) -> object:
        return SimpleNamespace(int8="one byte", float32="four bytes")


def test_an_array_of_the_standard_is_read_by_the_dtypes_of_its_namespace() -> None:
    assert fields(Own("one byte", 2)) == ("int8", "signed", False, "array", None)
    assert fields(Own("four bytes", 0)) == ("float32", "float", False, "0d", None)
    with pytest.raises(tl.DTypeError, match="'two words' is in no promotion table"):
        tl.operand(Own("two words", 1))


def test_classes_are_remembered_up_to_a_number_and_then_anew() -> None:
    """So are the marks of their objects. A program that makes classes without end does not fill memory."""
    clear_reader_cache()
    sizes = []
    for i in range(MAX_CLASSES + 20):
        cls = type(f"Array{i}", (np.ndarray,), {})
        tl.operand(np.zeros(2, "int8").view(cls))
        assert CACHE_KEY_BY_CLASS[cls](np.zeros(2).view(cls)) == (np.dtype("float64"), 1)
        sizes.append((len(_READERS_BY_OBJECT_CLASS), len(CACHE_KEY_BY_CLASS)))
    assert max(sizes) == (MAX_CLASSES, MAX_CLASSES + 1)  # strings have a mark without being looked up
    tl.operand(Flag.ON)
    assert _READERS_BY_OBJECT_CLASS[Flag]
    assert Flag not in CACHE_KEY_BY_CLASS
    clear_reader_cache()
    assert ({*_READERS_BY_OBJECT_CLASS}, {*CACHE_KEY_BY_CLASS}) == (set(), {str})
