"""What a library answered: a recording, read from and written to one JSON file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from typelattice.disk.read import FileError, read_bytes
from typelattice.disk.write import write_text
from typelattice.facts.operations import NAMES
from typelattice.facts.releases import SIGN
from typelattice.facts.suggest import short
from typelattice.recorded.changes import BASE, parts, written
from typelattice.recorded.messages import answer_of, told
from typelattice.recorded.reading import Reader
from typelattice.recorded.rows import (
    AS,
    FORMAT,
    Line,
    RecordingError,
    Row,
    Square,
    encode,
    folded,
    restricted,
    sparse,
    width,
)  # fmt: skip

LIMIT_BYTES = 20_000_000  # a hundred times the largest so far
RECORDINGS = Path(__file__).with_name("recordings")
GUESTS = "guests"  # the folder in it of recordings of another library's arrays among a library's own


@dataclass(frozen=True, slots=True)
class Call:
    """One call and its answer, all as strings; of an exception also the message, if that was kept."""

    op: str
    operands: tuple[str, ...]
    answer: str
    message: str = ""

    @property
    def question(self) -> str:
        """The call alone: `add(int8, uint8)`."""
        return f"{self.op}({', '.join(self.operands)})"

    def __str__(self) -> str:
        return f"{self.question} = {self.answer}"


@dataclass(frozen=True, slots=True)
class Recording:
    """A library's answers; operands and answers are referred to by index.

    `errors` has the messages of exceptions, by the names under which `answers` keeps these: `!TypeError#2`.
    An exception of a plain name, `!TypeError`, has no message of its own. `nary` holds random calls of three
    operands and more, drawn with `seed`.
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
        """The recording of that name, or in the file at that path.

        One of an older release, or of a system much like another, is read on top of the one that it rests on.
        """
        path = Path(name)
        if path.suffix != ".json":
            if str(name) not in recorded():
                there = ", ".join(recorded()) or "none"
                what = f"there is no recording {short(str(name))}; there are {there}"
                raise RecordingError(f"{what}; a path ends in .json")
            path = RECORDINGS / f"{name}.json"
        reader = Reader(str(path), _document(path))
        base = base_of(reader)
        return cls(**(reader.parts() if base is None else parts(reader, cls.load(base))))

    def save_changes(self, path: str | Path, base: str) -> None:
        """Writes what differs from the recording that goes by a name. Raises FileError, RecordingError."""
        write_text(path, _layout(written(self, Recording.load(base), base)) + "\n")

    def save(self, path: str | Path) -> None:
        """Writes the file, one row a line, so that a changed answer is a changed line. Raises FileError."""
        digits = width(self.answers)

        def chosen(value: Line | Square) -> dict[str, object]:
            whole = value.operands == tuple(range(len(self.operands)))
            return {} if whole else {"operands": list(value.operands)}

        def line(value: Line) -> object:
            row = encode(value.row, digits)
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
                op: self._written(op, self.binary[op], chosen(self.binary[op])) for op in self._in_order()
            },
            "unary": {op: line(value) for op, value in self.unary.items()},
            "seed": self.seed,
            "nary": [[op, list(operands), answer] for op, operands, answer in self.nary],
        }
        write_text(path, _layout(document) + "\n")

    def _in_order(self) -> list[str]:
        """The operations of two operands, each after those as which it may be written."""
        return sorted(self.binary, key=lambda op: len(_alike(op)))

    def _written(self, op: str, value: Square, chosen: dict[str, object]) -> dict[str, object]:
        """An operation as the file has it: an operator as what differs from its function, if shorter."""
        digits = width(self.answers)
        found = {**chosen, "rows": folded(encode(row, digits) for row in value.rows)}
        for like in _alike(op):
            other = self.binary.get(like)
            if other is None or not {*value.operands} <= {*other.operands}:
                continue
            theirs = restricted(other, value.operands)
            rows = sparse(
                (
                    [None if a == b else a for a, b in zip(row, their, strict=True)]
                    for row, their in zip(value.rows, theirs, strict=True)
                ),
                digits,
            )
            same = {} if value.operands == other.operands else {"operands": list(value.operands)}
            found = min(found, {AS: like, **same, "rows": rows}, key=lambda form: len(json.dumps(form)))
        return found

    def calls(self, every: int = 1) -> Iterator[Call]:
        """The calls that were made, with their answers; for a sample, one of `every` so many."""
        names, answers = self.operands, [told(kept, self.errors) for kept in self.answers]
        at = 0  # the place of the next call in a row
        for op, first, last, row in self._rows():
            before = [names[operand] for operand in first]
            for i in range(at, len(row), every):
                yield Call(op, (*before, names[last[i]]), *answers[row[i]])
            at = (at - len(row)) % every

    def _rows(self) -> Iterator[tuple[str, tuple[int, ...], Sequence[int], Row]]:
        """The calls that differ in their last operand alone: the others, the last of each, the answers."""
        for op, line in self.unary.items():
            yield op, (), line.operands, line.row
        for op, square in self.binary.items():
            for first, row in zip(square.operands, square.rows, strict=True):
                yield op, (first,), square.operands, row
        for op, operands, answer in self.nary:
            yield op, operands[:-1], operands[-1:], (answer,)

    def answer(self, op: str, *operands: str) -> str:
        """The library's answer to one call; RecordingError where it was not asked."""
        try:
            return answer_of(self.answers[self._index(op, tuple(map(self.operands.index, operands)))])
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


def _alike(op: str) -> tuple[str, ...]:
    """The operations that an operator mostly answers like: `+=` like `+`, and like `add`."""
    known = NAMES.get(op)
    if known is None or not known.is_operator:
        return ()
    return (known.name[:-1], known.function) if known.in_place else (known.function,)


def recorded() -> tuple[str, ...]:
    """The names of the recordings that are kept here."""
    return tuple(sorted(path.stem for path in RECORDINGS.glob("*.json")))


def base_of(reader: Reader) -> str | None:
    """The name of the recording that a document rests on; None if it is whole. Raises RecordingError."""
    if not isinstance(reader.document, dict) or BASE not in reader.document:
        return None
    base = reader.text(reader.document, BASE)
    if base not in recorded() or SIGN in base:
        raise reader.fault(BASE, f"{short(base)} is no recording that comes along")
    return base


def _document(path: Path) -> object:
    """The JSON document in a file. Raises RecordingError for a file that cannot be read or is none."""
    try:
        data = read_bytes(path, LIMIT_BYTES + 1)
    except FileError as error:
        raise RecordingError(str(error)) from error
    if len(data) > LIMIT_BYTES:
        raise RecordingError(f"{path} is larger than {LIMIT_BYTES:,} bytes")
    try:
        document: object = json.loads(data.decode("utf-8"))
        return document
    except UnicodeDecodeError as error:
        raise RecordingError(f"{path} is not UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise RecordingError(f"{path} is not JSON: {where}: {error.msg}") from error
    except RecursionError:
        raise RecordingError(f"{path} is not a recording: nested too deep") from None
    except ValueError:  # Python reads no integers of more than 4,300 digits
        raise RecordingError(f"{path} is not a recording: a number of too many digits") from None


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
        return json.dumps(value)
    return opening + ",".join(f"\n{inner}{item}" for item in items) + f"\n{margin}{closing}"
