"""The finite values of a dtype, from its facts, so that dtypes can be compared value by value.

Numbers are integers here: each is a value times INTEGER_SCALE. With this factor, every finite float64 is an
integer.
"""
from __future__ import annotations

from functools import lru_cache

from typelattice.base.objects.frozen_classes import frozen
from typelattice.core.dtypes.dtypes import DType

INTEGER_SCALE = 2**1100
PLATFORM_INTEGER_BITS = (32, 64)  # widths of an integer if the platform decides


@frozen()
class FiniteValues:
    """The finite values of a dtype: the multiples of a unit within a range, or the values of a list.

    The multiples of `unit`, a power of two, go from `low` to `high`. They have at most `bits` significant
    bits. None means no limit, as for integers and fixed point. Subnormal values of a binary float are
    multiples of `unit` too. If `listed` is not empty, it holds all values.
    """

    unit: int
    bits: int | None
    low: int
    high: int
    listed: tuple[int, ...] = ()

    def holds(self, value: int) -> bool:
        """Return True if this is one of the values."""
        if self.listed:
            return value in self.listed
        fine = value % self.unit == 0 and (self.bits is None or significant_bits(value) <= self.bits)
        return fine and self.low <= value <= self.high

    def encloses(self, other: FiniteValues) -> bool:
        """Return True if it is as fine, wide and precise as another, and so has all its values.

        The result is False for lists.
        """
        if self.listed or other.listed:
            return False
        wide = self.low <= other.low and other.high <= self.high
        precise = self.bits is None or (other.bits is not None and other.bits <= self.bits)
        return wide and precise and self.unit <= other.unit

    def count(self, low: int, high: int) -> int:
        """Count the values between two numbers, both included."""
        if self.listed:
            return sum(low <= value <= high for value in self.listed)
        low, high = max(low, self.low), min(high, self.high)
        if low > high:
            return 0
        zero = low <= 0 <= high
        above = self._count_positive(high) - self._count_positive(low - 1)
        below = self._count_positive(-low) - self._count_positive(-high - 1)
        return zero + above + below

    def _count_positive(self, top: int) -> int:
        """Count the positive multiples of the unit up to `top` that have at most `bits` significant bits.

        Up to unit * 2**bits every multiple counts. Beyond, each doubling has 2**(bits - 1) of them.
        """
        if top < self.unit:
            return 0
        if self.bits is None or top <= self.unit << self.bits:
            return top // self.unit
        exponent = top.bit_length() - 1  # the doubling from 1 << exponent on contains top
        doublings = exponent - (self.unit.bit_length() - 1) - self.bits
        within = (top - (1 << exponent)) >> (exponent - self.bits + 1)
        return (1 << self.bits) + doublings * (1 << self.bits - 1) + within

    def count_in_common(self, other: FiniteValues, low: int, high: int) -> int:
        """Count the values between two numbers that both have."""
        for listed, whole in ((self, other), (other, self)):
            if listed.listed:
                return sum(low <= value <= high and whole.holds(value) for value in listed.listed)
        limits = [bits for bits in (self.bits, other.bits) if bits is not None]
        ends = max(self.low, other.low), min(self.high, other.high)
        both = FiniteValues(max(self.unit, other.unit), min(limits, default=None), *ends)
        return both.count(low, high)

    def nearest_to_zero(self) -> tuple[int, int]:
        """Return the distances from zero to the next values above and below, or 0 if no such value exists."""
        if self.listed:
            above = min((value for value in self.listed if value > 0), default=0)
            return above, -max((value for value in self.listed if value < 0), default=0)
        return self.unit * (self.unit <= self.high), self.unit * (self.low <= -self.unit)


@lru_cache(maxsize=4096)
def find_finite_values(dtype: DType, widest: bool = True) -> FiniteValues | None:
    """Return the values of a dtype, or None if they are unknown.

    If the platform decides the width of an integer, these are the values of its widest or narrowest form.
    """
    if dtype.values:
        listed = tuple(map(scale_exactly, dtype.values))
        return FiniteValues(1, None, listed[0], listed[-1], listed)
    low, high = dtype.min, dtype.max
    if dtype.step is not None and high is None:
        bits = PLATFORM_INTEGER_BITS[widest]
        low, high = (0, 2**bits - 1) if low == 0 else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    unit = dtype.smallest
    if unit is None or low is None or high is None:
        return None
    return FiniteValues(scale_exactly(unit), dtype.precision, scale_exactly(low), scale_exactly(high))


def scale_exactly(value: int | float) -> int:
    """Return a finite value times INTEGER_SCALE, as an exact integer."""
    numerator, denominator = value.as_integer_ratio()
    return numerator * INTEGER_SCALE // denominator


def significant_bits(value: int) -> int:
    """Return the bits of an integer from its first one to its last."""
    return (value // (value & -value)).bit_length() if value else 0
