"""Goals of a patch, such as narrow floats: what it forbids, candidate changes, and the distance left."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typelattice.facts.dtypes import DTYPES, DType
from typelattice.files.reader import system
from typelattice.fixing.changes import Change, propose_agreeing_changes, propose_narrowing_changes
from typelattice.fixing.comparison import find_other_dtype
from typelattice.fixing.kept_values import KeptValue
from typelattice.fixing.source import FixError, Source
from typelattice.tracing.findings.findings import Findings, findings
from typelattice.tracing.report.words import count_text, size
from typelattice.tracing.run_data.float_widths import dtype_width
from typelattice.tracing.run_data.run import Run

Lines = Mapping[tuple[str, int], int]  # the distance to the goal, by file and line
Sources = Mapping[str, Source]
Values = Mapping[str, KeptValue]


class Goal(ABC):
    """A goal of a patch.

    Errors are given in units in the last place of the dtype `to`. `nothing` is the message if a run already
    meets the goal.
    """

    to: DType
    nothing: str

    @abstractmethod
    def read_findings(self, run: Run) -> Findings:
        """Read the findings of a run, such as its causes of wide floats."""

    @abstractmethod
    def list_forbidden(self, findings: Findings) -> Sequence[tuple[int, Any]]:
        """List the findings that the goal forbids, each with the step that names it."""

    @abstractmethod
    def propose_changes(self, findings: Findings, finding: Any, sources: Sources) -> Iterator[Change]:
        """Yield the changes that may remove a finding, the best first."""

    @abstractmethod
    def measure_lines(self, findings: Findings) -> Lines:
        """Measure the distance to the goal for each file and line, for example in bytes of wide floats."""

    @abstractmethod
    def why_rejected(self, new: Sequence[str], before: Values, after: Values) -> str:
        """Say why the run of a patch is refused: new findings, or values of other dtypes. Else return ""."""

    @abstractmethod
    def describe_distance(self, before: int, after: int) -> str:
        """Say how far runs were from the goal before and after."""


@dataclass(frozen=True, slots=True)
class Narrow(Goal):
    """No float wider than a dtype; measured by the bytes of wider floats."""

    to: DType
    nothing: str = "nothing to do: no float is widened"

    def __post_init__(self) -> None:
        if dtype_width(self.to) is None:
            raise FixError(f"{self.to} is no float; give the widest float that is to remain, such as float32")

    def read_findings(self, run: Run) -> Findings:
        return findings(run)

    def list_forbidden(self, findings: Findings) -> Sequence[tuple[int, Any]]:
        limit = dtype_width(self.to) or 0
        return [(c.step, c) for c in findings.causes if (dtype_width(c.wide_dtype) or 0) > limit]

    def propose_changes(self, findings: Findings, finding: Any, sources: Sources) -> Iterator[Change]:
        return propose_narrowing_changes(findings.predicted_run, finding, sources)

    def measure_lines(self, findings: Findings) -> Lines:
        bytes_: dict[tuple[str, int], int] = {}
        limit, checked = dtype_width(self.to) or 0, findings.predicted_run
        for step, seen, width in zip(checked.steps, checked.run.observations, checked.widths, strict=True):
            if step.location is not None and (width or 0) > limit and seen.count:
                at = step.location.file, step.location.line
                bytes_[at] = bytes_.get(at, 0) + seen.bytes
        return bytes_

    def why_rejected(self, new: Sequence[str], before: Values, after: Values) -> str:
        return f"a wide float comes up at {new[0]}" if new else ""

    def describe_distance(self, before: int, after: int) -> str:
        return f"{size(before)} of wide floats before, {size(after)} after"


@dataclass(frozen=True, slots=True)
class SameDtypesAs(Goal):
    """The same dtypes under another system as in the run. What is measured are the steps that differ."""

    system: str
    to: DType = DTYPES["float64"]
    nothing: str = "nothing to do: every step comes out alike"

    def __post_init__(self) -> None:
        system(self.system)

    def read_findings(self, run: Run) -> Findings:
        return findings(run, [self.system])

    def list_forbidden(self, findings: Findings) -> Sequence[tuple[int, Any]]:
        return [(d.steps[0], d) for of_system in findings.divergences.values() for d in of_system]

    def propose_changes(self, findings: Findings, finding: Any, sources: Sources) -> Iterator[Change]:
        return propose_agreeing_changes(findings.predicted_run, finding.steps[0], finding.observed, sources)

    def measure_lines(self, findings: Findings) -> Lines:
        counts: dict[tuple[str, int], int] = {}
        for i, divergence in self.list_forbidden(findings):
            step = findings.predicted_run.steps[i]
            at = (step.location.file, step.location.line) if step.location else ("", 0)
            counts[at] = counts.get(at, 0) + len(divergence.steps) + divergence.later
        return counts

    def why_rejected(self, new: Sequence[str], before: Values, after: Values) -> str:
        name = find_other_dtype(before, after)
        return f"{name} is {after[name].dtype}, not {before[name].dtype}" if name else ""

    def describe_distance(self, before: int, after: int) -> str:
        return f"{count_text(before, 'step')} would differ under {self.system} before, {after:,} after"
