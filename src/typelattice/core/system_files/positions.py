"""The places of keys, entries, elements and lines of strings in a TOML text.

`tomllib` gives the values of a text, but not their places. This scanner finds the places and judges nothing.
It reads the text once from left to right, by the grammar of https://toml.io/en/v1.0.0. It stops at the first
syntax error, which `tomllib` reports.
"""
from __future__ import annotations

import re

from typelattice.base.objects.frozen_classes import frozen

KeyPath = tuple[str | int, ...]  # ("ops", "divide", "to"). Elements of a list count from 0

MAX_KEY_PARTS = 8  # tomllib takes time that grows with the square of the parts of a dotted key
MAX_NESTING = 16  # levels of lists and tables: tomllib reads them by recursion, and so does this
TOO_DEEP_MESSAGE = (
    f"nested too deep: more than {MAX_KEY_PARTS} parts of a key, or {MAX_NESTING} lists and tables"
)

BLANKS_AND_COMMENTS_PATTERN = re.compile(r"(?:[ \t\n]++|#[^\n]*+)*+")
BLANKS_PATTERN = re.compile(r"[ \t]*+")
LINE_END_PATTERN = re.compile(r"[ \t]*+(?:#[^\n]*+)?(?:\n|\Z)")
KEY_PATTERN = re.compile(r"""[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'""")
SCALAR_PATTERN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}'  # the last three of up to five quotation marks end it
    r"|'''(?:[^']|'(?!''))*'{3,5}"  # not possessive: so Python 3.11.2 matches too little
    r'|"(?:[^"\\\n]|\\[^\n])*+"'
    r"|'[^'\n]*+'"
    r"|[^\"'\n,\]}#\[{]++",  # a number, a date, true or false
    re.DOTALL,
)
NEW_LINE_PATTERN = re.compile(
    r"\n|\\n|\\[ \t]*\n[ \t\n]*|\\."
)  # for a string in double quotes; the third alternative is not part of the string


@frozen()
class Position:
    """A line and a column of a text, both counted from 1."""

    line: int
    column: int


@frozen()
class KeyPositions:
    """The places of one text: the offset of each key path, and of the value that it is given.

    An element of a list is its own key. A table that has a header and no braces has no value.
    """

    text: str  # the text, with the line ends that tomllib reads
    key_offsets: dict[KeyPath, int]
    value_offsets: dict[KeyPath, int]
    ends: dict[KeyPath, int]  # offset of the end of each value
    repeated: tuple[KeyPath, Position, Position] | None = None  # the first key that is given twice
    too_deep: Position | None = (
        None  # a key with too many parts, or a value nested too deep; the rest is not read
    )

    def find_position(self, *path: str | int) -> Position | None:
        """Return the position of a key, an entry or an element, or None if the text lacks the path."""
        offset = self.key_offsets.get(path)
        return None if offset is None else position_at(self.text, offset)

    def span(self, path: KeyPath) -> tuple[int, int]:
        """Return the offsets of the start of a key and the end of its value, or of a key without value."""
        start = self.key_offsets[path]
        key = KEY_PATTERN.match(self.text, start)
        return start, self.ends.get(path, key.end() if key else start + 1)

    def lines_of_rows(self, *path: str | int) -> tuple[int, ...]:
        """Return the line of each row of a string, or an empty tuple if the path has no string."""
        start = self.value_offsets.get(path)
        found = SCALAR_PATTERN.match(self.text, start) if start is not None else None
        if start is None or found is None or found[0][0] not in "\"'":
            return ()
        long = found[0].startswith(('"""', "'''"))
        first = start + (3 if long else 1)
        if long and self.text.startswith("\n", first):
            first += 1  # the first line break is not part of the string
        line = position_at(self.text, first).line
        if found[0][0] == "'":
            return tuple(range(line, line + self.text.count("\n", first, found.end()) + 1))
        rows = [line]
        for new in NEW_LINE_PATTERN.finditer(self.text, first, found.end()):
            line += new[0].count("\n")
            if new[0] in ("\n", "\\n"):
                rows.append(line)
                first = new.end()
            elif new.start() == first and "\n" in new[0]:
                rows[-1] = line  # no text of the row came before this line break
                first = new.end()
        return tuple(rows)


def position_at(text: str, offset: int) -> Position:
    """Convert an offset in a text to a line and a column."""
    return Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def find_positions(text: str, until: KeyPath | None = None) -> KeyPositions:
    """Return the positions of all keys, up to the first syntax error, or up to the value of one key.

    >>> found = find_positions('name = "a"\\n[ops]\\ndivide.to = { b = "f32" }\\n')
    >>> found.find_position("ops", "divide", "to", "b"), found.find_position("ops", "add")
    (Position(line=3, column=15), None)
    """
    text = text.replace("\r\n", "\n")
    scanner = _Scanner(text)
    scanner.scan(until)
    twice, deep = scanner.repeated, scanner.too_deep
    return KeyPositions(
        text,
        scanner.keys,
        scanner.values,
        scanner.ends,
        (twice[0], position_at(text, twice[1]), position_at(text, twice[2])) if twice else None,
        None if deep is None else position_at(text, deep),
    )


class _ScanStopped(Exception):
    """Ends the scan at a syntax error, at a repeated key, or at a value that is too deep."""


class _Scanner:
    """A reader of a text from left to right. `offset` is its position.

    `path_origins` records how each path was made, since this decides whether the path may be given again: by
    "value", by "header", by "list" (of tables), "above" a header, or by the section in which a dotted key
    opens the table.
    """

    def __init__(self, text: str) -> None:
        self.text, self.offset = text, 0
        self.keys: dict[KeyPath, int] = {}
        self.values: dict[KeyPath, int] = {}
        self.ends: dict[KeyPath, int] = {}
        self.path_origins: dict[KeyPath, str | int] = {}
        self.lengths: dict[KeyPath, int] = {}  # lengths of lists of tables
        self.section = self.sections = 0  # a header or a pair of braces begins a section
        self.repeated: tuple[KeyPath, int, int] | None = None
        self.too_deep: int | None = None

    def scan(self, until: KeyPath | None) -> None:
        """Read the text up to the first syntax error, or up to the value of one key."""
        table: KeyPath = ()
        try:
            while self.skip(BLANKS_AND_COMMENTS_PATTERN) < len(self.text) and until not in self.ends:
                if self.text[self.offset] == "[":
                    table = self.read_header()
                else:
                    self.read_entry(table, 0)
                self.read_match(LINE_END_PATTERN)
        except _ScanStopped:
            return

    def read_header(self) -> KeyPath:
        """Read `[a.b]` or `[[a.b]]`, and open the table of that path."""
        brackets = 2 if self.text.startswith("[[", self.offset) else 1
        self.offset += brackets
        self.skip(BLANKS_PATTERN)
        *above, (name, at) = self.read_key_parts()
        table: KeyPath = ()
        for part, start in above:
            table = (*table, part)
            if self.path_origins.setdefault(table, "above") == "value":
                self.note_repeat(table, start)
            self.keys.setdefault(table, start)
            if table in self.lengths:
                table = (*table, self.lengths[table] - 1)
        table = (*table, name)
        made = self.path_origins.get(table)
        if made is not None and made != ("list" if brackets == 2 else "above"):
            self.note_repeat(table, at)
        self.section = self.sections = self.sections + 1
        if brackets == 1:
            self.keys[table] = at
        else:
            self.keys.setdefault(table, at)
            self.path_origins[table] = "list"
            self.lengths[table] = self.lengths.get(table, 0) + 1
            table = (*table, self.lengths[table] - 1)
            self.keys[table] = at
        self.path_origins[table] = "header"
        self.expect("]" * brackets)
        return table

    def read_entry(self, table: KeyPath, depth: int) -> None:
        """Read `key = value` in a table. The key may be dotted."""
        *above, (name, at) = self.read_key_parts()
        self.expect("=")
        self.skip(BLANKS_PATTERN)
        path = table
        for part, start in above:
            path = (*path, part)
            if self.path_origins.setdefault(path, self.section) == "above":
                self.path_origins[path] = self.section
            self.keys.setdefault(path, start)
            if self.path_origins[path] != self.section:
                self.note_repeat(path, start)
        path = (*path, name)
        if path in self.path_origins:
            self.note_repeat(path, at)
        self.path_origins[path] = "value"
        self.keys[path] = at
        self.read_value(path, depth)

    def read_value(self, path: KeyPath, depth: int) -> None:
        """Read a value, and everything in it."""
        self.values[path] = self.offset
        self._read_value(path, depth)
        self.ends[path] = self.offset

    def _read_value(self, path: KeyPath, depth: int) -> None:
        bracket = self.text[self.offset : self.offset + 1]
        if bracket not in ("[", "{"):
            self.read_match(SCALAR_PATTERN)
            return
        if depth == MAX_NESTING:
            self.too_deep = self.offset
            raise _ScanStopped
        self.offset += 1
        if bracket == "[":
            self.list_elements(path, depth + 1)
        else:
            outer, self.section = self.section, self.sections + 1
            self.sections += 1
            self.read_entries(path, depth + 1)
            self.section = outer

    def list_elements(self, path: KeyPath, depth: int) -> None:
        """Read the rest of a list."""
        n = 0
        self.skip(BLANKS_AND_COMMENTS_PATTERN)
        while not self.text.startswith("]", self.offset):
            self.keys[*path, n] = self.offset
            self.read_value((*path, n), depth)
            n += 1
            self.skip(BLANKS_AND_COMMENTS_PATTERN)
            if not self.text.startswith(",", self.offset):
                break
            self.offset += 1
            self.skip(BLANKS_AND_COMMENTS_PATTERN)
        self.expect("]")

    def read_entries(self, path: KeyPath, depth: int) -> None:
        """Read the rest of a table in braces."""
        self.skip(BLANKS_PATTERN)
        while not self.text.startswith("}", self.offset):
            self.read_entry(path, depth)
            self.skip(BLANKS_PATTERN)
            if not self.text.startswith(",", self.offset):
                break
            self.offset += 1
            self.skip(BLANKS_PATTERN)
        self.expect("}")

    def read_key_parts(self) -> list[tuple[str, int]]:
        """Return the parts of a dotted key, each with its offset, and the blanks after the key."""
        parts: list[tuple[str, int]] = []
        while True:
            start = self.offset
            parts.append((_unquote_key_part(self.read_match(KEY_PATTERN)), start))
            if len(parts) > MAX_KEY_PARTS:
                self.too_deep = parts[0][1]
                raise _ScanStopped
            self.skip(BLANKS_PATTERN)
            if not self.text.startswith(".", self.offset):
                return parts
            self.offset += 1
            self.skip(BLANKS_PATTERN)

    def skip(self, blanks: re.Pattern[str]) -> int:
        """Skip blanks, or also comments, and return the offset after them."""
        found = blanks.match(self.text, self.offset)
        self.offset = found.end() if found else self.offset
        return self.offset

    def read_match(self, pattern: re.Pattern[str]) -> str:
        """Read the text that is required here. Raises _Stop if it is missing."""
        found = pattern.match(self.text, self.offset)
        if not found:
            raise _ScanStopped
        self.offset = found.end()
        return found[0]

    def expect(self, sign: str) -> None:
        """Read a sign that is required here. Raises _Stop if it is missing."""
        if not self.text.startswith(sign, self.offset):
            raise _ScanStopped
        self.offset += len(sign)

    def note_repeat(self, path: KeyPath, offset: int) -> None:
        """Record a repeated path, and raise _Stop."""
        self.repeated = path, self.keys[path], offset
        raise _ScanStopped


def _unquote_key_part(key: str) -> str:
    """Return a part of a key without its quotation marks and escapes. Raises _Stop for an invalid one."""
    if key[0] == '"' and "\\" in key:
        import tomllib

        try:
            return str(tomllib.loads(f"key = {key}")["key"])
        except ValueError:
            raise _ScanStopped from None
    return key[1:-1] if key[0] in "\"'" else key
