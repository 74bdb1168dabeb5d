"""What a cast can lose: a fact about two dtypes, the same in every system."""
from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from typelattice.facts.dtypes import DType, Kind

SPECIALS = {"i": "inf", "n": "nan", "m": "-0", "z": "zero"}
PLATFORM, SCALE = (32, 64), 2**1100  # bits where the platform decides, at worst; makes every finite value an integer


@dataclass(frozen=True, slots=True)
class Loss:
    """What some values of one dtype lose in another; false where no value loses anything.

    `magnitude`: a finite value beyond the target's range (an integer wraps; a float becomes inf, nan or the largest).
    `precision`: a value within it without an exact counterpart; `first_inexact` is the first such positive integer.
    `underflow`: a nonzero value becomes zero in a float. `sign`, `imaginary`: negative values, imaginary parts have no
    place. `special`: which of inf, nan, -0, zero have no counterpart.
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
    if source is target:
        return Loss()
    p, q = source.precision, target.precision
    first = None
    underflow = p is not None and q is not None and source.smallest < target.smallest
    if q is not None and (p is None or p > q):
        within = min(scaled(_largest(source)), scaled(_largest(target)))
        first = 2**q + 1 if (2**q + 1) * SCALE <= within else None
    return Loss(
        magnitude=_overflows(source, target),
        precision=bool(first or underflow or (p is not None and (q is None or p > q))),
        first_inexact=first,
        underflow=underflow and 2 * source.smallest <= target.smallest and "z" in target.specials,
        sign="s" in source.specials and "s" not in target.specials,
        imaginary=source.kind is Kind.COMPLEX and target.kind is not Kind.COMPLEX,
        special=tuple(SPECIALS[c] for c in source.specials if c in SPECIALS and c not in target.specials),
    )


def _overflows(source: DType, target: DType) -> bool:
    """Whether a finite value of the source lies beyond the target's range, once rounded."""
    top, low = scaled(_largest(source)), scaled(source.min or 0) if "s" in target.specials else 0
    if target.precision is None:
        return top > scaled(_largest(target, as_source=False)) or low < scaled(target.min or 0)
    return max(top, -low) > 0 and not rounds_within(max(top, -low), target)


def rounds_within(value: int, target: DType) -> bool:
    """Whether a positive value (times SCALE) is at most the largest finite value of a float format, once rounded.

    Half a unit above the largest is a tie: it goes to the even neighbour, which is the largest itself in the formats
    that spend their last significand on nan.
    """
    assert target.precision is not None
    top = scaled(_largest(target))
    unit = 1 << (top.bit_length() - target.precision)
    return value < top + unit // 2 or (value == top + unit // 2 and not top // unit % 2)


def _largest(d: DType, as_source: bool = True) -> int | float:
    return d.max if d.max is not None else 2 ** PLATFORM[as_source] - 1


def scaled(value: int | float) -> int:
    """A finite value times SCALE, an integer."""
    numerator, denominator = value.as_integer_ratio()
    return numerator * SCALE // denominator
