"""Dtypes of a file's own: their values, enumerated by the definition of each fact, and what casts lose."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Literal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import typelattice as tl
from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind
from typelattice.core.explanations.promotion_in_english import describe_loss
from typelattice.core.losses.loss import Loss, loss
from typelattice.core.losses.range_and_overflow import PythonNumber, is_in_range, overflow_result
from typelattice.core.system_files.custom_dtypes import read_custom_dtype
from typelattice.core.system_files.reader import parse
from typelattice.core.system_files.system_text import FormatError
from typelattice.core.system_files.value_reader import Vocabulary


def check_range(value: PythonNumber, d: DType) -> tuple[bool, PythonNumber | None]:
    return is_in_range(value, d), overflow_result(value, d)

Rounding = Literal["cut off", "float", "grid", "none"]


@dataclass(frozen=True)
class Own:
    """A dtype, all its finite values, and how a number is rounded to them where they had no end."""

    dtype: DType
    values: frozenset[Fraction]
    rounding: Rounding
    precision: int = 0
    smallest: Fraction = Fraction(1)

    def rounded(self, v: Fraction) -> Fraction:
        if self.rounding == "none":
            return v
        if self.rounding == "cut off":
            return Fraction(math.trunc(v))
        unit = self.smallest
        if self.rounding == "float" and v:
            numerator, denominator = abs(v).as_integer_ratio()
            exponent = numerator.bit_length() - denominator.bit_length()
            exponent -= Fraction(2) ** exponent > abs(v)
            unit = max(unit, Fraction(2) ** (exponent - self.precision + 1))
        return round(v / unit) * unit  # a tie goes to the even one

    def keeps(self, v: Fraction) -> bool:
        """Whether a value is within the range, once rounded; a format without zero rounds to its nearest."""
        if v > 0 and min(self.values) > 0:
            return self.rounded(v) <= max(self.values)
        if v < 0 and max(self.values) < 0:
            return self.rounded(v) >= min(self.values)
        return min(self.values) <= self.rounded(v) <= max(self.values)


def own(**facts: object) -> DType:
    return read_custom_dtype(Vocabulary(), "own", facts, lambda key: nullcontext())


@st.composite
def integers(draw: st.DrawFn) -> Own:
    kind, bits = draw(st.sampled_from(["unsigned", "signed"])), draw(st.integers(1, 5))
    low = -(2 ** (bits - 1)) if kind == "signed" else 0
    high = 2**bits - 1 + low
    facts: dict[str, object] = {"kind": kind, "bits": bits}
    if kind == "signed" and draw(st.booleans()):
        facts["min"] = low = draw(st.integers(low, -1))
    if high and draw(st.booleans()):
        facts["max"] = high = draw(st.integers(1, high))
    return Own(own(**facts), frozenset(map(Fraction, range(low, high + 1))), "cut off")


@st.composite
def fixed_point(draw: st.DrawFn) -> Own:
    step = Fraction(2) ** draw(st.integers(-3, 3))
    low, high = draw(st.integers(-20, 0)), draw(st.integers(0, 20))
    assume(low < high)
    d = own(kind="float", step=float(step), min=float(low * step), max=float(high * step))
    return Own(d, frozenset(n * step for n in range(low, high + 1)), "grid", smallest=step)


@st.composite
def lists(draw: st.DrawFn) -> Own:
    sixteenths = draw(st.lists(st.integers(-200, 200), min_size=2, max_size=12, unique=True))
    values = [Fraction(n, 16) for n in sixteenths]
    return Own(own(kind="float", values=[float(v) for v in values]), frozenset(values), "none")


@st.composite
def floats(draw: st.DrawFn) -> Own:
    precision, exponent = draw(st.integers(1, 4)), draw(st.integers(-4, 4))
    specials = draw(st.sampled_from(["sz", "szm", "szmin", "szn", "z", "zin", "n", ""]))
    smallest = Fraction(2) ** (exponent - precision + 1)
    normal = [
        Fraction(n) * Fraction(2) ** (e - precision + 1)
        for e in range(exponent, exponent + 5)
        for n in range(2 ** (precision - 1), 2**precision)
    ]
    top = draw(st.sampled_from(normal))
    above = {n * smallest for n in range(1, 2 ** (precision - 1))} | {v for v in normal if v <= top}
    values = (
        above
        | ({-v for v in above} if "s" in specials else set())
        | ({Fraction(0)} if "z" in specials else set())
    )
    d = own(kind="float", max=float(top), precision=precision, min_exponent=exponent, specials=specials)
    return Own(d, frozenset(values), "float", precision, smallest)


OWN = st.one_of(integers(), fixed_point(), lists(), floats())


def counted(source: Own, target: Own) -> Loss:
    """The loss of a cast, value by value."""
    signed = "s" in target.dtype.specials
    there = [v for v in source.values if (v >= 0 or signed) and (v or "z" in target.dtype.specials)]
    kept = [v for v in there if target.keeps(v)]
    changed = [v for v in kept if v not in target.values]
    floating = target.dtype.kind.category >= Kind.FLOAT.category
    top = max(target.values)
    whole = [v for v in changed if 0 < v <= top and v.denominator == 1]
    above = min((v for v in target.values if v > 0), default=None)
    below = max((v for v in target.values if v < 0), default=None)
    vanish = [v for v in there if (above and 0 < 2 * v <= above) or (below and 0 > 2 * v >= below)]
    names = {"z": "zero", "m": "-0", "i": "inf", "n": "nan"}
    return Loss(
        magnitude=any(not target.keeps(v) for v in there),
        precision=bool(changed),
        first_inexact=int(min(whole)) if floating and whole else None,
        underflow=floating and "z" in target.dtype.specials and bool(vanish),
        sign=any(v < 0 for v in source.values) and not signed,
        special=tuple(
            names[c] for c in source.dtype.specials if c in names and c not in target.dtype.specials
        ),
    )


@given(OWN, OWN)
def test_loss_by_all_values(source: Own, target: Own) -> None:
    if source.dtype is not target.dtype:
        assert loss(source.dtype, target.dtype) == counted(source, target)


@given(OWN, OWN)
def test_what_is_lost_is_said_in_words(source: Own, target: Own) -> None:
    if source.dtype is not target.dtype:
        lost = loss(source.dtype, target.dtype)
        assert bool(describe_loss(lost, source.dtype, target.dtype)) == bool(lost)


def test_what_our_dtypes_lose_is_said_in_words() -> None:
    for a, b in product(DTYPES.values(), repeat=2):
        assert bool(describe_loss(loss(a, b), a, b)) == bool(loss(a, b)), (a, b)


@given(OWN)
def test_the_ends_and_the_smallest_follow_from_the_values(own: Own) -> None:
    d = own.dtype
    assert (d.min, d.max) == (min(own.values), max(own.values))
    assert ("s" in d.specials, "z" in d.specials) == (
        min(own.values) < 0 or d.kind is Kind.SIGNED,
        0 in own.values,
    )
    if any(v > 0 for v in own.values):
        assert d.smallest == min(v for v in own.values if v > 0)


@given(OWN, st.integers(-200, 200).map(lambda n: n / 16))
def test_a_value_is_held_where_it_is_kept(own: Own, v: float) -> None:
    d, exact = own.dtype, Fraction(v)
    signed = "s" in d.specials or own.rounding == "cut off"
    assert is_in_range(v, d) == (v == 0 or ((v > 0 or signed) and own.keeps(exact)))


def test_a_float_is_cut_off_into_an_integer() -> None:
    """As NumPy, C and PyTorch cast: 7.5 is 7, and so within int4."""
    f6, i4 = tl.dtype("float6_e2m3fn"), tl.dtype("int4")
    assert tl.loss(f6, i4) == Loss(precision=True, special=("-0",))
    assert check_range(7.5, i4) == (True, None)
    assert check_range(8.0, i4) == (False, None)
    assert check_range(-8.9, i4) == (True, None)
    assert check_range(-0.5, tl.dtype("uint8")) == (True, None)
    assert [is_in_range(v, i4) for v in (math.inf, -math.inf, math.nan)] == [False] * 3


# -- what the facts can say

EXAMPLES = parse("""
name  = "examples"
order = "q8_8, nf4, posit16, decimal -> f64; narrow -> i16"

[dtypes]
q8_8    = { kind = "float", bits = 16, min = -128.0, max = 127.99609375, step = 0.00390625 }
posit16 = { kind = "float", bits = 16, max = 72057594037927936.0, values = "unknown", specials = "szn" }
decimal = { kind = "float", values = "unknown", specials = "sz" }
narrow  = { kind = "signed", bits = 8, min = -127 }
nf4     = { kind = "float", bits = 4, values = [
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
    -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
    0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
    0.7229568362236023, 1.0] }
""").custom_dtypes


def test_fixed_point_is_exact_where_a_float_has_its_bits() -> None:
    q = EXAMPLES["q8_8"]
    assert tl.loss(q, tl.dtype("float32")) == tl.loss(q, tl.dtype("float64")) == Loss()
    assert tl.loss(q, tl.dtype("float16")).precision, "it has 15 significant bits, float16 has 11"
    assert tl.loss(tl.dtype("int8"), q) == Loss()
    assert tl.loss(tl.dtype("uint8"), q) == Loss(magnitude=True)
    assert tl.loss(tl.dtype("float16"), q).underflow
    assert check_range(127.997, q) == (True, None)
    assert check_range(128.0, q) == (False, 127.99609375)
    assert check_range(-129, q) == (False, -128.0)


def test_a_list_of_values_is_compared_value_by_value() -> None:
    """NF4, a table of sixteen float32 values for weights between -1 and 1."""
    nf4 = EXAMPLES["nf4"]
    assert (nf4.min, nf4.max, nf4.specials) == (-1.0, 1.0, "sz")
    assert tl.loss(nf4, tl.dtype("float32")) == Loss()
    assert tl.loss(nf4, tl.dtype("bfloat16")) == Loss(precision=True)
    lost = tl.loss(tl.dtype("int8"), nf4)
    assert (lost.magnitude, lost.precision) == (True, False)
    assert tl.loss(tl.dtype("float32"), nf4).precision


def test_of_a_list_on_one_side_of_zero_zero_is_lost_and_nothing_lies_beyond() -> None:
    whole = own(kind="signed", bits=1)
    assert (whole.min, whole.max) == (-1, 0)
    assert tl.loss(whole, own(kind="float", values=[-1.0, -0.0625])) == Loss(special=("zero",))
    one = own(kind="unsigned", bits=1)
    assert tl.loss(one, own(kind="float", values=[0.0625, 1.0])) == Loss(special=("zero",))


@pytest.mark.parametrize("name", ["posit16", "decimal"])
@pytest.mark.parametrize("other", DTYPES.values(), ids=repr)
def test_unknown_values_never_lose_nothing(name: str, other: DType) -> None:
    d = EXAMPLES[name]
    for there in (tl.loss(d, other), tl.loss(other, d)):
        assert there
        assert there.unknown
        assert not there.precision
    assert tl.loss(d, d) == Loss()


def test_an_explanation_says_what_is_unknown() -> None:
    posit, f64 = EXAMPLES["posit16"], tl.dtype("float64")
    said = "rounding is unknown: the facts of posit16 do not list its values"
    assert describe_loss(tl.loss(posit, f64), posit, f64) == [said]


def test_of_unknown_values_the_ends_still_tell_what_is_beyond() -> None:
    posit, f16, f32 = EXAMPLES["posit16"], tl.dtype("float16"), tl.dtype("float32")
    assert tl.loss(posit, f16).magnitude
    assert not tl.loss(f16, posit).magnitude
    assert tl.loss(f32, posit).magnitude
    assert tl.loss(f32, posit).special == ("-0", "inf")
    assert (is_in_range(1e18, posit), repr(overflow_result(1e18, posit))) == (False, "nan")
    assert check_range(1e16, posit) == (True, None)
    assert check_range(1e300, EXAMPLES["decimal"]) == (True, None)


def test_an_integer_that_is_narrower_than_its_bits_does_not_wrap_out_of_its_range() -> None:
    narrow = EXAMPLES["narrow"]
    assert (narrow.min, narrow.max) == (-127, 127)
    assert check_range(-128, narrow) == (False, None)
    assert check_range(129, narrow) == (False, -127)
    assert tl.loss(tl.dtype("int8"), narrow).magnitude


def test_a_signed_integer_of_no_width_counts_at_its_worst() -> None:
    word = own(kind="signed")
    assert tl.loss(tl.dtype("int8"), word) == tl.loss(tl.dtype("int32"), word) == Loss()
    assert tl.loss(tl.dtype("int64"), word) == Loss(magnitude=True)
    assert tl.loss(word, tl.dtype("int64")) == Loss()
    assert tl.loss(word, tl.dtype("int32")) == Loss(magnitude=True)


def test_a_bool_has_two_values_whatever_the_file_calls_it() -> None:
    flag = own(kind="bool", storage_bits=32)
    assert (flag.bits, flag.storage_bits, flag.min, flag.max) == (1, 32, 0, 1)
    assert tl.loss(flag, tl.dtype("int8")) == Loss()
    assert check_range(2, flag) == check_range(2, tl.dtype("bool")) == (False, True)


def test_a_fact_that_cannot_be_is_refused_by_file_line_and_key() -> None:
    with pytest.raises(
        FormatError, match=r"^text, line 4, dtypes: a complex dtype needs the fact bits, an even number"
    ):
        parse(
            'name = "a"\norder = "c99"\n[dtypes]\n'
            'c99 = { kind = "complex", max = 3, precision = 2, min_exponent = 0 }'
        )
