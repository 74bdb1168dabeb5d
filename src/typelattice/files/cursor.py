"""The place in a system file that is being read. An error there names the file, the line and the key."""
from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from typelattice.files.spec import Spec
from typelattice.files.text import FormatError, Line
from typelattice.files.vocabulary import LIMIT_ENTRIES, items

T = TypeVar("T")


class Cursor:
    """A spec that is read key after key, and the place reached: a key, its entry, a line of the order."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.key = "name"
        self.entry: str | int | None = None
        self.part: str | None = None  # of an entry that may stand in several places
        self.line: Line | None = None  # of a statement of the order

    def at(self, key: str, entry: str | int | None = None, part: str | None = None) -> None:
        """Goes to a key, to an entry or element under it, or to a part of that."""
        self.key, self.entry, self.part = key, entry, part

    def value(self, key: str, default: T) -> T:
        """The value of a key, whose type is checked already."""
        self.at(key)
        value = self.spec.values.get(key, default)
        assert isinstance(value, type(default))
        return value

    def table(self, key: str) -> Iterator[tuple[str, object]]:
        """The entries of a table, one after another."""
        table = self.value(key, dict[str, object]())
        if len(table) > LIMIT_ENTRIES:
            raise ValueError(f"more than {LIMIT_ENTRIES:,} entries; a system file states a rule")
        for entry, value in items(table):
            self.at(key, entry)
            yield entry, value

    def error(self, cause: str) -> FormatError:
        """What is wrong with what is at hand."""
        text = self.spec.text_of_entry(self.key, self.entry)
        file, line = self.line or (text.file, text.line(self.key, self.entry, self.part))
        inherited = "" if file == self.spec.main.file else f" ({self.spec.main.file} extends it)"
        return FormatError(file, line, self.key, cause + inherited)
