"""The remedy of a cause: the changes that a patch tries first, and what a replay with them keeps narrow."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from typelattice.programs.calls.steps import Call, Created
from typelattice.programs.replay.outcome import Outcome
from typelattice.tracing.findings.predicted_run import PredictedRun
from typelattice.tracing.findings.widening_causes import WideningCause, narrow_operands
from typelattice.tracing.remedies.change import Change, StepCast
from typelattice.tracing.remedies.changes_where_met import propose_widening
from typelattice.tracing.remedies.entry_tests import keep_test_at_entry
from typelattice.tracing.remedies.narrowing_changes import propose_narrowing_changes
from typelattice.tracing.remedies.replayed_casts import ReplayedCasts, is_narrow, replay_casts
from typelattice.tracing.remedies.step_node import StepNode
from typelattice.tracing.run_data.float_widths import (
    dtype_at_width_of,
    dtype_width,
    is_integer,
    operand_width,
)
from typelattice.tracing.run_data.run import Run
from typelattice.tracing.source.source_file import SourceFile, parse_source
from typelattice.tracing.steps.called_name import WRITING_OPERATION

MAX_CHANGES = 12  # changes of one remedy, as several lines may each need one
MAX_TRIED_CHANGES = 120  # of a cause
MAX_FIRST_CHANGES = 4  # that are tried with a second one
MAX_CHANGES_BEFORE_ENTRY = 80  # before those that test a dtype at the entry of a function


@dataclass(frozen=True, slots=True)
class Remedy:
    """The changes that a patch tries first, in the given sources, and their replay."""

    changes: tuple[Change, ...]
    replay: ReplayedCasts
    sources: Mapping[str, SourceFile]

    def list_changed_lines(self) -> list[tuple[str, int, str]]:
        """List the lines that the changes rewrite, each with its file, its number and its new text."""
        found: dict[tuple[str, int], str] = {}
        for change in self.changes:
            source = self.sources[change.file]
            edits = [edit for other in self.changes if other.file == change.file for edit in other.edits]
            for edit in change.edits:
                line = source.line_of_byte(edit.start)
                on_line = {e for e in edits if source.line_of_byte(e.start) == line}
                found[change.file, line] = source.text_of_changed_line(line, on_line)
        return [(file, line, text) for (file, line), text in found.items()]


@dataclass(frozen=True, slots=True)
class _Meeting:
    """A step that is wide as a narrow float meets a wide one, as a cause of its own.

    `producers` are the steps of the wide array, if only that may be cast. `is_at_step` is True if it may be
    cast only where the step takes it.
    """

    cause: WideningCause
    producers: tuple[int, ...] = ()
    is_at_step: bool = False

    def accepts(self, predicted_run: PredictedRun, change: Change) -> bool:
        """Return True if it is known what a change casts, and nothing else is cast."""
        if not change.casts:
            return False
        for cast in change.casts:
            if self.producers and cast.producer not in self.producers:
                return False
            is_used_elsewhere = len({*predicted_run.consumers[cast.producer]}) > 1
            if self.is_at_step and cast.consumer is None and is_used_elsewhere:
                return False
        return True


def parse_sources(run: Run) -> dict[str, SourceFile]:
    """Parse the sources of a run. Those that are too long, or are not Python, are left out."""
    found = {}
    for file, text in run.sources.items():
        source = parse_source(text, run.script not in (None, file))
        if source is not None:
            found[file] = source
    return found


def order_changes(
    predicted_run: PredictedRun, cause: WideningCause, sources: Mapping[str, SourceFile]
) -> Iterator[Change]:
    """Yield the changes that may remove a cause, those first that keep its first step narrow in a replay.

    Next come those that keep other steps narrow, and those of which no replay tells. Last come those that it
    refuses, or that keep nothing narrow.
    """
    by_rank: list[list[Change]] = [[], [], []]
    for each in (*_list_written_causes(predicted_run, cause), cause):
        ranks: dict[tuple[StepCast, ...], int] = {}
        for change in propose_narrowing_changes(predicted_run, each, sources):
            if change.casts not in ranks:
                ranks[change.casts] = _rank(each, replay_casts(predicted_run, each, change.casts))
            by_rank[ranks[change.casts]].append(change)
    found = [*dict.fromkeys(change for changes in by_rank for change in changes)][:MAX_TRIED_CHANGES]
    yield from found[:MAX_CHANGES_BEFORE_ENTRY]
    at_entry = dict.fromkeys(kept for change in found for kept in keep_test_at_entry(change, sources))
    yield from (change for change in at_entry if change not in found)
    yield from found[MAX_CHANGES_BEFORE_ENTRY:]


def _list_written_causes(predicted_run: PredictedRun, cause: WideningCause) -> Iterator[WideningCause]:
    """Yield a cause for each wide array that the results of a cause are written into.

    That array decides the dtype, wherever the wide results come from.
    """
    wide = {*cause.widening_steps, *cause.later_wide_steps}
    for i in sorted(cause.later_wide_steps):
        inputs = predicted_run.inputs[i]
        if predicted_run.steps[i].op != WRITING_OPERATION or len(inputs) < 2:
            continue
        array = inputs[0]
        if isinstance(predicted_run.steps[array], Created) and array not in wide:
            yield replace(cause, origin_steps=(array,), widening_steps=(i,))


def _rank(cause: WideningCause, replay: ReplayedCasts) -> int:
    """Rank a replay: 0 if the first widening step stays narrow, 1 if others do or may do so, else 2."""
    if replay.is_refused:
        return 2
    if cause.step in replay.narrow_steps:
        return 0
    return 1 if not replay.casts or replay.unknown_steps or replay.narrow_steps else 2


def find_remedy(predicted_run: PredictedRun, cause: WideningCause) -> Remedy | None:
    """Find the changes that a patch tries first for a cause, or None if no source has its place.

    Where a step is still wide by another operand, the first change for that operand is added. A wide dtype
    that is narrower than the default float was requested: then the narrower floats are cast to it.
    """
    sources = parse_sources(predicted_run.run)
    if not cause.is_default_dtype and cause.meant_step is None:
        return _find_widening(predicted_run, cause, sources)
    changes: list[Change] = []
    casts: set[StepCast] = set()
    best = replay_casts(predicted_run, cause, casts)
    meeting: _Meeting | None = _Meeting(cause)
    while meeting is not None and len(changes) < MAX_CHANGES:
        keeps_more = partial(_keeps_more, predicted_run, cause, best, casts)
        accepts = partial(meeting.accepts, predicted_run)
        proposed = filter(accepts, order_changes(predicted_run, meeting.cause, sources))
        tried = [*proposed]
        added = [change for change in tried if keeps_more(change)][:1]
        added = added or _find_pair(predicted_run, cause, tried, best, sources)
        if not added:
            break
        changes += added
        casts |= {cast for change in added for cast in change.casts}
        best = replay_casts(predicted_run, cause, casts)
        meeting = _find_next_meeting(predicted_run, cause, best, casts)
    return Remedy(tuple(changes), best, sources) if changes else None


def _find_pair(
    predicted_run: PredictedRun,
    cause: WideningCause,
    tried: Sequence[Change],
    best: ReplayedCasts,
    sources: Mapping[str, SourceFile],
) -> list[Change]:
    """Find two changes that keep more narrow only together, such as those of both parts of a join."""
    for first in tried[:MAX_FIRST_CHANGES]:
        one = {*best.casts, *first.casts}
        alone = replay_casts(predicted_run, cause, one)
        meeting = None if alone.is_refused else _find_next_meeting(predicted_run, cause, alone, one)
        if meeting is None:
            continue
        for second in order_changes(predicted_run, meeting.cause, sources):
            replay = replay_casts(predicted_run, cause, {*one, *second.casts})
            if second.casts and {*replay.narrow_steps} > {*best.narrow_steps}:
                return [first, second]
    return []


def _find_widening(
    predicted_run: PredictedRun, cause: WideningCause, sources: Mapping[str, SourceFile]
) -> Remedy | None:
    """Find the casts of the narrower floats to the wide dtype, where they meet it."""
    nodes = (StepNode.find(predicted_run, i, sources) for i in cause.widening_steps)
    first = [next(propose_widening(at, cause), None) for at in nodes if at is not None]
    changes = tuple(dict.fromkeys(change for change in first if change is not None))[:MAX_CHANGES]
    casts = tuple(dict.fromkeys(cast for change in changes for cast in change.casts))
    size = sum(predicted_run.run.observations[i].bytes for i in {cast.producer for cast in casts})
    target = dtype_at_width_of(cause.narrow_dtype, cause.wide_dtype)
    return Remedy(changes, ReplayedCasts(casts, target, size, {}, ()), sources) if changes else None


def _keeps_more(
    predicted_run: PredictedRun,
    cause: WideningCause,
    best: ReplayedCasts,
    casts: Collection[StepCast],
    change: Change,
) -> bool:
    """Return True if a change keeps more steps narrow, or may do so as it reaches a step without a rule."""
    replay = replay_casts(predicted_run, cause, {*casts, *change.casts})
    if replay.is_refused:
        return False
    is_more = {*replay.narrow_steps} > {*best.narrow_steps}
    return is_more or len(replay.opaque_consumers) > len(best.opaque_consumers)


def _find_next_meeting(
    predicted_run: PredictedRun, cause: WideningCause, best: ReplayedCasts, casts: Collection[StepCast]
) -> _Meeting | None:
    """Find a step that is still wide although a narrow float reaches it."""
    limit = dtype_width(cause.narrow_dtype) or 0
    outcomes, unknown = best.outcomes, {*best.unknown_steps}
    for i in sorted({*cause.widening_steps, *cause.later_wide_steps} - unknown):
        inputs = predicted_run.inputs[i]
        is_met = any(is_narrow(outcomes.get(p), limit) for p in inputs) or narrow_operands(predicted_run, i)
        if is_narrow(outcomes.get(i), limit) or not is_met:
            continue
        wide = _list_wide_operands(predicted_run, i, outcomes, casts)
        is_own = i in cause.widening_steps
        if wide and (is_own or all(_is_wide_by_itself(predicted_run, p) for p in wide)):
            origins = tuple(predicted_run.steps_of_same_source(wide[0]))
            return _Meeting(replace(cause, origin_steps=origins, widening_steps=(i,)), origins, is_own)
    return None


def _is_wide_by_itself(predicted_run: PredictedRun, step: int) -> bool:
    """Return True if no operand made a step wide. What comes from another wide array has another remedy."""
    own = predicted_run.widths[step]
    return own is None or not any(predicted_run.widths[p] == own for p in predicted_run.inputs[step])


def _list_wide_operands(
    predicted_run: PredictedRun, step: int, outcomes: Mapping[int, Outcome], casts: Collection[StepCast]
) -> list[int]:
    """List the operands that keep a step as wide as it is, or its integers if no float does."""
    operands = {p: outcomes[p].operand if p in outcomes else predicted_run.result_of(p)
                for p in predicted_run.inputs[step]
                if StepCast(p, step) not in casts and StepCast(p) not in casts}  # fmt: skip
    now = outcomes[step].operand if step in outcomes else predicted_run.result_of(step)
    wide = [p for p, o in operands.items() if operand_width(o) == operand_width(now)]
    if not wide and isinstance(predicted_run.steps[step], Call):
        wide = [p for p, o in operands.items() if is_integer(o)]
    return wide
