"""The values of a patched program beside those of the program as it was."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from math import frexp, inf, isfinite, isnan

from typelattice.facts.dtypes import DTYPES, DType, Kind, real_part_dtype
from typelattice.fixing.kept_values import NUMBER, KeptValue, numbers_in

DOUBLE = 53  # bits of the significand of a float64


@dataclass(frozen=True, slots=True)
class Difference:
    """The largest error of some values: relative, and in units in the last place of the narrower dtype.

    `name` has the largest. `reason` says why values cannot be compared; else it is empty. `compared` is the
    number of pairs of numbers that prove something.
    """

    relative: float = 0.0
    ulp: float = 0.0
    name: str = ""
    reason: str = ""
    compared: int = 0

    @property
    def is_none(self) -> bool:
        """True if all values are equal."""
        return not self.relative and not self.reason

    def __str__(self) -> str:
        if self.is_none:
            return "all values are equal"
        return f"the largest relative error is {self.relative:.1e}, {self.ulp:.3g} ulp, in {self.name}"


def compare_values(
    before: Mapping[str, KeptValue], after: Mapping[str, KeptValue], to: DType, unreached: Container[str] = ()
) -> Difference:
    """Compare values by name; units in the last place are those of `to`, or of a narrower dtype.

    The values of `unreached` names are equal whatever a patch does. They prove nothing, unless
    their dtype is another.
    """
    worst, compared = Difference(), 0
    if {*before} != {*after}:
        other = sorted({*before} ^ {*after})[0]
        return Difference(reason=f"{other} is there in one run only")
    for name, old in before.items():
        new = after[name]
        if len(old.numbers) != len(new.numbers):
            return Difference(reason=f"{name} has another shape")
        compared += 0 if name in unreached and new.dtype == old.dtype else len(old.numbers)
        precision = min(_significand_bits(new.dtype), _significand_bits(to.name))
        for a, b in zip(old.numbers, new.numbers, strict=True):
            if a == b or (isnan(a) and isnan(b)):
                continue
            if not isfinite(b) and isfinite(a):
                return Difference(reason=f"{name} is no longer finite")
            relative = abs(a - b) / abs(a) if a else inf
            if relative > worst.relative:
                worst = Difference(relative, abs(a - b) / 2.0 ** (frexp(a)[1] - precision), name)
    return replace(worst, compared=compared)


def larger_difference(a: Difference, b: Difference) -> Difference:
    """Return the larger_difference of two differences, for the values of both."""
    worse = max(a, b, key=lambda each: (bool(each.reason), each.relative))
    return replace(worse, compared=a.compared + b.compared)


def find_other_dtype(before: Mapping[str, KeptValue], after: Mapping[str, KeptValue]) -> str:
    """Name the first value whose dtype differs; return "" if none does."""
    return next(
        (name for name, old in before.items() if name in after and after[name].dtype != old.dtype), ""
    )


def compare_prints(before: str, after: str, to: DType) -> Difference:
    """Compare the numbers of what was printed; words that differ are a reason."""
    words = [" ".join(NUMBER.sub("0", text).split()) for text in (before, after)]
    if _without_dtypes(words[0]) != _without_dtypes(words[1]):
        return Difference(reason="it prints other words")
    return compare_values({"what is printed": numbers_in(before)}, {"what is printed": numbers_in(after)}, to)


def _without_dtypes(text: str) -> str:
    return re.sub(r"(?:b?float|complex)\d+|[\[\]\s]", "", text)


def _significand_bits(dtype: str) -> int:
    known = DTYPES.get(dtype)
    return (
        real_part_dtype(known).precision if known and known.kind.category >= Kind.FLOAT.category else None
    ) or DOUBLE
