"""What becomes of a Python value in a dtype, against NumPy's and ml_dtypes' real casts."""

from __future__ import annotations

import cmath
import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind
from typelattice.core.losses.range_and_overflow import PythonNumber, is_in_range, overflow_result


def check_range(value: PythonNumber, d: DType) -> tuple[bool, PythonNumber | None]:
    return is_in_range(value, d), overflow_result(value, d)


def native(d: DType) -> np.dtype | None:  # type: ignore[type-arg]
    found = getattr(ml_dtypes, d.name, None) or getattr(np, d.name, None)
    return np.dtype(found) if found else None


FOUND = [d for d in DTYPES.values() if d.kind is not Kind.BOOL and native(d) is not None]
INTEGERS = [d for d in FOUND if d.kind.category == 1]
FLOATS = [d for d in FOUND if d.kind is Kind.FLOAT]
INFINITE = [d for d in FLOATS if "i" in d.specials]
COMPLEX = [d for d in FOUND if d.kind is Kind.COMPLEX]
EDGES = sorted(
    {
        e * s + o
        for n in (0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 65, 128)
        for e in (2**n,)
        for s in (1, -1)
        for o in (-1, 0, 1)
    }
)


def cast(x: object, d: DType) -> object:
    """The value after NumPy's cast, as Python's number."""
    with np.errstate(all="ignore"):
        wide = np.array([x]).astype(native(d))
        return (
            wide.astype(
                np.complex128 if d.kind is Kind.COMPLEX else np.float64 if d.kind is Kind.FLOAT else object
            )
        ).tolist()[0]


@pytest.mark.parametrize("d", INTEGERS, ids=repr)
def test_integers_hold_what_lies_between_their_ends(d: DType) -> None:
    assert d.min is not None and d.max is not None
    for v in {*EDGES, d.min, d.max, d.min - 1, d.max + 1}:
        held, becomes = check_range(int(v), d)
        assert held == (d.min <= v <= d.max)
        assert (becomes is None) == held


@pytest.mark.parametrize("d", INTEGERS, ids=repr)
def test_integers_wrap_as_numpys_casts_do(d: DType) -> None:
    for v in EDGES:
        held, becomes = check_range(v, d)
        if -(2**63) <= v < 2**64:
            assert int(str(cast(v, d))) == (v if held else becomes)
        elif not held:
            assert isinstance(becomes, int)
            assert (becomes - v) % 2 ** (d.bits or 0) == 0


@pytest.mark.parametrize("d", [d for d in INTEGERS if native(d).kind in "iu"], ids=repr)
def test_numpy_raises_for_a_python_int_exactly_where_it_is_not_held(d: DType) -> None:
    for v in EDGES:
        try:
            np.array([0], native(d)) + v
        except OverflowError:
            raised = True
        else:
            raised = False
        assert raised == (not is_in_range(v, d)), v


def edges(d: DType) -> list[float]:
    """Values about the largest of a format, about its tie above that, and the smallest.

    Of ml_dtypes' formats, float32 values: its casts from float64 go by way of float32, and so round twice.
    """
    assert d.precision is not None and isinstance(d.max, float)
    ulp = 2.0 ** (math.frexp(d.max)[1] - d.precision)
    with np.errstate(over="ignore"):
        points = [d.max, d.max + ulp / 2, d.max + ulp, d.max - ulp / 2]
        step = np.float64 if hasattr(np, d.name) else np.float32
        around = [float(np.nextafter(step(p), step(to))) for p in points for to in (-math.inf, math.inf)]
    return [
        v
        for v in [*points, *around, d.smallest, d.smallest / 2, d.smallest / 4, 0.0, 1.0]
        if math.isfinite(v)
    ]


@pytest.mark.parametrize("d", INFINITE, ids=repr)
def test_floats_overflow_as_numpys_casts_do(d: DType) -> None:
    for v in [s * e for e in [*edges(d), 1e300, 1e39, 65504.0, 65519.99, 65520.0] for s in (1, -1)]:
        held, becomes = check_range(v, d)
        real = cast(v, d)
        assert held == math.isfinite(real), v  # type: ignore[arg-type]
        assert becomes == (None if held else real)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(INFINITE))
def test_random_floats_overflow_as_numpys_casts_do(v: float, d: DType) -> None:
    if not hasattr(np, d.name) and abs(v) < float(np.finfo(np.float32).max):
        v = float(np.float32(v))
    held, becomes = check_range(v, d)
    assert (held, becomes) == ((True, None) if math.isfinite(real := cast(v, d)) else (False, real))  # type: ignore[arg-type]


@pytest.mark.parametrize("d", [d for d in FLOATS if d not in INFINITE and not d.finite_only], ids=repr)
def test_formats_without_inf_are_left_where_numpys_casts_give_nan(d: DType) -> None:
    signs = (1, -1) if "s" in d.specials else (1,)
    for v in [s * e for e in [*edges(d), 1e300] for s in signs if e or "z" in d.specials]:
        assert is_in_range(v, d) == (not math.isnan(cast(v, d))), v  # type: ignore[arg-type]


@pytest.mark.parametrize("d", [d for d in FLOATS if "i" not in d.specials], ids=repr)
def test_nothing_becomes_inf_in_a_format_without_inf(d: DType) -> None:
    held, becomes = check_range(1e300, d)
    assert not held
    real = cast(1e300, d)
    assert isinstance(becomes, float)
    assert repr(becomes) == repr(real), "nan, or the largest"


@given(st.integers(-(2**1100), 2**1100), st.sampled_from(INFINITE))
@example(65519, DTYPES["float16"])
@example(65520, DTYPES["float16"])
@example(2**128 - 2**103 - 1, DTYPES["float32"])
@example(2**128 - 2**103, DTYPES["float32"])
@example(2**1024 - 2**970 - 1, DTYPES["float64"])
@example(2**1024 - 2**970, DTYPES["float64"])
def test_ints_overflow_at_half_a_unit_above_the_largest(v: int, d: DType) -> None:
    """Exactly; NumPy goes by way of float64, and so rounds twice."""
    assert d.precision is not None and isinstance(d.max, float)
    limit = Fraction(d.max) + Fraction(2) ** (math.frexp(d.max)[1] - d.precision - 1)
    held, becomes = check_range(v, d)
    assert held == (abs(v) < limit)
    assert becomes == (None if held else math.inf if v > 0 else -math.inf)


@pytest.mark.parametrize("v", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_does_not_overflow(v: float) -> None:
    assert all(check_range(v, d) == (True, None) for d in INFINITE)


@pytest.mark.parametrize("d", COMPLEX, ids=repr)
def test_complex_overflows_part_by_part_as_numpys_casts_do(d: DType) -> None:
    big = [1e39j, 1e39 + 1j, -1e39 + 1e39j, 1e300 - 1e300j, 65519 + 65520j, 1 + 2j, 0j]
    for v in big:
        held, becomes = check_range(v, d)
        real = cast(v, d)
        assert isinstance(real, complex)
        assert held == (not cmath.isinf(real))
        if not held:
            assert isinstance(becomes, complex)
            assert [cmath.isinf(complex(p)) for p in (becomes.real, becomes.imag)] == [
                math.isinf(p) for p in (real.real, real.imag)
            ]
            assert all(
                a == b
                for a, b in zip((becomes.real, becomes.imag), (real.real, real.imag), strict=True)
                if math.isinf(b)
            )


def test_a_width_that_the_platform_decides_holds_everything() -> None:
    assert check_range(2**64, DTYPES["index"]) == (True, None)
