"""Spots: where the operations of a module stand, and what is known of each before it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

UNTOLD = "..."  # stands for arguments that could not be laid on the stack before the call
List = tuple[int, int, bool]  # the place of an argument, how many items it has, whether it is a tuple
Row = tuple[
    int, int, int, int, str, tuple[str | None, ...], tuple[tuple[int, Any], ...], tuple[List, ...]
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Spot:
    """Where an operation stands in a module, and what it is.

    `name` is the operation, the attribute or the method. Of a call `keywords` are the names of its last
    arguments: None stands for `**`, `*` for `*args`, and UNTOLD for all of them where the witness is told of
    none. `lists` are the arguments that are written out as lists or tuples, of which each item is told as if
    it were an argument. `constants` are those that are written out as constants, each with its place among
    all: they are the same each time, so that the witness is not told of them.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    name: str = ""
    keywords: tuple[str | None, ...] = ()
    constants: tuple[tuple[int, Any], ...] = ()
    lists: tuple[List, ...] = ()

    def all_of(self, told: Sequence[Any]) -> list[Any]:
        """All arguments of a call, of which the witness was told some."""
        found = [*told]
        for i, value in self.constants:
            found.insert(i, value)
        for i, count, is_tuple in self.lists:
            items = found[i : i + count]
            found[i : i + count] = [tuple(items) if is_tuple else items]
        return found

    def place(self, number: int) -> int:
        """The place of an argument among all, from 1 on, by that among those the witness is told of.

        The items of `lists` are counted, and the lists are not.
        """
        for i, _ in self.constants:
            number += i < number
        return number
