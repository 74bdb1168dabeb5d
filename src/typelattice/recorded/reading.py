"""A recording's document read: every part checked, every fault placed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typelattice.recorded.rows import (
    AS,
    FORMAT,
    SAME,
    Line,
    RecordingError,
    Row,
    Square,
    cells,
    restricted,
    width,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reader:
    """A document on its way to a Recording: every part checked, every fault placed."""

    path: str
    document: object

    def parts(self) -> dict[str, Any]:
        """The fields of a Recording. Raises RecordingError."""
        top = self.table(self.document, "the file")
        if top.get("format") != FORMAT:
            raise self.fault("format", f"is {top.get('format')!r}, this version reads {FORMAT}")
        operands = self.names(top, "operands")
        answers = self.names(top, "answers")
        return {
            "library": self.text(top, "library"),
            "versions": self.texts(top, "versions"),
            "python": self.text(top, "python"),
            "date": self.text(top, "date"),
            "how": self.text(top, "how"),
            "operands": operands,
            "answers": answers,
            "errors": self.texts(top, "errors"),
            "binary": self.squares(self.table(self.key(top, "binary"), "binary"), len(operands), answers),
            "unary": {
                op: self.line(value, f"unary.{op}", len(operands), answers)
                for op, value in self.table(self.key(top, "unary"), "unary").items()
            },
            "nary": tuple(
                self.call(value, f"nary, call {number}", len(operands), len(answers))
                for number, value in enumerate(self.array(top, "nary"), 1)
            ),
            "seed": self.number(self.key(top, "seed"), "seed"),
        }

    def fault(self, where: str, what: str) -> RecordingError:
        return RecordingError(f"{self.path}: {where}: {what}; record it again")

    def key(self, table: Mapping[str, object], key: str) -> object:
        if key not in table:
            raise self.fault(key, "is missing")
        return table[key]

    def table(self, value: object, where: str) -> dict[str, object]:
        if not isinstance(value, dict):
            raise self.fault(where, "is not an object")
        return value

    def array(self, table: Mapping[str, object], key: str) -> list[object]:
        return self.list_of(self.key(table, key), key)

    def list_of(self, value: object, where: str) -> list[object]:
        if not isinstance(value, list):
            raise self.fault(where, "is not a list")
        return value

    def number(self, value: object, where: str) -> int:
        if type(value) is not int:
            raise self.fault(where, f"{value!r} is not an integer")
        return value

    def text(self, table: Mapping[str, object], key: str, inside: str = "") -> str:
        value = self.key(table, key)
        if not isinstance(value, str):
            raise self.fault(f"{inside}{key}", f"{value!r} is not a string")
        return value

    def texts(self, table: Mapping[str, object], key: str) -> dict[str, str]:
        inner = self.table(self.key(table, key), key)
        return {name: self.text(inner, name, f"{key}.") for name in inner}

    def names(self, table: Mapping[str, object], key: str) -> tuple[str, ...]:
        names: dict[str, None] = {}
        for number, name in enumerate(self.array(table, key), 1):
            if not isinstance(name, str) or name in names:
                what = "is not a string" if not isinstance(name, str) else "occurs twice"
                raise self.fault(f"{key}, entry {number}", f"{name!r} {what}")
            names[name] = None
        return tuple(names)

    def indices(self, value: object, where: str, limit: int) -> tuple[int, ...]:
        found = tuple(self.number(each, where) for each in self.list_of(value, where))
        for number, index in enumerate(found, 1):
            if not 0 <= index < limit:
                raise self.fault(f"{where}, entry {number}", f"there is no operand {index}")
        return found

    def chosen(self, table: Mapping[str, object], where: str, operands: int) -> tuple[int, ...]:
        if "operands" not in table:
            return tuple(range(operands))
        return self.indices(table["operands"], f"{where}.operands", operands)

    def line(self, value: object, where: str, operands: int, answers: Sequence[str]) -> Line:
        table = value if isinstance(value, dict) else {"row": value}
        chosen = self.chosen(table, where, operands)
        return Line(chosen, self.row(self.key(table, "row"), where, len(chosen), answers))

    def squares(
        self, value: Mapping[str, object], operands: int, answers: Sequence[str]
    ) -> dict[str, Square]:
        found: dict[str, Square] = {}
        for op, table in value.items():
            where = f"binary.{op}"
            other = self.table(table, where).get(AS)
            if other is None:
                found[op] = self.square(table, where, operands, answers)
            elif isinstance(other, str) and other in found:
                found[op] = self.square_as(self.table(table, where), where, found[other], operands, answers)
            else:
                raise self.fault(f"{where}.{AS}", f"{other!r} is no operation above it")
        return found

    def square_as(
        self, table: Mapping[str, object], where: str, other: Square, operands: int, answers: Sequence[str]
    ) -> Square:
        """An operation that is written as what differs from another, of which it has the operands."""
        chosen = self.chosen(table, where, operands) if "operands" in table else other.operands
        if not {*chosen} <= {*other.operands}:
            raise self.fault(f"{where}.operands", "are not all among those of the other operation")
        rows = [*restricted(other, chosen)]
        for number, row in self.sparse(table, where, len(rows), range(len(answers))):
            rows[number] = self.merged(f"{where}, row {number}", rows[number], row)
        return Square(chosen, tuple(rows))

    def sparse(
        self, table: Mapping[str, object], where: str, length: int, place: Sequence[int]
    ) -> Iterator[tuple[int, list[int | None]]]:
        """Rows that are written as what differs: the number of each, and its answers; None is the same."""
        for entry, row in enumerate(self.list_of(self.key(table, "rows"), f"{where}.rows"), 1):
            at = f"{where}, entry {entry}"
            parts = self.list_of(row, at)
            if len(parts) != 2 or not isinstance(parts[0], str):
                raise self.fault(at, "is no [row, its numbers]")
            told = self.told(at, parts[0], place)
            for number in self.indices(parts[1], at, length):
                yield number, told

    def told(self, where: str, text: str, place: Sequence[int]) -> list[int | None]:
        """The answers that a text of digits and blanks says."""
        known, digits = cells(len(place)), width(place)
        found: list[int | None] = []
        for start in range(0, len(text), digits):
            cell = text[start : start + digits]
            if not cell.strip(SAME):
                found.append(None)
            elif cell in known:
                found.append(place[known[cell]])
            else:
                raise self.fault(f"{where}, column {start // digits + 1}", f"{cell!r} is no answer")
        return found

    def merged(self, where: str, row: Row, now: Sequence[int | None]) -> Row:
        """A row with the answers that differ in it."""
        if len(now) > len(row):
            raise self.fault(where, f"{len(now)} answers, not {len(row)}")
        rest = row[len(now) :]
        return (*(old if new is None else new for old, new in zip(row, now, strict=False)), *rest)

    def square(self, value: object, where: str, operands: int, answers: Sequence[str]) -> Square:
        table = self.table(value, where)
        chosen = self.chosen(table, where, operands)
        rows = self.list_of(self.key(table, "rows") if "rows" in table else None, f"{where}.rows")
        if len(rows) != len(chosen):
            raise self.fault(where, f"{len(rows)} rows for {len(chosen)} operands")
        told: list[Row] = []
        for number, row in enumerate(rows, 1):
            place = f"{where}, row {number}"
            if type(row) is int and not 0 <= row < len(told):
                raise self.fault(place, f"there is no row {row} above")
            told.append(told[row] if type(row) is int else self.row(row, place, len(chosen), answers))
        return Square(chosen, tuple(told))

    def row(self, value: object, where: str, length: int, answers: Sequence[str]) -> Row:
        digits = width(answers)
        if not isinstance(value, str):
            raise self.fault(where, "is not a string")
        if len(value) != length * digits:
            raise self.fault(where, f"{len(value)} characters, not {length * digits}")
        known = cells(len(answers))
        written = [value[start : start + digits] for start in range(0, len(value), digits)]
        try:
            return tuple([known[cell] for cell in written])
        except KeyError:
            column, cell = next((i, cell) for i, cell in enumerate(written, 1) if cell not in known)
            raise self.fault(f"{where}, column {column}", f"{cell!r} is no answer") from None

    def call(
        self, value: object, where: str, operands: int, answers: int
    ) -> tuple[str, tuple[int, ...], int]:
        parts = self.list_of(value, where)
        if len(parts) != 3 or not isinstance(parts[0], str):
            raise self.fault(where, "is not [operation, operands, answer]")
        answer = self.number(parts[2], where)
        if not 0 <= answer < answers:
            raise self.fault(where, f"there is no answer {answer}")
        return parts[0], self.indices(parts[1], where, operands), answer
