"""A recording of another release, or of a system much like another, kept as what differs from that one.

`recordings/numpy@2.4.json` names its base, `numpy`, and states the answers of NumPy 2.4 to the base's
questions where they are others; `tensorflow-safe` rests on `tensorflow-all` in the same way. A row of answers
is written as in a recording, with a blank for each that is the same, and once for all rows that change alike.
The base is known by a digest of its questions and answers: where it was recorded anew, a recording that rests
on it has to be, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from typelattice.recorded.messages import SEPARATOR, told
from typelattice.recorded.reading import Reader
from typelattice.recorded.rows import FORMAT, Line, Row, Square, sparse, width

BASE = "base"  # the key by which such a file is told from a whole recording


class Recorded(Protocol):
    """A recording: what a library was asked, and what it answered."""

    @property
    def library(self) -> str: ...
    @property
    def versions(self) -> Mapping[str, str]: ...
    @property
    def python(self) -> str: ...
    @property
    def date(self) -> str: ...
    @property
    def how(self) -> str: ...
    @property
    def operands(self) -> tuple[str, ...]: ...
    @property
    def answers(self) -> tuple[str, ...]: ...
    @property
    def errors(self) -> Mapping[str, str]: ...
    @property
    def binary(self) -> Mapping[str, Square]: ...
    @property
    def unary(self) -> Mapping[str, Line]: ...
    @property
    def nary(self) -> tuple[tuple[str, tuple[int, ...], int], ...]: ...
    @property
    def seed(self) -> int: ...


def digest(base: Recorded) -> str:
    """A short text that is another one for other questions or answers."""
    from hashlib import sha256  # takes longer to load than an answer takes to be looked up

    binary = [(op, square.operands, square.rows) for op, square in base.binary.items()]
    unary = [(op, line.operands, line.row) for op, line in base.unary.items()]
    return sha256(repr((base.operands, base.answers, binary, unary, base.nary)).encode()).hexdigest()[:16]


def written(of: Recorded, base: Recorded, name: str) -> dict[str, object]:
    """The document of a recording that answers the same questions as its base, which goes by a name."""
    ours = [told(kept, of.errors) for kept in of.answers]
    theirs = [told(kept, base.errors) for kept in base.answers]
    changed: dict[tuple[str, str], int] = {}

    def row(now: Row, before: Row) -> list[int | None]:
        pairs = [(ours[i], theirs[j]) for i, j in zip(now, before, strict=True)]
        # An exception whose message was not kept may be the base's: that is no change.
        differing = [a != b and a != (b[0], "") for a, b in pairs]
        return [
            changed.setdefault(a, len(changed)) if d else None
            for d, (a, _) in zip(differing, pairs, strict=True)
        ]

    unary = {op: [row(line.row, base.unary[op].row)] for op, line in of.unary.items()}
    binary = {
        op: [row(a, b) for a, b in zip(square.rows, base.binary[op].rows, strict=True)]
        for op, square in of.binary.items()
    }
    nary = row(tuple(call[2] for call in of.nary), tuple(call[2] for call in base.nary))
    answers, errors = list[str](), dict[str, str]()
    for answer, message in changed:
        answers.append(f"{answer}{SEPARATOR}{len(errors) + 1}" if message else answer)
        if message:
            errors[answers[-1]] = message
    return {
        "format": FORMAT,
        BASE: name,
        "digest": digest(base),
        "library": of.library,
        "versions": dict(of.versions),
        "python": of.python,
        "date": of.date,
        "how": of.how,
        "answers": answers,
        "errors": errors,
        "unary": _rows(unary, width(answers)),
        "binary": _rows(binary, width(answers)),
        "nary": [[number, answer] for number, answer in enumerate(nary) if answer is not None],
    }


def _rows(of: Mapping[str, Sequence[Sequence[int | None]]], digits: int) -> dict[str, dict[str, object]]:
    """The changed rows of each operation."""
    found = {op: sparse(rows, digits) for op, rows in of.items()}
    return {op: {"rows": rows} for op, rows in found.items() if rows}


def parts(reader: Reader, base: Recorded) -> dict[str, Any]:
    """The fields of the Recording that a document and its base make. Raises RecordingError."""
    top = reader.table(reader.document, "the file")
    if top.get("format") != FORMAT:
        raise reader.fault("format", f"is {top.get('format')!r}, this version reads {FORMAT}")
    if reader.text(top, "digest") != digest(base):
        raise reader.fault("digest", f"the recording {base.library} that it rests on is another by now")
    answers, errors, place = list(base.answers), dict(base.errors), list[int]()
    known = {told(kept, errors): kept for kept in answers}
    messages = reader.texts(top, "errors")
    for kept in reader.names(top, "answers"):
        answer, message = told(kept, messages)
        if (answer, message) not in known:
            name = f"{answer}{SEPARATOR}{len(errors) + 1}" if message else answer
            errors |= {name: message} if message else {}
            known[answer, message] = name
            answers.append(name)
        place.append(answers.index(known[answer, message]))
    unary, binary = dict(base.unary), dict(base.binary)
    for op, _, row in _changes(reader, "unary", dict.fromkeys(unary, 1), place):
        unary[op] = Line(unary[op].operands, reader.merged(f"unary.{op}", unary[op].row, row))
    for op, number, row in _changes(reader, "binary", {op: len(s.rows) for op, s in binary.items()}, place):
        rows = list(binary[op].rows)
        rows[number] = reader.merged(f"binary.{op}, row {number}", rows[number], row)
        binary[op] = Square(binary[op].operands, tuple(rows))
    nary = list(base.nary)
    for entry, value in enumerate(reader.array(top, "nary"), 1):
        where = f"nary, entry {entry}"
        pair = [reader.number(part, where) for part in reader.list_of(value, where)]
        if len(pair) != 2 or not 0 <= pair[0] < len(nary) or not 0 <= pair[1] < len(place):
            raise reader.fault(where, "is no [number of a call, answer]")
        nary[pair[0]] = (*nary[pair[0]][:2], place[pair[1]])
    return {
        **{key: reader.text(top, key) for key in ("library", "python", "date", "how")},
        "versions": reader.texts(top, "versions"),
        "operands": base.operands,
        "answers": tuple(answers),
        "errors": errors,
        "binary": binary,
        "unary": unary,
        "nary": tuple(nary),
        "seed": base.seed,
    }


def _changes(
    reader: Reader, key: str, lengths: Mapping[str, int], place: Sequence[int]
) -> Iterator[tuple[str, int, list[int | None]]]:
    """The changed rows under a key: the operation, the row's number, its answers; None is the base's."""
    for op, value in reader.table(reader.key(reader.table(reader.document, "the file"), key), key).items():
        where = f"{key}.{op}"
        if op not in lengths:
            raise reader.fault(where, "is no operation of the recording that it rests on")
        for number, row in reader.sparse(reader.table(value, where), where, lengths[op], place):
            yield op, number, row
