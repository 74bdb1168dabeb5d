"""The text of one system file, its TOML, and the source location of each part."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from typelattice.base.disk.preparsed_toml import parse_toml
from typelattice.base.disk.read import FileError, read_bytes
from typelattice.base.errors.error_texts import quote_short
from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.objects.frozen_classes import frozen
from typelattice.base.own_folders import REAL_PACKAGE_FOLDER
from typelattice.core.dtypes.order import OrderError, split_statements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typelattice.core.system_files.positions import KeyPath, KeyPositions

# Uses os.path, since importing pathlib takes as long as everything else here.
SYSTEMS_FOLDER = os.path.join(REAL_PACKAGE_FOLDER, "systems")
MAX_SYSTEM_FILE_BYTES = 200_000
OPERATION_SETS_KEY = "operation-sets"  # names for lists of operations, as keys of `ops`
FileLine = tuple[str, int]  # file, line
OrderRow = tuple["SystemText", int]  # the text that gives an order, and the number of a row of it, from 0
WordChain = list[list[str]]  # a statement of an order: the lists between its arrows


MAX_SHOWN_MISTAKES = 20
MAX_SHOWN_CHARS = 100  # characters of a line of the file, shown with a mistake


@frozen()
class TextSpan:
    """A place in a file: its line, the column and width of the word, and the text of the line."""

    line: int
    column: int
    width: int
    text: str


class FormatError(TypelatticeError, ValueError):
    """A system file with mistakes: the file, line, column, key and cause of the first.

    `mistakes` has an error for each mistake, in the order of the lines. The message has one bounded line for
    each, and below it the line of the file with a caret under the word.
    """

    __module__ = "typelattice"

    def __init__(
        self,
        file: str,
        line: int | None,
        key: str,
        cause: str,
        mark: TextSpan | None = None,
        further: Sequence[FormatError] = (),
    ) -> None:
        self.file, self.line = _shorten_to_line(file, 80), line
        self.key, self.cause = _shorten_to_line(key, 40), _shorten_to_line(cause, 400)
        self.mark, self.column = mark, mark.column if mark else None
        location_text = f"{self.file}{f', line {line}' if line else ''}{f', {self.key}' if key else ''}"
        self.summary = f"{location_text}: {self.cause}"
        self.mistakes: tuple[FormatError, ...] = (self, *further)
        hidden = len(self.mistakes) - MAX_SHOWN_MISTAKES
        more = [f"{self.file}: {hidden} more mistakes"] if hidden > 0 else []
        super().__init__(
            "\n".join(
                [*(str(e) for e in (self._text_with_caret(), *further[: MAX_SHOWN_MISTAKES - 1])), *more]
            )
        )

    def _text_with_caret(self) -> str:
        """Return the summary, and the line of the file with a caret under the word."""
        if self.mark is None:
            return self.summary
        line, column, width = self.mark.line, self.mark.column, self.mark.width
        text = self.mark.text.replace("\t", " ")
        cut = max(0, column - MAX_SHOWN_CHARS // 2) if len(text) > MAX_SHOWN_CHARS else 0
        shown = "".join(c if c.isprintable() else "?" for c in text[cut : cut + MAX_SHOWN_CHARS])
        blank = " " * (column - 1 - cut)
        caret = "^" * max(1, min(width, len(shown) - len(blank)))
        return f"{self.summary}\n{line:>6} | {shown}\n       | {blank}{caret}"

    def __reduce__(self) -> tuple[object, ...]:
        return FormatError, (self.file, self.line, self.key, self.cause, self.mark, self.mistakes[1:])


def join_errors(mistakes: Iterable[FormatError]) -> FormatError:
    """Return one error for several mistakes, in the order of their lines."""
    each = [one for e in mistakes for one in (FormatError(*_list_fields(e)), *e.mistakes[1:])]
    unique = {e.summary: e for e in each}.values()
    first, *further = sorted(unique, key=lambda e: (e.file, e.line is None, e.line or 0, e.column or 0))
    return FormatError(*_list_fields(first), further)


def _list_fields(e: FormatError) -> tuple[str, int | None, str, str, TextSpan | None]:
    return e.file, e.line, e.key, e.cause, e.mark


class UnknownSystemError(TypelatticeError, ValueError):
    """A name that no system has, or a path that cannot be read."""

    __module__ = "typelattice"


@frozen(slots=False)
class SystemText:
    """A text, its file, and the positions of its parts. Raises FormatError if it is too large.

    A text that is not TOML is only the value of `order`, given by a program.
    """

    file: str
    text: str
    path: str | None = None
    is_toml: bool = True

    def __post_init__(self) -> None:
        if len(self.text) > MAX_SYSTEM_FILE_BYTES:
            cause = f"larger than {MAX_SYSTEM_FILE_BYTES:,} bytes; a system file states a rule"
            raise FormatError(self.file, None, "", cause)

    @cached_property
    def lines(self) -> Sequence[str]:
        """The lines of the text, the first at 0."""
        return self.text.split("\n")

    @cached_property
    def positions(self) -> KeyPositions:
        """The positions of the parts, found at the first use, since most answers name none."""
        return self._find_positions()

    @cached_property
    def _lines_of_order(self) -> Sequence[int]:
        """The line of each row of the order. Most explanations need no position below it."""
        return self._find_positions(until=("order",)).lines_of_rows("order")

    @cached_property
    def operation_sets(self) -> Mapping[str, list[str]]:
        """The lists of operations that the text names."""
        given = self.values().get(OPERATION_SETS_KEY) if self.is_toml else None
        if not isinstance(given, dict):
            return {}
        return {name: split_names(members) for name, members in given.items() if isinstance(members, str)}

    def list_entry_names(self) -> set[str]:
        """Return the operations, classes and sets of operations that the entries of `ops` name."""
        entries = self.values().get("ops")
        names = map(split_names, entries) if isinstance(entries, dict) else ()
        return {name for listed in names for name in listed}

    @property
    def is_shipped(self) -> bool:
        """True for a file that comes with typelattice."""
        return self.path is not None and os.path.dirname(self.path) == SYSTEMS_FOLDER

    def _find_positions(self, until: KeyPath | None = None) -> KeyPositions:
        from typelattice.core.system_files.positions import find_positions

        return find_positions(self.text if self.is_toml else "", until)

    def line_of(self, key: str, entry: str | int | None = None, part: str | None = None) -> int | None:
        """Return the line of a key, of an entry under it, or of the entry that has a certain part.

        An entry may be part of a list, `"mean, divide" = …`, and of several lists.
        """
        places = [self.positions.find_position(*path) for path in self._statement_paths(key, entry, part)[:1]]
        return next((place.line for place in places if place), None)

    def _statement_paths(self, key: str, entry: str | int | None, part: str | None) -> list[KeyPath]:
        """Return the paths of all statements about an entry, or about a part of it, in order."""
        keys = self.positions.key_offsets
        paths = self._find_paths(key, entry, part) or self._find_paths(key, entry, None) or [(key,)]
        return sorted((path for path in paths if path in keys), key=keys.__getitem__)

    def find_span(self, key: str, entry: str | int | None, part: str | None, word: str) -> TextSpan | None:
        """Return the position of a word in a key, entry or value. Without the word, return that of the key.

        None if the text has no such key.
        """
        part_or_word = word if word and part is None and self._find_paths(key, entry, word) else part
        paths = self._statement_paths(key, entry, part_or_word)
        if key == "ops":  # the word may stand in a set that the entry names
            paths += [(OPERATION_SETS_KEY, name) for name, ops in self.operation_sets.items() if word in ops]
        spans = [self.positions.span(path) for path in paths]
        if not spans:
            return None
        found = (self._find_mark(*span, word) for span in spans)
        return next(filter(None, found), None) or self._find_mark(*spans[0], "")

    def mark_of_row(self, row: int, word: str, column: int = 0) -> TextSpan | None:
        """Return the position of a word or column in a row, counted from 1, or of the whole row."""
        whole = self.text.replace("\r\n", "\n")
        rows = whole.split("\n")
        if not 1 <= row <= len(rows):
            return None
        start = sum(len(each) + 1 for each in rows[: row - 1])
        said = rows[row - 1].partition("#")[0].rstrip()
        end = start + len(said)
        if column:
            return TextSpan(row, column, 1, rows[row - 1])
        first = start + len(said) - len(said.lstrip())
        found = self._find_mark(start, end, word, whole)
        return found or TextSpan(row, first - start + 1, max(1, end - first), rows[row - 1])

    def _find_mark(self, start: int, end: int, word: str, whole: str | None = None) -> TextSpan | None:
        """Return the position of a word between two offsets.

        Without the word, return the position of the key.
        """
        whole = self.positions.text if whole is None else whole
        import re  # only an error has a mark

        from typelattice.core.system_files.positions import KEY_PATTERN

        token = rf"(?<![\w*]){re.escape(word)}(?![\w*])" if word else KEY_PATTERN.pattern
        found = re.compile(token).search(whole, start, end)
        if found is None:
            return None
        before = whole.rfind("\n", 0, found.start()) + 1
        after = whole.find("\n", found.start())
        text = whole[before : after if after >= 0 else len(whole)]
        line = whole.count("\n", 0, found.start()) + 1
        return TextSpan(line, found.start() - before + 1, found.end() - found.start(), text)

    def lines_of(self, key: str, entry: str | int | None, part: str | None = None) -> tuple[int, ...]:
        """Return the lines of all statements about an entry, or a part of it.

        A key without an entry has none.

        An entry may have several places, and several lines: `add.kernels = …`, `add.computes = …`.
        """
        places = [self.positions.find_position(*path) for path in self._find_paths(key, entry, part)]
        return tuple(sorted({place.line for place in places if place}))

    def _find_paths(self, key: str, entry: str | int | None, part: str | None) -> list[KeyPath]:
        """Return the paths of all statements about an entry, or about a part of it."""
        below = tuple(part.split(".")) if part else ()
        paths = self._paths_by_entry.get((key, entry), ())
        return [path for path in paths if path[2 : 2 + len(below)] == below]

    @cached_property
    def _paths_by_entry(self) -> Mapping[tuple[object, object], Sequence[KeyPath]]:
        """The paths of all statements about an entry of a key, or about an operation that an entry names."""
        found: dict[tuple[object, object], list[KeyPath]] = {}
        for path in self.positions.key_offsets:
            if len(path) > 1:
                for entry in {path[1], *list_operations(str(path[1]), self.operation_sets)}:
                    found.setdefault((path[0], entry), []).append(path)
        return found

    def operations_beside(self, op: str, part: str) -> set[str]:
        """Return the operations and classes for which the same statement of `ops` states a part."""
        paths = self._find_paths("ops", op, part)
        return {name for path in paths for name in list_operations(str(path[1]), self.operation_sets)}

    def error_at(
        self,
        cause: str,
        key: str,
        entry: str | int | None = None,
        part: str | None = None,
        word: str = "",
    ) -> FormatError:
        """Return an error for a key, for an entry under it, or for a word in that."""
        mark = self.find_span(key, entry, part, word)
        return FormatError(self.file, mark.line if mark else None, key, cause, mark)

    def values(self) -> dict[str, object]:
        """Parse the TOML. Raises FormatError if it is not valid.

        The parser is slow for a deeply nested text, or raises RecursionError. Tests check that the shipped
        files are not nested deeply.
        """
        if not self.is_shipped and (deep := self.positions.too_deep):
            from typelattice.core.system_files.positions import TOO_DEEP_MESSAGE

            mark = self.mark_of_row(deep.line, "", deep.column)
            raise FormatError(self.file, deep.line, "", TOO_DEEP_MESSAGE, mark)
        try:
            return parse_toml(self.path, self.text)
        except ValueError as e:
            import re  # only for an error

            position_match = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", str(e))
            line = int(position_match[1] or self.text.count("\n") + 1) if position_match else None
            column = int(position_match[2] or 0) if position_match else 0
            why = str(e)[: position_match.start()] if position_match else "a number of too many digits"
        if why.startswith("Illegal character '\\n'"):
            why += "; is a closing quotation mark missing?"
        if (repeated_key := self.positions.repeated) and line and line >= repeated_key[2].line:
            path, first, again = repeated_key
            key = quote_short(".".join(map(str, path)))
            cause = f"{key} is given twice; it stands on line {first.line} already"
            mark = self.mark_of_row(again.line, "", again.column)
            raise FormatError(self.file, again.line, str(path[0]), cause, mark)
        raise FormatError(
            self.file, line, "", f"not TOML: {why}", self.mark_of_row(line, "", column) if line else None
        )

    def parse_statements(self, order: str) -> Iterator[tuple[OrderRow, WordChain]]:
        """Yield the statements of its order, each with its row.

        Raises FormatError for a text that is not a statement.
        """
        for row, line in enumerate(order.split("\n")):
            try:
                for _, chain in split_statements(line.partition("#")[0]):
                    yield (self, row), chain
            except OrderError as e:
                raise self.error_in_order(row, str(e), e.word) from None

    def line_of_row(self, row: int) -> int:
        return self._lines_of_order[row] if self._lines_of_order else row + 1

    def error_in_order(self, row: int, cause: str, word: str = "") -> FormatError:
        line = self.line_of_row(row)
        return FormatError(self.file, line, "order", cause, self.mark_of_row(line, word))


def systems(versions: bool = False, functions: bool = False) -> tuple[str, ...]:
    """Return the names of the shipped systems. With `versions`, also return the names of older releases.

    With `functions`, also return the systems of packages such as SciPy. Their functions take arrays of
    another library.

    >>> import typelattice as tl
    >>> [name for name in tl.systems(versions=True) if name.startswith("numpy@")]
    ['numpy@2.0', 'numpy@2.4']
    """
    stems = {file.removesuffix(".toml") for file in os.listdir(SYSTEMS_FOLDER) if file.endswith(".toml")}
    names = sorted(stem for stem in stems if "@" not in stem)
    if not functions:
        from typelattice.core.registry.system_headings import (  # needed for lists only
            FUNCTIONS_HEADING,
            heading_of,
        )

        names = [name for name in names if heading_of(name) != FUNCTIONS_HEADING]
    if not versions:
        return tuple(names)
    from typelattice.core.registry.releases import (  # needed for older releases only
        VERSION_SIGN,
        list_releases,
    )

    older = {name: [name + VERSION_SIGN + release for release in list_releases(name)[:-1]] for name in names}
    return tuple(each for name in names for each in (name, *older[name]))


def read_text(path: str | os.PathLike[str]) -> SystemText:
    """Read a file. Raises UnknownSystemError if it cannot be read, FormatError if it is not text."""
    name = os.path.basename(path)
    try:
        data = read_bytes(path, MAX_SYSTEM_FILE_BYTES + 1)
    except FileError as e:
        raise UnknownSystemError(f"{e}; give the path of a .toml file") from None
    try:
        text = data.removeprefix(BOM_UTF8).decode() if len(data) <= MAX_SYSTEM_FILE_BYTES else " " * len(data)
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise FormatError(name, line, "", f"not UTF-8 text (byte {e.start}); save it as UTF-8") from None
    return SystemText(name, text, os.path.realpath(path))


def split_names(text: str) -> list[str]:
    """Return the words of a list, such as `mean, divide`, which may go over several lines."""
    return [*map(str.strip, text.split(","))]


def list_operations(entry: str, operation_sets: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the operations of an entry of `ops` such as `mean, divide`: those of a set in its place."""
    return [op for name in split_names(entry) for op in operation_sets.get(name, [name])]


def is_name(word: str, max_chars: int, signs: str) -> bool:
    """Return True for a word of letters, digits, _ and certain signs that does not begin with a sign.

    >>> is_name("numpy@2.4", 60, "@."), is_name("@2.4", 60, "@."), is_name("", 60, "@.")
    (True, False, False)
    """
    return (
        0 < len(word) <= max_chars
        and word[0] not in signs
        and all(char.isalnum() or char == "_" or char in signs for char in word)
    )


def toml_type_name(cls: type) -> str:
    """Return TOML's name for a type, for an error message."""
    toml = {
        str: "a string", dict: "a table", list: "a list", bool: "true or false", int: "a whole number",
        float: "a fraction",
    }  # fmt: skip
    return toml.get(cls, f"a {cls.__name__}")


def _shorten_to_line(text: str, limit: int) -> str:
    """Return a text on one line, shortened, with unprintable characters escaped."""
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[: limit + 1])
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"
