"""The findings of a run: causes of wide floats, casts back, and divergences of other systems."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from typelattice.programs.calls.steps import SourceLocation
from typelattice.programs.program.program import AnySystem, Replay
from typelattice.tracing.findings.announced_dtypes import WrongAnnouncement, find_wrong_announcements
from typelattice.tracing.findings.cast_back import CastBack, find_casts_back
from typelattice.tracing.findings.check_scope import CheckScope, find_scope
from typelattice.tracing.findings.divergences_from_run import RunDivergence, find_divergences
from typelattice.tracing.findings.intended_widenings import sort_causes
from typelattice.tracing.findings.predicted_run import PredictedRun, predict_run
from typelattice.tracing.findings.widening_causes import WideningCause, find_causes
from typelattice.tracing.models.departures import Departures, find_departures
from typelattice.tracing.run_data.run import AnnouncedCall, LocatedLoss, Run, WeaknessChange
from typelattice.tracing.run_data.source_text import split_lines

EXCUSE_PATTERN = re.compile(r"#.*\btypelattice:\s*meant\b")
"""A comment that turns off the findings of its line."""


@dataclass(frozen=True, slots=True)
class Findings:
    """The causes in a run, the places that cast back, and the replay and divergences of each system.

    `weakness_changes` are the arguments that make functions compile again. `excused_count` counts the
    findings that a comment in the source excuses. `islands` are explicit casts to wider floats, with results
    that are all cast back. `value_losses` is None if no values were checked. `omitted_causes` are not
    reported, as `omissions` says in sentences. `departures` are those from a policy, if one was given: they
    take the place of the causes. `wrong_announcements` are arrays with another dtype than they had announced.
    """

    predicted_run: PredictedRun = field(repr=False)
    causes: tuple[WideningCause, ...]
    cast_backs: tuple[CastBack, ...]
    replays: Mapping[str, Replay] = field(repr=False)
    divergences: Mapping[str, tuple[RunDivergence, ...]]
    excused_count: int = 0
    weakness_changes: tuple[WeaknessChange, ...] = ()
    islands: tuple[WideningCause, ...] = ()
    value_losses: tuple[LocatedLoss, ...] | None = None
    omitted_causes: tuple[WideningCause, ...] = ()
    omissions: tuple[str, ...] = ()
    departures: Departures | None = None
    wrong_announcements: tuple[WrongAnnouncement, ...] = ()
    announced_calls: tuple[AnnouncedCall, ...] = ()
    """The calls that announced another dtype than the same calls computed."""

    @property
    def scope(self) -> CheckScope:
        """The operations that the checks looked at, and the wide floats that they cannot see."""
        return find_scope(self.predicted_run, (*self.causes, *self.omitted_causes))

    def location_of(self, step_number: int) -> SourceLocation | None:
        """Return the source location of a step."""
        return self.predicted_run.steps[step_number].location


def collect_findings(run: Run, systems: Sequence[AnySystem] = ()) -> Findings:
    """Collect the findings of a run, replayed under some systems.

    Raises UnknownSystemError or FormatError if a system cannot be read.
    """
    predicted_run = predict_run(run)
    replays = {replay.name: replay for replay in (run.program.under(system) for system in systems)}
    excuses = _Excuses(run)
    sorted_causes = sort_causes(predicted_run, find_causes(predicted_run), excuses.is_excused)
    excuses.count += sorted_causes.excused_count
    back = tuple(c for c in find_casts_back(predicted_run) if not excuses(c.step))
    diverging = {
        name: tuple(d for d in find_divergences(predicted_run, replayed) if not excuses(d.steps[0]))
        for name, replayed in replays.items()
    }
    weak = tuple(
        each for each in run.weakness_changes if not excuses.has_excuse(each.location, each.weak_call)
    )
    found = Findings(
        predicted_run,
        sorted_causes.reported,
        back,
        replays,
        diverging,
        excuses.count,
        weak,
        sorted_causes.islands,
        run.value_losses,
        wrong_announcements=tuple(
            each for each in find_wrong_announcements(run) if not excuses(each.step, *each.sources)
        ),
        announced_calls=tuple(
            each
            for each in run.announced_calls
            if not excuses.has_excuse(each.location, each.computing_location)
        ),
    )
    departures = _find_departures(run, excuses)
    if departures is None:
        return found
    if run.model is not None and not run.model.log.operation_count:
        return replace(found, omissions=(*found.omissions, _say_unchecked(run)))
    return replace(
        found, causes=(), cast_backs=(), islands=(), departures=departures, excused_count=excuses.count
    )


def _say_unchecked(run: Run) -> str:
    """Say that a policy was not checked, as no dispatcher saw an operation."""
    assert run.model is not None
    known = " and ".join(sorted(run.model.libraries))
    own = " and ".join(sorted(run.systems)) or "no library"
    return (
        f"not checked: {run.model.questions.policy}, which is compared with the operations of {known}; "
        f"this program computed with {own}, so these are the usual findings"
    )


def _find_departures(run: Run, excuses: _Excuses) -> Departures | None:
    """Find the departures from the policy of a run, without those that a comment excuses."""
    policy = run.model.questions.policy if run.model is not None else None
    if run.model is None or policy is None:
        return None
    excuses.count = 0
    found = find_departures(run.model.log, policy)
    kept = tuple(
        each
        for each in found.departures
        if each.place is None or not excuses.has_excuse(each.place.location, each.place.caller)
    )
    return replace(found, departures=kept)


class _Excuses:
    """Finds a comment on a step's line that says that the step is intended, and counts these steps."""

    def __init__(self, run: Run) -> None:
        self.steps = run.program.steps
        self.lines = {
            file: split_lines(text) for file, text in run.sources.items() if EXCUSE_PATTERN.search(text)
        }
        self.count = 0

    def __call__(self, *steps: int) -> bool:
        return self.has_excuse(*(self.steps[i].location for i in steps))

    def is_excused(self, step_number: int) -> bool:
        """Return True if a comment excuses the line of a step, without counting it."""
        count, found = self.count, self.has_excuse(self.steps[step_number].location)
        self.count = count
        return found

    def has_excuse(self, *places: SourceLocation | None) -> bool:
        """Return True if a comment excuses a place."""
        found = any(
            place.line <= len(lines) and EXCUSE_PATTERN.search(lines[place.line - 1])
            for place in places
            if place is not None
            for lines in (self.lines.get(place.file, ()),)
        )
        self.count += found
        return found
