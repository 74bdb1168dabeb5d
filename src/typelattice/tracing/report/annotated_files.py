"""Source files line by line, each line with its steps and findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from typelattice.programs.calls.steps import Opaque, SourceLocation
from typelattice.tracing.findings.divergences_from_run import RunDivergence
from typelattice.tracing.findings.findings import Findings
from typelattice.tracing.findings.widening_causes import WideningCause
from typelattice.tracing.remedies.remedy import find_remedy
from typelattice.tracing.run_data.run import is_operation
from typelattice.tracing.run_data.source_text import split_lines


@dataclass(frozen=True, slots=True)
class AnnotatedLine:
    """The steps and findings of one source line.

    - `causes`: the causes that this line names.
    - `widening_causes`: causes of another line that widened a float here as well.
    - `origin_causes`: causes of another line with a wide float that is made or passed on here, before it
      widens any.
    - `following_causes`: causes of another line with widened values that the steps of this line use.
    - `changes`: the changed texts of the line, each with the cause that it stops.
    - `divergences`: the divergences of other systems here.
    - `mismatched_steps`: the steps with results that contradict our rules.
    """

    steps: list[int] = field(default_factory=list)
    causes: list[WideningCause] = field(default_factory=list)
    widening_causes: list[WideningCause] = field(default_factory=list)
    origin_causes: list[WideningCause] = field(default_factory=list)
    following_causes: list[WideningCause] = field(default_factory=list)
    changes: list[tuple[str, WideningCause]] = field(default_factory=list)
    divergences: list[RunDivergence] = field(default_factory=list)
    mismatched_steps: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class AnnotatedFile:
    """A source file: its path, its text if known, and its lines that have steps or findings.

    - `operation_count` counts the operations that ran in the file, `opaque_count` the results of unknown
      ones.
    - `cause_count` counts the causes of wide floats. `extra_bytes` are the extra bytes of these floats.
    - `divergence_counts` counts the divergences of each requested system.
    """

    name: str
    source: Sequence[str]
    lines: Mapping[int, AnnotatedLine]
    operation_count: int
    opaque_count: int
    cause_count: int
    extra_bytes: int
    divergence_counts: Mapping[str, int]


def annotate_files(findings: Findings) -> list[AnnotatedFile]:
    """Return the source files of a run, by name."""
    checked = findings.predicted_run
    files: dict[str, dict[int, AnnotatedLine]] = {}

    def line_at(location: SourceLocation) -> AnnotatedLine:
        return files.setdefault(location.file, {}).setdefault(location.line, AnnotatedLine())

    def line(i: int) -> AnnotatedLine | None:
        at = checked.steps[i].location
        return line_at(at) if at else None

    for i, step in enumerate(checked.steps):
        if (is_operation(step) or isinstance(step, Opaque)) and (there := line(i)):
            there.steps.append(i)
    for cause in findings.causes:
        if there := line(cause.step):
            there.causes.append(cause)
        before = {*cause.origin_steps, *cause.later_wide_steps} - {
            *cause.widening_steps,
            *cause.following_steps,
        }
        for i in (*cause.widening_steps, *sorted(before), *cause.following_steps):
            there = line(i)
            if there and not any(cause in known for known in _collect_causes(there)):
                into = (
                    there.widening_causes
                    if i in cause.widening_steps
                    else there.origin_causes
                    if i in before
                    else there.following_causes
                )
                into.append(cause)
        remedy = find_remedy(checked, cause)
        for file, number, text in remedy.list_changed_lines() if remedy else ():
            line_at(SourceLocation(file, number)).changes.append((text, cause))
    for divergences in findings.divergences.values():
        for divergence in divergences:
            if there := line(divergence.steps[0]):
                there.divergences.append(divergence)
    for i in checked.mismatches:
        if there := line(i):
            there.mismatched_steps.append(i)
    return [_annotate_file(findings, name, lines) for name, lines in sorted(files.items())]


def _collect_causes(line: AnnotatedLine) -> tuple[list[WideningCause], ...]:
    return line.causes, line.widening_causes, line.origin_causes, line.following_causes


def _annotate_file(findings: Findings, name: str, lines: Mapping[int, AnnotatedLine]) -> AnnotatedFile:
    run = findings.predicted_run.run
    steps = [i for line in lines.values() for i in line.steps]
    opaque = [i for i in steps if isinstance(run.program.steps[i], Opaque)]
    causes = [cause for line in lines.values() for cause in line.causes]
    divergences = [divergence.system for line in lines.values() for divergence in line.divergences]
    return AnnotatedFile(
        name,
        [line.rstrip("\r\n") for line in split_lines(run.sources.get(name, ""))],
        lines,
        sum(run.observations[i].count for i in steps) - sum(run.observations[i].count for i in opaque),
        sum(run.observations[i].count for i in opaque),
        len(causes),
        sum(cause.extra_bytes for cause in causes),
        {system: divergences.count(system) for system in findings.divergences},
    )
