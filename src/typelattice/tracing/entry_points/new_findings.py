"""The findings of a run that a baseline lacks, or that changed lines decide, and whether a check fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from typelattice.programs.calls.steps import SourceLocation
from typelattice.tracing.entry_points.baseline import (
    Baseline,
    entry_of_cause,
    entry_of_divergence,
    find_cost_by_entry,
)
from typelattice.tracing.entry_points.changed_lines import ChangedLines
from typelattice.tracing.entry_points.session_verdict import (
    BaselineComparison,
    collect_session_findings,
    compare_with_baseline,
    stale_lines,
    write_shrunk_baseline,
)
from typelattice.tracing.findings.divergences_from_run import RunDivergence
from typelattice.tracing.findings.findings import Findings
from typelattice.tracing.findings.widening_causes import WideningCause
from typelattice.tracing.models.departures import Departures
from typelattice.tracing.remedies.remedy import parse_sources
from typelattice.tracing.report.formatting import count_text, size_text
from typelattice.tracing.run_data.operation_log import Place
from typelattice.tracing.source.dtype_decisions import find_dtype_decisions


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """The findings that a check leaves out: those of a baseline, and those that no changed line decides.

    `root` is the folder that the names of files in the baseline begin at.
    """

    root: Path
    baseline_file: Path | None = None
    baseline: Baseline = field(default_factory=Baseline)
    changed: ChangedLines | None = None

    @property
    def baseline_name(self) -> str:
        """The name of the baseline's file, or an empty string."""
        return self.baseline_file.name if self.baseline_file else ""


@dataclass(frozen=True, slots=True)
class CheckedFindings:
    """The findings that a check reports, and their comparison with the baseline."""

    findings: Findings
    comparison: BaselineComparison
    settings: CheckSettings

    @property
    def is_failure(self) -> bool:
        """Return True if a float was newly widened, a system newly differs, or an entry no longer occurs.

        A departure from a policy fails the check, too, and so does a policy that nothing was compared with.
        No baseline lists departures.
        """
        return self.comparison.is_failure or self.departure_count > 0 or self.is_policy_unchecked

    @property
    def is_policy_unchecked(self) -> bool:
        """Return True if a policy was given, and no dispatcher saw an operation to compare with it."""
        model = self.findings.predicted_run.run.model
        return model is not None and model.questions.policy is not None and not model.log.operation_count

    @property
    def departure_count(self) -> int:
        """The number of places that depart from the policy of the run."""
        departures = self.findings.departures
        return len(departures.departures) if departures is not None else 0

    def write_baseline(self) -> str:
        """Write the baseline, and say so. Raises FileError."""
        assert self.settings.baseline_file is not None
        return write_shrunk_baseline(self.settings.baseline_file, self.settings.baseline, self.comparison)

    def verdict_lines(self) -> Iterator[str]:
        """Say whether the check fails, and why."""
        yield from stale_lines(self.comparison, self.settings.baseline_name)
        new = self.comparison.new
        if self.comparison.budget is not None and new and self.comparison.extra_bytes is not None:
            more, budget = size_text(self.comparison.extra_bytes), size_text(self.comparison.budget)
            relation = "within" if self.comparison.is_within_budget else "more than"
            yield f"new findings take {more}, {relation} the budget of {budget}"
        count = len(new) + self.departure_count
        if self.is_policy_unchecked:
            yield "the policy was not checked: no operation ran that it could be compared with"
        yield f"the check {'fails' if self.is_failure else 'passes'}: {count_text(count, 'new finding')}"


def check_findings(findings: Findings, settings: CheckSettings) -> CheckedFindings:
    """Leave out the findings that are known, or that no changed line decides."""
    whole = collect_session_findings(findings, settings.baseline, settings.root)
    stale = compare_with_baseline(whole, settings.baseline, settings.root).stale
    known = {*settings.baseline.entries}
    kept = _keep(
        findings, f"known in {settings.baseline_name}",
        lambda cause: entry_of_cause(findings, cause, settings.root) not in known,
        lambda system, each: entry_of_divergence(findings, system, each, settings.root) not in known,
        lambda location: True,
    )  # fmt: skip
    if (changed := settings.changed) is not None:
        sources = parse_sources(findings.predicted_run.run)

        def is_changed(*steps: int) -> bool:
            return any(at in changed for at in map(findings.location_of, steps) if at is not None)

        def is_decided_by_change(cause: WideningCause) -> bool:
            decisions = find_dtype_decisions(findings.predicted_run.steps[cause.origin_steps[0]], sources)
            return is_changed(*cause.origin_steps, *cause.widening_steps) or any(
                each.location in changed for each in decisions
            )

        kept = _keep(
            kept, f"no line of them was changed since {changed.base}",
            is_decided_by_change, lambda system, each: is_changed(*each.steps), changed.__contains__,
        )  # fmt: skip
    costs = find_cost_by_entry(kept, settings.root)
    new = tuple((entry, costs[entry]) for entry in sorted(costs))
    return CheckedFindings(kept, BaselineComparison(new, stale, settings.baseline.budget), settings)


def _keep(
    findings: Findings,
    reason: str,
    keeps_cause: Callable[[WideningCause], bool],
    keeps_divergence: Callable[[str, RunDivergence], bool],
    keeps_location: Callable[[SourceLocation], bool],
) -> Findings:
    """Leave out the findings that are not kept, and count them with the reason."""

    def keeps_step(step_number: int) -> bool:
        at = findings.location_of(step_number)
        return at is None or keeps_location(at)

    made = replace(
        findings,
        causes=tuple(cause for cause in findings.causes if keeps_cause(cause)),
        divergences={
            system: tuple(each for each in those if keeps_divergence(system, each))
            for system, those in findings.divergences.items()
        },
        cast_backs=tuple(each for each in findings.cast_backs if keeps_step(each.step)),
        islands=tuple(each for each in findings.islands if keeps_step(each.step)),
        weakness_changes=tuple(
            each
            for each in findings.weakness_changes
            if any(keeps_location(at) for at in (each.location, each.weak_call) if at is not None)
        ),
        announced_calls=tuple(
            each
            for each in findings.announced_calls
            if any(keeps_location(at) for at in (each.location, each.computing_location) if at is not None)
        ),
        wrong_announcements=tuple(
            each
            for each in findings.wrong_announcements
            if any(keeps_step(number) for number in (each.step, *each.sources))
        ),
        departures=_keep_departures(findings.departures, keeps_location),
        value_losses=None
        if findings.value_losses is None
        else tuple(each for each in findings.value_losses if keeps_location(each.location)),
    )
    omitted = _count(findings) - _count(made)
    if not omitted:
        return findings
    kept = {cause.step for cause in made.causes}
    return replace(
        made,
        omitted_causes=(
            *findings.omitted_causes, *(cause for cause in findings.causes if cause.step not in kept)
        ),
        omissions=(*findings.omissions, f"{count_text(omitted, 'finding')} not shown: {reason}"),
    )  # fmt: skip


def _keep_departures(
    found: Departures | None, keeps_location: Callable[[SourceLocation], bool]
) -> Departures | None:
    """Leave out the departures at places that are not kept."""
    if found is None:
        return None

    def is_kept(place: Place | None) -> bool:
        locations = (place.location, place.caller) if place is not None else ()
        return not any(locations) or any(keeps_location(at) for at in locations if at is not None)

    return replace(found, departures=tuple(each for each in found.departures if is_kept(each.place)))


def _count(findings: Findings) -> int:
    divergences = sum(map(len, findings.divergences.values()))
    shown = (
        findings.causes, findings.cast_backs, findings.weakness_changes, findings.value_losses or (),
        findings.wrong_announcements, findings.announced_calls,
    )  # fmt: skip
    departures = findings.departures.departures if findings.departures is not None else ()
    return divergences + len(departures) + sum(map(len, shown))
