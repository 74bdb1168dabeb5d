"""How a recording writes rows of answers: a digit an answer; a row that was there before is its number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import lru_cache

from typelattice.facts.errors import TypelatticeError

ALPHABET = "".join(chr(code) for code in range(33, 127) if chr(code) not in '"\\')[:90]
"""The digits in which a row writes its answers, by index."""

FORMAT = 2
SAME = " "  # stands in a row for an answer that another recording, or operation, has there
AS = "as"  # the key by which an operation is written as what differs from another

Row = tuple[int, ...]


class RecordingError(TypelatticeError, ValueError):
    """A recording that cannot be read, or a call that is not in it."""


@dataclass(frozen=True, slots=True)
class Square:
    """A binary operation over every ordered pair of some operands: rows[i][j] is an answer's index."""

    operands: tuple[int, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A unary operation over some operands: row[i] is an answer's index."""

    operands: tuple[int, ...]
    row: Row


def restricted(square: Square, operands: Sequence[int]) -> Iterator[Row]:
    """The rows of some of the operands of a square, and their columns."""
    places = [square.operands.index(operand) for operand in operands]
    for i in places:
        yield tuple(square.rows[i][j] for j in places)


def width(answers: Sized) -> int:
    """How many digits each of so many answers takes."""
    return 1 if len(answers) <= len(ALPHABET) else 2


@lru_cache(16)
def cells(count: int) -> Mapping[str, int]:
    """What is written for each of so many answers, and the answer's index.

    >>> cells(2)
    {'!': 0, '#': 1}
    """
    digits = width(range(count))
    return {encode((i,), digits): i for i in range(min(count, len(ALPHABET) ** digits))}


def encode(row: Row, width: int) -> str:
    """The digits of a row.

    >>> encode((0, 1, 2), 1)
    '!#$'
    """
    base = len(ALPHABET)
    if width == 1:
        return "".join(ALPHABET[answer] for answer in row)
    return "".join(ALPHABET[answer // base] + ALPHABET[answer % base] for answer in row)


def sparse(rows: Iterable[Sequence[int | None]], digits: int) -> list[list[object]]:
    """What rows say otherwise than others do, each with the numbers of the rows that say it.

    An answer that is the same is None, and a blank in what is written.

    >>> sparse([(None, None), (None, 3), (1, None), (None, 3)], 1)
    [[' %', [1, 3]], ['#', [2]]]
    """
    numbers: dict[str, list[object]] = {}
    for number, row in enumerate(rows):
        text = "".join(SAME * digits if i is None else encode((i,), digits) for i in row).rstrip()
        if text:
            numbers.setdefault(text, []).append(number)
    return [[text, among] for text, among in numbers.items()]


def folded(rows: Iterable[str]) -> list[str | int]:
    """The rows, each that stands above already as its number there, if that is the shorter.

    >>> folded(["!!!##", "!####", "!!!##", "!!!##"])
    ['!!!##', '!####', 0, 0]
    """
    first: dict[str, int] = {}
    found: list[str | int] = []
    for number, row in enumerate(rows):
        known = first.setdefault(row, number)
        found.append(row if known == number or len(row) < len(str(known)) else known)
    return found
