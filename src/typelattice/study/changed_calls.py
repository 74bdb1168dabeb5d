"""The changes from one system to another over all operations: the calls that change, and an example."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from typelattice.engine.answer import Promotion
from typelattice.engine.system import System
from typelattice.facts.dtypes import DTypeError
from typelattice.facts.operations import OPERATIONS
from typelattice.operands.notation import parse
from typelattice.operands.operand import Operand
from typelattice.recorded.answers import EXCEPTION, NOT_ASKED, OF_PYTHON
from typelattice.recorded.observed import observed, recording_of
from typelattice.recorded.recording import Recording
from typelattice.recorded.recording_files import load_recording
from typelattice.rendering import Cell, Grid
from typelattice.study.tables import of_tier, operands_of

REFUSED = "refused"
Calls = Mapping[str, Mapping[tuple[str, ...], str]]  # answers by operation and operands


@dataclass(frozen=True, slots=True)
class Change:
    """A call that two systems answer differently."""

    operands: tuple[str, ...]
    before: str
    after: str

    def __str__(self) -> str:
        return f"{', '.join(self.operands)}: {self.before} -> {self.after}"


@dataclass(frozen=True, slots=True)
class Changes:
    """All changes from one system to another, by operation.

    `compared` counts the calls of each operation, changed or not. `before` and `after` name the two systems.
    `recorded` is True if both libraries were recorded. If not, rules answer the calls.
    """

    before: str
    after: str
    compared: Mapping[str, int]
    changed: Mapping[str, tuple[Change, ...]]
    recorded: bool

    def __str__(self) -> str:
        """`75 of 527 calls differ, in 3 of 9 operations`."""
        calls = f"{sum(map(len, self.changed.values())):,} of {sum(self.compared.values()):,} calls differ"
        return f"{calls}, in {len(self.changed)} of {len(self.compared)} operations"

    def grid(self) -> Grid:
        """List the operations with changed calls, most changed first, with counts and examples."""
        ranked = sorted(self.changed.items(), key=lambda item: -len(item[1]))
        cells = [
            (Cell(f"{len(found):,}"), Cell(f"{self.compared[op]:,}"), Cell(str(_telling(found))))
            for op, found in ranked
        ]
        how = "a rule answers what was never asked"
        if self.recorded:
            how = "calls that both libraries were asked"
        columns = tuple(map(Cell, ("differ", "of", "for example")))
        rows = tuple(Cell(op) for op, _ in ranked)
        title = f"all operations: {self.before}, then {self.after}"
        return Grid(title, columns, rows, tuple(cells), (f"{self}: {how}",))


def changes(a: System, b: System) -> Changes:
    """Find the changes from a to b, over the recorded calls of both libraries, or else over common dtypes.

    Raises DTypeError if they have no dtype in common.

    >>> from typelattice import system
    >>> found = changes(system("numpy1"), system("numpy"))
    >>> {change.before: change.after for change in found.changed["add"]}["float64"]
    'float32'
    """
    recorded = recording_of(a) is not None and recording_of(b) is not None
    before, after = (
        (list_recorded_calls(load_recording(s.name)) for s in (a, b)) if recorded else _ask_both(a, b)
    )
    return changes_between(_name(a), before, _name(b), after, recorded)


def changes_between(before: str, then: Calls, after: str, now: Calls, recorded: bool = True) -> Changes:
    """Find the changes between answers to the same calls; `before` and `after` name who gave them."""
    compared: dict[str, int] = {}
    changed: dict[str, tuple[Change, ...]] = {}
    for op, answers in then.items():
        common = [operands for operands in answers if operands in now.get(op, {})]
        found = (Change(operands, answers[operands], now[op][operands]) for operands in common)
        if common:
            compared[op] = len(common)
        if differing := tuple(change for change in found if change.before != change.after):
            changed[op] = differing
    return Changes(before, after, compared, changed, recorded)


def list_recorded_calls(recording: Recording) -> Calls:
    """Return the recorded calls of a library, with its answers; leave out those that Python itself
    answers.
    """
    found: dict[str, dict[tuple[str, ...], str]] = {}
    for call in recording.calls():
        if call.answer != NOT_ASKED and not call.answer.startswith(OF_PYTHON):
            answer = REFUSED if call.answer.startswith(EXCEPTION) else call.answer
            found.setdefault(call.op, {})[call.operands] = answer
    return found


def _name(system: System) -> str:
    return f"{system.name} ({system.library})" if system.library else system.name


def _ask_both(a: System, b: System) -> tuple[Calls, Calls]:
    """Compare two systems in each operation of one or two operands, over the operands that both have."""
    (own, _), (others, _) = (operands_of(s, "all", small=False) for s in (a, b))
    columns = [o for o in own if o in others]
    if not any(o.dtype for o in columns):
        raise DTypeError(f"{a.name} and {b.name} have no dtype in common")
    rows = [*columns, *(of_tier(columns, "0d") if "0d" in (*a.tiers, *b.tiers) else ())]
    return _answers(a, rows, columns), _answers(b, rows, columns)


def _answers(system: System, rows: Iterable[Operand], columns: Iterable[Operand]) -> Calls:
    return {
        op.name: {
            tuple(map(str, operands)): _recorded_or_predicted(system.explain(*operands, op=op.name))
            for operands in _operands(rows, () if op.alone else columns)
        }
        for op in OPERATIONS.values()
        if op.least <= 2
    }  # fmt: skip


def _operands(rows: Iterable[Operand], columns: Iterable[Operand]) -> Iterator[tuple[Operand, ...]]:
    """Yield each row's operand, paired with each column's if the table has columns."""
    for row in rows:
        if columns:
            yield from ((row, column) for column in columns)
        else:
            yield (row,)


def _recorded_or_predicted(p: Promotion) -> str:
    """Return the library's recorded answer, or else the rule's answer."""
    o = observed(p)
    if o is not None:
        return REFUSED if o.error else o.call.answer
    return REFUSED if p.dtype is None else f"{p.dtype}{'*' * p.weak}"


def _telling(found: Iterable[Change]) -> Change:
    """Choose the change to show: prefer operands without a value, then arrays, then a short text."""

    def strangeness(change: Change) -> tuple[int, int, int]:
        tiers = [parse(operand) for operand in change.operands]
        valued = sum(o.value is not None for o in tiers)
        return valued, sum(o.tier != "array" for o in tiers), len(str(change))

    return min(found, key=strangeness)
