"""The Python ints for which two systems differ, such as NumPy 1 and NumPy 2."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.engine.system import System
from typelattice.core.explanations.results_by_value import list_intervals
from typelattice.study.tables.study_scope import common_dtypes

# powers of two at the ends of integer ranges; an int next to one is written with that power
NAMED_POWERS = (16, 31, 32, 63, 64)


@dataclass(frozen=True, slots=True)
class ValueChange:
    """A range of ints, ends included, with another result for an array; None is a refusal.
    """

    dtype: DType
    least: int
    greatest: int
    old_dtype: DType | None
    new_dtype: DType | None

    def __str__(self) -> str:
        """`uint8 with -128 to -1: int16 -> uint8`."""
        ends = f"{_int_text(self.least)} to {_int_text(self.greatest)}"
        ints = _int_text(self.least) if self.least == self.greatest else ends
        return f"{self.dtype} with {ints}: {self.old_dtype or 'refused'} -> {self.new_dtype or 'refused'}"


def find_value_changes(
    old_system: System, new_system: System, op_name: str | None = "add"
) -> Iterator[ValueChange]:
    """Yield the ranges of a Python int for which `array op int` changes its dtype.

    >>> from typelattice import system
    >>> changes = find_value_changes(system("numpy1"), system("numpy"))
    >>> [str(change) for change in changes if str(change.dtype) == "int8"][0]
    'int8 with -2**63 to -2**31-1: int64 -> refused'
    """
    for d in common_dtypes((old_system, new_system)):
        both = [list_intervals(s.explain(d, "int", op=op_name)) for s in (old_system, new_system)]
        starts = sorted({least for found in both for least, _, _ in found})
        past = max(greatest for _, greatest, _ in both[0]) + 1
        for least, following in pairwise([*starts, past]):
            before, after = (s.explain(d, least, op=op_name).dtype for s in (old_system, new_system))
            if before is not after:
                yield ValueChange(d, least, following - 1, before, after)


def _int_text(number: int) -> str:
    """Write an int; at the end of a range of integers, as a power of two, `2**31-1`."""
    for power in NAMED_POWERS:
        beyond = abs(number) - 2**power
        if abs(beyond) <= 1:
            off = beyond if number > 0 else -beyond
            return f"{'-' * (number < 0)}2**{power}{f'{off:+d}' * bool(off)}"
    return str(number)
