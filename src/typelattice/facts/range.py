"""Whether a dtype holds a value, once rounded, and what the value wraps or overflows to where it does not."""
from __future__ import annotations

from typelattice.facts.dtypes import DType, Kind
from typelattice.facts.loss import kept
from typelattice.facts.values import scaled, values

Value = bool | int | float | complex  # a Python number


def fitted(value: Value, target: DType) -> tuple[bool, Value | None]:
    """Whether a value lies within the range of a dtype, once rounded; if not, what it wraps or overflows to.

    A real dtype holds no complex number with an imaginary part, an integer dtype neither NaN nor an infinity.
    Into an integer a fraction is cut off, as casts do. What no rule tells is None: what becomes of a fraction
    beyond the range of an integer, or of an integer beyond a range that is not the whole of its bits.

    >>> from typelattice import dtype
    >>> fitted(300, dtype("uint8")), fitted(1e39, dtype("float32")), fitted(7.5, dtype("int4"))
    ((False, 44), (False, inf), (True, None))
    """
    parts = [value.real, value.imag] if isinstance(value, complex) else [value]
    if isinstance(value, complex) and value.imag and target.kind is not Kind.COMPLEX:
        return False, None
    beyond = [not _has(target, v) for v in parts]
    if not any(beyond):
        return True, None
    if target.kind.rank < Kind.FLOAT.rank:
        return False, _wrapped(value, target) if isinstance(value, int) else None
    becomes = [_overflowed(v, target) if out else v for v, out in zip(parts, beyond, strict=True)]
    return False, complex(*becomes) if len(parts) == 2 else becomes[0]


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
    if target.kind.rank >= Kind.FLOAT.rank and becomes is not None:
        return becomes
    if isinstance(value, complex) or value != value:
        return 0
    return target.max if value > 0 else target.min or 0


def _has(d: DType, v: float) -> bool:
    """Whether a dtype has a value for a real number, once rounded; true if its range is unknown."""
    if d.min is not None and d.max is not None and d.min <= v <= d.max:
        return True
    if d.kind.rank < Kind.FLOAT.rank:
        if d.min is None or d.max is None:
            return v - v == 0
        return d.min - 1 < v < d.max + 1
    if v != v or v == 0:
        return True
    if v < 0 and "s" not in d.specials:
        return False
    if v - v != 0:
        return "i" in d.specials
    if its := values(d):
        low, high = kept(d, its)
        return low <= scaled(v) <= high
    return d.max is None or v <= d.max if v > 0 else d.min is None or v >= d.min


def _wrapped(value: int, d: DType) -> int | None:
    """What an integer wraps to; of a bool, whether it is nonzero."""
    if d.kind is Kind.BOOL:
        return bool(value)
    if d.bits is None or d.min is None or d.max is None:
        return None
    found = (value - int(d.min)) % (1 << d.bits) + int(d.min)
    return found if found <= d.max else None


def _overflowed(v: float, d: DType) -> float:
    """What a number beyond the range of a float becomes: inf, nan, or the end of the range."""
    if v != v:
        return v
    most = float("inf") if "i" in d.specials else float("nan") if "n" in d.specials else None
    if most is not None:
        return most if v > 0 else -most
    end = d.max if v > 0 else d.min
    return v if end is None else end
