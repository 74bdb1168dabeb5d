"""Which two casts in a row are one: every value is cast by a definition of its own, and by ml_dtypes."""

from __future__ import annotations

import warnings
from bisect import bisect_left
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from dtypes_of_numpy import FOUND, as_numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import one_in

from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind, intern_dtype, least_of_float
from typelattice.core.losses import cast_chains
from typelattice.core.losses.cast_chains import cast_chain

Exact = Fraction | str | tuple[str, object]  # a number; "-0", "inf", "-inf", "nan"; or an undefined result


@st.composite
def formats(draw: st.DrawFn) -> DType:
    """A small integer or binary float."""
    if draw(st.booleans()):
        bits, signed = draw(st.integers(1, 9)), draw(st.booleans())
        top = 2 ** (bits - signed) - 1
        kind, least = (Kind.SIGNED, -top - 1) if signed else (Kind.UNSIGNED, 0)
        letters = "sz" if signed else "z"
        return intern_dtype(f"n{bits}{kind}", "n", kind, bits, 16, least, top, None, None, 1, (), letters)
    precision, low = draw(st.integers(2, 7)), draw(st.integers(-6, 2))
    whole = draw(st.integers(2 ** (precision - 1), 2**precision - 1))
    top = whole * 2.0 ** (draw(st.integers(max(low, 0), 9)) - precision + 1)
    letters = draw(st.sampled_from(["szmin", "szmn", "szn", "szm", "zn", "zin"]))
    least = least_of_float(top, precision, low, letters)
    name = f"f{precision}_{low}_{top}_{letters}"
    return intern_dtype(name, "f", Kind.FLOAT, 16, 16, least, top, precision, low, None, (), letters)


@cache
def finite(d: DType) -> tuple[Fraction, ...]:
    """Every value from zero up, and of a float one more, with which rounding goes on beyond the range."""
    if d.kind is not Kind.FLOAT:
        return tuple(map(Fraction, range(int(d.max or 0) + 1)))
    assert d.precision is not None
    assert d.min_exponent is not None
    smallest = Fraction(2) ** (d.min_exponent - d.precision + 1)
    found = [Fraction(0)]
    while found[-1] <= Fraction(d.max or 0):
        size = found[-1] / smallest
        doublings = max(size.numerator.bit_length() - d.precision, 0) if size else 0
        found.append(found[-1] + smallest * 2**doublings)
    return tuple(found)


def values(d: DType) -> list[Exact]:
    sizes = finite(d)[: -1 if d.kind is Kind.FLOAT else None]
    signed = "s" in d.specials
    below = [-v for v in sizes[1:]] if signed else []
    below += [Fraction(d.min or 0)] if d.kind is Kind.SIGNED else []
    found: list[Exact] = sorted([*sizes, *below], key=lambda v: (abs(v), v < 0))
    found += ["-0"] if "m" in d.specials else []
    found += ["inf", *["-inf"] * signed] if "i" in d.specials else []
    return found + (["nan"] if "n" in d.specials else [])


def cast(value: Exact, source: DType, target: DType) -> Exact:
    """The result by definition: a walk through the target's values."""
    undefined = (target.name, value)
    if source is target:
        return value
    if isinstance(value, tuple):
        return undefined
    if target.kind is not Kind.FLOAT:
        if value == "-0":
            return Fraction(0)
        if isinstance(value, str):
            return undefined
        whole = Fraction(int(value))
        if source.kind is not Kind.FLOAT:
            while whole > (target.max or 0):
                whole -= 2 ** (target.bits or 0)
            while whole < (target.min or 0):
                whole += 2 ** (target.bits or 0)
        return whole if (target.min or 0) <= whole <= (target.max or 0) else undefined
    if value == "nan":
        return "nan" if "n" in target.specials else undefined
    negative = value in ("-0", "-inf") or (isinstance(value, Fraction) and value < 0)
    if negative and "s" not in target.specials and value != "-0":
        return undefined
    sizes = finite(target)
    if value in ("inf", "-inf"):
        size = sizes[-1]
    else:
        given = abs(value) if isinstance(value, Fraction) else Fraction(0)
        i = bisect_left(sizes, given)
        size = sizes[min(i, len(sizes) - 1)]
        if i < len(sizes) and size != given:
            middle = (sizes[i - 1] + size) / 2
            size = sizes[i - 1] if given < middle or (given == middle and i % 2) else size
    if size == sizes[-1]:
        if "i" in target.specials:
            return "-inf" if negative else "inf"
        if "n" in target.specials:
            return "nan"
        size = sizes[-2]
    return "-0" if negative and not size and "m" in target.specials else -size if negative else size


def first_difference(a: DType, b: DType, c: DType) -> Exact | None:
    return next((v for v in values(a) if cast(cast(v, a, b), b, c) != cast(v, a, c)), None)


@settings(max_examples=200, deadline=None)
@given(formats(), formats(), formats())
def test_the_first_difference_is_that_of_all_values(a: DType, b: DType, c: DType) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            cast_chains, "MAX_VALUES_ALL_TRIED", 3
        )  # else all values of these are tried, and nothing is proved
        found, first = cast_chain(a, b, c), first_difference(a, b, c)
        assert cast_chains.may_be_folded(a, b, c) == found.exact
    assert found.exact == (first is None)
    if first is not None:
        assert (
            Fraction(found.first_difference) if isinstance(first, Fraction) else found.first_difference
        ) == first


REALS = [d for d in FOUND if d.kind is not Kind.COMPLEX]
SMALL = [d for d in REALS if d.bits is not None and d.bits <= 16]
# NumPy casts no other small float to float8_e8m0fnu.
PLAIN = [d for d in REALS if ((d.bits or 0) >= 8 or d.kind is Kind.BOOL) and "z" in d.specials]


@cache
def patterns(d: DType) -> np.ndarray:  # type: ignore[type-arg]
    """The values of all bit patterns."""
    if d.kind is Kind.BOOL:
        return np.array([False, True])
    return np.arange(2 ** (d.bits or 0), dtype=f"uint{d.storage_bits}").view(as_numpy(d))


def undefined(x: np.ndarray, of: DType, target: DType) -> np.ndarray:  # type: ignore[type-arg]
    """Where a cast has no result that all implementations share; `x` are the values as float64."""
    if target.kind is Kind.BOOL or (of.kind.category < 2 and target.kind.category < 2):
        return np.zeros(x.shape, bool)
    if target.kind.category < 2:
        assert target.min is not None
        assert target.max is not None
        return ~((x > target.min - 1) & (x < target.max + 1))
    return np.isnan(x) if target.finite_only else np.zeros(x.shape, bool)


@pytest.mark.parametrize("a", one_in(3, [d for d in SMALL if d in PLAIN or (d.bits or 0) < 8]), ids=str)
def test_ml_dtypes_agrees_for_every_value_of_16_bits(a: DType) -> None:
    x = patterns(a)
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
    order = np.lexsort((np.signbit(wide), np.abs(wide)))
    with np.errstate(all="ignore"):
        once = {b: x.astype(as_numpy(b)) for b in PLAIN}
        exactly = {b: y.astype(np.float64) for b, y in once.items()}
        for b, c in product(PLAIN, repeat=2):
            after, direct = exactly[b], exactly[c]
            chained = once[b].astype(as_numpy(c)).astype(np.float64)
            open_ = undefined(wide, a, b) | undefined(after, b, c) | undefined(wide, a, c)
            same = (np.isnan(chained) & np.isnan(direct)) | (
                (chained == direct) & (np.signbit(chained) == np.signbit(direct))
            )
            differ = wide[order][(~same & ~open_)[order]]
            found = cast_chain(a, b, c)
            if found.exact:
                assert not len(differ), (str(found), differ[:3])
                continue
            numbers = differ[np.isfinite(differ) & ((differ != 0) | ~np.signbit(differ))]
            if found.first_difference in ("-0", "inf", "-inf", "nan"):
                assert not len(numbers), (str(found), numbers[:3])
                continue
            first = float(found.first_difference == "True" or found.first_difference)
            if "defined" in found.chained + found.direct:
                beyond = [(abs(v), v < 0) for v in numbers[:1]]  # the one nearest to zero stands first
                assert all((abs(first), first < 0) < v for v in beyond), str(found)
            else:
                assert first == numbers[0], (str(found), numbers[:3])


@pytest.mark.parametrize("through", ["bool", "int32", "float32"])
@pytest.mark.parametrize("target", ["bool", "complex64", "complex128"])
def test_a_complex_source_is_cast_as_numpy_casts_it(through: str, target: str) -> None:
    chain = cast_chain(DTYPES["complex64"], DTYPES[through], DTYPES[target])
    one = np.array([1j], "complex64")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an imaginary part is dropped
        chained = one.astype(through).astype(target)
        direct = one.astype(target)
    assert chain.exact is bool((chained == direct).all())
    if not chain.exact:
        assert (complex(chain.chained.replace("True", "1").replace("False", "0")) == chained).all()
