"""Recorded promotions of three operands and more, compared with the rules for pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from typelattice.core.engine.system import System
from typelattice.core.evidence.answer_notation import (
    EXCEPTION_PREFIX,
    NOT_ASKED_ANSWER,
    PYTHON_NUMBER_PREFIX,
    TEXT_BY_BROKEN_ANSWER,
)
from typelattice.core.evidence.recording import Recording
from typelattice.core.evidence.recording_files import open_recording, recording_names
from typelattice.core.operands.operand import Operand
from typelattice.core.system_files.reader import system as find_system
from typelattice.core.system_files.system_text import systems
from typelattice.study.laws.closure import AnswerKey

PROMOTION_CALL = "result_type"  # the call that only promotes


@dataclass(frozen=True, slots=True)
class MultiOperandCall:
    """A call of three operands or more, with the answers of the library and of the system."""

    operands: tuple[Operand, ...]
    library_answer: AnswerKey
    system_answer: AnswerKey


@dataclass(frozen=True, slots=True)
class MultiOperandCalls:
    """The recorded calls of several operands, and the pairs of calls that differ only by their order.

    `versions` names the recorded library and its versions.
    """

    calls: tuple[MultiOperandCall, ...]
    versions: str

    @property
    def departing_calls(self) -> tuple[MultiOperandCall, ...]:
        """The calls with different dtypes from the library and the system. Weakness does not count."""
        return tuple(call for call in self.calls if call.library_answer[0] is not call.system_answer[0])

    @property
    def contradictions(self) -> tuple[tuple[MultiOperandCall, MultiOperandCall], ...]:
        """Calls of the same operands in two orders that the library answered differently."""
        first: dict[tuple[str, ...], MultiOperandCall] = {}
        found = []
        for call in self.calls:
            other = first.setdefault(tuple(sorted(map(str, call.operands))), call)
            if other.library_answer[0] is not call.library_answer[0]:
                found.append((other, call))
        return tuple(found)


def find_evidence(system: System, operands: Sequence[Operand]) -> MultiOperandCalls:
    """Return the recorded calls of three or more of these operands, or none if the system is not built in."""
    if (
        system.name not in recording_names()
        or system.name not in systems(versions=True)
        or find_system(system.name) is not system
    ):
        return MultiOperandCalls((), "")
    page = open_recording(system.name)
    assert page
    versions = ", ".join(f"{name} {version}" for name, version in page.versions.items())
    return MultiOperandCalls(
        tuple(_yield_recorded_calls(system, page, {str(o): o for o in operands})), versions
    )


def _yield_recorded_calls(
    system: System, page: Recording, operand_by_name: dict[str, Operand]
) -> Iterator[MultiOperandCall]:
    """Yield the recorded calls of known operands that have an answer."""
    for call in page.calls_of(PROMOTION_CALL):
        answered = call.answer not in (
            NOT_ASKED_ANSWER,
            *TEXT_BY_BROKEN_ANSWER,
        ) and not call.answer.startswith(PYTHON_NUMBER_PREFIX)
        if len(call.operands) > 2 and answered and all(text in operand_by_name for text in call.operands):
            operands = tuple(operand_by_name[text] for text in call.operands)
            p = system.explain(*operands)
            yield MultiOperandCall(operands, _answer_key(system, call.answer), (p.dtype, p.weak))


def _answer_key(system: System, answer: str) -> AnswerKey:
    """Convert a recorded answer to its dtype and weakness."""
    if answer.startswith(EXCEPTION_PREFIX):
        return None, False
    return system.operand(answer.removesuffix("*")).dtype, answer.endswith("*")
