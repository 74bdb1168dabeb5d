"""Documents from several processes, merged into one: their numbers become numbers of one pool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from typelattice.show.explorer.answer_encoding import COLUMN_NAMES, NO_CELL_NUMBER, Pools
from typelattice.show.explorer.value_pool import PlainValue, ValuePool

# column of an answer -> pool to which its numbers refer
POOL_BY_COLUMN = {
    "answer": "answers", "operation": "sections", "evidence": "evidence", "way": "ways", "trail": "trails",
    "rule": "rules",
}  # fmt: skip
NewNumbers = Sequence[int]  # number in one pool -> number of the same value in another pool


def merge_entries(ours: Pools, entries: Sequence[dict[str, Any]], theirs: Pools) -> list[dict[str, Any]]:
    """Return entries of systems with the numbers of `ours`. Its pools receive the values of `theirs`.

    >>> ours, theirs = Pools(), Pools()
    >>> ours.rules.number_of(("numpy.toml",)), theirs.rules.number_of(("jax.toml",))
    (0, 0)
    >>> theirs.columns.number_of((0, -1))
    0
    >>> table = dict.fromkeys(COLUMN_NAMES, 0) | {"rows": [], "columns": None}
    >>> theirs.answers.number_of(("f32", "float32", "float", False, False, NO_CELL_NUMBER))
    0
    >>> _ = [getattr(theirs, name).number_of(("",)) for name in ("sections", "evidence", "ways")]
    >>> theirs.trails.number_of((0,))
    0
    >>> found = merge_entries(ours, [{"name": "jax", "tables": {"add": table}}], theirs)
    >>> ours.columns.values[found[0]["tables"]["add"]["rule"]]
    (1, -1)
    """
    numbers: dict[str, NewNumbers] = {
        name: _renumber_pool(getattr(ours, name), getattr(theirs, name))
        for name in ("operands", "sections", "rules", "evidence", "ways")
    }

    def result(answer: Any) -> PlainValue:
        *words, operand = answer
        return (*words, operand if operand == NO_CELL_NUMBER else numbers["operands"][operand])

    numbers["answers"] = _renumber_pool(ours.answers, theirs.answers, result)
    numbers["trails"] = _renumber_pool(
        ours.trails, theirs.trails, lambda trail: _renumber_each(numbers["sections"], trail)
    )
    columns: dict[tuple[str, int], int] = {}

    def column(part: str, number: int) -> int:
        key = POOL_BY_COLUMN[part], number
        if key not in columns:
            values: Any = theirs.columns.values[number]
            columns[key] = ours.columns.number_of(_renumber_each(numbers[key[0]], values))
        return columns[key]

    def table(found: Mapping[str, Any]) -> dict[str, Any]:
        return {
            key: column(key, value)
            if key in COLUMN_NAMES
            else value and list(_renumber_each(numbers["operands"], value))
            for key, value in found.items()
        }

    return [
        entry | {"tables": {op: table(found) for op, found in entry["tables"].items()}}
        if "tables" in entry
        else entry
        for entry in entries
    ]


def _renumber_pool(
    ours: ValuePool, theirs: ValuePool, value: Callable[[Any], PlainValue] = lambda found: found
) -> NewNumbers:
    return [ours.number_of(value(found)) for found in theirs.values]


def _renumber_each(numbers: NewNumbers, old_numbers: Sequence[int]) -> tuple[int, ...]:
    return tuple(number if number == NO_CELL_NUMBER else numbers[number] for number in old_numbers)
