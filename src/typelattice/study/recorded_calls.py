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
from typelattice.recorded.messages import answer_of
from typelattice.recorded.recording import Recording, recorded
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
    recording = Recording.load(system.name)
    versions = ", ".join(f"{name} {version}" for name, version in recording.versions.items())
    return Evidence(tuple(_calls(system, recording, {str(o): o for o in operands})), versions)


def _calls(system: System, recording: Recording, known: dict[str, Operand]) -> Iterator[RecordedCall]:
    """The recorded calls of known operands that have an answer."""
    numbers = {i: known[text] for i, text in enumerate(recording.operands) if text in known}
    for op, of, answer in recording.nary:
        told = answer_of(recording.answers[answer])
        if (
            op == ASKED
            and all(i in numbers for i in of)
            and told not in (NOT_ASKED, *BROKEN)
            and not told.startswith(OF_PYTHON)
        ):
            operands = tuple(numbers[i] for i in of)
            p = system.explain(*operands)
            yield RecordedCall(operands, _key(told), (p.dtype, p.weak))


def _key(answer: str) -> Key:
    """What a recorded answer comes to."""
    if answer.startswith(EXCEPTION):
        return None, False
    return dtype(answer.removesuffix("*")), answer.endswith("*")
