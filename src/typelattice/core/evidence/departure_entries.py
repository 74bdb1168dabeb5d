"""Reads the entries of a list of departures, in the words of system files."""
from __future__ import annotations

from collections.abc import Callable, Mapping

from typelattice.base.errors.error_texts import clip_text, quote_short, spelling_hint
from typelattice.base.objects.frozen_classes import frozen
from typelattice.base.rendering.grid import printable
from typelattice.core.books.read_book import book_names, list_functions, read_book
from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.engine.operation_rules import GROUP_BY_CLASS
from typelattice.core.evidence.departure import Departure, OperationSet
from typelattice.core.evidence.departure_files import DepartureError
from typelattice.core.evidence.operand_patterns import (
    OPERAND_MARKS,
    DTypeSort,
    OperandClass,
    OperandPattern,
    OperandSort,
    ScalarSort,
    UniqueDTypeSort,
    WrittenNumber,
)
from typelattice.core.operands.notation import is_number_text, parse_number
from typelattice.core.operands.operand import OperandError
from typelattice.core.registry.libraries import recordings
from typelattice.core.system_files.entry_names import check_entry
from typelattice.core.system_files.system_text import toml_type_name
from typelattice.core.system_files.value_reader import (
    Vocabulary,
    read_distinct,
    require_text,
    table_items,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

DEFAULT_COUNT_BY_RECORDING: Mapping[str, int] = {"": 0}
MAX_CAUSE_CHARS = 400  # characters of a message
REQUIRED_KEYS, OPTIONAL_KEYS = ("ops", "reason", "source"), ("operands", "count", "varies")
KIND_BY_SCALAR_CODE = {f"{kind.letter}*": kind for kind in Kind if kind is not Kind.UNSIGNED}
EXCEPT_SEPARATOR, ORDERED_SEPARATOR, FURTHER_MARK = " but ", " then ", "..."
NEGATIVE_PREFIX, BEYOND_SEPARATOR, ZERO_SEPARATOR = "negative ", " beyond ", " zero in "
ANY_OPERAND_WORD, OTHER_DTYPE_WORD, ALL_OPERATIONS_WORD, EVERY_SCALAR_WORD = "any", "other", "all", "*"


@frozen()
class DepartureEntryReader:
    """A reader of the entries of one list in the file `where`. Raises DepartureError, by entry and key."""

    where: str
    words: Vocabulary

    def read_departure(self, number: int, entry: object, recording: str) -> Departure | None:
        """Return the departure that an entry states, or None if it is one of other recordings."""
        location_text = f"{self.where}, departure {number}"
        if not isinstance(entry, dict):
            raise DepartureError(f"{location_text}: no table; write [[departure]] above it")
        for key in entry:
            if key not in (known := (*REQUIRED_KEYS, *OPTIONAL_KEYS)):
                near = spelling_hint(key, known) or f"; the keys are {', '.join(known)}"
                raise DepartureError(f"{location_text}: unknown key {quote_short(key)}{near}")
        if missing := [key for key in REQUIRED_KEYS if key not in entry]:
            raise DepartureError(f"{location_text}: {missing[0]} is missing")

        def read(key: str, reader: Callable[[object], T], default: T) -> T:
            if key not in entry:
                return default
            try:
                return reader(entry[key])
            except (ValueError, OperandError) as e:
                raise DepartureError(
                    f"{location_text}, {key}: {printable(clip_text(str(e), MAX_CAUSE_CHARS))}"
                ) from None

        counts = read("count", _read_counts, DEFAULT_COUNT_BY_RECORDING)
        found = Departure(
            ops=read("ops", _read_operations, OperationSet()),
            operands=read("operands", self._read_patterns, ()),
            reason=read("reason", require_text, ""),
            source=read("source", require_text, ""),
            count=counts.get("", counts.get(recording, 0)),
            varies=read("varies", _read_truth, False),
        )
        return found if {"", recording} & {*counts} else None

    def _read_patterns(self, pattern_texts: object) -> tuple[OperandPattern, ...]:
        """Read `["bool + i*", "int then negative i*"]`: patterns of the operands of the calls."""
        if not isinstance(pattern_texts, list) or not pattern_texts:
            raise ValueError('should be a list of texts, as in ["bool + int, i*"]')
        return tuple(map(self._read_pattern, read_distinct(map(require_text, pattern_texts))))

    def _read_pattern(self, text: str) -> OperandPattern:
        """Read `bool + int` in any order, `int then bool` in this order, `bool + any...` with one or more."""
        ordered = ORDERED_SEPARATOR in text
        if ordered and "+" in text:
            raise ValueError(f"{quote_short(text)} has both `+` and `then`; write two texts")
        further = text.endswith(FURTHER_MARK)
        sides = [
            side.strip()
            for side in text.removesuffix(FURTHER_MARK).split(ORDERED_SEPARATOR if ordered else "+")
        ]
        return OperandPattern(tuple(map(self._read_class, sides)), ordered, further)

    def _read_class(self, text: str) -> OperandClass:
        """Read `any but complex, c*`: sorts of operands, without those after `but`."""
        listed, *but = text.split(EXCEPT_SEPARATOR)
        if len(but) > 1:
            raise ValueError("`but` stands twice; name all that is left out after the first")
        left_out = self._read_sorts(but[0]) if but else ()
        return OperandClass(() if listed == ANY_OPERAND_WORD else self._read_sorts(listed), left_out)

    def _read_sorts(self, text: str) -> tuple[OperandSort, ...]:
        """Read comma-separated sorts of operands, as in `int8, f*`. A single `*` means all Python scalars."""
        words = read_distinct(map(str.strip, text.split(",")))
        each = (
            every
            for word in words
            for every in (KIND_BY_SCALAR_CODE if word == EVERY_SCALAR_WORD else (word,))
        )
        return tuple(map(self._read_sort, each))

    def _read_sort(self, word: str) -> OperandSort:
        """Read `int:weak`, `other`, `i*`, `negative i*`, `i* beyond i64`, `i* zero in u8` or `256`."""
        if word == ANY_OPERAND_WORD:
            raise ValueError("`any` stands alone, or before `but`")
        if word == OTHER_DTYPE_WORD:
            return UniqueDTypeSort()
        zero = ZERO_SEPARATOR in word
        stem, _, limit = word.partition(ZERO_SEPARATOR if zero else BEYOND_SEPARATOR)
        if (scalar := stem.removeprefix(NEGATIVE_PREFIX)) in KIND_BY_SCALAR_CODE:
            kind, negative = KIND_BY_SCALAR_CODE[scalar], scalar != stem
            if negative and kind in (Kind.BOOL, Kind.COMPLEX):
                raise ValueError(f"no {kind} is negative; write negative i* or negative f*")
            range_of = (
                self.words.require_dtype(self.words.read_node(limit))
                if limit not in ("", OTHER_DTYPE_WORD)
                else None
            )
            if zero and kind is not Kind.SIGNED:
                raise ValueError(f"no {kind} wraps; write i*{ZERO_SEPARATOR}{limit}")
            return ScalarSort(kind, negative, range_of, limit == OTHER_DTYPE_WORD, zero)
        if is_number_text(word):
            return WrittenNumber(repr(parse_number(word)))
        name, colon, mark = word.partition(":")
        if colon and mark not in OPERAND_MARKS:
            near = f"{spelling_hint(mark, OPERAND_MARKS)}; these are {', '.join(OPERAND_MARKS)}"
            raise ValueError(f"unknown mark {quote_short(mark)} in {quote_short(word)}{near}")
        try:
            return DTypeSort(frozenset(self.words.read_sources(name)), mark)
        except ValueError as e:
            near = (
                spelling_hint(name, (ANY_OPERAND_WORD, OTHER_DTYPE_WORD))
                if "did you mean" not in str(e)
                else ""
            )
            scalars = (
                f"; {EVERY_SCALAR_WORD}, {', '.join(KIND_BY_SCALAR_CODE)} are Python scalars"
                if "*" in word
                else ""
            )
            raise ValueError(f"{e}{near}{scalars}") from None


def _read_operations(value: object) -> OperationSet:
    """Read `all but where, concat`: operations, classes and groups, except those after `but`."""
    listed, *but = require_text(value).split(EXCEPT_SEPARATOR)
    if len(but) > 1:
        raise ValueError("`but` stands twice; name all that is left out after the first")
    return OperationSet(_find_entries(listed), _find_entries(but[0]) if but else frozenset())


def _find_entries(text: str) -> frozenset[str]:
    """Return the entries of `ops` that a list names. `all` means the groups."""
    words = read_distinct(word.strip() for word in text.split(","))
    if words == (ALL_OPERATIONS_WORD,):
        return frozenset(GROUP_BY_CLASS.values())
    for word in words:
        if not any(_is_function(word, book) for book in book_names()):
            check_entry(word)
    return frozenset(words)


def _is_function(word: str, book: str) -> bool:
    """Return True for a function with a rule, or for one whose row is a composition."""
    return word in list_functions(book) or any(row.function == word for row in read_book(book))


def _read_counts(value: object) -> Mapping[str, int]:
    """Read the numbers of recorded calls: of one recording (under an empty name), or of each by its name."""
    if not isinstance(value, dict):
        return {"": _read_count(value)}
    for name, _ in table_items(value):
        if name not in recordings():
            raise ValueError(f"no recording is called {quote_short(name)}{spelling_hint(name, recordings())}")
    return {name: _read_count(number) for name, number in table_items(value)}


def _read_truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"should be true or false, is {toml_type_name(type(value))}")
    return value


def _read_count(value: object) -> int:
    if type(value) is not int or value < 0:
        given = value if type(value) is int else toml_type_name(type(value))
        raise ValueError(f"should be how many calls there are, is {given}")
    return value
