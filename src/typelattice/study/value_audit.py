"""Where a value-based system and another part, by the value of a Python int: what moving from NumPy 1 to 2 changes."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from typelattice.engine.system import System
from typelattice.explain.by_value import intervals
from typelattice.facts.dtypes import DType
from typelattice.study.consensus import common_dtypes


@dataclass(frozen=True, slots=True)
class Part:
    """An interval of ints, both ends included, in which two systems answer otherwise; None is a refusal."""

    dtype: DType
    least: int
    greatest: int
    a: DType | None
    b: DType | None

    def __str__(self) -> str:
        """`uint8 with -128 to -1: int16, then uint8`."""
        ends = f"{_short(self.least)} to {_short(self.greatest)}" if self.least != self.greatest else _short(self.least)
        return f"{self.dtype} with {ends}: {self.a or 'refused'}, then {self.b or 'refused'}"


def audit(a: System, b: System, op: str | None = "add") -> Iterator[Part]:
    """The intervals in which an array and a Python int come to another dtype under b than under a.

    >>> from typelattice import system
    >>> [str(part) for part in audit(system("numpy1"), system("numpy")) if str(part.dtype) == "int8"][0]
    'int8 with -2**63 to -2**31-1: int64, then refused'
    """
    for d in common_dtypes((a, b)):
        cuts = {low for s in (a, b) for low, _, _ in intervals(s.explain(d, "int", op=op))}
        ends = max(high for _, high, _ in intervals(a.explain(d, "int", op=op)))
        starts = sorted(cuts)
        for low, past in zip(starts, [*starts[1:], ends + 1], strict=True):
            answers = [s.explain(d, low, op=op).dtype for s in (a, b)]
            if answers[0] is not answers[1]:
                yield Part(d, low, past - 1, *answers)


def _short(n: int) -> str:
    """An int as a power of two where it is near one."""
    for bits in (15, 16, 31, 32, 63, 64):
        for off in (-1, 0, 1):
            for sign in (1, -1):
                if n == sign * 2**bits + off and bits > 15:
                    return f"{'-' * (sign < 0)}2**{bits}{f'{off:+d}' * bool(off)}"
    return str(n)
