"""Operand strings: what each stands for, that it reads back as written, and what names no operand."""
from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from operand_fields import fields

import typelattice as tl
from typelattice.core.dtypes.dtypes import DTYPES, Kind
from typelattice.core.operands.notation import MAX_INT_BITS, MAX_NUMBER_CHARS
from typelattice.core.operands.operand import Operand

NAMES = sorted(DTYPES)


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


# -- written and read back


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
        "1+2j",
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


# -- what names no operand


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
        ("unit8", tl.DTypeError, "unknown dtype 'unit8' (did you mean uint8"),
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


def test_spaces_are_no_part_of_the_grammar() -> None:
    for text in (" 1", "int8 ", " int8", "int8: 0d", "int8 :0d"):
        with pytest.raises((tl.OperandError, tl.DTypeError)):
            tl.operand(text)


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
    digits = "1." + "0" * (MAX_NUMBER_CHARS - 2)
    assert tl.operand(digits).value == 1.0
    with pytest.raises(tl.OperandError, match=r"cannot read '1\.0+\.\.\.' as a Python number"):
        tl.operand(digits + "0")
    assert tl.operand(2**MAX_INT_BITS - 1).value == 2**MAX_INT_BITS - 1
    with pytest.raises(tl.OperandError, match=r"^an int of 4,097 bits; no dtype holds more than 4,096$"):
        tl.operand(2**MAX_INT_BITS)


def test_an_error_shows_forty_characters_of_a_number() -> None:
    with pytest.raises(tl.OperandError, match=f"int8 cannot hold {'9' * 40}; give a value that it holds"):
        tl.operand("int8:0d=" + "9" * 60)
