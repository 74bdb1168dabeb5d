"""The rows of a library's book, and the dtype rule of each function in it.

A book is a text file with the library's name. `shared.txt` has the functions that mean the same in all
libraries. docs/books.md explains the columns.
"""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from typelattice.facts.libraries import file_of, libraries
from typelattice.support.errors import TypelatticeError
from typelattice.support.frozen_classes import frozen

BOOK_FOLDER = Path(__file__).parent
SHARED_BOOK = "shared"
INNER_FUNCTION_PREFIX = "_"  # functions whose name begins with this occur only in books
FUNCTION_PATTERN = re.compile(r"([A-Za-z_][\w.]*)\((\S*)\)")
RULE_PATTERN = re.compile(r"(?:(\w+):)?[~=]?(?:(?:zero_d|flat)\()?(\w+)\((\w+(?:,\w+)*)\)\)?")


class BookError(TypelatticeError, ValueError):
    """A row of a book that cannot be read. The message names its file, row and column."""


@frozen()
class BookRow:
    """A row of a book: the function, its parameters and its results as the book writes them."""

    book: str
    number: int
    function: str
    parameters: tuple[str, ...]
    results: tuple[str, ...]

    @property
    def last_name(self) -> str:
        """The name of the function without its module."""
        return self.function.rpartition(".")[2]

    def error(self, column: int, cause: str) -> BookError:
        """Build the error for a column of the row. `cause` also says what to do."""
        return BookError(f"{self.book}.txt, row {self.number}, column {column}: {cause}")

    def part_name(self, i: int) -> str:
        """Return the name of a result: that of the function, with a field if it has several.

        >>> row = BookRow("torch", 1, "topk", ("x",), ("values:choices(x)", "positions(x)"))
        >>> row.part_name(0), row.part_name(1)
        ('topk.values', 'topk[1]')
        """
        if len(self.results) == 1:
            return self.last_name
        field, colon, _ = self.results[i].rpartition(":")
        return f"{self.last_name}.{field}" if colon else f"{self.last_name}[{i}]"


@cache
def read_book(name: str) -> Sequence[BookRow]:
    """Return the rows of a book, `torch` or `shared`; a library without a book has none. Raises BookError.

    >>> [row.function for row in read_book("torch")][:2]
    ['silu', 'max']
    """
    path = BOOK_FOLDER / f"{file_of(name)}.txt"
    if not path.is_file():
        return ()
    rows = []
    with open(path, encoding="ascii") as lines:
        for number, line in enumerate(lines, 1):
            words = line.split()
            if words and not line.startswith("#"):
                rows.append(_parse_row(name, number, words))
    return tuple(rows)


def _parse_row(book: str, number: int, words: Sequence[str]) -> BookRow:
    """Read the columns of a row. Raises BookError."""
    row = BookRow(book, number, words[0], (), tuple(words[1:]))
    found = FUNCTION_PATTERN.fullmatch(words[0])
    if found is None:
        raise row.error(1, f"{words[0]!r} is no function; write name(x,y)")
    if len(words) < 2:
        raise row.error(2, "the function has no result; write its dtype rule, as in float_map(x)")
    parameters = tuple(part for part in found[2].split(",") if part)
    return BookRow(book, number, found[1], parameters, row.results)


def book_names() -> tuple[str, ...]:
    """Return the names of all books: libraries in the order of the registry, then the shared one."""
    return tuple(x for x in (*libraries(), SHARED_BOOK) if (BOOK_FOLDER / f"{file_of(x)}.txt").is_file())


@cache
def find_rules(library: str) -> Mapping[str, str]:
    """Map each function of a library's book to its dtype rule, or to an empty text if no rule alone decides.

    A function with several results has an entry for each.

    >>> find_rules("torch")["elu"], find_rules("torch")["topk.indices"], find_rules("torch")["ldexp"]
    ('float_maps', 'positions', '')
    """
    found: dict[str, str] = {}
    for row in read_book(library):
        for i, result in enumerate(row.results):
            name = row.part_name(i)
            stated = RULE_PATTERN.fullmatch(result)
            rule = stated[2] if stated else ""
            if found.setdefault(name, rule) != rule:
                found[name] = ""
    return found
