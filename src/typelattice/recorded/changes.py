"""A recording of another release, or of a system much like another, kept as what differs from that one.

`recordings/numpy@2.4.json` names its base, `numpy`, and states the answers of NumPy 2.4 to the base's
questions where they are others; `tensorflow-safe` rests on `tensorflow-all` in the same way. A base may rest
on another itself, as that of `keras-tensorflow@3.12` does.

What the release `lacks`, operations and operands, is stated once for all calls of it, and once under
`reworded` what an exception says in place of a message of the base's. A row of the answers that are left is
written as in a recording, with a blank for each that is the same, and once for all rows that change alike.
The base is known by a digest of its questions and answers: where it was recorded anew, a recording that rests
on it has to be, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from typelattice.facts.suggest import short
from typelattice.recorded.answers import LACKED
from typelattice.recorded.lacking import Lacking, Recorded, numbered
from typelattice.recorded.messages import SEPARATOR, outline, told
from typelattice.recorded.reading import Reader
from typelattice.recorded.rows import FORMAT, Line, Row, Square, sparse, width

BASE = "base"  # the key by which such a file is told from a whole recording


def digest(base: Recorded) -> str:
    """A short text that is another one for other questions or answers."""
    from hashlib import sha256  # takes longer to load than an answer takes to be looked up

    binary = [(op, square.operands, square.rows) for op, square in base.binary.items()]
    unary = [(op, line.operands, line.row) for op, line in base.unary.items()]
    return sha256(repr((base.operands, base.answers, binary, unary, base.nary)).encode()).hexdigest()[:16]


def written(of: Recorded, base: Recorded, name: str) -> dict[str, object]:
    """The document of a recording that answers the same questions as its base, which goes by a name."""
    lacking = Lacking.of(of)
    reworded = _reworded(of, base)
    ours = [told(kept, of.errors) for kept in of.answers]
    theirs = [*(told(kept, {**base.errors, **reworded}) for kept in base.answers), LACKED]
    lines, squares, calls = lacking.without(base, len(base.answers))
    changed: dict[tuple[str, str], int] = {}

    def row(now: Row, before: Row) -> list[int | None]:
        pairs = [(ours[i], theirs[j]) for i, j in zip(now, before, strict=True)]
        return [changed.setdefault(a, len(changed)) if _differ(a, b) else None for a, b in pairs]

    unary = {op: [row(line.row, lines[op].row)] for op, line in of.unary.items()}
    binary = {
        op: [row(a, b) for a, b in zip(square.rows, squares[op].rows, strict=True)]
        for op, square in of.binary.items()
    }
    nary = row(tuple(call[2] for call in of.nary), tuple(call[2] for call in calls))
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
        "lacks": {
            "operations": sorted(lacking.operations),
            "operands": [base.operands[number] for number in sorted(lacking.operands)],
        },
        "reworded": reworded,
        "answers": answers,
        "errors": errors,
        "unary": _rows(unary, width(answers)),
        "binary": _rows(binary, width(answers)),
        "nary": [[number, answer] for number, answer in enumerate(nary) if answer is not None],
    }


def _differ(now: tuple[str, str], before: tuple[str, str]) -> bool:
    """Whether an answer and its message are others than the base's.

    An exception of which one of the two kept no message may be the same: that is no change. Nor is a message
    that leaves out more of what varies than that of the base, which was recorded earlier.
    """
    (answer, message), (other, earlier) = now, before
    if answer != other:
        return True
    return bool(message and earlier) and message not in (earlier, outline(earlier))


def _reworded(of: Recorded, base: Recorded) -> dict[str, str]:
    """What an exception says most often where the base says another thing, by the base's name for that."""
    said: dict[int, Counter[str]] = {}
    ours = [told(kept, of.errors) for kept in of.answers]
    theirs = [told(kept, base.errors) for kept in base.answers]
    for (*_, now), (*_, before) in zip(numbered(of), numbered(base), strict=True):
        (answer, message), (other, earlier) = ours[now], theirs[before]
        if message and earlier and answer == other and (answer, message) != LACKED:
            said.setdefault(before, Counter())[message] += 1
    found = {base.answers[i]: words.most_common(1)[0][0] for i, words in sorted(said.items())}
    return {
        kept: words for kept, words in found.items() if _differ((kept, words), (kept, base.errors[kept]))
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
    reworded = reader.texts(top, "reworded")
    for kept in reworded.keys() - base.errors.keys():
        raise reader.fault(f"reworded.{kept}", "is no exception of the recording that it rests on")
    messages = reader.texts(top, "errors")
    own = [told(kept, messages) for kept in reader.names(top, "answers")]
    answers, errors, (lacked, *place) = numbered_on(base.answers, {**base.errors, **reworded}, own)
    lines, squares, calls = _lacking(reader, top, base).without(base, lacked)
    unary, binary, nary = dict(lines), dict(squares), list(calls)
    for op, _, row in _changes(reader, "unary", dict.fromkeys(unary, 1), place):
        unary[op] = Line(unary[op].operands, reader.merged(f"unary.{op}", unary[op].row, row))
    for op, number, row in _changes(reader, "binary", {op: len(s.rows) for op, s in binary.items()}, place):
        rows = list(binary[op].rows)
        rows[number] = reader.merged(f"binary.{op}, row {number}", rows[number], row)
        binary[op] = Square(binary[op].operands, tuple(rows))
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


def numbered_on(
    answers: Sequence[str], errors: Mapping[str, str], own: Iterable[tuple[str, str]]
) -> tuple[list[str], dict[str, str], list[int]]:
    """The answers of a base and those of a recording on top of it, with the messages of both.

    Of `own` each answer comes with its message. The numbers are those under which LACKED and then each of
    `own` stand; an answer of the base keeps the number that it has there.

    >>> base = ["int8", "!TypeError#1"], {"!TypeError#1": "no"}
    >>> answers, _, numbers = numbered_on(*base, [("int8", ""), ("!TypeError", "never")])
    >>> answers, numbers
    (['int8', '!TypeError#1', '!NotAsked#2', '!TypeError#3'], [2, 0, 3])
    """
    answers, errors, numbers = [*answers], {**errors}, list[int]()
    known = {told(kept, errors): number for number, kept in enumerate(answers)}
    for answer, message in (LACKED, *own):
        if (answer, message) not in known:
            name = f"{answer}{SEPARATOR}{len(errors) + 1}" if message else answer
            errors |= {name: message} if message else {}
            known[answer, message] = len(answers)
            answers.append(name)
        numbers.append(known[answer, message])
    return answers, errors, numbers


def _lacking(reader: Reader, top: Mapping[str, object], base: Recorded) -> Lacking:
    """What the release is said to lack. Raises RecordingError for what its base was not asked."""
    lacks = reader.table(reader.key(top, "lacks"), "lacks")
    asked = {
        "operations": {*base.unary, *base.binary, *(op for op, *_ in base.nary)},
        "operands": {*base.operands},
    }
    for key, those in asked.items():
        for entry, name in enumerate(reader.names(lacks, key), 1):
            if name not in those:
                raise reader.fault(f"lacks.{key}, entry {entry}", f"the base was not asked of {short(name)}")
    operands = map(base.operands.index, reader.names(lacks, "operands"))
    return Lacking(frozenset(reader.names(lacks, "operations")), frozenset(operands))


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
