"""A system against a library's answers: every call where they differ, grouped by cause."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from typelattice.conformance.recording.composed_calls import answer_call, is_call
from typelattice.core.engine.evaluate_operation import may_give_python_number
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.system import System
from typelattice.core.evidence.answer_notation import (
    EXCEPTION_PREFIX,
    NON_NUMBER_PREFIXES,
    NOT_ASKED_ANSWER,
    PYTHON_NUMBER_PREFIX,
    REFUSED_SIGN,
    TEXT_BY_BROKEN_ANSWER,
)
from typelattice.core.evidence.departure import Departure, departure_of
from typelattice.core.evidence.recorded_calls import RecordedCall
from typelattice.core.operations.operations import OPERATION_BY_NAME


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A call that a library and a system answer differently.

    `system_answer` is written as in recordings, `-` for a refusal.
    """

    call: RecordedCall
    system_answer: str

    @property
    def cause(self) -> str:
        """The group of a mismatch: the class of the operation, and which side answers, refuses or raises.

        An operation that one library alone has is a group by itself.
        """
        of_class = (
            OPERATION_BY_NAME[self.call.op].operation_class
            if self.call.op in OPERATION_BY_NAME
            else self.call.op
        )
        theirs = self.call.answer
        if theirs.startswith(EXCEPTION_PREFIX):
            who = f"the library raises {theirs[1:]}, the system answers"
        elif self.system_answer == REFUSED_SIGN:
            who = "the library answers, the system refuses"
        elif theirs.rstrip("*") == self.system_answer.rstrip("*"):
            who = "they differ in weakness"
        else:
            who = "both answer, differently"
        return f"{of_class}: {who}"

    def __str__(self) -> str:
        return f"{self.call}, the system says {self.system_answer}"


@dataclass(frozen=True, slots=True)
class ConformanceReport:
    """The result of a comparison.

    `compared_count` counts the calls that were compared, `broken_count` those at which the library broke
    down. `mismatches_by_departure` holds the mismatches that a known departure covers, `mismatches` all
    others. `unknown_operations` names the operations that no table of ours lists; their calls are left out.
    """

    compared_count: int
    broken_count: int
    mismatches: tuple[Mismatch, ...]
    mismatches_by_departure: Mapping[Departure, Sequence[Mismatch]]
    unknown_operations: tuple[str, ...] = ()

    @property
    def excused_share(self) -> float:
        """The share of the calls that a list of departures or a breakdown excuses, from 0 to 1."""
        excused = self.broken_count + sum(map(len, self.mismatches_by_departure.values()))
        return excused / max(1, self.compared_count + self.broken_count)

    def group_by_cause(self) -> dict[str, list[Mismatch]]:
        """The mismatches by cause, the commonest first; each group begins with examples that differ."""
        found: dict[str, list[Mismatch]] = {}
        for mismatch in self.mismatches:
            found.setdefault(mismatch.cause, []).append(mismatch)
        by_number = sorted(found.items(), key=lambda group: -len(group[1]))
        return {cause: _sort_by_variety(mismatches) for cause, mismatches in by_number}


def compare_calls(
    system: System, calls: Iterable[RecordedCall], departures: Sequence[Departure] = ()
) -> ConformanceReport:
    """Compare a system's answers with those of calls; `departures` are known departures.

    If all operands are Python numbers and Python itself answered, as in `1 == 2`, the call says nothing about
    the library. Such calls are left out.
    """
    compared = broken = 0
    found: list[Mismatch] = []
    mismatches_by_departure: dict[Departure, list[Mismatch]] = {departure: [] for departure in departures}
    unknown: dict[str, None] = {}
    read_operand = cache(system.operand)
    for call in calls:
        is_composed = is_call(call.op)
        if not is_composed and call.op not in OPERATION_BY_NAME and call.op not in system.custom_operations:
            unknown[call.op] = None
        elif call.answer in TEXT_BY_BROKEN_ANSWER:
            broken += 1
        elif call.answer != NOT_ASKED_ANSWER:
            operands = [*map(read_operand, call.operands)]
            if call.answer.startswith(PYTHON_NUMBER_PREFIX) and all(o.tier == "scalar" for o in operands):
                continue
            compared += 1
            ours = (
                answer_call(system, call.op, operands)
                if is_composed
                else answer_as_recorded(system.explain(*operands, op=call.op))
            )
            may_be_number = is_composed or may_give_python_number(system, call.op)
            number = call.answer.startswith(PYTHON_NUMBER_PREFIX) and may_be_number
            refused = call.answer.startswith(NON_NUMBER_PREFIXES) and not number
            if ours != (REFUSED_SIGN if refused else call.answer):
                matching_departure = departure_of(call, operands, departures)
                (mismatches_by_departure[matching_departure] if matching_departure else found).append(
                    Mismatch(call, ours)
                )
    return ConformanceReport(compared, broken, tuple(found), mismatches_by_departure, tuple(unknown))


def answer_as_recorded(promotion: Promotion) -> str:
    """Return a promotion's answer as a recording writes it."""
    if promotion.python_number_kind:
        return PYTHON_NUMBER_PREFIX + promotion.python_number_kind.python_name
    return REFUSED_SIGN if promotion.dtype is None else f"{promotion.dtype}{'*' * promotion.weak}"


def _sort_by_variety(mismatches: Sequence[Mismatch]) -> list[Mismatch]:
    """The same mismatches, those first that differ most: one for each way in which calls look apart from the
    widths and values in them, then a second one for each, and so on; calls with their operands swapped last.
    """
    counts_by_look: dict[tuple[str, ...], int] = {}
    swapped: set[tuple[str, ...]] = set()
    ranked: list[tuple[bool, int, Mismatch]] = []
    for mismatch in mismatches:
        operands = tuple(sorted(mismatch.call.operands))
        look = (mismatch.call.op, *(re.sub(r"\d[\d.e]*", "", operand) for operand in operands))
        is_swapped = (mismatch.call.op, *operands) in swapped
        swapped.add((mismatch.call.op, *operands))
        ranked.append((is_swapped, counts_by_look.get(look, 0), mismatch))
        counts_by_look[look] = counts_by_look.get(look, 0) + (not is_swapped)
    return [mismatch for *_, mismatch in sorted(ranked, key=lambda r: r[:2])]
