"""The range check of a rounded value in a dtype, and the result of wrapping or overflow beyond it."""
from __future__ import annotations

from collections.abc import Sequence

from typelattice.facts.dtypes import DTYPES, DType, Kind
from typelattice.facts.finite_values import find_finite_values, scale
from typelattice.facts.loss import representable_ends

Value = bool | int | float | complex  # a Python number


def is_in_range(value: Value, target: DType) -> bool:
    """Return True if a rounded value is in the range of a dtype.

    A real dtype cannot hold a complex number with an imaginary part, and an integer dtype neither NaN nor an
    infinity. A fraction is truncated to an integer, as in casts.

    >>> from typelattice import dtype
    >>> is_in_range(300, dtype("uint8")), is_in_range(1e39, dtype("float32")), is_in_range(7.5, dtype("int4"))
    (False, False, True)
    """
    if isinstance(value, complex) and value.imag and target.kind is not Kind.COMPLEX:
        return False
    return all(_has_rounded_value(target, v) for v in _real_and_imaginary_parts(value))


def overflow_result(value: Value, target: DType) -> Value | None:
    """Return the result of wrapping or overflow for a rounded value beyond the range of a dtype.

    The result is None if the value is in range, or if no rule gives a result. No rule does for a fraction
    beyond an integer's range, or for an integer beyond a range that does not use all its bits.

    >>> from typelattice import dtype
    >>> overflow_result(300, dtype("uint8")), overflow_result(1e39, dtype("float32"))
    (44, inf)
    """
    if isinstance(value, complex) and value.imag and target.kind is not Kind.COMPLEX:
        return None
    parts = _real_and_imaginary_parts(value)
    beyond = [not _has_rounded_value(target, v) for v in parts]
    if not any(beyond):
        return None
    if target.kind.category < Kind.FLOAT.category:
        return _wrap_integer(value, target) if isinstance(value, int) else None
    becomes = [_overflow_float(v, target) if out else v for v, out in zip(parts, beyond, strict=True)]
    return complex(*becomes) if len(parts) == 2 else becomes[0]


def exceeds_int32(value: Value | None) -> bool:
    """Return True for an int that int32 does not hold, the smallest default dtype of any library.

    >>> exceeds_int32(2**31 - 1), exceeds_int32(-2**31 - 1), exceeds_int32(1e300)
    (False, True, False)
    """
    return isinstance(value, int) and not is_in_range(value, DTYPES["int32"])


def nearest_in_dtype(value: Value, target: DType) -> Value:
    """Return the value of a dtype nearest to a number, an infinity if it has one, or 0 for NaN without NaN.

    A dtype without infinities gives its largest value, even if it has NaN. A complex number in a real dtype
    gives the result of its real part.

    >>> from typelattice import dtype
    >>> u8, f32 = dtype("uint8"), dtype("float32")
    >>> nearest_in_dtype(300.7, u8), nearest_in_dtype(-1.5, u8), nearest_in_dtype(1e39, f32)
    (255, 0, inf)
    >>> nearest_in_dtype(1e9, dtype("float8_e4m3fn")), nearest_in_dtype(-1e9, dtype("float4_e2m1fn"))
    (448.0, -6.0)
    """
    if isinstance(value, complex) and target.kind is not Kind.COMPLEX:
        value = value.real
    if is_in_range(value, target) or target.max is None:
        return value
    becomes = overflow_result(value, target)
    if target.kind.category >= Kind.FLOAT.category and becomes is not None and becomes == becomes:
        return becomes
    if isinstance(value, complex) or value != value:
        return 0
    return target.max if value > 0 else target.min or 0


def _real_and_imaginary_parts(value: Value) -> Sequence[float]:
    """Return the real and the imaginary part of a complex number, or only the number for any other."""
    return (value.real, value.imag) if isinstance(value, complex) else (value,)


def _has_rounded_value(d: DType, v: float) -> bool:
    """Return True if a dtype has a value for a rounded real number, or if its range is unknown."""
    if d.min is not None and d.max is not None and d.min <= v <= d.max:
        return True
    if d.kind.category < Kind.FLOAT.category:
        if d.min is None or d.max is None:
            return v - v == 0
        return d.min - 1 < v < d.max + 1
    if v != v or v == 0:
        return True
    if v < 0 and "s" not in d.specials:
        return False
    if v - v != 0:
        return "i" in d.specials
    if finite_values := find_finite_values(d):
        low, high = representable_ends(d, finite_values)
        return low <= scale(v) <= high
    return d.max is None or v <= d.max if v > 0 else d.min is None or v >= d.min


def _wrap_integer(value: int, d: DType) -> int | None:
    """Wrap an integer, or return True for a nonzero bool. Return None if no rule gives a result."""
    if d.kind is Kind.BOOL:
        return bool(value)
    if d.bits is None or d.min is None or d.max is None:
        return None
    found = (value - int(d.min)) % (1 << d.bits) + int(d.min)
    return found if found <= d.max else None


def _overflow_float(v: float, d: DType) -> float:
    """Return the result of a number beyond the range of a float: inf, nan, or the end of the range."""
    if v != v:
        return v
    most = float("inf") if "i" in d.specials else float("nan") if "n" in d.specials else None
    if most is not None:
        return most if v > 0 else -most
    end = d.max if v > 0 else d.min
    return v if end is None else end
