"""The functions of a library's book, asked of the library.

A function with a rule has the name by which systems know it. Another is named by a call of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from typelattice.conformance.recording.book_functions import (
    BookFunction,
    BookOperand,
    find_book,
    find_call,
    list_asked_results,
    list_composed_results,
    make_operation,
    write_call,
)
from typelattice.conformance.recording.library import (
    CannotAskError,
    Library,
    NoSuchOperandError,
    ParsedOperandString,
)
from typelattice.conformance.recording.load_library import load_library
from typelattice.core.books.read_book import read_book
from typelattice.core.operations.operations import Operation


class BookLibrary:
    """A library for the functions of its book alone; the other methods are those of the library."""

    extra_operands = ()
    namespaces = None

    def __init__(self, library: Library) -> None:
        self.library: Any = library
        self.book = find_book(library.name)
        self.name, self.versions = library.name, library.versions
        self.how = f"the functions of {self.book}'s book, with arrays of up to five axes"

    def dtypes(self) -> Sequence[str]:
        """Return the dtypes of the library."""
        return self.library.dtypes()  # type: ignore[no-any-return]

    def make(self, operand: str) -> BookOperand:
        """Return an operand that the library has. Raises NoSuchOperandError."""
        parsed = ParsedOperandString.parse(operand)
        if parsed.tier not in ("array", "0d", "weak") or parsed.value not in (None, 1):
            raise NoSuchOperandError(operand)
        self.library.make(operand)
        return BookOperand(operand)

    def read(self, result: object) -> str:
        """Return what the library reads."""
        return str(self.library.read(result))

    @cached_property
    def functions(self) -> Mapping[str, BookFunction]:
        """The functions that could be called once, by their names in systems, or by a call."""
        found: dict[str, BookFunction] = {}
        for name, row, number, operands in list_asked_results(self.book):
            if name not in found and (made := find_call(self.library, row, number, operands)) is not None:
                found[name] = made
        for row, number, operands in list_composed_results(self.book):
            for count in range(len(operands), 0, -1):  # the last may be no arrays
                if (made := find_call(self.library, row, number, operands[:count])) is not None:
                    found[write_call(made, self.book)] = made
                    break
        return found

    @property
    def custom_operations(self) -> Mapping[str, Operation]:
        """The functions as operations."""
        return {name: make_operation(name, len(x.operands)) for name, x in self.functions.items()}

    def operations(self) -> Mapping[str, Callable[..., object]]:
        """Return the functions, by name."""
        return self.functions


def load_book_library(name: str) -> BookLibrary:
    """Return the library of a recording's name, to ask the functions of its book.

    Raises UnknownLibraryError, MissingLibraryError, and CannotAskError for a library without a book.
    """
    library = load_library(name)
    if not read_book(find_book(library.name)):
        raise CannotAskError(f"{name} has no book of functions; leave --book out")
    return BookLibrary(library)
