"""A system against a library's answers: every call where they differ, grouped by cause."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from typelattice.conformance.recording import Call
from typelattice.operand import Operand
from typelattice.ops import CLASS
from typelattice.promotion import Promotion
from typelattice.strings import parse
from typelattice.system import System

PLAIN = ("result_type", "promote_types")  # asked of promotion itself, not of an operation


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A call that a library and a system answer differently; both answers as strings, `-` for a refusal."""

    call: Call
    ours: str

    @property
    def cause(self) -> str:
        """What calls with the same trouble have in common: the class of operation, the sorts of operands, the answers."""
        theirs = self.call.answer
        who = "both answer, differently"
        if theirs.startswith("!"):
            who = f"the library raises {theirs[1:]}, the system answers"
        elif self.ours == "-":
            who = "the library answers, the system refuses"
        elif theirs.rstrip("*") == self.ours.rstrip("*"):
            who = "they differ in weakness"
        return f"{CLASS.get(self.call.op, self.call.op)}: {who}"

    def __str__(self) -> str:
        return f"{self.call}, the system says {self.ours}"


@dataclass(frozen=True, slots=True)
class Report:
    """How many calls were compared, and those that differ."""

    compared: int
    mismatches: tuple[Mismatch, ...]

    def groups(self) -> dict[str, list[Mismatch]]:
        """The mismatches by cause, the commonest first."""
        found: dict[str, list[Mismatch]] = {}
        for m in self.mismatches:
            found.setdefault(m.cause, []).append(m)
        return dict(sorted(found.items(), key=lambda group: -len(group[1])))


def compare(system: System, calls: Iterable[Call]) -> Report:
    """The report of a system over calls. Calls of which it knows no operation are left out."""
    compared, found = 0, []
    for call, ours in _answered(system, calls):
        compared += 1
        theirs = "-" if call.answer.startswith("!") else call.answer
        if theirs != ours:
            found.append(Mismatch(call, ours))
    return Report(compared, tuple(found))


def _answered(system: System, calls: Iterable[Call]) -> Iterator[tuple[Call, str]]:
    read = cache(lambda text: _operand(system, text))
    for call in calls:
        plain = call.op in PLAIN
        if plain or call.op in CLASS:
            operands = [read(text) for text in call.operands]
            yield call, said(system.explain(*operands, op=None if plain else call.op))


def _operand(system: System, text: str) -> Operand:
    return parse(text, system.dtypes)


def said(p: Promotion) -> str:
    """A promotion's answer as a recording writes it."""
    return "-" if p.dtype is None else f"{p.dtype}{'*' * p.weak}"
