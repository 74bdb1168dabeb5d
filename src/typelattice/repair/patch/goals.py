"""Goals of a patch, such as narrow floats: forbidden findings, candidate changes, and the distance left."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from typelattice.core.dtypes.dtypes import DTYPES, DType
from typelattice.core.system_files.reader import system
from typelattice.programs.calls.steps import Created
from typelattice.repair.copies.kept_values import KeptValue
from typelattice.repair.copies.source import FixError
from typelattice.repair.proof.value_comparison import find_other_dtype
from typelattice.tracing.findings.check_scope import CheckScope, list_wide_results
from typelattice.tracing.findings.findings import Findings, collect_findings
from typelattice.tracing.findings.intended_widenings import is_contained
from typelattice.tracing.findings.widening_causes import WideningCause
from typelattice.tracing.remedies.agreeing_changes import propose_agreeing_changes
from typelattice.tracing.remedies.change import Change
from typelattice.tracing.remedies.narrowing_changes import FILLING_OPERATIONS
from typelattice.tracing.remedies.remedy import order_changes
from typelattice.tracing.report.formatting import count_text, size_text
from typelattice.tracing.report.scope_sentences import describe_scope, describe_wide_results
from typelattice.tracing.run_data.float_widths import dtype_width
from typelattice.tracing.run_data.run import Run
from typelattice.tracing.source.source_file import SourceFile

DistanceByLine = Mapping[tuple[str, int], int]  # the distance to the goal, by file and line
SourceByFile = Mapping[str, SourceFile]
KeptValueByName = Mapping[str, KeptValue]
NOT_SEEN_MESSAGE = "no change of the lines that were followed, but wide floats come from others"


class Goal(ABC):
    """A goal of a patch.

    Errors are given in units in the last place of `widest_dtype`. `already_met_message` is the first line
    if a run already meets the goal.
    """

    widest_dtype: DType
    already_met_message: str

    @property
    def narrowing_width(self) -> int | None:
        """The width in bits to which a patched function may narrow floats, or None if it may not."""
        return None

    def list_meeting_steps(self, finding: Any) -> Sequence[int]:
        """List the steps where a finding's narrow floats meet wide ones."""
        return ()

    @abstractmethod
    def read_findings(self, run: Run) -> Findings:
        """Read the findings of a run, such as its causes of wide floats."""

    @abstractmethod
    def list_forbidden_findings(self, findings: Findings) -> Sequence[tuple[int, Any]]:
        """List the findings that the goal forbids, each with the step that names it."""

    @abstractmethod
    def propose_changes(self, findings: Findings, finding: Any, sources: SourceByFile) -> Iterator[Change]:
        """Yield the changes that may remove a finding, the best first."""

    @abstractmethod
    def distance_by_line(self, findings: Findings) -> DistanceByLine:
        """Measure the distance to the goal for each file and line, for example in bytes of wide floats."""

    @abstractmethod
    def why_rejected(
        self, new_findings: Sequence[str], old_values: KeptValueByName, new_values: KeptValueByName
    ) -> str:
        """Say why the run of a patch is refused, for new findings or values of other dtypes, or return ""."""

    def measure_results(self, findings: Findings) -> int:
        """Measure how far the results of a run are from the goal, for changes of which no step tells."""
        return 0

    def is_met_at(self, findings: Findings, step_number: int) -> bool:
        """Return True if a step that stays as it is no longer departs from the goal after a change."""
        return False

    def describe_met_goal(self, findings: Findings, name_file: Callable[[str], str]) -> str:
        """Say in lines that a run already meets the goal, and what was looked at to find this.

        If a wide float comes from a call that was not looked into, there may be something to do.
        """
        scope = self.read_scope(findings)
        met = NOT_SEEN_MESSAGE if scope.unseen_widenings or scope.held_arrays else self.already_met_message
        notes = [*describe_scope(scope, name_file), *describe_wide_results(scope, name_file)]
        return "\n".join([met, *notes])

    def read_scope(self, findings: Findings) -> CheckScope:
        """Read what the checks looked at, and the wide results that no finding names."""
        return findings.scope

    def describe_results(self, old_distance: int, new_distance: int) -> str:
        """Say how far the results of runs were from the goal before and after."""
        return self.describe_distance(old_distance, new_distance)

    @abstractmethod
    def describe_distance(self, old_distance: int, new_distance: int) -> str:
        """Say how far runs were from the goal before and after."""


@dataclass(frozen=True, slots=True)
class NoWiderThan(Goal):
    """No float wider than a dtype, measured by the bytes of wider floats.

    With `includes_results`, also no array that is filled with a number, even if it widens nothing.
    """

    widest_dtype: DType
    already_met_message: str = "nothing to do: no float is widened"
    includes_results: bool = False

    def __post_init__(self) -> None:
        if dtype_width(self.widest_dtype) is None:
            raise FixError(
                f"{self.widest_dtype} is no float; give the widest float that is to remain, such as float32"
            )

    @property
    def narrowing_width(self) -> int | None:
        return dtype_width(self.widest_dtype)

    def list_meeting_steps(self, finding: Any) -> Sequence[int]:
        steps: Sequence[int] = finding.widening_steps
        return steps

    def read_findings(self, run: Run) -> Findings:
        return collect_findings(run)

    def list_forbidden_findings(self, findings: Findings) -> Sequence[tuple[int, Any]]:
        limit = dtype_width(self.widest_dtype) or 0
        found = [(c.step, c) for c in findings.causes if (dtype_width(c.wide_dtype) or 0) > limit]
        return [*found, *self._list_filled_results(findings)] if self.includes_results else found

    def _list_filled_results(self, findings: Findings) -> Iterator[tuple[int, WideningCause]]:
        """Yield the wide results that are decided where an array is filled with a number."""
        run = findings.predicted_run
        wide = {each.step: each for each in self.read_scope(findings).wide_results}
        for step, each in wide.items():
            made = run.steps[step]
            if isinstance(made, Created) and made.op in FILLING_OPERATIONS and made.location is not None:
                yield step, WideningCause((step,), self.widest_dtype, each.dtype, (step,), (), (), 0, 0, True)

    def propose_changes(self, findings: Findings, finding: Any, sources: SourceByFile) -> Iterator[Change]:
        return order_changes(findings.predicted_run, finding, sources)

    def distance_by_line(self, findings: Findings) -> DistanceByLine:
        bytes_: dict[tuple[str, int], int] = {}
        limit, predicted_run = dtype_width(self.widest_dtype) or 0, findings.predicted_run
        for step, seen, width in zip(
            predicted_run.steps, predicted_run.run.observations, predicted_run.widths, strict=True
        ):
            if step.location is not None and (width or 0) > limit and seen.count:
                location = step.location.file, step.location.line
                bytes_[location] = bytes_.get(location, 0) + seen.bytes
        return bytes_

    def describe_met_goal(self, findings: Findings, name_file: Callable[[str], str]) -> str:
        said = Goal.describe_met_goal(self, findings, name_file)
        for cause in findings.causes[:1]:  # no wider than the goal
            at = findings.predicted_run.steps[cause.step].location
            where = f" at {name_file(at.file)}:{at.line}" if at is not None else ""
            narrow = cause.narrow_dtype
            said += f"\n{narrow} becomes {cause.wide_dtype}{where}; fix --to {narrow} keeps it {narrow}"
        return said

    def measure_results(self, findings: Findings) -> int:
        run, limit = findings.predicted_run, dtype_width(self.widest_dtype) or 0
        wide = {i for i in run.run.results.values() if (run.widths[i] or 0) > limit}
        seen = run.run.observations
        return sum(seen[i].bytes // max(seen[i].count, 1) for i in wide)

    def describe_results(self, old_distance: int, new_distance: int) -> str:
        return f"{size_text(old_distance)} of wide results before, {size_text(new_distance)} after"

    def is_met_at(self, findings: Findings, step_number: int) -> bool:
        return is_contained(findings.predicted_run, step_number)

    def why_rejected(
        self, new_findings: Sequence[str], old_values: KeptValueByName, new_values: KeptValueByName
    ) -> str:
        return f"a wide float comes up at {new_findings[0]}" if new_findings else ""

    def read_scope(self, findings: Findings) -> CheckScope:
        limit = dtype_width(self.widest_dtype)
        wide = list_wide_results(findings.predicted_run, findings.causes, limit)
        return replace(findings.scope, wide_results=tuple(wide))

    def describe_distance(self, old_distance: int, new_distance: int) -> str:
        return f"{size_text(old_distance)} of wide floats before, {size_text(new_distance)} after"


@dataclass(frozen=True, slots=True)
class KeepsToPolicy(NoWiderThan):
    """No float wider than a dtype on a line that departs from a policy. Wide islands and state stay.

    A cast stands where the narrow array meets the wide one. Only an array that is filled with a number may
    be narrow where it is made.
    """

    already_met_message: str = "nothing to do: no line that was followed departs from the policy"

    def list_forbidden_findings(self, findings: Findings) -> Sequence[tuple[int, Any]]:
        forbidden = NoWiderThan.list_forbidden_findings(self, findings)
        model = findings.predicted_run.run.model
        if model is None or model.departing_lines is None:
            return forbidden
        return [
            (i, cause) for i, cause in forbidden
            if not model.departing_lines.isdisjoint(_list_lines(findings, cause.widening_steps))
        ]  # fmt: skip

    def propose_changes(self, findings: Findings, finding: Any, sources: SourceByFile) -> Iterator[Change]:
        steps = findings.predicted_run.steps
        filled = [i for i in finding.origin_steps if steps[i].op in FILLING_OPERATIONS]
        lines = _list_lines(findings, [*finding.widening_steps, *filled])
        changes = NoWiderThan.propose_changes(self, findings, finding, sources)
        return (change for change in changes if (change.file, change.line) in lines)


def _list_lines(findings: Findings, steps: Sequence[int]) -> set[tuple[str, int]]:
    """List the file and the line of each of some steps."""
    found = (findings.predicted_run.steps[i].location for i in steps)
    return {(at.file, at.line) for at in found if at is not None}


@dataclass(frozen=True, slots=True)
class SameDtypesAs(Goal):
    """The run's dtypes also under another system. The steps that differ are counted."""

    system: str
    widest_dtype: DType = DTYPES["float64"]
    already_met_message: str = "nothing to do: every step has the same dtype"

    def __post_init__(self) -> None:
        system(self.system)

    def read_findings(self, run: Run) -> Findings:
        return collect_findings(run, [self.system])

    def list_forbidden_findings(self, findings: Findings) -> Sequence[tuple[int, Any]]:
        return [(d.steps[0], d) for of_system in findings.divergences.values() for d in of_system]

    def propose_changes(self, findings: Findings, finding: Any, sources: SourceByFile) -> Iterator[Change]:
        return propose_agreeing_changes(findings.predicted_run, finding.steps[0], finding.observed, sources)

    def distance_by_line(self, findings: Findings) -> DistanceByLine:
        counts: dict[tuple[str, int], int] = {}
        for i, divergence in self.list_forbidden_findings(findings):
            step = findings.predicted_run.steps[i]
            location = (step.location.file, step.location.line) if step.location else ("", 0)
            counts[location] = counts.get(location, 0) + len(divergence.steps) + divergence.later_count
        return counts

    def why_rejected(
        self, new_findings: Sequence[str], old_values: KeptValueByName, new_values: KeptValueByName
    ) -> str:
        name = find_other_dtype(old_values, new_values)
        return f"{name} is {new_values[name].dtype}, not {old_values[name].dtype}" if name else ""

    def describe_distance(self, old_distance: int, new_distance: int) -> str:
        steps = count_text(old_distance, "step")
        return f"{steps} would differ under {self.system} before, {new_distance:,} after"
