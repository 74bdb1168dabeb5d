"""The answers to one operation in a recording: rows of calls with equal answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import cycle, product

from typelattice.base.objects.frozen_classes import frozen

REST_OF_OPERANDS = "*"  # in a row: all other operands of the operation
OperandTexts = tuple[str, ...]
AnswerByOperands = dict[OperandTexts, str]
"""The answers of an operation by their operands; an exception stands by the name of its message."""


@frozen()
class RecordedCall:
    """A call and its answer as strings, with the message of an exception if the recording has it."""

    op: str
    operands: OperandTexts
    answer: str
    message: str = ""

    @property
    def question(self) -> str:
        """Write the call without its answer: `add(int8, uint8)`."""
        return f"{self.op}({', '.join(self.operands)})"

    def __str__(self) -> str:
        return f"{self.question} = {self.answer}"


@frozen()
class AnswerRow:
    """A line of the file: operands for each place but the last, then the last operands by answer."""

    leading_operands: tuple[str, ...]
    answers: Mapping[str, str]


@frozen(slots=False)
class Section:
    """The lines of one operation, those for calls of fewer operands first.

    Calls of two operands have the answers of `same_as_operation`, unless a row says otherwise. With
    `same_for_operands`, this holds only for calls of these operands.
    """

    rows: tuple[AnswerRow, ...] = ()
    same_as_operation: str = ""
    same_for_operands: OperandTexts = ()

    @cached_property
    def starred_operands(self) -> tuple[str, ...]:
        """The operands that `*` means: those with calls in pairs in the rows."""
        return tuple(
            o
            for row in self.rows
            if len(row.leading_operands) == 1
            for o in row.leading_operands[0].split(" ")
        )

    @cached_property
    def _rows_by_first_operand(self) -> Mapping[str, Sequence[AnswerRow]]:
        """Map the first operand of pairs to the rows with calls of it."""
        found: dict[str, list[AnswerRow]] = {}
        for row in self.rows:
            for o in row.leading_operands[0].split(" ") if len(row.leading_operands) == 1 else ():
                found.setdefault(o, []).append(row)
        return found

    def find_answer(self, operands: OperandTexts) -> str | None:
        """Find the answer to a call among the rows."""
        *before, last = operands
        for row in self._rows_by_first_operand.get(before[0], ()) if len(before) == 1 else self.rows:
            if len(row.leading_operands) != len(before):
                continue
            if len(before) == 1 or all(
                o in t.split(" ") for o, t in zip(before, row.leading_operands, strict=True)
            ):
                for named_answer, text in row.answers.items():
                    if last in text and last in text.split(" "):
                        return named_answer
                if REST_OF_OPERANDS in row.answers.values() and last in self.starred_operands:
                    return next(
                        named_answer for named_answer, text in row.answers.items() if text == REST_OF_OPERANDS
                    )
        return None

    def calls(self) -> Iterator[tuple[AnswerRow, OperandTexts, str]]:
        """List the calls of the rows with their answers, each with its row."""
        for row in self.rows:
            for operands, named_answer in self.calls_of_row(row):
                yield row, operands, named_answer

    def calls_of_row(self, row: AnswerRow) -> Iterator[tuple[OperandTexts, str]]:
        """List the calls of a row with their answers."""
        last = {
            o: named_answer
            for named_answer, text in row.answers.items()
            if text != REST_OF_OPERANDS
            for o in text.split(" ")
        }
        rest = [named_answer for named_answer, text in row.answers.items() if text == REST_OF_OPERANDS]
        last |= dict.fromkeys((o for o in self.starred_operands if o not in last), rest[0]) if rest else {}
        return zip(
            product(*(text.split(" ") for text in row.leading_operands), last),
            cycle(last.values()),
            strict=False,
        )

    def count_calls_of_row(self, row: AnswerRow) -> int:
        """Count the calls of a row without listing them."""
        count = sum(
            len(self.starred_operands if text == REST_OF_OPERANDS else text.split(" "))
            for text in row.answers.values()
        )
        for text in row.leading_operands:
            count *= len(text.split(" "))
        return count


NO_SECTION = Section()
