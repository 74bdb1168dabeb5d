"""Whether a dtype holds a value, once rounded, and what the value wraps or overflows to where it does not."""
from __future__ import annotations

from typelattice.facts.dtypes import DType
from typelattice.facts.loss import rounds_within, scaled

Value = bool | int | float | complex  # a Python number


def fitted(value: Value, target: DType) -> tuple[bool, Value | None]:
    """Whether a value lies within the range of a dtype, once rounded; and what it wraps to, or overflows to, if not.

    >>> from typelattice import dtype
    >>> fitted(300, dtype("uint8")), fitted(1e39, dtype("float32")), fitted(7, dtype("int4"))
    ((False, 44), (False, inf), (True, None))
    """
    parts = [value.real, value.imag] if isinstance(value, complex) else [value]
    if target.max is None or all(v != v for v in parts):
        return True, None
    if target.precision is None:
        low, span = target.min or 0, 1 << (target.bits or 0)
        held = all(low <= v <= target.max for v in parts)
        return held, None if held or not isinstance(value, int) else int((value - low) % span + low)
    beyond = [not _has(target, v) for v in parts]
    held = not any(beyond)
    most = float("inf" if "i" in target.specials else "nan" if "n" in target.specials else target.max)
    becomes = [(most if v > 0 else -most) if out else v for v, out in zip(parts, beyond, strict=True)]
    return held, None if held else complex(*becomes) if len(parts) == 2 else becomes[0]


def _has(d: DType, v: float) -> bool:
    """Whether a float dtype has a value for a real number, once rounded; any has one for NaN."""
    if v != v or v == 0:
        return True
    if v < 0 and "s" not in d.specials:
        return False
    return rounds_within(abs(scaled(v)), d) if v - v == 0 else "i" in d.specials
