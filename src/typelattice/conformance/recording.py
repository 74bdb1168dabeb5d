"""What a library answered: a recording, read from and written to one JSON file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

ALPHABET = "".join(chr(code) for code in range(33, 127) if chr(code) not in '"\\')[:90]
"""The digits in which a row writes its answers, by index."""

FORMAT = 1

RECORDINGS = Path(str(resources.files("typelattice.conformance"))) / "recordings"

Row = tuple[int, ...]


class RecordingError(ValueError):
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


@dataclass(frozen=True, slots=True)
class Call:
    """One call and its answer, all as strings."""

    op: str
    operands: tuple[str, ...]
    answer: str

    def __str__(self) -> str:
        return f"{self.op}({', '.join(self.operands)}) = {self.answer}"


@dataclass(frozen=True, slots=True)
class Recording:
    """A library's answers; operands and answers are referred to by index.

    `errors` keeps one message of each exception; `nary` holds random calls of three operands and
    more, drawn with `seed`.
    """

    library: str
    versions: Mapping[str, str]
    python: str
    date: str
    how: str
    operands: tuple[str, ...]
    answers: tuple[str, ...]
    errors: Mapping[str, str]
    binary: Mapping[str, Square]
    unary: Mapping[str, Line]
    nary: tuple[tuple[str, tuple[int, ...], int], ...]
    seed: int

    @classmethod
    def load(cls, name: str | Path) -> Recording:
        """The recording of that name, or in the file at that path."""
        path = Path(name)
        if path.suffix != ".json":
            path = RECORDINGS / f"{name}.json"
            if not path.exists():
                there = ", ".join(recorded()) or "none"
                raise RecordingError(f"there is no recording {str(name)!r}; there are {there}")
        try:
            text = path.read_text(encoding="utf-8")
            return _Reader(str(path), json.loads(text)).recording()
        except OSError as error:
            raise RecordingError(f"{path} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise RecordingError(f"{path} is not UTF-8 at byte {error.start}") from error
        except json.JSONDecodeError as error:
            where = f"line {error.lineno}, column {error.colno}"
            raise RecordingError(f"{path} is not JSON: {where}: {error.msg}") from error

    def save(self, path: str | Path) -> None:
        """Write the file, one row a line, so that a changed answer is a changed line."""
        width = _width(self.answers)

        def chosen(value: Line | Square) -> dict[str, object]:
            whole = value.operands == tuple(range(len(self.operands)))
            return {} if whole else {"operands": list(value.operands)}

        def line(value: Line) -> object:
            row = _encode(value.row, width)
            return {**chosen(value), "row": row} if chosen(value) else row

        document = {
            "format": FORMAT,
            "library": self.library,
            "versions": dict(self.versions),
            "python": self.python,
            "date": self.date,
            "how": self.how,
            "operands": list(self.operands),
            "answers": list(self.answers),
            "errors": dict(self.errors),
            "binary": {
                op: {**chosen(value), "rows": [_encode(row, width) for row in value.rows]}
                for op, value in self.binary.items()
            },
            "unary": {op: line(value) for op, value in self.unary.items()},
            "seed": self.seed,
            "nary": [[op, list(operands), answer] for op, operands, answer in self.nary],
        }
        Path(path).write_text(_layout(document) + "\n", encoding="utf-8")

    def calls(self) -> Iterator[Call]:
        """Every call that was made, with its answer."""
        names, answers = self.operands, self.answers
        for op, line in self.unary.items():
            for i, answer in zip(line.operands, line.row, strict=True):
                yield Call(op, (names[i],), answers[answer])
        for op, square in self.binary.items():
            for first, row in zip(square.operands, square.rows, strict=True):
                for second, answer in zip(square.operands, row, strict=True):
                    yield Call(op, (names[first], names[second]), answers[answer])
        for op, operands, answer in self.nary:
            yield Call(op, tuple(names[i] for i in operands), answers[answer])

    def answer(self, op: str, *operands: str) -> str:
        """The library's answer to one call; RecordingError where it was not asked."""
        try:
            return self.answers[self._index(op, tuple(map(self.operands.index, operands)))]
        except (KeyError, ValueError):
            call = f"{op}({', '.join(operands)})"
            raise RecordingError(f"{self.library} was not asked {call}") from None

    def _index(self, op: str, operands: tuple[int, ...]) -> int:
        if len(operands) == 1:
            line = self.unary[op]
            return line.row[line.operands.index(operands[0])]
        if len(operands) == 2:
            square = self.binary[op]
            first, second = map(square.operands.index, operands)
            return square.rows[first][second]
        return {(name, asked): answer for name, asked, answer in self.nary}[op, operands]


def recorded() -> tuple[str, ...]:
    """The names of the recordings that are kept here."""
    return tuple(sorted(path.stem for path in RECORDINGS.glob("*.json")))


def _layout(value: object, key: str = "", margin: str = "") -> str:
    """JSON with one line a key, a row or a random call."""
    inner = margin + " "
    if isinstance(value, dict):
        items = [f"{json.dumps(k)}: {_layout(v, k, inner)}" for k, v in value.items()]
        opening, closing = "{}"
    elif isinstance(value, list) and key in ("rows", "nary"):
        items = [_layout(each) for each in value]
        opening, closing = "[]"
    else:
        return json.dumps(value, ensure_ascii=False)
    return opening + ",".join(f"\n{inner}{item}" for item in items) + f"\n{margin}{closing}"


def _width(answers: Sequence[str]) -> int:
    return 1 if len(answers) <= len(ALPHABET) else 2


def _encode(row: Row, width: int) -> str:
    base = len(ALPHABET)
    if width == 1:
        return "".join(ALPHABET[answer] for answer in row)
    return "".join(ALPHABET[answer // base] + ALPHABET[answer % base] for answer in row)


@dataclass(frozen=True, slots=True)
class _Reader:
    """A document on its way to a Recording: every part checked, every fault placed."""

    path: str
    document: object

    def recording(self) -> Recording:
        top = self.table(self.document, "the file")
        if top.get("format") != FORMAT:
            raise self.fault("format", f"is {top.get('format')!r}, this version reads {FORMAT}")
        operands = self.names(top, "operands")
        answers = self.names(top, "answers")
        return Recording(
            library=self.text(top, "library"),
            versions=self.texts(top, "versions"),
            python=self.text(top, "python"),
            date=self.text(top, "date"),
            how=self.text(top, "how"),
            operands=operands,
            answers=answers,
            errors=self.texts(top, "errors"),
            binary={
                op: self.square(value, f"binary.{op}", len(operands), answers)
                for op, value in self.table(self.key(top, "binary"), "binary").items()
            },
            unary={
                op: self.line(value, f"unary.{op}", len(operands), answers)
                for op, value in self.table(self.key(top, "unary"), "unary").items()
            },
            nary=tuple(
                self.call(value, f"nary, call {number}", len(operands), len(answers))
                for number, value in enumerate(self.array(top, "nary"), 1)
            ),
            seed=self.number(self.key(top, "seed"), "seed"),
        )

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

    def square(self, value: object, where: str, operands: int, answers: Sequence[str]) -> Square:
        table = self.table(value, where)
        chosen = self.chosen(table, where, operands)
        rows = self.list_of(self.key(table, "rows") if "rows" in table else None, f"{where}.rows")
        if len(rows) != len(chosen):
            raise self.fault(where, f"{len(rows)} rows for {len(chosen)} operands")
        return Square(
            chosen,
            tuple(self.row(row, f"{where}, row {number}", len(chosen), answers) for number, row in enumerate(rows, 1)),
        )

    def row(self, value: object, where: str, length: int, answers: Sequence[str]) -> Row:
        width = _width(answers)
        if not isinstance(value, str):
            raise self.fault(where, "is not a string")
        if len(value) != length * width:
            raise self.fault(where, f"{len(value)} characters, not {length * width}")
        row = []
        for start in range(0, len(value), width):
            index = 0
            for character in value[start : start + width]:
                digit = ALPHABET.find(character)
                index = index * len(ALPHABET) + digit if digit >= 0 else len(answers)
            if index >= len(answers):
                cell = value[start : start + width]
                raise self.fault(f"{where}, column {start // width + 1}", f"{cell!r} is no answer")
            row.append(index)
        return tuple(row)

    def call(self, value: object, where: str, operands: int, answers: int) -> tuple[str, tuple[int, ...], int]:
        parts = self.list_of(value, where)
        if len(parts) != 3 or not isinstance(parts[0], str):
            raise self.fault(where, "is not [operation, operands, answer]")
        answer = self.number(parts[2], where)
        if not 0 <= answer < answers:
            raise self.fault(where, f"there is no answer {answer}")
        return parts[0], self.indices(parts[1], where, operands), answer
