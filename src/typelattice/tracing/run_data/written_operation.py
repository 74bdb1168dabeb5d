"""Descriptions of a module's operations: source locations, and all that is known before they run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

OMITTED_ARGUMENTS = "..."  # stands for arguments that could not be put on the stack before the call
ListLiteral = tuple[int, int, bool]  # the position of an argument, its number of items, True for a tuple
OperationRow = tuple[
    int, int, int, int, str, tuple[str | None, ...], tuple[tuple[int, Any], ...], tuple[ListLiteral, ...],
    tuple[int, ...],
]  # fmt: skip


def give_dtype(owner: object, dtype: object) -> object:
    """Return the dtype of an argument such as `y.dtype`, without the array that gave it."""
    return dtype


@dataclass(frozen=True, slots=True)
class WrittenOperation:
    """The source location of an operation in a module, and its name and arguments.

    `name` is the operation, the attribute or the method. For a call, `keywords` are the names of its last
    arguments: None means `**`, and `*` means `*args`. With OMITTED_ARGUMENTS the witness gets none.

    `lists` are the arguments that are written as lists or tuples. The witness gets each item as if it were an
    argument. `constants` are the arguments that are written as constants, each with its position among all.
    They are the same each time, so the witness does not get them. `dtype_owners` are the positions, among the
    arguments that the witness gets, of arrays such as `y` in `x.astype(y.dtype)`. The dtype follows each.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    name: str = ""
    keywords: tuple[str | None, ...] = ()
    constants: tuple[tuple[int, Any], ...] = ()
    lists: tuple[ListLiteral, ...] = ()
    dtype_owners: tuple[int, ...] = ()

    def list_arguments(
        self, stack_values: Sequence[Any], name_dtype: Callable[[Any, Any], Any] = give_dtype
    ) -> list[Any]:
        """Return all arguments of a call, from the arguments that the witness got.

        `name_dtype` makes an argument of an array and its dtype.
        """
        found = [*stack_values]
        for i in reversed(self.dtype_owners):
            found[i : i + 2] = [name_dtype(found[i], found[i + 1])]
        for i, value in self.constants:
            found.insert(i, value)
        for i, count, is_tuple in self.lists:
            items = found[i : i + count]
            found[i : i + count] = [tuple(items) if is_tuple else items]
        return found

    def argument_position(self, number: int) -> int:
        """Return the position of an argument among all, from 1 on, by its position among the witness's.

        The items of `lists` are counted, and the lists are not.
        """
        number -= sum(i < number - 1 for i in self.dtype_owners)
        for i, _ in self.constants:
            number += i < number
        return number
