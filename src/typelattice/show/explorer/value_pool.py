"""A pool of values. Each is written once; other data refers to it by number."""

from __future__ import annotations

from collections.abc import Iterable

# what JSON can hold and a dictionary can have as a key
PlainValue = str | int | bool | None | tuple["PlainValue", ...]


class ValuePool:
    """Values, numbered in the order of their first use; 0 is the number of the first.

    >>> pool = ValuePool()
    >>> pool.number_of("a"), pool.number_of("b"), pool.number_of("a"), pool.values
    (0, 1, 0, ['a', 'b'])
    """

    def __init__(self, first_values: Iterable[PlainValue] = ()) -> None:
        self.values: list[PlainValue] = []
        self._numbers: dict[PlainValue, int] = {}
        for value in first_values:
            self.number_of(value)

    def number_of(self, value: PlainValue) -> int:
        """Return the number of a value; a new value gets the next number."""
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = len(self.values)
            self.values.append(value)
        return found
