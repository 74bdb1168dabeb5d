"""A patch: the changes of a program with their proof and costs, as text, as a diff and as files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from io import StringIO
from pathlib import Path

from typelattice.base.disk.read import read_bytes
from typelattice.base.disk.write import check_writable
from typelattice.base.disk.write_in_process import write_files_in_process
from typelattice.repair.copies.source import FixError
from typelattice.repair.patch.workspace import RunCost
from typelattice.repair.proof.value_comparison import NoiseComparison, ValueDifference
from typelattice.tracing.report.formatting import count_text, package_path, size_text

MAX_SOURCE_BYTES = 1 << 24
MAX_ULP_ERROR = 100.0  # a patch with a larger error is written only with a tolerance
MAX_PRINTED_STEPS = 12  # the steps with the largest errors
ASSERTIONS_HOLD = "they hold"
UNVERIFIED_MESSAGE = (
    "the program binds, prints and saves no number that the changes reach; print its results, or bind them "
    "to names"
)


@dataclass(frozen=True, slots=True)
class KeptChange:
    """A change that was kept: its file and line, the code there before and after, and the proof."""

    file: Path
    line: int
    before: str
    after: str
    proof: str = ""

    def __str__(self) -> str:
        return f"{path_text(self.file)}:{self.line}: {self.after}"


@dataclass(frozen=True, slots=True)
class UnfixedCause:
    """A cause without a kept change, and why the last change was undone."""

    file: Path
    line: int
    code: str
    reason: str

    def __str__(self) -> str:
        return f"{path_text(self.file)}:{self.line}: {self.code}: {self.reason}"


UNMEASURED = "time and memory were not measured: a plain run fails, or the time of the search was over"


@dataclass(frozen=True, slots=True)
class CostComparison:
    """The time and the peak memory of plain runs before and after a patch, each the least of several runs.

    >>> print(CostComparison(RunCost(1.5, 412_000_000), RunCost(0.914, 221_000_000), 3))
    peak memory 412.0 MB before, 221.0 MB after; time 1.50 s before, 0.91 s after (least of 3 plain runs each)
    """

    before: RunCost
    after: RunCost
    runs: int

    def __str__(self) -> str:
        before, after = self.before, self.after
        memory = (
            f"peak memory {size_text(before.peak_bytes)} before, {size_text(after.peak_bytes)} after; "
            if before.peak_bytes
            else ""
        )
        time = f"time {before.seconds:.2f} s before, {after.seconds:.2f} s after"
        many = f"least of {self.runs} plain runs each" if self.runs > 1 else "1 plain run each"
        return f"{memory}{time} ({many})"


@dataclass(frozen=True, slots=True)
class StepDifference:
    """An operation at a program line that gives different values with the patch, and the difference."""

    file: Path
    line: int
    operation: str
    difference: ValueDifference

    def __str__(self) -> str:
        each = self.difference
        words = (
            each.reason
            or f"the largest relative error is {each.relative_error:.1e}, {each.ulp_error:.3g} ulp"
        )
        return f"{path_text(self.file)}:{self.line}: {self.operation}: {words}"


@dataclass(frozen=True, slots=True)
class Patch:
    """The changes that make a program reach a goal.

    `contents` has the bytes of each changed file before and after. `progress` says how far the run was from
    the goal before and after. `difference` compares the values of both runs. `assertions_outcome` says what
    the changes do to assertions that failed before: "they hold", or the first that fails. `costs` has the
    time and memory of plain runs, without the tracer, or None if one of them failed. `test_count` is the
    number of tests, if it is a pytest run. `step_differences` are the steps with different values, or None if
    they were not compared. With `has_tolerance`, the user has said which error the program bears.
    `project_tests` says how the project's own tests ended, and `broken_test` which one fails with the patch.
    `other_python` says how the program ran in another interpreter, and `other_result` which result differs.
    `mended` says that the program failed before and runs now, and which of its results are new.
    `noise` compares a large error with the noise of the unpatched program in the dtype `noise_dtype`.
    `run_count` is the number of runs of the program. `notes` say what the search did not do, and what the
    runs do outside the copy.

    >>> print(Patch((), (), {}, "nothing to do: no float is widened", ValueDifference()))
    nothing to do: no float is widened
    """

    kept_changes: tuple[KeptChange, ...]
    unfixed_causes: tuple[UnfixedCause, ...]
    contents: Mapping[Path, tuple[bytes, bytes]] = field(repr=False)
    progress: str
    difference: ValueDifference
    assertions_outcome: str = ""
    costs: CostComparison | None = None
    test_count: int = 0
    step_differences: tuple[StepDifference, ...] | None = None
    has_tolerance: bool = False
    project_tests: str = ""
    broken_test: str = ""
    other_python: str = ""
    other_result: str = ""
    mended: str = ""
    noise: NoiseComparison | None = None
    noise_dtype: str = ""
    run_count: int = 0
    notes: tuple[str, ...] = ()

    @property
    def refusal(self) -> str:
        """Say why the patch may not be written although it reaches the goal, or return ""."""
        if self.broken_test:
            return f"a test of the project fails with it: {self.broken_test}"
        if self.other_result:
            return self.other_result
        return self.inexactness

    @property
    def inexactness(self) -> str:
        """Say why the patch is too inexact to be written, or return ""."""
        if self.has_tolerance or not self.kept_changes or self.difference.ulp_error <= MAX_ULP_ERROR:
            return ""
        largest, limit = self.difference, f"{MAX_ULP_ERROR:.0f}"
        if self.noise is not None:
            largest = self.noise.excess
            limit += " and above its own noise"
            if largest.ulp_error <= MAX_ULP_ERROR:
                return ""
        return (
            f"its largest error is {largest.ulp_error:.3g} ulp in {largest.name}, above {limit}; "
            "if the program may be this inexact, give the relative error that it bears: --tolerance X"
        )

    @property
    def grade(self) -> str:
        """The grade: "equal in this run", "changes values", "tested", "unverified" or "runs now".

        A program that failed before has no values to compare.
        """
        if self.mended:
            return "runs now"
        if not self.difference.is_equal:
            return "changes values"
        if self.difference.compared_count:
            return "equal in this run"
        return "tested" if self.test_count or self.assertions_outcome == ASSERTIONS_HOLD else "unverified"

    @property
    def is_equal(self) -> bool:
        """True if the values of the patched program were compared, and all are equal."""
        return self.grade == "equal in this run"

    @property
    def proof(self) -> str:
        """The proof in words: the tests, the assertions, or the values that were compared."""
        match self.grade:
            case "runs now":
                return self.mended
            case "tested" if self.test_count:
                return f"{count_text(self.test_count, 'test comes', 'tests come')} out as before"
            case "tested":
                return "its assertions hold"
            case "unverified":
                return UNVERIFIED_MESSAGE
        return str(self.difference)

    @property
    def diff(self) -> str:
        """The changes as a unified diff."""
        return "".join(
            line
            for path, (before, after) in sorted(self.contents.items())
            for line in write_diff(path_text(path), before.decode("utf-8"), after.decode("utf-8"))
        )

    def data(self) -> dict[str, object]:
        """Return the patch as JSON data: its changes, the diff, and the new content of each changed file."""
        return {
            "fixed": [
                {"file": str(f.file), "line": f.line, "before": f.before, "after": f.after, "proof": f.proof}
                for f in self.kept_changes
            ],
            "unfixed": [
                {"file": str(u.file), "line": u.line, "code": u.code, "reason": u.reason}
                for u in self.unfixed_causes
            ],
            "equal": self.is_equal,
            "progress": self.progress,
            "difference": str(self.difference),
            "mended": self.mended,
            "other_python": self.other_result or self.other_python,
            "noise": self.noise.noise_ulps if self.noise is not None else None,
            "steps": [
                {"file": str(s.file), "line": s.line, "operation": s.operation, "difference": str(s)}
                for s in self.step_differences or ()
            ],
            "runs": self.run_count,
            "notes": [*self.notes],
            "diff": self.diff,
            "files": {
                str(path): {"before": before.decode("utf-8"), "after": after.decode("utf-8")}
                for path, (before, after) in sorted(self.contents.items())
            },
        }

    def write(self) -> None:
        """Write the changes. Raises FixError or FileError if that fails, and then no file is written."""
        if self.refusal:
            raise FixError(f"nothing is written: {self.refusal}")
        if self.kept_changes and self.grade == "unverified":
            raise FixError(f"nothing is written, as the patch is unverified: {UNVERIFIED_MESSAGE}")
        for path, (before, _) in self.contents.items():
            if read_bytes(path, MAX_SOURCE_BYTES) != before:
                raise FixError(f"{path} has changed since it was run; run typelattice fix again")
            if package_path(str(path)) is not None:
                raise FixError(f"{path} is installed; apply the diff to the sources of its package")
            if not os.access(path, os.W_OK) or not path.stat().st_mode & 0o222:  # root may write any file
                raise FixError(f"{path} is read-only; make it writable, or apply the diff by hand")
            check_writable(path, len(self.contents[path][1]))
        write_files_in_process({path: after for path, (_, after) in self.contents.items()})

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Print the diff, its grade, and the causes that were not fixed."""
        if not self.kept_changes and not self.unfixed_causes:
            yield self.progress
            yield from self.notes
            return
        if self.kept_changes:
            yield self.diff
            yield f"{self.grade}: {self.proof}"
            if self.noise is not None:
                yield f"its own noise in {self.noise_dtype}: {self.noise.noise_ulps:.3g} ulp"
            yield from dict.fromkeys(each.proof for each in self.kept_changes if each.proof)
            if self.project_tests:
                yield self.project_tests
            if self.other_python:
                yield self.other_python
            if self.refusal:
                yield f"not to be written: {self.refusal}"
            yield f"{count_text(len(self.kept_changes), 'change')}: {self.progress}"
            if not self.mended:
                yield str(self.costs or UNMEASURED)
        if self.assertions_outcome:
            yield f"its assertions failed before; with the changes: {self.assertions_outcome}"
        if self.kept_changes and self.step_differences is not None:
            yield count_text(
                len(self.step_differences), "step changes its values", "steps change their values"
            )
            yield from (f"  {each}" for each in self.step_differences[:MAX_PRINTED_STEPS])
        if self.unfixed_causes:
            yield f"not fixed: {count_text(len(self.unfixed_causes), 'place')}"
            yield from (f"  {each}" for each in self.unfixed_causes)
        yield from self.notes
        if self.run_count:
            yield count_text(self.run_count, "run of the program", "runs of the program")


def path_text(path: Path) -> str:
    here = Path(os.path.realpath(os.curdir))
    installed = package_path(str(path))
    if installed is not None:
        return installed.as_posix()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else str(path)


def write_diff(name: str, old_text: str, new_text: str) -> Iterator[str]:
    """Yield the lines of a unified diff of two texts."""
    # as `git apply` splits, which knows no other ends of lines
    old, new = ([*StringIO(text, newline="\n")] for text in (old_text, new_text))
    for line in unified_diff(old, new, f"a/{name}", f"b/{name}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
