"""What is read as an operand: operand strings, Python's numbers, NumPy's objects."""

from __future__ import annotations

import copy
import enum
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import typelattice as tl
from typelattice.facts.dtypes import DTYPES, DType, Kind
from typelattice.operands.notation import LONGEST, WIDEST
from typelattice.operands.objects import _OF_CLASS, MARKS, MOST_CLASSES, forget
from typelattice.operands.operand import Operand

NAMES = sorted(DTYPES)


def fields(x: object) -> tuple[str | None, str, bool, str, object]:
    o = tl.operand(x)
    return o.dtype and o.dtype.name, o.kind.value, o.weak, o.tier, o.value


# operand strings


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("int8", ("int8", "signed", False, "array", None)),
        ("bf16", ("bfloat16", "float", False, "array", None)),
        ("int8:0d", ("int8", "signed", False, "0d", None)),
        ("int8:scalar", ("int8", "signed", False, "0d", None)),
        ("int8:weak", ("int8", "signed", True, "array", None)),
        ("int16:0d=300", ("int16", "signed", False, "0d", 300)),
        ("int16:scalar=-300", ("int16", "signed", False, "0d", -300)),
        ("float32:0d=1.5", ("float32", "float", False, "0d", 1.5)),
        ("float32:0d=inf", ("float32", "float", False, "0d", math.inf)),
        ("complex64:0d=1j", ("complex64", "complex", False, "0d", 1j)),
        ("bool:0d=True", ("bool", "bool", False, "0d", True)),
        ("int", (None, "signed", True, "scalar", None)),
        ("float", (None, "float", True, "scalar", None)),
        ("complex", (None, "complex", True, "scalar", None)),
        ("300", (None, "signed", True, "scalar", 300)),
        ("-1", (None, "signed", True, "scalar", -1)),
        ("1.5", (None, "float", True, "scalar", 1.5)),
        (".5", (None, "float", True, "scalar", 0.5)),
        ("1e300", (None, "float", True, "scalar", 1e300)),
        ("-inf", (None, "float", True, "scalar", -math.inf)),
        ("2j", (None, "complex", True, "scalar", 2j)),
        ("1+2j", (None, "complex", True, "scalar", 1 + 2j)),
        ("True", ("bool", "bool", False, "scalar", True)),
        ("False", ("bool", "bool", False, "scalar", False)),
    ],
)
def test_operand_strings(text: str, read: tuple[object, ...]) -> None:
    assert fields(text) == read
    assert [type(a) for a in fields(text)] == [type(b) for b in read]


def test_bool_is_a_dtype_and_not_a_scalar() -> None:
    assert fields("bool") == ("bool", "bool", False, "array", None)
    assert fields(bool) == ("bool", "bool", False, "scalar", True)
    assert str(tl.operand(bool)) == "True", (
        "no rule depends on which bool it is, and a bool alone is an array's dtype"
    )


VALUES = {
    Kind.BOOL: st.booleans(),
    Kind.SIGNED: st.integers(-(2**200), 2**200),
    Kind.FLOAT: st.floats(allow_nan=False),
    Kind.COMPLEX: st.complex_numbers(allow_nan=False),
}


@st.composite
def operands(draw: st.DrawFn) -> Operand:
    """Any operand that a string can name."""
    kind = draw(st.sampled_from(list(VALUES)))
    value = draw(VALUES[kind])
    form = draw(st.sampled_from(["array", "0d", "weak", "0d weak", "0d=", "0d weak=", "word", "value"]))
    d = DTYPES[draw(st.sampled_from(NAMES))]
    if form == "word":
        return tl.operand(draw(st.sampled_from([bool, int, float, complex])))
    if form == "value":
        return tl.operand(value)
    if "=" in form:
        exact = {Kind.BOOL: "bool", Kind.SIGNED: "int64", Kind.FLOAT: "float64", Kind.COMPLEX: "complex128"}[
            kind
        ]
        value = value % 2**63 if kind is Kind.SIGNED else value
        return Operand(DTYPES[exact], DTYPES[exact].kind, "weak" in form, "0d", value)
    return Operand(d, d.kind, "weak" in form, "0d" if "0d" in form else "array")


@given(operands())
def test_str_reads_back_as_the_operand(o: Operand) -> None:
    again = tl.operand(str(o))
    assert again == o
    assert repr(again.value) == repr(o.value), "-0.0 and 0.0 are told apart"


@given(operands())
def test_str_of_what_was_read_is_what_was_read(o: Operand) -> None:
    text = str(o)
    assert str(tl.operand(text)) == text


@given(operands())
def test_operand_strings_survive_a_shell(o: Operand) -> None:
    assert not set(str(o)) & set(" \t\n'\"`$&|;<>()[]{}*?!#~\\")


@pytest.mark.parametrize(
    "text",
    [
        "int8",
        "int8:0d",
        "int8:weak",
        "int16:0d=300",
        "int8:0d:weak",
        "int16:0d:weak=300",
        "int",
        "float",
        "complex",
        "300",
        "-1",
        "1.5",
        "2j",
        "(1+2j)".strip("()"),
        "True",
        "nan",
        "inf",
    ],
)
def test_round_trip_of_strings(text: str) -> None:
    assert str(tl.operand(text)) == text


@pytest.mark.parametrize("kind", [bool, int, float, complex])
def test_python_types_read_back_from_their_strings(kind: type) -> None:
    assert tl.operand(str(tl.operand(kind))) == tl.operand(kind)


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("int8:9d", tl.OperandError, "cannot read '9d' in 'int8:9d'"),
        ("int8:0d:scalar", tl.OperandError, "cannot read '0d:scalar'"),
        ("int8:weak:weak", tl.OperandError, "cannot read 'weak:weak'"),
        ("9" * 1300, tl.OperandError, "an int of 4,319 bits; no dtype holds more than 4,096"),
        ("9" * 5000, tl.OperandError, "cannot read '9999"),
        ("int8=3", tl.OperandError, "an array has many values; write int8:0d=3"),
        ("int8:0d=", tl.OperandError, "as a Python number"),
        ("int8:0d=many", tl.OperandError, "cannot read 'many' as a Python number"),
        ("int8:0d=300", tl.OperandError, "int8 cannot hold 300"),
        ("uint8:0d=-1", tl.OperandError, "uint8 cannot hold -1"),
        ("int8:0d=1.5", tl.OperandError, "int8 cannot hold 1.5"),
        ("float16:0d=1j", tl.OperandError, "float16 cannot hold 1j"),
        ("float16:0d=65520", tl.OperandError, "float16 cannot hold 65520"),
        ("uint4:0d=16", tl.OperandError, "uint4 cannot hold 16"),
        ("1x", tl.OperandError, "cannot read '1x' as a Python number"),
        ("0x10", tl.OperandError, "cannot read '0x10' as a Python number"),
        ("unit8", tl.DTypeError, "unknown dtype 'unit8'; did you mean uint8"),
        ("i4", tl.DTypeError, "'i4' reads as int4"),
        ("", tl.DTypeError, "unknown dtype ''"),
        (":0d", tl.DTypeError, "unknown dtype ''"),
        ("str", tl.DTypeError, "unknown dtype 'str'"),
    ],
)
def test_strings_that_name_no_operand(text: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error) as e:
        tl.operand(text)
    assert says in str(e.value)


@given(st.text(max_size=40) | st.text(alphabet="int8:0d=weak-+.ej *15fTrue", max_size=30))
def test_no_string_gives_another_error(text: str) -> None:
    try:
        tl.operand(text)
    except (tl.OperandError, tl.DTypeError) as e:
        assert len(str(e)) < 300


@pytest.mark.parametrize(
    "text",
    [
        "9" * 4000,
        "int64:0d=" + "9" * 4000,
        "int8:" + "x" * 5000,
        "x" * 5000,
        "1e" + "9" * 5000,
        "1" + "_1" * 3000,
    ],
)
def test_long_strings_are_answered_in_few_words(text: str) -> None:
    try:
        o = tl.operand(text)
    except (tl.OperandError, tl.DTypeError) as e:
        assert len(str(e)) < 300
    else:
        assert isinstance(o.value, float) or o.value == int(text), "no digit is dropped silently"


def test_a_number_has_so_many_characters_and_bits_and_no_more() -> None:
    digits = "1." + "0" * (LONGEST - 2)
    assert tl.operand(digits).value == 1.0
    with pytest.raises(tl.OperandError, match=r"cannot read '1\.0+\.\.\.' as a Python number"):
        tl.operand(digits + "0")
    assert tl.operand(2**WIDEST - 1).value == 2**WIDEST - 1
    with pytest.raises(tl.OperandError, match=r"^an int of 4,097 bits; no dtype holds more than 4,096$"):
        tl.operand(2**WIDEST)


def test_an_error_shows_forty_characters_of_a_number() -> None:
    with pytest.raises(tl.OperandError, match=f"int8 cannot hold {'9' * 40}; give a value that it holds"):
        tl.operand("int8:0d=" + "9" * 60)


def test_spaces_are_no_part_of_the_grammar() -> None:
    for text in (" 1", "int8 ", " int8", "int8: 0d", "int8 :0d"):
        with pytest.raises((tl.OperandError, tl.DTypeError)):
            tl.operand(text)


# Python objects


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


# NumPy


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
        assert fields(x)[:4] == (d.name, d.kind, False, "0d")
        assert x.tolist() != x or complex(tl.operand(x).value or one) == one  # type: ignore[arg-type]


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


def test_a_text_of_numpy_is_a_text() -> None:
    text = np.array(["int8:weak"])[0]
    assert tl.operand(text) == tl.system("jax").operand(text) == tl.operand("int8:weak")


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


def test_an_operand_is_an_array_and_not_weak_unless_it_says_so() -> None:
    o = Operand(DTYPES["int8"], Kind.SIGNED)
    assert (o.weak, o.tier, o.value) == (False, "array", None)


def test_classes_are_remembered_up_to_a_number_and_then_anew() -> None:
    """So are the marks of their objects. A program that makes classes without end does not fill memory."""
    forget()
    sizes = []
    for i in range(MOST_CLASSES + 20):
        cls = type(f"Array{i}", (np.ndarray,), {})
        tl.operand(np.zeros(2, "int8").view(cls))
        assert MARKS[cls](np.zeros(2).view(cls)) == (np.dtype("float64"), 1)
        sizes.append((len(_OF_CLASS), len(MARKS)))
    assert max(sizes) == (MOST_CLASSES, MOST_CLASSES + 1)  # strings have a mark without being looked up
    tl.operand(Flag.ON)
    assert _OF_CLASS[Flag]
    assert Flag not in MARKS
    forget()
    assert ({*_OF_CLASS}, {*MARKS}) == (set(), {str})
