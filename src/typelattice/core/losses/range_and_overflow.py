"""The range check of a rounded value in a dtype, and the result of wrapping or overflow beyond it."""
from __future__ import annotations

from collections.abc import Sequence

from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind
from typelattice.core.losses.finite_values import find_finite_values, scale_exactly
from typelattice.core.losses.loss import representable_ends

PythonNumber = bool | int | float | complex  # a Python number


def is_in_range(value: PythonNumber, target: DType) -> bool:
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


def overflow_result(value: PythonNumber, target: DType) -> PythonNumber | None:
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


def exceeds_int32(value: PythonNumber | None) -> bool:
    """Return True for an int that int32 does not hold, the smallest default dtype of any library.

    >>> exceeds_int32(2**31 - 1), exceeds_int32(-2**31 - 1), exceeds_int32(1e300)
    (False, True, False)
    """
    return isinstance(value, int) and not is_in_range(value, DTYPES["int32"])


def nearest_in_dtype(value: PythonNumber, target: DType) -> PythonNumber:
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


def _real_and_imaginary_parts(value: PythonNumber) -> Sequence[float]:
    """Return the real and the imaginary part of a complex number, or only the number for any other."""
    return (value.real, value.imag) if isinstance(value, complex) else (value,)


def _has_rounded_value(dtype: DType, rounded_value: float) -> bool:
    """Return True if a dtype has a value for a rounded real number, or if its range is unknown."""
    if dtype.min is not None and dtype.max is not None and dtype.min <= rounded_value <= dtype.max:
        return True
    if dtype.kind.category < Kind.FLOAT.category:
        if dtype.min is None or dtype.max is None:
            return rounded_value - rounded_value == 0
        return dtype.min - 1 < rounded_value < dtype.max + 1
    if rounded_value != rounded_value or rounded_value == 0:
        return True
    if rounded_value < 0 and "s" not in dtype.specials:
        return False
    if rounded_value - rounded_value != 0:
        return "i" in dtype.specials
    if finite_values := find_finite_values(dtype):
        low, high = representable_ends(dtype, finite_values)
        return low <= scale_exactly(rounded_value) <= high
    return (
        dtype.max is None or rounded_value <= dtype.max
        if rounded_value > 0
        else dtype.min is None or rounded_value >= dtype.min
    )


def _wrap_integer(value: int, dtype: DType) -> int | None:
    """Wrap an integer, or return True for a nonzero bool. Return None if no rule gives a result."""
    if dtype.kind is Kind.BOOL:
        return bool(value)
    if dtype.bits is None or dtype.min is None or dtype.max is None:
        return None
    found = (value - int(dtype.min)) % (1 << dtype.bits) + int(dtype.min)
    return found if found <= dtype.max else None


def _overflow_float(value: float, dtype: DType) -> float:
    """Return the result of a number beyond the range of a float: inf, nan, or the end of the range."""
    if value != value:
        return value
    most = float("inf") if "i" in dtype.specials else float("nan") if "n" in dtype.specials else None
    if most is not None:
        return most if value > 0 else -most
    end = dtype.max if value > 0 else dtype.min
    return value if end is None else end
