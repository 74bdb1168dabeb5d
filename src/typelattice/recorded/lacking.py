"""What a release does not have of that which the recording it rests on was asked: operations and operands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from typelattice.recorded.answers import LACKED
from typelattice.recorded.messages import told
from typelattice.recorded.rows import Line, Row, Square

Calls = tuple[Mapping[str, Line], Mapping[str, Square], tuple[tuple[str, tuple[int, ...], int], ...]]
"""The calls of one operand, of two and of more, each with its answer."""


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


@dataclass(frozen=True, slots=True)
class Lacking:
    """Operations, and operands by their numbers, that a library does not have: no call of them was asked."""

    operations: frozenset[str]
    operands: frozenset[int]

    @classmethod
    def of(cls, recording: Recorded) -> Lacking:
        """The operations and operands of which no call was asked, for want of them or of another."""
        lacked = {i for i, kept in enumerate(recording.answers) if told(kept, recording.errors) == LACKED}
        planned: tuple[set[str], set[int]] = set(), set()
        asked: tuple[set[str], set[int]] = set(), set()
        for op, operands, answer in numbered(recording):
            for operations, numbers in (planned,) if answer in lacked else (planned, asked):
                operations.add(op)
                numbers.update(operands)
        return cls(frozenset(planned[0] - asked[0]), frozenset(planned[1] - asked[1]))

    def covers(self, op: str, operands: Iterable[int]) -> bool:
        """Whether a call cannot be asked for want of what it is made of."""
        return op in self.operations or not self.operands.isdisjoint(operands)

    def without(self, recording: Recorded, lacked: int) -> Calls:
        """The calls of a recording, with the answer `lacked` to those that cannot be asked."""
        if self == NOTHING:
            return recording.unary, recording.binary, recording.nary

        def row(op: str, last: Iterable[int], answers: Row, *first: int) -> Row:
            return tuple(
                lacked if self.covers(op, (*first, operand)) else answer
                for operand, answer in zip(last, answers, strict=True)
            )

        def rows(op: str, square: Square) -> tuple[Row, ...]:
            of = square.operands
            return tuple(row(op, of, answers, i) for i, answers in zip(of, square.rows, strict=True))

        unary = {
            op: Line(line.operands, row(op, line.operands, line.row)) for op, line in recording.unary.items()
        }
        binary = {op: Square(square.operands, rows(op, square)) for op, square in recording.binary.items()}
        nary = tuple(
            (op, operands, lacked if self.covers(op, operands) else answer)
            for op, operands, answer in recording.nary
        )
        return unary, binary, nary


NOTHING = Lacking(frozenset(), frozenset())


def numbered(recording: Recorded) -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Every call as the numbers of its operands and of its answer."""
    for op, line in recording.unary.items():
        yield from ((op, (operand,), answer) for operand, answer in zip(line.operands, line.row, strict=True))
    for op, square in recording.binary.items():
        for first, row in zip(square.operands, square.rows, strict=True):
            yield from ((op, (first, o), answer) for o, answer in zip(square.operands, row, strict=True))
    yield from recording.nary
