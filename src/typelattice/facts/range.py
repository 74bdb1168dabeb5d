"""Whether a dtype holds a value, once rounded, and what the value wraps or overflows to where it does not."""
from __future__ import annotations

from math import trunc

from typelattice.facts.dtypes import DType, Kind
from typelattice.facts.loss import rounds_within, scaled

Value = bool | int | float | complex  # a Python number


def fitted(value: Value, target: DType) -> tuple[bool, Value | None]:
    """Whether a value lies within the range of a dtype, once rounded; and what it wraps to, or overflows to, if not.

    A real dtype holds no complex number with an imaginary part, an integer dtype neither NaN nor an infinity.

    >>> from typelattice import dtype
    >>> fitted(300, dtype("uint8")), fitted(1e39, dtype("float32")), fitted(7, dtype("int4"))
    ((False, 44), (False, inf), (True, None))
    """
    parts = [value.real, value.imag] if isinstance(value, complex) else [value]
    if target.max is None:
        return True, None
    if isinstance(value, complex) and value.imag and target.kind is not Kind.COMPLEX:
        return False, None
    if target.precision is None:
        parts = [trunc(v) if v - v == 0 else v for v in parts]  # a fraction is cut off, as in casts
        low, span = target.min or 0, 1 << (target.bits or 0)
        held = all(low <= v <= target.max for v in parts)
        return held, None if held or not isinstance(value, int) else int((value - low) % span + low)
    beyond = [not _has(target, v) for v in parts]
    held = not any(beyond)
    most = float("inf" if "i" in target.specials else "nan" if "n" in target.specials else target.max)
    becomes = [(most if v > 0 else -most) if out else v for v, out in zip(parts, beyond, strict=True)]
    return held, None if held else complex(*becomes) if len(parts) == 2 else becomes[0]


def nearest(value: Value, target: DType) -> Value:
    """The value of a dtype that is nearest to a number: an infinity if it has one, 0 for NaN if it has none.

    Of a complex number in a real dtype it is that of the real part.

    >>> from typelattice import dtype
    >>> nearest(300.7, dtype("uint8")), nearest(-1.5, dtype("uint8")), nearest(1e39, dtype("float32"))
    (255, 0, inf)
    """
    if isinstance(value, complex) and target.kind is not Kind.COMPLEX:
        value = value.real
    held, becomes = fitted(value, target)
    if held or target.max is None:
        return value
    if target.precision is not None and becomes is not None:
        return becomes
    if isinstance(value, complex) or value != value:
        return 0
    return target.max if value > 0 else target.min or 0


def _has(d: DType, v: float) -> bool:
    """Whether a float dtype has a value for a real number, once rounded; any has one for NaN."""
    if v != v or v == 0:
        return True
    if v < 0 and "s" not in d.specials:
        return False
    return rounds_within(abs(scaled(v)), d) if v - v == 0 else "i" in d.specials
