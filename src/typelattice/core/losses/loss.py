"""Losses of casts: facts about two dtypes, the same in every system."""
from __future__ import annotations

from functools import lru_cache

from typelattice.base.errors.error_texts import quote_short
from typelattice.base.objects.frozen_classes import frozen
from typelattice.core.dtypes.dtypes import DType, DTypeError, Kind
from typelattice.core.losses.finite_values import (
    INTEGER_SCALE,
    FiniteValues,
    find_finite_values,
    scale_exactly,
    significant_bits,
)

SPECIAL_BY_LETTER = {"i": "inf", "n": "nan", "m": "-0", "z": "zero"}


@frozen()
class Loss:
    """The loss of some values of one dtype in a cast to another. It is false if no value loses anything.

    `magnitude`: a finite value is beyond the target's range (an integer wraps; a float becomes inf, nan or
    the largest). `precision`: a value within the range has no exact counterpart; `first_inexact` is the first
    such positive integer. `underflow`: a nonzero value becomes zero in a float. `sign`, `imaginary`: the
    target has no negative values, or no imaginary parts. `special`: inf, nan, -0 and zero, if they have no
    counterpart. `unknown`: the values of one of the two dtypes are not known. Precision may then be lost, and
    only the other fields are certain.
    """

    magnitude: bool = False
    precision: bool = False
    first_inexact: int | None = None
    underflow: bool = False
    sign: bool = False
    imaginary: bool = False
    special: tuple[str, ...] = ()
    unknown: bool = False

    def __bool__(self) -> bool:
        lost = self.magnitude or self.precision or self.sign or self.imaginary or self.special
        return bool(lost) or self.unknown


NO_LOSS = Loss()


@lru_cache(maxsize=4096)  # covers each pair of our dtypes; the dtypes of files change
def loss(source: DType, target: DType) -> Loss:
    """Return what a cast can lose. A cast rounds to nearest even, or truncates into an integer.

    Raises DTypeError for anything that is not a DType, such as a name.

    >>> from typelattice import dtype
    >>> loss(dtype("int64"), dtype("float64")).first_inexact == 2**53 + 1
    True
    >>> loss(dtype("uint32"), dtype("int32")).magnitude, bool(loss(dtype("uint32"), dtype("int64")))
    (True, False)
    """
    for given in (source, target):
        if not isinstance(given, DType):
            what = (
                quote_short(given) if isinstance(given, str) else f"an object of type {type(given).__name__}"
            )
            raise DTypeError(f"{what} is no DType; give tl.dtype(...) of it")
    if source is target or _surely_holds(target, source):
        return NO_LOSS
    sign = "s" in source.specials and "s" not in target.specials
    imaginary = source.kind is Kind.COMPLEX and target.kind is not Kind.COMPLEX
    special = tuple(
        SPECIAL_BY_LETTER[c] for c in source.specials if c in SPECIAL_BY_LETTER and c not in target.specials
    )
    source_values, target_values = (
        find_finite_values(source, widest=True),
        find_finite_values(target, widest=False),
    )
    if source_values is None or target_values is None:
        if decimal := _decimal_loss(source, target):
            return Loss(*decimal, sign, imaginary, special)
        beyond = _is_known_beyond(source, target)
        return Loss(magnitude=beyond, sign=sign, imaginary=imaginary, special=special, unknown=True)
    low, high = representable_ends(target, target_values)
    magnitude = source_values.high > high or ("s" in target.specials and source_values.low < low)
    if "s" not in target.specials:
        low = 0 if "z" in target.specials else 1  # `sign` and `special` report the values below
    low, high = max(source_values.low, low), min(source_values.high, high)
    # `special` reports a zero, so no other field counts it
    zero = "z" not in target.specials and low <= 0 <= high and source_values.holds(0)
    precision = source_values.count(low, high) - zero > source_values.count_in_common(
        target_values, low, high
    )
    floating = target.kind.category >= Kind.FLOAT.category
    underflow = floating and "z" in target.specials and _rounds_to_zero(source_values, target_values)
    first = _first_inexact(source_values, target_values) if floating else None
    return Loss(magnitude, precision, first, underflow, sign, imaginary, special)


def _digits_of(dtype: DType) -> tuple[int, int] | None:
    """Return the digits of a decimal and those after its point, or None for any other dtype."""
    if dtype.family is None:
        return None
    counted = {p.counts: n for p, n in zip(dtype.family.parameters, dtype.arguments, strict=True)}
    if "digits" not in counted:
        return None
    digits, decimals = int(counted["digits"]), int(counted.get("decimals", 0))
    return (digits, decimals) if decimals >= 0 else None


def _decimal_loss(source: DType, target: DType) -> tuple[bool, bool, int | None, bool] | None:
    """Return the magnitude, precision, first inexact integer and underflow of a cast of a decimal, or to one.

    A decimal of p digits, s of them after the point, has the multiples of 10**-s below 10**(p - s). All
    numbers here have the factors 10**s and INTEGER_SCALE. Return None if the values of a dtype are unknown.
    """
    source_digits, target_digits = _digits_of(source), _digits_of(target)
    source_values = find_finite_values(source, widest=True)
    target_values = find_finite_values(target, widest=False)
    if target_digits:
        power, top = 10 ** target_digits[1], 10 ** target_digits[0] - 1
        if source_digits:
            # the greatest value and the number 1, counted in units of the last digit
            units, unit = (10 ** source_digits[0] - 1) * power, 10 ** source_digits[1]
            finer = source_digits[1] > target_digits[1]
            return 2 * units >= (2 * top + 1) * unit, finer, None, finer
        if source_values is None:
            return None
        ends = source_values.high, -source_values.low if "s" in target.specials else 0
        beyond = any(2 * end * power >= (2 * top + 1) * INTEGER_SCALE for end in ends)
        least = [size for size in source_values.nearest_to_zero() if size]
        finer = any(v * power % INTEGER_SCALE for v in source_values.listed or (source_values.unit,))
        return beyond, finer, None, any(2 * size * power <= INTEGER_SCALE for size in least)
    if not source_digits or target_values is None:
        return None
    power, top = 10 ** source_digits[1], (10 ** source_digits[0] - 1) * INTEGER_SCALE
    low, high = representable_ends(target, target_values)
    integers = FiniteValues(
        INTEGER_SCALE,
        None,
        -(top // power // INTEGER_SCALE * INTEGER_SCALE),
        top // power // INTEGER_SCALE * INTEGER_SCALE,
    )
    inside = max(integers.low, low if "s" in target.specials else 0), min(integers.high, high)
    inexact = integers.count(*inside) > integers.count_in_common(target_values, *inside)
    floating = target.kind.category >= Kind.FLOAT.category
    return (
        top > high * power or ("s" in target.specials and -top < low * power),
        source_digits[1] > 0 or inexact,  # no fraction of 10**s is one of 2**n
        _first_inexact(integers, target_values) if floating else None,
        floating and any(0 < 2 * INTEGER_SCALE <= size * power for size in target_values.nearest_to_zero()),
    )


def _surely_holds(target: DType, source: DType) -> bool:
    """Return True if a dtype clearly has all values of another, and False if the values must be counted."""
    imaginary = source.kind is Kind.COMPLEX and target.kind is not Kind.COMPLEX
    if imaginary or not {*source.specials} <= {*target.specials}:
        return False
    source_values, target_values = (
        find_finite_values(source, widest=True),
        find_finite_values(target, widest=False),
    )
    return source_values is not None and target_values is not None and target_values.encloses(source_values)


def representable_ends(dtype: DType, finite_values: FiniteValues) -> tuple[int, int]:
    """Return the ends of the values that a cast keeps within the range of a dtype.

    An integer keeps values less than one beyond its range. For a float, or for fixed point, half a unit above
    the largest value is a tie. It goes to the even neighbour, which is the largest value in formats that use
    their last significand for nan. The format of a list of values defines its rounding. Here, any value
    beyond its ends is out of range. If a range ends before zero, the values in between go to the nearest
    value. Zero itself is treated separately.
    """
    if dtype.kind.category < Kind.FLOAT.category and not finite_values.listed:
        return finite_values.low - INTEGER_SCALE + 1, finite_values.high + INTEGER_SCALE - 1
    low = -_greatest_rounding_inside(finite_values, -finite_values.low) if finite_values.low <= 0 else 0
    high = _greatest_rounding_inside(finite_values, finite_values.high) if finite_values.high >= 0 else 0
    return low, high


def _greatest_rounding_inside(finite_values: FiniteValues, top: int) -> int:
    """Return the greatest number that rounds to the end of a range, and not away from it."""
    if finite_values.listed:
        return top
    unit = (
        finite_values.unit
        if finite_values.bits is None
        else max(finite_values.unit, 1 << max(top.bit_length() - finite_values.bits, 0))
    )
    return top + unit // 2 - top // unit % 2


def _is_known_beyond(source: DType, target: DType) -> bool:
    """Return True if the source is known to reach beyond the target's range."""
    above = (
        source.max is not None
        and target.max is not None
        and scale_exactly(source.max) > scale_exactly(target.max)
    )
    below = (
        source.min is not None
        and target.min is not None
        and scale_exactly(source.min) < scale_exactly(target.min)
    )
    return above or (below and "s" in target.specials)


def _rounds_to_zero(source_values: FiniteValues, target_values: FiniteValues) -> bool:
    """Return True if a nonzero value rounds to zero.

    Such a value is at most half the smallest target value of its sign.
    """
    sides = zip(source_values.nearest_to_zero(), target_values.nearest_to_zero(), strict=True)
    return any(0 < 2 * smallest <= least for smallest, least in sides)


def _first_inexact(source_values: FiniteValues, target_values: FiniteValues) -> int | None:
    """Return the first positive integer that the first has and the second lacks within its range."""
    top = min(source_values.high, target_values.high)
    if source_values.listed:
        lost = (
            v
            for v in source_values.listed
            if 0 < v <= top and v % INTEGER_SCALE == 0 and not target_values.holds(v)
        )
        return next((v // INTEGER_SCALE for v in lost), None)
    unit = max(source_values.unit, INTEGER_SCALE)  # the distance of the integers among its values
    if target_values.listed:
        number = 1
        while number * unit <= top and target_values.holds(number * unit):
            number += 1
    elif target_values.unit > unit:
        number = 1
    elif target_values.bits is None:
        return None
    else:
        number = 2**target_values.bits + 1
    is_source_value = source_values.bits is None or significant_bits(number) <= source_values.bits
    return number * unit // INTEGER_SCALE if is_source_value and number * unit <= top else None
