"""A system against a library's answers: every call where they differ, grouped by cause."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from typelattice.conformance.library import NOT_ASKED
from typelattice.engine.answer import Promotion
from typelattice.engine.system import System
from typelattice.facts.operations import NAMES
from typelattice.recorded.departures import Departure
from typelattice.recorded.recording import Call

PROMOTION = ("result_type", "promote_types")  # asked of promotion itself, not of an operation
NO_KERNEL = ("!NotImplementedError", "!UnimplementedError", "!hang", "!crash")  # says nothing of promotion: counted apart


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A call that a library and a system answer differently; `ours` as in recordings, `-` for a refusal."""

    call: Call
    ours: str

    @property
    def cause(self) -> str:
        """What calls with the same trouble have in common: the class of the operation, and who answers what."""
        theirs = self.call.answer
        if theirs.startswith("!"):
            who = f"the library raises {theirs[1:]}, the system answers"
        elif self.ours == "-":
            who = "the library answers, the system refuses"
        else:
            who = "they differ in weakness" if theirs.rstrip("*") == self.ours.rstrip("*") else "both answer, differently"
        known = NAMES.get(self.call.op)
        return f"{known.of_class if known else self.call.op}: {who}"

    def __str__(self) -> str:
        return f"{self.call}, the system says {self.ours}"


@dataclass(frozen=True, slots=True)
class Report:
    """What a comparison found: calls compared, calls for which the library has no kernel, mismatches, listed departures."""

    compared: int
    no_kernel: int
    mismatches: tuple[Mismatch, ...]
    listed: dict[Departure, list[Mismatch]]

    def groups(self) -> dict[str, list[Mismatch]]:
        """The mismatches by cause, the commonest first."""
        found: dict[str, list[Mismatch]] = {}
        for m in self.mismatches:
            found.setdefault(m.cause, []).append(m)
        return dict(sorted(found.items(), key=lambda group: -len(group[1])))


def compare(system: System, calls: Iterable[Call], listed: Sequence[Departure] = ()) -> Report:
    """How a system does over calls. Calls of operations that no table knows are left out."""
    compared = no_kernel = 0
    found: list[Mismatch] = []
    known: dict[Departure, list[Mismatch]] = {d: [] for d in listed}
    read = cache(system.operand)
    for call in calls:
        if call.op not in NAMES or call.answer == NOT_ASKED:
            continue
        if call.answer in NO_KERNEL:
            no_kernel += 1
            continue
        compared += 1
        ours = said(system.explain(*map(read, call.operands), op=call.op))
        if ours == ("-" if call.answer.startswith("!") else call.answer):
            continue
        asked = f"{call.op}({', '.join(call.operands)})"
        why = next((d for d in listed if d.covers(asked)), None)
        (known[why] if why else found).append(Mismatch(call, ours))
    return Report(compared, no_kernel, tuple(found), known)


def said(p: Promotion) -> str:
    """A promotion's answer as a recording writes it."""
    return "-" if p.dtype is None else f"{p.dtype}{'*' * p.weak}"
