"""The changes from one system to another over all operations: the calls that change, and an example."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from typelattice.base.rendering import Cell, Grid
from typelattice.core.dtypes.dtypes import DTypeError
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.system import System
from typelattice.core.evidence.answer_notation import (
    EXCEPTION_PREFIX,
    NOT_ASKED_ANSWER,
    PYTHON_NUMBER_PREFIX,
    answer_of,
)
from typelattice.core.evidence.recorded_answer import find_recorded_answer, recording_name_of
from typelattice.core.evidence.recording import Recording
from typelattice.core.evidence.recording_files import open_recording
from typelattice.core.operands.notation import parse_operand
from typelattice.core.operands.operand import Operand
from typelattice.core.operations.operations import OPERATIONS
from typelattice.study.tables.tables import convert_to_tier, operands_of

REFUSED_ANSWER = "refused"
AnswersByOperation = Mapping[str, Mapping[tuple[str, ...], str]]  # answers by operation and operands


@dataclass(frozen=True, slots=True)
class CallChange:
    """A call that two systems answer differently."""

    operands: tuple[str, ...]
    old_answer: str
    new_answer: str

    def __str__(self) -> str:
        return f"{', '.join(self.operands)}: {self.old_answer} -> {self.new_answer}"


@dataclass(frozen=True, slots=True)
class Changes:
    """All changes from one system to another, by operation.

    `call_counts` counts the calls of each operation, changed or not. `old_name` and `new_name` name the two
    systems. `is_recorded` is True if both libraries were recorded. If not, rules answer the calls.
    """

    old_name: str
    new_name: str
    call_counts: Mapping[str, int]
    changes_by_operation: Mapping[str, tuple[CallChange, ...]]
    is_recorded: bool

    def __str__(self) -> str:
        """`75 of 527 calls differ, in 3 of 9 operations`."""
        changed = sum(map(len, self.changes_by_operation.values()))
        calls = f"{changed:,} of {sum(self.call_counts.values()):,} calls differ"
        return f"{calls}, in {len(self.changes_by_operation)} of {len(self.call_counts)} operations"

    def grid(self) -> Grid:
        """List the operations with changed calls, most changed first, with counts and examples."""
        ranked = sorted(self.changes_by_operation.items(), key=lambda item: -len(item[1]))
        cells = [
            (Cell(f"{len(found):,}"), Cell(f"{self.call_counts[op]:,}"), Cell(str(_choose_example(found))))
            for op, found in ranked
        ]
        how = "a rule answers what was never asked"
        if self.is_recorded:
            how = "calls that both libraries were asked"
        columns = tuple(map(Cell, ("differ", "of", "for example")))
        rows = tuple(Cell(op) for op, _ in ranked)
        title = f"all operations: {self.old_name}, then {self.new_name}"
        return Grid(title, columns, rows, tuple(cells), (f"{self}: {how}",))


def find_changes(old_system: System, new_system: System) -> Changes:
    """Find what changes, over the recorded calls of both libraries, or else over common dtypes.

    Raises DTypeError if they have no dtype in common.

    >>> from typelattice import system
    >>> found = find_changes(system("numpy1"), system("numpy"))
    >>> {change.old_answer: change.new_answer for change in found.changes_by_operation["add"]}["float64"]
    'float32'
    """
    recordings = [
        open_recording(s.name) for s in (old_system, new_system) if recording_name_of(s) is not None
    ]
    recorded = [list_recorded_calls(each) for each in recordings if each] if len(recordings) == 2 else None
    before, after = recorded or _ask_both(old_system, new_system)
    return changes_between(
        _system_title(old_system), before, _system_title(new_system), after, recorded is not None
    )


def changes_between(
    old_name: str,
    old_answers: AnswersByOperation,
    new_name: str,
    new_answers: AnswersByOperation,
    recorded: bool = True,
) -> Changes:
    """Find the changes between answers to the same calls; `old_name` and `new_name` name who gave them."""
    call_counts: dict[str, int] = {}
    changed: dict[str, tuple[CallChange, ...]] = {}
    for op, answers in old_answers.items():
        common = [operands for operands in answers if operands in new_answers.get(op, {})]
        found = (CallChange(operands, answers[operands], new_answers[op][operands]) for operands in common)
        if common:
            call_counts[op] = len(common)
        if differing := tuple(change for change in found if change.old_answer != change.new_answer):
            changed[op] = differing
    return Changes(old_name, new_name, call_counts, changed, recorded)


def list_recorded_calls(recording: Recording) -> AnswersByOperation:
    """Return the recorded calls of a library, with its answers; leave out those that Python itself
    answers.
    """

    def shown(named_answer: str) -> str | None:
        answer = answer_of(named_answer)
        if answer == NOT_ASKED_ANSWER or answer.startswith(PYTHON_NUMBER_PREFIX):
            return None
        return REFUSED_ANSWER if answer.startswith(EXCEPTION_PREFIX) else answer

    found: dict[str, Mapping[tuple[str, ...], str]] = {}
    for op in recording.operations:
        answers = recording.answers_of(op)
        as_shown = {named_answer: shown(named_answer) for named_answer in {*answers.values()}}
        kept = {operands: said for operands, each in answers.items() if (said := as_shown[each]) is not None}
        if kept:
            found[op] = kept
    return found


def _system_title(system: System) -> str:
    return f"{system.name} ({system.library})" if system.library else system.name


def _ask_both(old_system: System, new_system: System) -> tuple[AnswersByOperation, AnswersByOperation]:
    """Compare two systems in each operation of one or two operands, over the operands that both have."""
    (own, _), (others, _) = (operands_of(s, "all", small=False) for s in (old_system, new_system))
    columns = [o for o in own if o in others]
    if not any(o.dtype for o in columns):
        raise DTypeError(f"{old_system.name} and {new_system.name} have no dtype in common")
    rows = [
        *columns,
        *(convert_to_tier(columns, "0d") if "0d" in (*old_system.tiers, *new_system.tiers) else ()),
    ]
    return _list_answers(old_system, rows, columns), _list_answers(new_system, rows, columns)


def _list_answers(system: System, rows: Iterable[Operand], columns: Iterable[Operand]) -> AnswersByOperation:
    return {
        op.name: {
            tuple(map(str, operands)): _recorded_or_predicted(system.explain(*operands, op=op.name))
            for operands in _yield_operand_pairs(rows, () if op.has_one_promoting_operand else columns)
        }
        for op in OPERATIONS.values()
        if op.min_operands <= 2
    }  # fmt: skip


def _yield_operand_pairs(
    rows: Iterable[Operand], columns: Iterable[Operand]
) -> Iterator[tuple[Operand, ...]]:
    """Yield each row's operand, paired with each column's if the table has columns."""
    for row in rows:
        if columns:
            yield from ((row, column) for column in columns)
        else:
            yield (row,)


def _recorded_or_predicted(promotion: Promotion) -> str:
    """Return the library's recorded answer, or the rule's answer if there is none."""
    o = find_recorded_answer(promotion)
    if o is not None:
        return REFUSED_ANSWER if o.error else o.call.answer
    return REFUSED_ANSWER if promotion.dtype is None else f"{promotion.dtype}{'*' * promotion.weak}"


def _choose_example(changes: Iterable[CallChange]) -> CallChange:
    """Choose the change to show: prefer operands without a value, then arrays, then a short text."""

    def strangeness(change: CallChange) -> tuple[int, int, int]:
        tiers = [parse_operand(operand) for operand in change.operands]
        valued = sum(o.value is not None for o in tiers)
        return valued, sum(o.tier != "array" for o in tiers), len(str(change))

    return min(changes, key=strangeness)
