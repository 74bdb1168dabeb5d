"""Comparison of the values of a patched program with the values of the original program."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from math import frexp, inf, isfinite, isnan

from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind, real_part_dtype
from typelattice.repair.copies.kept_values import NUMBER_PATTERN, KeptValue, read_numbers

PRINTED_NAME = "what is printed"
FLOAT64_PRECISION = 53  # bits of the significand of a float64


@dataclass(frozen=True, slots=True)
class ValueDifference:
    """The largest error of some values: relative, and in units in the last place of the narrower dtype.

    `name` is the value with the largest difference. `reason` says why values cannot be compared, or is empty.
    `compared_count` is the number of compared pairs of numbers that can prove a difference.
    """

    relative_error: float = 0.0
    ulp_error: float = 0.0
    name: str = ""
    reason: str = ""
    compared_count: int = 0

    @property
    def is_equal(self) -> bool:
        """True if all values are equal."""
        return not self.relative_error and not self.reason

    def __str__(self) -> str:
        if self.is_equal:
            return "all values are equal"
        error = f"{self.relative_error:.1e}, {self.ulp_error:.3g} ulp"
        return f"the largest relative error is {error}, in {self.name}"


@dataclass(frozen=True, slots=True)
class NoiseComparison:
    """The largest error of a patch beyond the noise of the unpatched program, and that noise in ulp.

    The noise of an array is the largest move of its elements if each narrow float of the program is moved by
    one unit in the last place. `noise_ulps` is in the unit of the element with the largest error.
    """

    excess: ValueDifference
    noise_ulps: float


def compare_with_noise(
    old_values: Mapping[str, KeptValue],
    new_values: Mapping[str, KeptValue],
    noisy_values: Mapping[str, KeptValue],
    widest_dtype: DType,
) -> NoiseComparison:
    """Compare the values of a patch with the noise of the same arrays."""
    excess, worst, noise_ulps = ValueDifference(), 0.0, 0.0
    for name, old in old_values.items():
        new, noisy = new_values[name], noisy_values.get(name)
        moves = [0.0]
        if noisy is not None and len(noisy.numbers) == len(old.numbers):
            moves += [abs(a - b) for a, b in zip(old.numbers, noisy.numbers, strict=True)]
        noise = max(move for move in moves if not isnan(move))
        precision = min(_significand_bits(new.dtype), _significand_bits(widest_dtype.name))
        for a, b in zip(old.numbers, new.numbers, strict=True):
            error, unit = abs(a - b), 2.0 ** (frexp(a)[1] - precision) if isfinite(a) else inf
            if error / unit > worst:
                worst, noise_ulps = error / unit, noise / unit
            if error > noise and error / unit > excess.ulp_error:
                excess = ValueDifference(error / abs(a) if a else inf, error / unit, name)
    return NoiseComparison(excess, noise_ulps)


def compare_values(
    old_values: Mapping[str, KeptValue],
    new_values: Mapping[str, KeptValue],
    widest_dtype: DType,
    unreached_names: Container[str] = (),
) -> ValueDifference:
    """Compare values by name, in units in the last place of `widest_dtype` or of a narrower dtype.

    The values of `unreached_names` are equal under every patch. They prove nothing unless their dtype
    differs.
    """
    largest, compared = ValueDifference(), 0
    if {*old_values} != {*new_values}:
        other = sorted({*old_values} ^ {*new_values})[0]
        return ValueDifference(reason=f"{other} is there in one run only")
    for name, old in old_values.items():
        new = new_values[name]
        if len(old.numbers) != len(new.numbers):
            return ValueDifference(reason=f"{name} has another shape")
        compared += 0 if name in unreached_names and new.dtype == old.dtype else len(old.numbers)
        precision = min(_significand_bits(new.dtype), _significand_bits(widest_dtype.name))
        for a, b in zip(old.numbers, new.numbers, strict=True):
            if a == b or (isnan(a) and isnan(b)):
                continue
            if not isfinite(b) and isfinite(a):
                return ValueDifference(reason=f"{name} is no longer finite")
            relative = abs(a - b) / abs(a) if a else inf
            if relative > largest.relative_error:
                largest = ValueDifference(relative, abs(a - b) / 2.0 ** (frexp(a)[1] - precision), name)
    return replace(largest, compared_count=compared)


def larger_difference(a: ValueDifference, b: ValueDifference) -> ValueDifference:
    """Return the larger of two differences, for the values of both."""
    worse = max(a, b, key=lambda each: (bool(each.reason), each.relative_error))
    return replace(worse, compared_count=a.compared_count + b.compared_count)


def find_other_dtype(old_values: Mapping[str, KeptValue], new_values: Mapping[str, KeptValue]) -> str:
    """Name the first value with a different dtype, or return "" if all dtypes are equal."""
    return next(
        (
            name
            for name, old in old_values.items()
            if name in new_values and new_values[name].dtype != old.dtype
        ),
        "",
    )


def compare_prints(old_text: str, new_text: str, widest_dtype: DType) -> ValueDifference:
    """Compare the numbers that were printed. Different words are a reason to reject the patch."""
    words = [" ".join(NUMBER_PATTERN.sub("0", text).split()) for text in (old_text, new_text)]
    if without_dtypes(words[0]) != without_dtypes(words[1]):
        return ValueDifference(reason="it prints other words")
    return compare_values(
        {PRINTED_NAME: read_numbers(old_text)}, {PRINTED_NAME: read_numbers(new_text)}, widest_dtype
    )


def without_dtypes(text: str) -> str:
    """Remove the names of float dtypes, brackets and spaces from a text."""
    return re.sub(r"(?:b?float|complex)\d+|[\[\]\s]", "", text)


def _significand_bits(dtype: str) -> int:
    known = DTYPES.get(dtype)
    return (
        real_part_dtype(known).precision if known and known.kind.category >= Kind.FLOAT.category else None
    ) or FLOAT64_PRECISION
