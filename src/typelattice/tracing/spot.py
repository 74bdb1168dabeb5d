"""Spots: where the operations of a module stand, and what is known of each before it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

UNTOLD = "..."  # stands for arguments that could not be laid on the stack before the call
Row = tuple[int, int, int, int, str, tuple[str | None, ...], tuple[tuple[int, Any], ...]]


@dataclass(frozen=True, slots=True)
class Spot:
    """Where an operation stands in a module, and what it is.

    `name` is the operation, the attribute or the method. Of a call `keywords` are the names of its last
    arguments: None stands for `**`, `*` for `*args`, and UNTOLD for all of them where the witness is told of
    none. `constants` are the arguments that are written out as constants, each with its place among all
    arguments: they are the same each time, so that the witness is not told of them.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    name: str = ""
    keywords: tuple[str | None, ...] = ()
    constants: tuple[tuple[int, Any], ...] = ()

    def all_of(self, told: Sequence[Any]) -> list[Any]:
        """All arguments of a call, of which the witness was told some."""
        found = [*told]
        for i, value in self.constants:
            found.insert(i, value)
        return found

    def place(self, number: int) -> int:
        """The place of an argument among all, from 1 on, by that among those the witness is told of."""
        for i, _ in self.constants:
            number += i < number
        return number
