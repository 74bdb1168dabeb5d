"""An expression as a list of parts, each after its own parts, and what each comes to under a system."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from typelattice.engine.answer import Promotion
from typelattice.engine.system import System
from typelattice.explain.plain_data import data as promotion_data
from typelattice.facts.dtypes import dtype
from typelattice.files.reader import system as find_system
from typelattice.operands.operand import Operand, of
from typelattice.programs.python_numbers import computed


@dataclass(frozen=True, slots=True)
class Input:
    """A name, which is bound to an operand."""

    text: str
    op: ClassVar[None] = None
    parts: ClassVar[tuple[int, ...]] = ()


@dataclass(frozen=True, slots=True)
class Literal:
    """A Python number."""

    text: str
    operand: Operand
    op: ClassVar[None] = None
    parts: ClassVar[tuple[int, ...]] = ()


@dataclass(frozen=True, slots=True)
class Cast:
    """An explicit cast of a part to the dtype of a name."""

    text: str
    parts: tuple[int]
    to: str
    op: ClassVar[str] = "astype"


@dataclass(frozen=True, slots=True)
class Call:
    """An operation on other parts.

    `operator`: it is written with one of Python's operators, which of Python numbers make a Python number.
    `whole`: it is a reduction that leaves no axis.
    """

    text: str
    op: str
    parts: tuple[int, ...]
    operator: bool = False
    whole: bool = False


Part: TypeAlias = Input | Literal | Cast | Call


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a part comes to under a system: an operand, or None where it, or a part of it, is refused."""

    operand: Operand | None
    promotion: Promotion | None = None
    refused: bool = False

    def __str__(self) -> str:
        if self.operand is None:
            return "refused" if self.refused else "not reached"
        if self.operand.tier == "scalar":
            return f"Python {self.operand.kind.word}"
        return f"{self.operand.dtype}{'*' if self.operand.weak else ''}"


@dataclass(frozen=True, slots=True)
class Formula:
    """An expression whose names are bound to operands; its last part is the whole of it."""

    text: str
    bound: Mapping[str, object]
    parts: tuple[Part, ...]

    def under(self, system: System | str | os.PathLike[str]) -> tuple[Outcome, ...]:
        """What each part comes to.

        A string that a name is bound to may name a dtype of the system's own file. Raises DTypeError or
        OperandError for what is no operand of the system, UnknownSystemError or FormatError for the system.
        """
        chosen = find_system(system)
        found: list[Outcome] = []
        for part in self.parts:
            found.append(self._outcome(chosen, part, [found[i] for i in part.parts]))
        return tuple(found)

    def _outcome(self, system: System, part: Part, made: Sequence[Outcome]) -> Outcome:
        """What a part comes to, of what its own parts have come to."""
        operands = [o.operand for o in made if o.operand is not None]
        if len(operands) < len(made):
            return Outcome(None)
        match part:
            case Input(text=name):
                return Outcome(system.operand(self.bound[name]))
            case Literal(operand=number):
                return Outcome(number)
            case Cast(to=to):
                target = system.own_dtypes.get(to) or dtype(to)
                return Outcome(of(target, tier="array" if operands[0].tier == "array" else "0d"))
            case Call(op=op, operator=True) if all(o.tier == "scalar" for o in operands):
                found = computed(op, operands)
                return Outcome(found, refused=found is None)
            case Call(op=op):
                return _result(system.explain(*operands, op=op), part.whole)


def _result(p: Promotion, whole: bool) -> Outcome:
    """The result of an operation, as an operand of the next: weak as the answer is."""
    if p.dtype is None:
        return Outcome(None, p, refused=True)
    array = not whole and any(o.tier == "array" for o in p.operands)
    return Outcome(of(p.dtype, p.weak, "array" if array else "0d"), p)


def data(f: Formula, systems: Sequence[System], outcomes: Sequence[Sequence[Outcome]]) -> dict[str, object]:
    """An expression and what each part comes to under systems, as JSON can hold it."""
    return {
        "expression": f.text,
        "operands": {name: str(x) for name, x in f.bound.items()},
        "parts": [{"text": part.text, "op": part.op, "parts": list(part.parts)} for part in f.parts],
        "answers": [
            {"system": s.name, "parts": [_part_data(o) for o in made]}
            for s, made in zip(systems, outcomes, strict=True)
        ],
    }


def _part_data(o: Outcome) -> dict[str, object]:
    return {"answer": str(o), "promotion": promotion_data(o.promotion) if o.promotion else None}
