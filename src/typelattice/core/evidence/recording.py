"""A recording: the answers of a library, as a JSON Lines file that people can read (docs/recordings.md).

    ["add", "int8 int8:0d", {"int16": "uint8 uint8:0d", "float64": "*"}]

An operation is found by its lines, and only these are decoded, so one answer takes microseconds. The
recording of an older release names its base and has only the answers that differ from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import islice

from typelattice.base.errors.error_texts import clip_text, quote_short
from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.objects.frozen_classes import field, frozen
from typelattice.core.evidence.answer_notation import (
    MESSAGE_NUMBER_SEPARATOR,
    MISSING_IN_RELEASE,
    answer_of,
    split_message,
)
from typelattice.core.evidence.recorded_calls import (
    NO_SECTION,
    REST_OF_OPERANDS,
    AnswerByOperands,
    AnswerRow,
    OperandTexts,
    RecordedCall,
    Section,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

MISSING_NAME = f"{MISSING_IN_RELEASE[0]}{MESSAGE_NUMBER_SEPARATOR}lacked"
RANDOM_CALL_OPERANDS = 3  # operands, beyond pairs, of calls drawn at random
MAX_DECODED_OPERATIONS = 512  # operations; further ones are decoded again each time


class RecordingError(TypelatticeError, ValueError):
    """A recording that cannot be read, or a call that is not in it."""


@frozen(eq=False, slots=False)
class Recording:
    """A library's answers.

    `header` is the first line of the file without its format, `text` the whole file. `base` is the recording
    that this one extends.
    """

    header: Mapping[str, Any]
    text: str = field(repr=False)
    source: str
    base: Recording | None = None

    @property
    def library(self) -> str:
        return str(self.header["library"])

    @property
    def versions(self) -> Mapping[str, str]:
        versions: Mapping[str, str] = self.header["versions"]
        return versions

    @property
    def python(self) -> str:
        return str(self.header["python"])

    @property
    def date(self) -> str:
        return str(self.header["date"])

    @property
    def how(self) -> str:
        return str(self.header["how"])

    @property
    def seed(self) -> int:
        return self.base.seed if self.base else int(self.header["seed"])

    @cached_property
    def operands(self) -> tuple[str, ...]:
        return self.base.operands if self.base else tuple(self.header["operands"])

    @cached_property
    def operand_set(self) -> frozenset[str]:
        """The operands as a set."""
        return frozenset(self.operands)

    @property
    def lines(self) -> str:
        """The rows of the file, with the end of the line above them."""
        return self.text[self.text.find("\n[") :]  # without rows this is the end of the last line

    @cached_property
    def main_messages(self) -> Mapping[str, str]:
        """The messages of exceptions in this file by their names. Raises RecordingError."""
        above = self.text[: self.text.find("\n[")].split("\n")[1:]
        try:
            return {each["error"]: each["message"] for each in json.loads(f"[{','.join(above)}]")}
        except (ValueError, TypeError, LookupError, RecursionError):
            for number, line in enumerate(above, 2):
                check_message(parse_line(line, self, number), self, number)
            refuse_line(self, 2, "and those below are no messages")

    @cached_property
    def messages(self) -> Mapping[str, str]:
        """The messages of exceptions by their names, including the messages of the base."""
        if self.base is None:
            return self.main_messages
        return {
            **self.base.messages, **self.header["reworded"], MISSING_NAME: MISSING_IN_RELEASE[1],
            **self.main_messages,
        }  # fmt: skip

    @cached_property
    def operations(self) -> tuple[str, ...]:
        """The operations in the order of the file. Raises RecordingError if one occurs in two places."""
        if self.base:
            return self.base.operations
        return tuple(self.first_lines())

    def first_lines(self) -> dict[str, int]:
        """Map each operation with lines in this file to its first line."""
        found: dict[str, int] = {}
        last = None
        lines = self.lines.split("\n")[1:-1]
        for number, line in enumerate(lines, self.text.count("\n") - len(lines) + 1):
            row = parse_line(line, self, number)
            if not isinstance(row, list) or len(row) < 2 or not isinstance(row[0], str):
                refuse_line(self, number, "is no [operation, operands …, answers]")
            if row[0] != last and row[0] in found:
                refuse_line(self, number, f"the lines of {quote_short(row[0])} do not stand together")
            last = row[0]
            found.setdefault(last, number)
        return found

    @cached_property
    def missing_in_release(self) -> tuple[frozenset[str], frozenset[str]]:
        """The operations and the operands of the base that this release lacks."""
        lacks = self.header.get("lacks", {})
        return frozenset(lacks.get("operations", ())), frozenset(lacks.get("operands", ()))

    def is_missing_in_release(self, op_name: str, operands: OperandTexts) -> bool:
        """Return True if this release lacks the operation or an operand of a call."""
        operations, of_operands = self.missing_in_release
        return op_name in operations or not of_operands.isdisjoint(operands)

    def find_answer(self, op_name: str, operands: OperandTexts) -> str | None:
        """Find the answer to a call, with the name of its message, or None if it is not recorded."""
        if self.base and self.is_missing_in_release(op_name, operands):
            return None if self.base.find_answer(op_name, operands) is None else MISSING_NAME
        section = decode_section(self, op_name, min(len(operands), RANDOM_CALL_OPERANDS))
        found = section.find_answer(operands)
        if found is not None:
            return found
        if section.same_as_operation and len(operands) == 2:
            among = not section.same_for_operands or {*operands} <= {*section.same_for_operands}
            return self.find_answer(section.same_as_operation, operands) if among else None
        return self.base.find_answer(op_name, operands) if self.base else None

    def answers_of(self, op_name: str) -> Mapping[OperandTexts, str]:
        """Map the operands of every call of an operation to its answer, with the name of its message."""
        return _decode_answers(self, op_name)

    def find_call(self, op_name: str, operands: OperandTexts) -> RecordedCall | None:
        """Find a call with its answer and message, or None if it is not recorded."""
        named_answer = self.find_answer(op_name, operands)
        if named_answer is None:
            return None
        # Most answers have no message, and decoding the messages takes longer than finding an answer.
        messages = self.messages if MESSAGE_NUMBER_SEPARATOR in named_answer else {}
        return RecordedCall(op_name, operands, *split_message(named_answer, messages))

    def calls(self, sample_every: int = 1) -> Iterator[RecordedCall]:
        """List the calls with their answers. For a sample, list one of every `sample_every` calls."""
        split = lru_cache(None)(lambda named_answer: split_message(named_answer, self.messages))
        number = 0
        for op in self.operations:
            for operands, named_answer in self.answers_of(op).items():
                if number % sample_every == 0:
                    yield RecordedCall(op, operands, *split(named_answer))
                number += 1

    def calls_of(
        self, op_name: str, sample_every: int = 1, among: frozenset[str] | None = None
    ) -> Iterator[RecordedCall]:
        """List the calls of one operation with their answers.

        A sample has one of every `sample_every` calls. `among` leaves out the calls with other operands.
        """
        for operands, named_answer in islice(self.answers_of(op_name).items(), 0, None, sample_every):
            if among is None or among.issuperset(operands):
                yield RecordedCall(op_name, operands, *split_message(named_answer, self.messages))

    def require_answer(self, op_name: str, *operands: str) -> str:
        """Return the library's answer to one call. Raises RecordingError if it is not recorded."""
        named_answer = self.find_answer(op_name, operands)
        if named_answer is None:
            raise RecordingError(f"{self.library} was not asked {op_name}({', '.join(operands)})")
        return answer_of(named_answer)

    @cached_property
    def digest(self) -> str:
        """A short text that changes with the questions and answers of this recording."""
        from hashlib import sha256  # hashlib takes longer to load than an answer takes

        beneath = self.base.digest if self.base else ""
        text = f"{beneath}{self.header.get('lacks')}{self.operands}{self.lines}"
        return sha256(text.encode()).hexdigest()[:16]


@lru_cache(MAX_DECODED_OPERATIONS)
def decode_section(recording: Recording, op_name: str, max_operands: int = RANDOM_CALL_OPERANDS) -> Section:
    """Decode the lines for calls of up to `max_operands` operands of one operation. Raises RecordingError."""
    text, start = recording.text, f"[{json.dumps(op_name)}, "
    first = text.find("\n" + start)
    if first < 0:
        return NO_SECTION
    rows, same_as_operation, same_for_operands, previous_operand_count = (
        list[AnswerRow](),
        "",
        OperandTexts(),
        0,
    )
    start_line = text.count("\n", 0, first) + 2
    for number, line in enumerate(_yield_lines_from(text, first + 1, start), start_line):
        _, *before, answers = row = parse_line(line, recording, number)
        if not rows and not same_as_operation and isinstance(answers, str) and len(row) == 3:
            same_as_operation, same_for_operands = (
                before[0],
                () if answers == REST_OF_OPERANDS else tuple(answers.split(" ")),
            )
            continue
        if not isinstance(answers, dict):
            refuse_line(recording, number, "does not end in an object of answers")
        if len(before) >= max_operands < RANDOM_CALL_OPERANDS:
            break
        for listed in (*before, *answers.values()):
            if not isinstance(listed, str):
                refuse_line(recording, number, f"{short_text(listed)} is not a string of operands")
        if len(before) < previous_operand_count:
            refuse_line(recording, number, "stands below calls of more operands")
        previous_operand_count = len(before)
        rows.append(AnswerRow(tuple(before), answers))
    return Section(tuple(rows), same_as_operation, same_for_operands)


def _yield_lines_from(text: str, begin: int, start: str) -> Iterator[str]:
    """Yield the lines from an offset on, as long as they begin with certain characters."""
    while text.startswith(start, begin):
        end = text.find("\n", begin)
        yield text[begin:end]
        begin = end + 1


@lru_cache(32)  # most operations refer to another, which refers to a third
def _decode_answers(recording: Recording, op_name: str) -> Mapping[OperandTexts, str]:
    """Decode the answers to every call of an operation."""
    section, answers = decode_section(recording, op_name), AnswerByOperands()
    if recording.base:
        operations, missing = recording.missing_in_release
        is_there = op_name not in operations
        answers = {
            o: named_answer if is_there and missing.isdisjoint(o) else MISSING_NAME
            for o, named_answer in _decode_answers(recording.base, op_name).items()
        }
    if section.same_as_operation:
        among = frozenset(section.same_for_operands)
        others = _decode_answers(recording, section.same_as_operation).items()
        answers |= (
            {o: answer for o, answer in others if len(o) == 2 and o[0] in among and o[1] in among}
            if among
            else {o: answer for o, answer in others if len(o) == 2}
        )
    for row in section.rows:
        answers.update(section.calls_of_row(row))
    return answers


def parse_line(line: str, recording: Recording, number: int) -> Any:
    """Read a line of JSON. Raises RecordingError."""
    try:
        return json.loads(line)
    except RecursionError:
        refuse_line(recording, number, "is nested too deep")
    except json.JSONDecodeError as error:
        refuse_line(recording, number, f"is not JSON: column {error.colno}: {error.msg}")
    except ValueError:  # Python reads no integers of more than 4,300 digits
        refuse_line(recording, number, "has a number of too many digits")


def check_message(message: object, recording: Recording, number: int) -> None:
    """Refuse a line above the rows that is not the message of an exception."""
    words = message.values() if isinstance(message, dict) and message.keys() == {"error", "message"} else ()
    if not words or not all(isinstance(word, str) for word in words):
        refuse_line(recording, number, 'is neither {"error": …, "message": …} nor a row')


def refuse_line(recording: Recording, number: int, fault: str) -> NoReturn:
    path, _, advice = recording.source.partition("\0")
    raise RecordingError(f"{path}: line {number}: {fault}; {advice or 'record it again'}")


def short_text(value: object) -> str:
    return quote_short(value) if isinstance(value, str) else clip_text(repr(value), 40)
