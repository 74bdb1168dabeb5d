"""A recording: the answers of a library, as a JSON Lines file that people can read (docs/recordings.md).

    ["add", "int8 int8:0d", {"int16": "uint8 uint8:0d", "float64": "*"}]

An operation is found by its lines, and only these are decoded: one answer takes microseconds. The recording
of an older release names its base and has only the answers that differ from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import islice

from typelattice.facts.errors import TypelatticeError
from typelattice.facts.frozen_classes import field, frozen
from typelattice.facts.suggestions import clip_text, quote_short
from typelattice.recorded.answers import LACKED, SEPARATOR, answer_of, split_message
from typelattice.recorded.sections import NO_SECTION, REST, Answers, Call, Operands, Row, Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

LACKED_NAME = f"{LACKED[0]}{SEPARATOR}lacked"
RANDOM_CALL_OPERANDS = 3  # operands, beyond pairs, of calls drawn at random
KEPT_OPERATIONS = 512  # operations kept decoded


class RecordingError(TypelatticeError, ValueError):
    """A recording that cannot be read, or a call that is not in it."""


@frozen(eq=False, slots=False)
class Recording:
    """A library's answers.

    `head` is the first line of the file, `own_errors` has the messages of exceptions by their names,
    `lines` holds the rows, from the file's line `start` on. `base` is the recording that this one rests on.
    """

    head: Mapping[str, Any]
    own_errors: Mapping[str, str]
    lines: str = field(repr=False)
    source: str
    base: Recording | None = None
    start: int = 1

    @property
    def library(self) -> str:
        return str(self.head["library"])

    @property
    def versions(self) -> Mapping[str, str]:
        versions: Mapping[str, str] = self.head["versions"]
        return versions

    @property
    def python(self) -> str:
        return str(self.head["python"])

    @property
    def date(self) -> str:
        return str(self.head["date"])

    @property
    def how(self) -> str:
        return str(self.head["how"])

    @property
    def seed(self) -> int:
        return self.base.seed if self.base else int(self.head["seed"])

    @cached_property
    def operands(self) -> tuple[str, ...]:
        return self.base.operands if self.base else tuple(self.head["operands"])

    @cached_property
    def known(self) -> frozenset[str]:
        """The operands as a set."""
        return frozenset(self.operands)

    @cached_property
    def errors(self) -> Mapping[str, str]:
        """The messages of exceptions by their names, those of the base included."""
        if self.base is None:
            return self.own_errors
        return {
            **self.base.errors, **self.head["reworded"], LACKED_NAME: LACKED[1], **self.own_errors,
        }  # fmt: skip

    @cached_property
    def operations(self) -> tuple[str, ...]:
        """The operations in the order of the file. Raises RecordingError if one stands in two places."""
        if self.base:
            return self.base.operations
        return tuple(self.sections_own())

    def sections_own(self) -> dict[str, int]:
        """Map each operation with lines in this file to its first line."""
        found: dict[str, int] = {}
        last = None
        for number, line in enumerate(self.lines.split("\n")[1:-1], self.start):
            row = parse_line(line, self, number)
            if not isinstance(row, list) or len(row) < 2 or not isinstance(row[0], str):
                refuse_line(self, number, "is no [operation, operands …, answers]")
            if row[0] != last and row[0] in found:
                refuse_line(self, number, f"the lines of {quote_short(row[0])} do not stand together")
            last = row[0]
            found.setdefault(last, number)
        return found

    @cached_property
    def lacks(self) -> tuple[frozenset[str], frozenset[str]]:
        """The operations and the operands of the base that this release lacks."""
        lacks = self.head.get("lacks", {})
        return frozenset(lacks.get("operations", ())), frozenset(lacks.get("operands", ()))

    def is_lacking(self, op: str, operands: Operands) -> bool:
        """Return True if this release lacks the operation or an operand of a call."""
        operations, of_operands = self.lacks
        return op in operations or not of_operands.isdisjoint(operands)

    def find_answer(self, op: str, operands: Operands) -> str | None:
        """Find the answer to a call, with the name of its message; None if nobody asked."""
        if self.base and self.is_lacking(op, operands):
            return None if self.base.find_answer(op, operands) is None else LACKED_NAME
        section = decode_section(self, op, min(len(operands), RANDOM_CALL_OPERANDS))
        found = section.find(operands)
        if found is not None:
            return found
        if section.like and len(operands) == 2:
            among = not section.among or {*operands} <= {*section.among}
            return self.find_answer(section.like, operands) if among else None
        return self.base.find_answer(op, operands) if self.base else None

    def answers(self, op: str) -> Mapping[Operands, str]:
        """Map the operands of every call of an operation to its answer, as `kept` gives it."""
        return _decode_answers(self, op)

    def call(self, op: str, operands: Operands) -> Call | None:
        """Find a call with its answer and message; None if nobody asked it."""
        kept = self.find_answer(op, operands)
        return None if kept is None else Call(op, operands, *split_message(kept, self.errors))

    def calls(self, every: int = 1) -> Iterator[Call]:
        """List the calls with their answers; for a sample, one of `every` so many."""
        split = lru_cache(None)(lambda kept: split_message(kept, self.errors))
        number = 0
        for op in self.operations:
            for operands, kept in self.answers(op).items():
                if number % every == 0:
                    yield Call(op, operands, *split(kept))
                number += 1

    def calls_of(self, op: str, every: int = 1) -> Iterator[Call]:
        """List the calls of one operation with their answers; for a sample, one of `every` so many."""
        for operands, kept in islice(self.answers(op).items(), 0, None, every):
            yield Call(op, operands, *split_message(kept, self.errors))

    def answer(self, op: str, *operands: str) -> str:
        """Give the library's answer to one call; RecordingError if nobody asked it."""
        kept = self.find_answer(op, operands)
        if kept is None:
            raise RecordingError(f"{self.library} was not asked {op}({', '.join(operands)})")
        return answer_of(kept)

    @cached_property
    def digest(self) -> str:
        """A short text that changes with the questions and answers of this recording."""
        from hashlib import sha256  # takes longer to load than an answer takes to be found

        beneath = self.base.digest if self.base else ""
        text = f"{beneath}{self.head.get('lacks')}{self.operands}{self.lines}"
        return sha256(text.encode()).hexdigest()[:16]


@lru_cache(KEPT_OPERATIONS)
def decode_section(recording: Recording, op: str, most: int = RANDOM_CALL_OPERANDS) -> Section:
    """Decode the lines of one operation, those for calls of up to `most` operands. Raises RecordingError."""
    lines, start = recording.lines, f"[{json.dumps(op)}, "
    first = end = lines.find("\n" + start)
    if first < 0:
        return NO_SECTION
    while lines.startswith(start, end + 1):
        end = lines.find("\n", end + 1)
    rows, like, among, last = list[Row](), "", Operands(), 0
    start_line = recording.start + lines.count("\n", 0, first)
    for number, line in enumerate(lines[first + 1 : end].split("\n"), start_line):
        _, *before, answers = row = parse_line(line, recording, number)
        if not rows and not like and isinstance(answers, str) and len(row) == 3:
            like, among = before[0], () if answers == REST else tuple(answers.split(" "))
            continue
        if not isinstance(answers, dict):
            refuse_line(recording, number, "does not end in an object of answers")
        if len(before) >= most < RANDOM_CALL_OPERANDS:
            break
        for text in (*before, *answers.values()):
            if not isinstance(text, str):
                refuse_line(recording, number, f"{short_text(text)} is not a string of operands")
        if len(before) < last:
            refuse_line(recording, number, "stands below calls of more operands")
        last = len(before)
        rows.append(Row(tuple(before), answers))
    return Section(tuple(rows), like, among)


@lru_cache(32)  # most operations answer like another, which answers like a third
def _decode_answers(recording: Recording, op: str) -> Mapping[Operands, str]:
    """Decode the answers to every call of an operation."""
    section, answers = decode_section(recording, op), Answers()
    if recording.base:
        theirs = _decode_answers(recording.base, op).items()
        answers = {o: LACKED_NAME if recording.is_lacking(op, o) else kept for o, kept in theirs}
    if section.like:
        among = frozenset(section.among)
        theirs = _decode_answers(recording, section.like).items()
        answers |= {o: kept for o, kept in theirs if len(o) == 2 and (not among or among.issuperset(o))}
    answers |= {operands: kept for _, operands, kept in section.calls()}
    return answers


def parse_line(line: str, of: Recording, number: int) -> Any:
    """Read a line of JSON. Raises RecordingError."""
    try:
        return json.loads(line)
    except RecursionError:
        refuse_line(of, number, "is nested too deep")
    except json.JSONDecodeError as error:
        refuse_line(of, number, f"is not JSON: column {error.colno}: {error.msg}")
    except ValueError:  # Python reads no integers of more than 4,300 digits
        refuse_line(of, number, "has a number of too many digits")


def refuse_line(of: Recording, number: int, what: str) -> NoReturn:
    path, _, advice = of.source.partition("\0")
    raise RecordingError(f"{path}: line {number}: {what}; {advice or 'record it again'}")


def short_text(value: object) -> str:
    return quote_short(value) if isinstance(value, str) else clip_text(repr(value), 40)
