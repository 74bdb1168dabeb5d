"""What a recording says of promoting several operands at once, which a file states by a rule and cannot
prove."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from typelattice.engine.system import System
from typelattice.facts.dtypes import dtype
from typelattice.files.reader import system as find_system
from typelattice.files.text import systems
from typelattice.operands.operand import Operand
from typelattice.recorded.answers import BROKEN, EXCEPTION, NOT_ASKED, OF_PYTHON
from typelattice.recorded.lookup import of_several, opened
from typelattice.recorded.recording import recorded
from typelattice.study.closure import Key

ASKED = "result_type"  # the call that asks for promotion alone


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call of three operands or more, what the library answered, and what the system says."""

    operands: tuple[Operand, ...]
    answer: Key
    ours: Key


@dataclass(frozen=True, slots=True)
class Evidence:
    """The recorded calls of several operands: all of them, and the pairs of calls that differ by their order
    alone.

    `versions` are those of the library.
    """

    calls: tuple[RecordedCall, ...]
    versions: str

    @property
    def departing(self) -> tuple[RecordedCall, ...]:
        """The calls for which the library gave another dtype than the system; weakness says nothing of their
        order."""
        return tuple(call for call in self.calls if call.answer[0] is not call.ours[0])

    @property
    def contradictions(self) -> tuple[tuple[RecordedCall, RecordedCall], ...]:
        """Calls of the same operands in two orders that the library answered differently."""
        first: dict[tuple[str, ...], RecordedCall] = {}
        found = []
        for call in self.calls:
            other = first.setdefault(tuple(sorted(map(str, call.operands))), call)
            if other.answer[0] is not call.answer[0]:
                found.append((other, call))
        return tuple(found)


def evidence(system: System, operands: Sequence[Operand]) -> Evidence:
    """What was recorded of three of these operands and more; nothing for a system that did not come along."""
    if (
        system.name not in recorded()
        or system.name not in systems(versions=True)
        or find_system(system.name) is not system
    ):
        return Evidence((), "")
    page = opened(system.name)
    assert page
    versions = ", ".join(f"{name} {version}" for name, version in page.versions.items())
    return Evidence(tuple(_calls(system, {str(o): o for o in operands})), versions)


def _calls(system: System, known: dict[str, Operand]) -> Iterator[RecordedCall]:
    """The recorded calls of known operands that have an answer."""
    for call in of_several(system.name, ASKED):
        answered = call.answer not in (NOT_ASKED, *BROKEN) and not call.answer.startswith(OF_PYTHON)
        if answered and all(text in known for text in call.operands):
            operands = tuple(known[text] for text in call.operands)
            p = system.explain(*operands)
            yield RecordedCall(operands, _key(call.answer), (p.dtype, p.weak))


def _key(answer: str) -> Key:
    """What a recorded answer comes to."""
    if answer.startswith(EXCEPTION):
        return None, False
    return dtype(answer.removesuffix("*")), answer.endswith("*")
