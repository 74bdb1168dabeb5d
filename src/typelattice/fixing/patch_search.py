"""The search for a patch: each change is run, and kept if floats stay narrow and nothing else differs."""

from __future__ import annotations

import inspect
import os
import pickle
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import FunctionType
from typing import Any

from typelattice.disk.read import FileError, read_bytes
from typelattice.facts.dtypes import DType, dtype
from typelattice.facts.suggestions import clip_text
from typelattice.fixing.changes import Change
from typelattice.fixing.child import has_wide_form
from typelattice.fixing.comparison import (
    Difference,
    compare_prints,
    compare_values,
    find_other_dtype,
    larger_difference,
)
from typelattice.fixing.goals import Goal, Lines, Narrow, SameDtypesAs
from typelattice.fixing.patch import (
    ASSERTIONS_HOLD,
    MAX_SOURCE_BYTES,
    CostComparison,
    Fixed,
    Patch,
    StepDifference,
    Unfixed,
    path_text,
)
from typelattice.fixing.program import Program
from typelattice.fixing.source import Edit, FixError, Source
from typelattice.fixing.step_values import compare_step_values
from typelattice.fixing.workspace import FailedRun, FinishedRun, RunCost, Workspace, open_workspace
from typelattice.operands.operand import Operand
from typelattice.tracing.findings.findings import Findings
from typelattice.tracing.findings.widening_causes import find_reached_steps
from typelattice.tracing.front.script import check_package
from typelattice.tracing.report.why import LINE
from typelattice.tracing.run_data.float_widths import dtype_width, is_integer, operand_width

MAX_CHANGES_PER_CAUSE = 24
WIDE_INPUT_TOLERANCE = 1e-12  # relative error that a change may add for wide input
MAX_CAUSES = 100
PLAIN_RUNS = 3  # the least time and the least memory of these are reported
SLOW_RUN_SECONDS = 10.0  # a slower plain run is not repeated


def fix(
    function: Callable[..., Any],
    /,
    *args: Any,
    to: object = "float32",
    like: str | None = None,
    tolerance: float | None = None,
    only: str | None = None,
    steps: bool = False,
    **named: Any,
) -> Patch:
    """Find changes of a function's file that keep its floats as narrow as a dtype.

    The function is called with copies of its arguments, in a process of its own and on a copy of its folder.
    A change after which wide arguments give a narrower result is not kept. `only` names one line, such as
    `12` or `file.py:12`: nothing else is fixed. `steps` compares the values of each step. Raises FixError,
    FileError.

    >>> fix(lambda x: x * 2.0, 1.0)
    Traceback (most recent call last):
    typelattice.fixing.source.FixError: fix takes a function that is defined by name in a file; ...
    """
    inner = inspect.unwrap(function)
    if not isinstance(inner, FunctionType) or "<" in inner.__qualname__:
        raise FixError(
            "fix takes a function that is defined by name in a file; define one, and give its arguments"
        )
    file = Path(os.path.realpath(inner.__code__.co_filename))
    if not file.is_file():
        raise FixError(f"the source of {inner.__qualname__} is not in a file; save it in one")
    try:
        arguments = pickle.dumps((args, named))
    except Exception as e:
        raise FixError(
            f"an argument cannot be sent to another process: {e}; give arrays and numbers"
        ) from None
    folder = file.parents[inner.__module__.count(".") if inner.__module__ != "__main__" else 0]
    program = Program(
        str(file), (), (), False, folder, folder, inner.__qualname__, inner.__module__, arguments
    )
    return fix_program(program, make_goal(to, like), tolerance, only, steps)


def fix_script(
    target: str,
    argv: Sequence[str] = (),
    packages: Sequence[str] = (),
    as_module: bool = False,
    to: object = "float32",
    like: str | None = None,
    tolerance: float | None = None,
    only: str | None = None,
    steps: bool = False,
) -> Patch:
    """Find changes of a script, or of a module, that keep its floats as narrow as a dtype.

    Raises FixError, FileError.
    """
    here = Path(os.path.realpath(os.curdir))
    path = here
    if not as_module:
        read_bytes(target, 0)  # raises FileError for a path that names no file that can be read
        path = Path(os.path.realpath(target))
    folder = here if as_module or path.is_relative_to(here) else path.parent
    program = Program(
        target if as_module else str(path), tuple(argv), tuple(packages), as_module, folder, folder
    )
    return fix_program(program, make_goal(to, like), tolerance, only, steps)


def fix_tests(
    argv: Sequence[str],
    packages: Sequence[str],
    to: object = "float32",
    like: str | None = None,
    tolerance: float | None = None,
    only: str | None = None,
) -> Patch:
    """Find changes of packages that keep floats in their tests as narrow as a dtype.

    Each test must have the same outcome as before. Raises FixError.
    """
    for package in packages:
        check_package(package)
    if not packages:
        raise FixError("tests are not changed; name the package that may change: --package NAME")
    here = Path(os.path.realpath(os.curdir))
    program = Program("pytest", tuple(argv), tuple(packages), False, here, here, tests=True)
    return fix_program(program, make_goal(to, like), tolerance, only)


def make_goal(to: object, like: str | None) -> Goal:
    """Make the goal of a patch: dtypes like those of another system, or no float wider than a dtype."""
    return SameDtypesAs(like) if like is not None else Narrow(dtype(to))


def fix_program(
    program: Program,
    goal: Goal,
    tolerance: float | None,
    only: str | None,
    steps: bool = False,
) -> Patch:
    """Patch a program in a copy of its folder until no change helps any more. Raises FixError."""
    if only is not None and LINE.fullmatch(only) is None:
        raise FixError(f"{clip_text(only, 80)!r} is no line; give one such as 12 or file.py:12")
    with open_workspace(program) as workspace:
        search = _PatchSearch(workspace, goal, tolerance, only)
        patch = search.find_patch()
        return replace(patch, steps=search.compare_steps()) if steps and patch.fixed else patch


class _PatchSearch:
    """The search for a patch of one program: its sources with the changes kept so far, and the run of them.

    `unchanged` is the run without any change, `current` the one with the changes kept so far, and `wide` the
    unchanged run with wide input, if there is any. `unreadable` has the reason for each source that cannot be
    changed.
    """

    def __init__(
        self, workspace: Workspace, goal: Goal, tolerance: float | None, only: str | None
    ) -> None:
        self.workspace, self.goal, self.to, self.tolerance = workspace, goal, goal.to, tolerance
        self.only = LINE.fullmatch(only) if only is not None else None
        self.root, self.original = workspace.program.root, workspace.program.original
        self.unchanged = self.run_twice()
        self.current = self.unchanged
        program = workspace.program
        script = not program.function and not program.tests and not program.as_module
        widens = program.function or (script and has_wide_form(program.target))
        self.wide = workspace.run(widen=True) if widens else None
        self.sources: dict[str, Source] = {}
        self.unreadable: dict[str, str] = {}
        self.original_contents: dict[str, bytes] = {}

    def run_twice(self) -> FinishedRun:
        """Run the program twice. Raises FixError if it fails, or gives other values the second time."""
        first = self.run_unchanged()
        if self.workspace.program.tests and "passed" not in first.tests.values():
            raise FixError("no test passes without any change; give pytest's arguments after pytest")
        second = self.run_unchanged()
        repeated = compare_values(first.values, second.values, self.to)
        if not repeated.is_none or first.printed != second.printed or first.tests != second.tests:
            name = repeated.name or repeated.reason or ("its tests" if first.tests else "what it prints")
            raise FixError(
                f"the program gives other values at each run ({name}): seed it, then run this again"
            )
        return first

    def run_unchanged(self) -> FinishedRun:
        """Run the program as it is, without its assertions if one fails. Raises FixError if it fails."""
        ran = self.workspace.run()
        if isinstance(ran, FailedRun) and ran.reason.startswith("AssertionError") and self.workspace.asserts:
            self.workspace.set_asserts(False)
            ran = self.workspace.run()
        if isinstance(ran, FailedRun):
            raise FixError(f"the program fails without any change: {ran.reason}")
        return ran

    def find_patch(self) -> Patch:
        """Try changes cause by cause until none is left to try; drop the needless ones."""
        fixed: list[tuple[Fixed, Change]] = []
        unfixed: dict[tuple[str, int, str], Unfixed] = {}
        for _ in range(MAX_CAUSES):
            findings = self.goal.read_findings(self.current.run)
            self.read_sources(findings)
            listed = self.list_findings(findings)
            if not listed and not fixed:
                self.refuse_line(findings)
            todo = [(i, x) for i, x in listed if self.source_line(findings, i) not in unfixed]
            if not todo:
                break
            outcome = self.try_changes(findings, *todo[0])
            if isinstance(outcome, tuple):
                fixed.append(outcome)
            else:
                unfixed[self.source_line(findings, todo[0][0])] = outcome
        smallest = self.drop_needless_changes(fixed)
        contents = {
            self.original_path(file): (before, self.sources[file].content)
            for file, before in self.original_contents.items()
            if file in self.sources and self.sources[file].content != before
        }
        remaining = {self.source_line(findings, i) for i, _ in self.list_findings(findings)}
        costs = self.measure_costs() if smallest else None
        asserts = self.check_assertions() if fixed and not self.workspace.asserts else ""
        before, after = map(self.measure_distance, (self.unchanged, self.current))
        progress = self.goal.describe_distance(before, after) if fixed or unfixed else self.goal.nothing
        still_unfixed = tuple(x for at, x in unfixed.items() if at in remaining)
        unreached = _unreached_names(self.goal, self.unchanged)
        difference = _compare_runs(self.unchanged, self.current, self.to, unreached)
        tests = len(self.unchanged.tests)
        return Patch(smallest, still_unfixed, contents, progress, difference, asserts, costs, tests)

    def check_assertions(self) -> str:
        """Run the changed program with its assertions; say that they hold, or which one fails."""
        self.workspace.set_asserts(True)
        ran = self.workspace.run()
        return ran.reason if isinstance(ran, FailedRun) else ASSERTIONS_HOLD

    def list_findings(self, findings: Findings) -> Sequence[tuple[int, Any]]:
        """List the findings to fix: all that the goal forbids, or those at the line of `only`."""
        forbidden = self.goal.list_forbidden(findings)
        if self.only is None:
            return forbidden
        file, line = self.only["file"] or "", int(self.only["line"])
        return [
            (i, finding) for i, finding in forbidden
            if (at := findings.predicted_run.steps[i].location) is not None and at.line == line
            and str(self.original_path(at.file)).endswith(file)
        ]  # fmt: skip

    def refuse_line(self, findings: Findings) -> None:
        """Raise FixError if one line was asked for, and the findings are at others."""
        keys = [self.source_line(findings, i) for i, _ in self.goal.list_forbidden(findings)]
        if self.only is not None and keys:
            places = dict.fromkeys(f"{path_text(self.original_path(file))}:{line}" for file, line, _ in keys)
            raise FixError(f"nothing is to be fixed at line {self.only[0]}; but at {', '.join(places)}")

    def compare_steps(self) -> tuple[StepDifference, ...]:
        """Run the program as it was and with the changes; compare the values of each step."""
        changed = {file: source.content for file, source in self.sources.items()}
        before, after = (self.run_for_steps(contents) for contents in (self.original_contents, changed))
        differences = compare_step_values(before.steps, after.steps, self.to)
        return tuple(
            StepDifference(self.original_path(file), line, name, d) for file, line, name, d in differences
        )

    def run_for_steps(self, contents: Mapping[str, bytes]) -> FinishedRun:
        """Run the program with these contents of files, and keep the values of its steps. Raises FixError."""
        for file, content in contents.items():
            self.workspace.put_content(file, content)
        ran = self.workspace.run(steps=True)
        if isinstance(ran, FailedRun):
            raise FixError(f"the program fails while the values of its steps are kept: {ran.reason}")
        return ran

    def measure_costs(self) -> CostComparison | None:
        """Run the program plainly, as it was and with the changes in turn; return the least of each."""
        now = {file: self.sources[file].content for file in self.original_contents if file in self.sources}
        runs: list[list[RunCost]] = [[], []]
        for _ in range(PLAIN_RUNS):
            for measured, contents in zip(runs, (self.original_contents, now), strict=True):
                for file in now:
                    self.workspace.put_content(file, contents[file])
                cost = self.workspace.measure_cost()
                if cost is None:
                    return None
                measured.append(cost)
            if max(cost.seconds for measured in runs for cost in measured) > SLOW_RUN_SECONDS:
                break
        before, after = (RunCost(min(c.seconds for c in costs), min(c.peak for c in costs)) for costs in runs)
        return CostComparison(before, after, len(runs[0]))

    def drop_needless_changes(self, fixed: Sequence[tuple[Fixed, Change]]) -> tuple[Fixed, ...]:
        """Undo each change that later changes made needless; return the changes that are kept.

        A change is needless if the program without it is as close to the goal and computes the same.
        """
        distance = self.measure_distance(self.current)
        kept = [*fixed]
        for entry in reversed(fixed[:-1]):  # nothing came after the last one
            change = entry[1]
            source = self.sources[change.file]
            later = [other for _, other in kept[kept.index(entry) + 1 :]]
            undone = _undo_change(source, change, later)
            if undone is None:
                continue
            self.workspace.put_content(change.file, undone)
            ran = self.workspace.run()
            if (
                isinstance(ran, FinishedRun)
                and self.measure_distance(ran) <= distance
                and not self.why_results_differ(ran)
            ):
                self.sources[change.file], self.current = Source(source.path, undone), ran
                kept.remove(entry)
            else:
                self.workspace.put_content(change.file, source.content)
        return tuple(one for one, _ in kept)

    def measure_distance(self, ran: FinishedRun) -> int:
        """Measure how far a run is from the goal."""
        return sum(self.goal.measure_lines(self.goal.read_findings(ran.run)).values())

    def source_line(self, findings: Findings, i: int) -> tuple[str, int, str]:
        """Return the file, the line and the code of a step."""
        step = findings.predicted_run.steps[i]
        return (step.location.file, step.location.line, step.text) if step.location else ("", 0, step.text)

    def read_sources(self, findings: Findings) -> None:
        """Read the files that were followed: those of the program, and of the packages that were named."""
        for file in findings.predicted_run.run.sources:
            if file in self.sources or file in self.unreadable:
                continue
            if not Path(file).is_absolute() or not Path(file).is_file():
                self.unreadable[file] = self.why_no_file(file)
                continue
            try:
                self.sources[file] = Source(self.original_path(file), read_bytes(file, MAX_SOURCE_BYTES))
                self.original_contents[file] = self.sources[file].content
                self.sources[file].check_syntax()
            except (FixError, SyntaxError, FileError) as e:
                self.sources.pop(file, None)
                self.unreadable[file] = str(e)

    def why_no_file(self, file: str) -> str:
        """Say why a followed source is no file: it is in an archive, was removed, or never was in a file."""
        path = self.workspace.inside / file
        archive = next((folder for folder in path.parents if folder.is_file()), None)
        if archive is not None:
            where = path_text(self.original_path(str(archive)))
            return f"it is in the archive {where}; unpack it, and run it from there"
        if Path(file).is_absolute():
            return f"{path_text(self.original_path(file))} is not there any more; run typelattice fix again"
        return ""

    def original_path(self, file: str) -> Path:
        """Map a file of the copy to the user's, through links; any other file is where it is."""
        inside = Path(file).is_relative_to(self.root)
        whole = self.original / Path(file).relative_to(self.root) if inside else Path(file)
        return Path(os.path.realpath(whole))

    def try_changes(self, findings: Findings, i: int, finding: Any) -> tuple[Fixed, Change] | Unfixed:
        """Try the changes of a cause one by one, and keep the first that passes."""
        file, line, code = self.source_line(findings, i)
        path = self.original_path(file) if os.path.isabs(file) else Path(file)
        reason = self.unreadable.get(file, "")
        if file not in self.sources and not reason:
            reason = (
                "it is in no file of the program; name its package with --package, and run from its folder"
            )
        before = self.goal.measure_lines(findings)
        for change in islice(
            self.goal.propose_changes(findings, finding, self.sources), MAX_CHANGES_PER_CAUSE
        ):
            source = self.sources[change.file]
            content = source.apply_edits(change.edits)
            try:
                patched = Source(source.path, content)
                patched.check_syntax()
            except (SyntaxError, ValueError):
                continue
            self.workspace.put_content(change.file, content)
            ran = self.workspace.run()
            refusal = ran.reason if isinstance(ran, FailedRun) else self.why_rejected(ran, before, change)
            if not refusal and isinstance(ran, FinishedRun):
                self.sources[change.file], self.current = patched, ran
                line = source.line(change.edits[0].start)
                old, new = (_line_text(text, line) for text in (source.content, content))
                return Fixed(self.original_path(change.file), line, old, new), change
            reason = f"tried {_line_text(content, source.line(change.edits[0].start))!r}: {refusal}"
            self.workspace.put_content(change.file, source.content)
        return Unfixed(path, line, code, reason or "no change of its source is known")

    def why_rejected(self, ran: FinishedRun, before: Lines, change: Change) -> str:
        """Say why the run of a change is rejected; return "" if the change is kept."""
        now = self.goal.measure_lines(self.goal.read_findings(ran.run))
        new = [at for at in now if at not in before and at != (change.file, change.line)]
        places = [f"{path_text(self.original_path(file))}:{line}" for file, line in new]
        refused = self.goal.why_rejected(places, self.current.values, ran.values)
        if refused:
            return refused
        for file, line in sorted(_integer_lines(ran) - _integer_lines(self.current)):
            return f"integers come up at {path_text(self.original_path(file))}:{line}"
        if sum(now.values()) >= sum(before.values()):
            return f"no step nearer: {self.goal.describe_distance(sum(before.values()), sum(now.values()))}"
        return self.why_results_differ(ran) or self.why_wide_input_narrows()

    def why_results_differ(self, ran: FinishedRun) -> str:
        """Say which results differ from those before, apart from their widths; return "" if none does."""
        if ran.warnings != self.unchanged.warnings:
            other = next(iter({*ran.warnings} ^ {*self.unchanged.warnings}), "another number of warnings")
            return f"it does not warn as before: {other}"
        for test, outcome in self.unchanged.tests.items():
            if ran.tests.get(test) != outcome:
                return f"{test} {ran.tests.get(test, 'is gone')}: {ran.failures.get(test, '')}"
        largest = _compare_runs(self.unchanged, ran, self.to)
        if largest.reason:
            return largest.reason
        if self.tolerance is not None and largest.relative > self.tolerance:
            return f"{largest}, beyond the tolerance of {self.tolerance:g}"
        return ""

    def why_wide_input_narrows(self) -> str:
        """Run the program with wide input; say which results the change made narrow, or return ""."""
        if not isinstance(self.wide, FinishedRun):  # it has no wide input, or fails with it anyway
            return ""
        ran = self.workspace.run(widen=True)
        if isinstance(ran, FailedRun):
            return f"with wide input: {ran.reason}"
        other = find_other_dtype(self.wide.values, ran.values)
        if other:
            return f"with wide input {other} is {ran.values[other].dtype}"
        new = _narrow_lines(ran, self.to) - _narrow_lines(self.wide, self.to)
        for file, line in sorted(new):
            return f"with wide input a narrow float comes up at {path_text(self.original_path(file))}:{line}"
        largest = compare_values(self.wide.values, ran.values, dtype("float64"))
        return (
            f"with wide input {largest.reason or largest}"
            if largest.reason or largest.relative > WIDE_INPUT_TOLERANCE
            else ""
        )


def _narrow_lines(ran: FinishedRun, to: DType) -> set[tuple[str, int]]:
    """List the files and lines at which a run has floats as narrow as a dtype."""
    limit = dtype_width(to) or 0
    return _lines_where(ran, lambda o: 0 < (operand_width(o) or 0) <= limit)


def _integer_lines(ran: FinishedRun) -> set[tuple[str, int]]:
    """List the files and lines at which a run has arrays of integers."""
    return _lines_where(ran, is_integer)


def _lines_where(ran: FinishedRun, holds: Callable[[Operand | None], bool]) -> set[tuple[str, int]]:
    """List the files and lines of the steps whose results satisfy a condition."""
    return {
        (step.location.file, step.location.line)
        for step, seen in ran.run
        if step.location is not None and seen.count and holds(seen.operand)
    }


def _unreached_names(goal: Goal, ran: FinishedRun) -> set[str]:
    """Name the arrays of a run that no forbidden step reaches, such as its inputs."""
    findings = goal.read_findings(ran.run)
    steps = range(len(findings.predicted_run.steps))
    forbidden = (i for i, _ in goal.list_forbidden(findings))
    reached, holding = find_reached_steps(findings.predicted_run, forbidden, steps)
    return {name for name, i in ran.run.results.items() if i not in reached | holding}


def _compare_runs(
    before: FinishedRun, after: FinishedRun, to: DType, unreached: Container[str] = ()
) -> Difference:
    """Compare the values and the prints of two runs; return the larger_difference difference."""
    values = compare_values(before.values, after.values, to, unreached)
    return larger_difference(values, compare_prints(before.printed, after.printed, to))


def _undo_change(source: Source, change: Change, later: Sequence[Change]) -> bytes | None:
    """Undo a change under later ones of the same source; return None if a later one lies within it."""
    edits: list[Edit] = []
    for edit in change.edits:
        start, end = edit.start, edit.start + len(edit.text.encode())
        for after in (e for other in later if other.file == change.file for e in other.edits):
            if (after.start < end and start < after.end) or start < after.start < end:
                return None
            grown = len(after.text.encode()) - (after.end - after.start)
            start, end = (start + grown, end + grown) if after.end <= start else (start, end)
        edits.append(Edit(start, end, edit.old))
    return source.apply_edits(edits)


def _line_text(content: bytes, line: int) -> str:
    lines = content.splitlines()
    return lines[line - 1].decode("utf-8").strip() if line <= len(lines) else ""
