"""A little array library with a mistake in its promotion, made known to typelattice by four methods.

The check that finds it:

    typelattice conform little:Little --system array-api --live 2000

or, under pytest, `test_little.py` beside this file.
"""
from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from typelattice.conformance.recording.library import NoSuchOperandError, ParsedOperandString

WIDTHS = {"int8": 8, "int16": 16, "int32": 32, "uint8": 8, "uint16": 16, "uint32": 32}


def promote(a: str, b: str) -> str:
    """The mistake: the wider of two integer dtypes, though it cannot hold the other's values."""
    return max((a, b), key=lambda name: (WIDTHS[name], name.startswith("int")))


@dataclass(frozen=True)
class Array:
    """Integers of one dtype."""

    dtype: str
    values: tuple[int, ...]

    def __add__(self, other: Array) -> Array:
        sums = tuple(a + b for a, b in zip(self.values, other.values, strict=True))
        return Array(promote(self.dtype, other.dtype), sums)


class Little:
    """What typelattice needs to know of the library."""

    name = "little"
    versions: Mapping[str, str] = {"little": "1"}
    how = "by adding"

    def dtypes(self) -> Sequence[str]:
        return list(WIDTHS)

    def make(self, operand: str) -> object:
        wanted = ParsedOperandString.parse(operand)
        if wanted.dtype is None or wanted.tier != "array":
            raise NoSuchOperandError(operand)  # it has neither 0-d arrays nor Python scalars
        return Array(wanted.dtype, (1, 1))

    def read(self, result: object) -> str:
        assert isinstance(result, Array)
        return result.dtype

    def operations(self) -> Mapping[str, Callable[..., object]]:
        return {"add": operator.add}
