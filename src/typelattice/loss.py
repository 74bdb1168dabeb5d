"""What a cast can lose: a fact about two dtypes, the same in every system."""
from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from typelattice.dtypes import DType, Kind

SPECIALS = {"i": "inf", "n": "nan", "m": "-0", "z": "zero"}
PLATFORM = 32, 64  # the bits of a dtype whose width the platform decides: the worst case counts
SCALE = 2**1100  # makes an integer of every finite value of every format


@dataclass(frozen=True, slots=True)
class Loss:
    """What some values of one dtype lose in another; false where no value loses anything.

    `magnitude`: a finite value beyond the target's range (an integer wraps; a float becomes inf, nan or the largest).
    `precision`: a value within the range that has no exact counterpart; `first_inexact` is the first such positive
    integer, None if there is none. `underflow`: a nonzero value becomes zero in a float. `sign`: negative values,
    `imaginary`: imaginary parts have no place. `special`: values among inf, nan, -0, zero with no counterpart.
    """

    magnitude: bool = False
    precision: bool = False
    first_inexact: int | None = None
    underflow: bool = False
    sign: bool = False
    imaginary: bool = False
    special: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.magnitude or self.precision or self.sign or self.imaginary or bool(self.special)


@cache
def loss(source: DType, target: DType) -> Loss:
    """What casting from `source` to `target` can lose, round to nearest even.

    >>> from typelattice import dtype
    >>> loss(dtype("int64"), dtype("float64")).first_inexact == 2**53 + 1
    True
    >>> loss(dtype("uint32"), dtype("int32")).magnitude, bool(loss(dtype("uint32"), dtype("int64")))
    (True, False)
    """
    first = None
    rough = underflow = False
    if target.precision is None:
        rough = source.precision is not None
    else:
        first = 2**target.precision + 1
        within = min(_scaled(_largest(source)), _scaled(_largest(target)))
        held = source.precision is None or source.precision > target.precision
        rough = held and source.precision is not None
        first = first if held and first * SCALE <= within else None
        if source.precision is not None:
            underflow = source.smallest < target.smallest
    return Loss(
        magnitude=_overflows(source, target),
        precision=rough or first is not None or underflow,
        first_inexact=first,
        underflow=underflow and 2 * source.smallest <= target.smallest and "z" in target.specials,
        sign="s" in source.specials and "s" not in target.specials,
        imaginary=source.kind is Kind.COMPLEX and target.kind is not Kind.COMPLEX,
        special=tuple(SPECIALS[c] for c in source.specials if c in SPECIALS and c not in target.specials),
    )


def _overflows(source: DType, target: DType) -> bool:
    """Whether a finite value of the source lies beyond the target's range, once rounded."""
    top = _scaled(_largest(source))
    if target.precision is None:
        low = _scaled(source.min or 0) < _scaled(target.min or 0) if "s" in target.specials else False
        return top > _scaled(_largest(target, as_source=False)) or low
    most = max(top, -_scaled(source.min or 0) if "s" in target.specials else 0)
    return most > 0 and not rounds_within(most, target)


def rounds_within(scaled: int, target: DType) -> bool:
    """Whether a positive value (times SCALE) is at most the largest finite value of a float format, once rounded.

    Half a unit above the largest is a tie: it goes to the even neighbour, which is the largest itself in the formats
    that spend their last significand on nan.
    """
    assert target.precision is not None
    top = _scaled(_largest(target))
    unit = 1 << (top.bit_length() - target.precision)
    return scaled < top + unit // 2 or scaled == top + unit // 2 and not top // unit % 2


def fitted(value: bool | int | float | complex, target: DType) -> tuple[bool, int | float | complex | None]:
    """Whether a value lies within the range of a dtype, once rounded; and what it wraps to, or overflows to, if not.

    >>> from typelattice import dtype
    >>> fitted(300, dtype("uint8")), fitted(1e39, dtype("float32")), fitted(7, dtype("int4"))
    ((False, 44), (False, inf), (True, None))
    """
    parts = [value.real, value.imag] if isinstance(value, complex) else [value]
    if target.max is None or all(v - v != 0 for v in parts):
        return True, None
    if target.precision is None:
        low, span = target.min or 0, 1 << (target.bits or 0)
        held = all(low <= v <= target.max for v in parts)
        return held, None if held or not isinstance(value, int) else int((value - low) % span + low)
    beyond = [v - v == 0 and v != 0 and not rounds_within(abs(_scaled(v)), target) for v in parts]
    held = not any(beyond) and ("s" in target.specials or all(v >= 0 for v in parts))
    infinite = [float("inf") * (1 if v > 0 else -1) if out else v for v, out in zip(parts, beyond)]
    return held, None if held else complex(*infinite) if len(parts) == 2 else infinite[0]


def _largest(d: DType, as_source: bool = True) -> int | float:
    return d.max if d.max is not None else 2 ** PLATFORM[as_source] - 1


def _scaled(value: int | float) -> int:
    numerator, denominator = value.as_integer_ratio()
    return numerator * SCALE // denominator
