"""A system against a library's answers: every call where they differ, grouped by cause."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from typelattice.engine.evaluate_operation import may_give_python_number
from typelattice.engine.promotion import Promotion
from typelattice.engine.system import System
from typelattice.facts.operations import NAMES
from typelattice.recorded.answer_notation import BROKEN, EXCEPTION, NO_NUMBERS, NOT_ASKED, OF_PYTHON
from typelattice.recorded.departure import Departure, departure_of
from typelattice.recorded.recorded_calls import RecordedCall

REFUSAL = "-"
"""How a system's refusal is written."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A call that a library and a system answer differently; `ours` as in recordings, `-` for a refusal."""

    call: RecordedCall
    ours: str

    @property
    def cause(self) -> str:
        """The group of a mismatch: the class of the operation, and which side answers, refuses or raises.

        An operation that one library alone has is a group by itself.
        """
        of_class = NAMES[self.call.op].of_class if self.call.op in NAMES else self.call.op
        theirs = self.call.answer
        if theirs.startswith(EXCEPTION):
            who = f"the library raises {theirs[1:]}, the system answers"
        elif self.ours == REFUSAL:
            who = "the library answers, the system refuses"
        elif theirs.rstrip("*") == self.ours.rstrip("*"):
            who = "they differ in weakness"
        else:
            who = "both answer, differently"
        return f"{of_class}: {who}"

    def __str__(self) -> str:
        return f"{self.call}, the system says {self.ours}"


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a comparison.

    `compared` counts the calls that were compared, `broken` those at which the library broke down.
    `listed` holds the mismatches that a known departure covers, `mismatches` all others. `unknown` names the
    operations that no table of ours lists; their calls are left out.
    """

    compared: int
    broken: int
    mismatches: tuple[Mismatch, ...]
    listed: Mapping[Departure, Sequence[Mismatch]]
    unknown: tuple[str, ...] = ()

    @property
    def excused(self) -> float:
        """The share of the calls that a list of departures or a breakdown excuses, from 0 to 1."""
        excused = self.broken + sum(map(len, self.listed.values()))
        return excused / max(1, self.compared + self.broken)

    def groups(self) -> dict[str, list[Mismatch]]:
        """The mismatches by cause, the commonest first; each group begins with examples that differ."""
        found: dict[str, list[Mismatch]] = {}
        for mismatch in self.mismatches:
            found.setdefault(mismatch.cause, []).append(mismatch)
        by_number = sorted(found.items(), key=lambda group: -len(group[1]))
        return {cause: _sort_by_variety(mismatches) for cause, mismatches in by_number}


def compare(system: System, calls: Iterable[RecordedCall], departures: Sequence[Departure] = ()) -> Report:
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
        if call.op not in NAMES and call.op not in system.custom_operations:
            unknown[call.op] = None
        elif call.answer in BROKEN:
            broken += 1
        elif call.answer != NOT_ASKED:
            operands = [*map(read_operand, call.operands)]
            if call.answer.startswith(OF_PYTHON) and all(o.tier == "scalar" for o in operands):
                continue
            compared += 1
            ours = answer_as_recorded(system.explain(*operands, op=call.op))
            number = call.answer.startswith(OF_PYTHON) and may_give_python_number(system, call.op)
            refused = call.answer.startswith(NO_NUMBERS) and not number
            if ours != (REFUSAL if refused else call.answer):
                matching_departure = departure_of(call, operands, departures)
                (mismatches_by_departure[matching_departure] if matching_departure else found).append(
                    Mismatch(call, ours)
                )
    return Report(compared, broken, tuple(found), mismatches_by_departure, tuple(unknown))


def answer_as_recorded(p: Promotion) -> str:
    """Return a promotion's answer as a recording writes it."""
    if p.number:
        return OF_PYTHON + p.number.word
    return REFUSAL if p.dtype is None else f"{p.dtype}{'*' * p.weak}"


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
