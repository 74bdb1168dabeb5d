"""The place in a system file that is being read, and the mistakes found so far."""
from __future__ import annotations

from collections.abc import Iterator

from typelattice.core.system_files.system_definition import SystemDefinition
from typelattice.core.system_files.system_text import FormatError, OrderRow, join_errors
from typelattice.core.system_files.value_reader import (
    MAX_ENTRIES,
    ConsequentError,
    OrderDependentError,
    RepeatedEntryError,
    UnknownWordError,
    table_items,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")


class KeyReader:
    """A reader of a definition, key after key, with its current position and the mistakes found so far.

    `noting` keeps a mistake and goes on. `is_order_whole` is false after a mistake in the keys that joins
    depend on. Mistakes that only follow from it are then dropped.
    """

    def __init__(self, definition: SystemDefinition) -> None:
        self.definition = definition
        self.key = "name"
        self.entry: str | int | None = None
        self.part: str | None = None  # the part of an entry with several places
        self.row: OrderRow | None = None  # the row of a statement of the order
        self.mistakes: list[FormatError] = [*definition.mistakes]
        self.is_order_whole = "order" not in definition.broken

    def go_to(self, key: str, entry: str | int | None = None, part: str | None = None) -> None:
        """Go to a key, to an entry or element under it, or to a part of that."""
        self.key, self.entry, self.part = key, entry, part

    def read_value(self, key: str, default: T) -> T:
        """Return the value of a key. Raises ConsequentError for a wrong type, already reported."""
        self.go_to(key)
        if key in self.definition.broken:
            raise ConsequentError(key)
        value = self.definition.values.get(key, default)
        assert isinstance(value, type(default))
        return value

    def read_table(self, key: str) -> Iterator[tuple[str, object]]:
        """Yield the entries of a table. Yield nothing if the value is not a table, or is too long."""
        table: dict[str, object] = {}
        with self.record_mistakes():
            table = self.read_value(key, table)
            if len(table) > MAX_ENTRIES:
                table = {}
                raise ValueError(f"more than {MAX_ENTRIES:,} entries; a system file states a rule")
        for entry, value in table_items(table):
            self.go_to(key, entry)
            yield entry, value

    def record_mistakes(self) -> MistakeRecorder:
        """Note a mistake within the block, and go on after it."""
        return MistakeRecorder(self)

    def record_mistakes_in_part(self, key: str, entry: str, part: str) -> MistakeRecorder:
        """Note a mistake in a part of an entry, and go back to the entry."""
        self.go_to(key, entry, part)
        return MistakeRecorder(self, (key, entry))

    def note_mistake(self, mistake: ValueError) -> None:
        """Note a mistake, unless it only follows from another one."""
        follows = isinstance(mistake, ConsequentError) or (
            isinstance(mistake, OrderDependentError) and not self.is_order_whole
        )
        if not follows:
            self.mistakes.append(self.error_here(mistake))

    def finish(self) -> None:
        """Raise one FormatError for all mistakes that were noted."""
        if self.mistakes:
            raise join_errors(self.mistakes)

    def error_here(self, mistake: ValueError) -> FormatError:
        """Return the error for a mistake at the current place."""
        word = mistake.word if isinstance(mistake, UnknownWordError) else ""
        text, row = self.row or (self.definition.text_of_entry(self.key, self.entry), None)
        inherited = (
            "" if text.file == self.definition.main.file else f" ({self.definition.main.file} extends it)"
        )
        if isinstance(mistake, RepeatedEntryError):
            nested = self.part is not None
            entry, inner = (self.entry, mistake.earlier) if nested else (mistake.earlier, "")
            key = mistake.earlier_key or self.key
            text_of_earlier = self.definition.text_of_entry(key, entry)
            earlier = text_of_earlier.find_span(key, entry, self.part, inner)
            where = "" if text_of_earlier.file == text.file else f"{text_of_earlier.file}, "
            inherited = (f"; the other is on {where}line {earlier.line}" if earlier else "") + inherited
        if row is not None:
            return text.error_in_order(row, f"{mistake}{inherited}", word)
        return text.error_at(f"{mistake}{inherited}", self.key, self.entry, self.part, word)


class MistakeRecorder:
    """A part of a definition. A mistake in it is noted, and reading goes on at `next_entry`."""

    def __init__(self, reader: KeyReader, next_entry: tuple[str, str] | None = None) -> None:
        self.reader, self.next_entry = reader, next_entry

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, e: BaseException | None, trace: object) -> bool:
        if isinstance(e, ValueError):
            self.reader.note_mistake(e)
        elif e is not None:
            return False
        self.reader.row = None
        if self.next_entry:
            self.reader.go_to(*self.next_entry)
        return True
