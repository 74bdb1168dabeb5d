"""The rows of a library's book, and the dtype rule of each function in it.

A book is a text file with the library's name. `shared.txt` has the functions that mean the same in all
libraries. docs/books.md explains the columns.
"""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.objects.frozen_classes import frozen
from typelattice.base.own_folders import PACKAGE_FOLDER
from typelattice.core.operations.operations import OPERATION_BY_NAME, OPERATIONS
from typelattice.core.registry.libraries import file_of, libraries

BOOK_FOLDER = Path(PACKAGE_FOLDER) / "libraries"
SHARED_BOOK = "shared"
PART_SEPARATOR = " as "  # between a function and the rule of some of its calls
INNER_FUNCTION_PREFIX = "_"  # functions whose name begins with this occur only in books
ASKED_PREFIX = "asked("
WORDS_OF_EXPRESSIONS = frozenset((  # functions of results that are no dtype rules
    "truth", "literal", "zero_d", "flat", "leaves", "weak", "astype", "bitcast", "rand", "randn",
    "zeros", "zeros_like", "full",
))  # fmt: skip
PARAMETERS_PATTERN = r"[^\s()]*(?:\(\)[^\s()]*)*"  # with defaults such as size=()
FUNCTION_PATTERN = re.compile(
    rf"([A-Za-z_][\w.]*)\(({PARAMETERS_PATTERN})\)(?:\(({PARAMETERS_PATTERN})\))?"
)
PARAMETER_MARKS = "?![]+"  # characters after the names of a parameter
OBJECT_MARK = "()"  # follows the name of a function if a row describes the calls of its objects
RULE_PATTERN = re.compile(r"(?:(\w+):)?[~=]?(?:(?:zero_d|flat)\()?(\w+)\((\w+(?:,\w+)*)\)\)?")


class BookError(TypelatticeError, ValueError):
    """A row of a book that cannot be read. The message names its file, row and column."""


@frozen()
class BookRow:
    """A row of a book: the function, its parameters and its results as the book writes them.

    `asked` has the further arguments that recorders pass, written as a call. A function that makes an object,
    such as a layer, has the parameters of the object's calls. `object_parameters` are those of the function.
    """

    book: str
    number: int
    function: str
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    asked: str = "asked()"
    object_parameters: tuple[str, ...] | None = None

    @property
    def key(self) -> str:
        """The name by which calls find the row: `elu`, or `nn.ELU()` for the calls of an object."""
        return self.function if self.object_parameters is None else f"{self.function}{OBJECT_MARK}"

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
    first = tuple(part for part in found[2].split(",") if part)
    second = None if found[3] is None else tuple(part for part in found[3].split(",") if part)
    parameters, made = (first, None) if second is None else (second, first)
    is_asked = words[-1].startswith(ASKED_PREFIX)
    results, asked = (row.results[:-1], words[-1]) if is_asked else (row.results, row.asked)
    return BookRow(book, number, found[1], parameters, results, asked, made)


def book_names() -> tuple[str, ...]:
    """Return the names of all books: libraries in the order of the registry, then the shared one."""
    return tuple(x for x in (*libraries(), SHARED_BOOK) if (BOOK_FOLDER / f"{file_of(x)}.txt").is_file())


@cache
def find_rules(library: str) -> Mapping[str, str]:
    """Map each function of a library's book to its dtype rule, or to an empty text if no rule alone decides.

    A function with several results has an entry for each.

    >>> find_rules("torch")["elu"], find_rules("torch")["topk.indices"], find_rules("torch")["allclose"]
    ('float_maps', 'positions', '')
    """
    found: dict[str, str] = {}
    for row in read_book(library):
        for i, result in enumerate(row.results):
            name = row.part_name(i)
            rule = stated_rule(result)[0]
            if found.setdefault(name, rule) != rule:
                found[name] = ""
    return found


def stated_rule(result: str) -> tuple[str, tuple[str, ...]]:
    """Return the rule that a result of a row names, and its operands, or an empty text for a composition.

    >>> stated_rule("values:~choices(x)"), stated_rule("multiply(x,exp2(y))")
    (('choices', ('x',)), ('', ()))
    """
    found = RULE_PATTERN.fullmatch(result)
    is_rule = found is not None and found[2] not in WORDS_OF_EXPRESSIONS
    return (found[2], tuple(found[3].split(","))) if found and is_rule else ("", ())


def spoken_name(row: BookRow, i: int, rule: str) -> str:
    """Return the name under which a system has a result of a row that follows a rule.

    It is the name of the function, unless other rules decide other calls of it, or it is an operation.

    >>> rows = {row.function: row for row in read_book("torch")}
    >>> spoken_name(rows["elu"], 0, "float_maps"), spoken_name(rows["bincount"], 0, "weighted_counts")
    ('elu', 'bincount as weighted_counts')
    """
    part = row.part_name(i)
    is_taken = part in OPERATION_BY_NAME or part in _operation_classes()
    return part if find_rules(row.book).get(part) == rule and not is_taken else name_part(part, rule)


def name_part(function: str, rule: str) -> str:
    """Return the name of the part of a function that follows a rule, where other rules decide other calls.

    >>> name_part("quantile", "elements_in_order")
    'quantile as elements_in_order'
    """
    return f"{function}{PART_SEPARATOR}{rule}"


@cache
def _operation_classes() -> frozenset[str]:
    """The classes of operations, which are entries of system files."""
    return frozenset(op.operation_class for op in OPERATIONS.values())


@cache
def list_functions(library: str) -> frozenset[str]:
    """List the names under which systems have the functions of a book, also those that other rules decide.

    >>> "bincount as weighted_counts" in list_functions("torch"), "elu" in list_functions("torch")
    (True, True)
    """
    return frozenset(
        spoken_name(row, i, rule)
        for row in read_book(library)
        for i, result in enumerate(row.results)
        if (rule := stated_rule(result)[0])
    )


@cache
def functions_by_rule(library: str) -> Mapping[str, str]:
    """Map the names under which systems have the functions of a book to the rules that the book names."""
    return {
        name: rule
        for row in read_book(library)
        for i, result in enumerate(row.results)
        if (rule := stated_rule(result)[0])
        and PART_SEPARATOR not in (name := spoken_name(row, i, rule))
    }
