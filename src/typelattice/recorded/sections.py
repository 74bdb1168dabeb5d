"""The answers to one operation as a recording keeps them: rows of calls with equal answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from math import prod

from typelattice.facts.frozen_classes import frozen

REST = "*"  # in a row: the other operands of the operation
Operands = tuple[str, ...]
Answers = dict[Operands, str]
"""The answers of an operation by their operands; an exception stands by the name of its message."""


@frozen()
class Call:
    """A call and its answer as strings; with the message of an exception, if the recording has it."""

    op: str
    operands: Operands
    answer: str
    message: str = ""

    @property
    def question(self) -> str:
        """Write the call alone: `add(int8, uint8)`."""
        return f"{self.op}({', '.join(self.operands)})"

    def __str__(self) -> str:
        return f"{self.question} = {self.answer}"


@frozen()
class Row:
    """A line as it stands in the file: operands for each place but the last, then the last ones by answer."""

    before: tuple[str, ...]
    answers: Mapping[str, str]


@frozen(slots=False)
class Section:
    """The lines of one operation, those for calls of fewer operands first.

    Calls of two operands answer as those of the operation `like`, unless a row says otherwise; with `among`,
    only calls of these operands.
    """

    rows: tuple[Row, ...] = ()
    like: str = ""
    among: Operands = ()

    @cached_property
    def firsts(self) -> tuple[str, ...]:
        """The operands that `*` stands for: those with calls in pairs in the rows."""
        return tuple(o for row in self.rows if len(row.before) == 1 for o in row.before[0].split(" "))

    @cached_property
    def _of_first(self) -> Mapping[str, Sequence[Row]]:
        """Map the first operand of pairs to the rows with calls of it."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            for o in row.before[0].split(" ") if len(row.before) == 1 else ():
                found.setdefault(o, []).append(row)
        return found

    def find(self, operands: Operands) -> str | None:
        """Find the answer to a call among the rows."""
        *before, last = operands
        for row in self._of_first.get(before[0], ()) if len(before) == 1 else self.rows:
            if len(row.before) != len(before):
                continue
            if len(before) == 1 or all(o in t.split(" ") for o, t in zip(before, row.before, strict=True)):
                for kept, text in row.answers.items():
                    if last in text and last in text.split(" "):
                        return kept
                if REST in row.answers.values() and last in self.firsts:
                    return next(kept for kept, text in row.answers.items() if text == REST)
        return None

    def calls(self) -> Iterator[tuple[Row, Operands, str]]:
        """List the calls of the rows with their answers, each with its row."""
        for row in self.rows:
            last = {o: kept for kept, text in row.answers.items() if text != REST for o in text.split(" ")}
            rest = [kept for kept, text in row.answers.items() if text == REST]
            last |= dict.fromkeys((o for o in self.firsts if o not in last), rest[0]) if rest else {}
            for before in product(*(text.split(" ") for text in row.before)):
                for operand, kept in last.items():
                    yield row, (*before, operand), kept

    def count(self, row: Row) -> int:
        """Count the calls of a row without listing them."""
        lasts = [self.firsts if text == REST else text.split(" ") for text in row.answers.values()]
        return sum(map(len, lasts)) * prod(len(text.split(" ")) for text in row.before)


NO_SECTION = Section()
