"""The search for a patch: each change is run, and kept if floats stay narrow and nothing else differs."""

from __future__ import annotations

import inspect
import os
import pickle
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from itertools import islice
from operator import itemgetter
from pathlib import Path
from types import FunctionType
from typing import Any

from typelattice.base.disk.read import FileError, read_bytes
from typelattice.base.errors.error_texts import clip_text
from typelattice.core.dtypes.dtypes import DType, dtype
from typelattice.core.operands.operand import Operand
from typelattice.programs.calls.steps import Cast
from typelattice.repair.copies.kept_values import describe_unread_values, read_numbers
from typelattice.repair.copies.program_to_run import ProgramToRun
from typelattice.repair.copies.progress import Progress
from typelattice.repair.copies.source import FixError, open_source
from typelattice.repair.patch.goals import DistanceByLine, Goal, KeepsToPolicy, NoWiderThan, SameDtypesAs
from typelattice.repair.patch.mend_search import mend_program
from typelattice.repair.patch.patch import (
    ASSERTIONS_HOLD,
    MAX_SOURCE_BYTES,
    MAX_ULP_ERROR,
    CostComparison,
    KeptChange,
    Patch,
    StepDifference,
    UnfixedCause,
    path_text,
)
from typelattice.repair.patch.workspace import (
    DEFAULT_LIMITS,
    DEFAULT_SECONDS,
    FailedRun,
    FinishedRun,
    RunCost,
    SearchLimits,
    SearchTimeOverError,
    Workspace,
    open_workspace,
)
from typelattice.repair.proof.function_proof.proof_process import ProofRequest
from typelattice.repair.proof.function_proof.verdicts import FunctionProof, read_verdicts
from typelattice.repair.proof.project_tests import ProjectTests, find_broken_test, run_project_tests
from typelattice.repair.proof.step_values import compare_step_values
from typelattice.repair.proof.value_comparison import (
    PRINTED_NAME,
    NoiseComparison,
    ValueDifference,
    compare_prints,
    compare_values,
    compare_with_noise,
    find_other_dtype,
    larger_difference,
)
from typelattice.repair.proof.wide_input import WideForm
from typelattice.tracing.entry_points.script import check_package, read_script
from typelattice.tracing.findings.findings import Findings
from typelattice.tracing.findings.predicted_run import PredictedRun
from typelattice.tracing.findings.widening_causes import find_reached_steps
from typelattice.tracing.remedies.change import Change
from typelattice.tracing.report.explain_result import LINE_PATTERN
from typelattice.tracing.report.formatting import count_text, describe_how_to_follow
from typelattice.tracing.run_data.float_widths import dtype_width, is_integer, operand_width
from typelattice.tracing.run_data.policy import Policy
from typelattice.tracing.source.source_file import Edit, SourceFile, apply_edits, map_lines

MAX_CHANGES_PER_CAUSE = 160  # most of them are refuted without a run
MAX_RUNS_PER_CAUSE = 16
WIDE_INPUT_TOLERANCE = 1e-12  # relative error that a change may add for wide input
MAX_CAUSES = 100
DEPRECATION = "DeprecationWarning"
MEASURED_RUNS = 2  # the least time and the least memory of these are reported
MAX_PRINTED_VALUES = 5  # values that are named as not compared
SLOW_RUN_SECONDS = 0.5  # the time of a slower plain run varies little, so it is not repeated


def fix(
    function: Callable[..., Any],
    /,
    *args: Any,
    to: object = "float32",
    like: str | None = None,
    tolerance: float | None = None,
    only: str | None = None,
    steps: bool = False,
    seconds: float = DEFAULT_SECONDS,
    allow_writes: Sequence[str | os.PathLike[str]] = (),
    **named: Any,
) -> Patch:
    """Find changes of a function's file that keep its floats as narrow as a dtype.

    The function is called with copies of its arguments, in a process of its own and on a copy of its folder.
    A change is dropped if it gives a narrower result for wide arguments. `only` names one line, such as `12`
    or `file.py:12`: nothing else is fixed. `steps` compares the values of each step. `seconds` end the search
    with what it has proved so far. The function may also write into the folders `allow_writes`. Raises
    FixError or FileError if no patch can be made.

    >>> fix(lambda x: x * 2.0, 1.0)
    Traceback (most recent call last):
    typelattice.FixError: fix takes a function that is defined by name in a file; ...
    """
    try:
        inner = inspect.unwrap(function)
    except Exception:  # an object may raise anything when it is asked for what it wraps
        inner = None
    if type(inner) is not FunctionType or "<" in inner.__qualname__:
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
    program = ProgramToRun(
        str(file), (), (), False, folder, folder, inner.__qualname__, inner.__module__, arguments
    )
    limits = make_limits(seconds, allow_writes)
    return fix_program(program, make_goal(to, like), tolerance, only, steps, limits=limits)


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
    tests: str | None = None,
    limits: SearchLimits = DEFAULT_LIMITS,
    progress: Progress | None = None,
    only_script: bool = False,
    python: str = "",
) -> Patch:
    """Find changes of a script, or of a module, that keep its floats as narrow as a dtype.

    `to` may also be a policy: then only lines that depart from it change. The modules in its folder may
    change as well, unless `only_script` is True. `tests` is a command that runs
    the project's own tests. `python` is another interpreter, which runs the patch, too.

    Raises FixError or FileError if no patch can be made.
    """
    here = find_current_folder()
    path = here
    if not as_module:
        read_script(target, 0)  # raises FileError if the path does not name a readable file
        path = Path(os.path.realpath(target))
    folder = here if as_module or path.is_relative_to(here) else path.parent
    program = ProgramToRun(
        target if as_module else str(path), tuple(argv), tuple(packages), as_module, folder, folder,
        follows_project=not only_script, policy=str(to) if isinstance(to, Policy) else "",
    )  # fmt: skip
    return fix_program(program, make_goal(to, like), tolerance, only, steps, tests, limits, progress, python)


def fix_tests(
    argv: Sequence[str],
    packages: Sequence[str],
    to: object = "float32",
    like: str | None = None,
    tolerance: float | None = None,
    only: str | None = None,
    tests: str | None = None,
    limits: SearchLimits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> Patch:
    """Find changes of packages that keep floats in their tests as narrow as a dtype.

    Each test must have the same outcome as before. Raises FixError if no patch can be made.
    """
    for package in packages:
        check_package(package)
    if not packages:
        raise FixError("tests are not changed; name the package that may change: --package NAME")
    here = find_current_folder()
    program = ProgramToRun("pytest", tuple(argv), tuple(packages), False, here, here, runs_tests=True)
    return fix_program(program, make_goal(to, like), tolerance, only, False, tests, limits, progress)


def find_current_folder() -> Path:
    """Return the current folder without links. Raises FixError if it has been removed."""
    try:
        return Path(os.path.realpath(os.getcwd()))
    except FileNotFoundError:
        raise FixError("the current folder has been removed; change into one that exists") from None


def make_limits(seconds: float, allowed_folders: Sequence[str | os.PathLike[str]]) -> SearchLimits:
    """Make the limits of a search. Raises FixError if a folder that runs may write into does not exist."""
    folders = tuple(os.fspath(folder) for folder in allowed_folders)
    for folder in folders:
        if not os.path.isdir(folder):
            raise FixError(f"writes into {folder} cannot be allowed: there is no such folder; create it")
    return SearchLimits(seconds, folders)


def make_goal(to: object, like: str | None) -> Goal:
    """Make the goal of a patch: the dtypes of another system, a policy, or no float wider than a dtype.

    A goal stays as it is, unless another system is given.
    """
    if isinstance(to, Goal) and like is None:
        return to
    if isinstance(to, Policy):
        if to.compute is None:
            raise FixError("the policy names no dtype to compute in; add compute=DTYPE, or give --to")
        return KeepsToPolicy(to.compute)
    return SameDtypesAs(like) if like is not None else NoWiderThan(dtype(to))


def fix_program(
    program: ProgramToRun,
    goal: Goal,
    tolerance: float | None,
    only_line: str | None,
    compares_steps: bool = False,
    tests: str | None = None,
    limits: SearchLimits = DEFAULT_LIMITS,
    progress: Progress | None = None,
    python: str = "",
) -> Patch:
    """Patch a program in a copy of its folder until no change helps. Raises FixError if that fails."""
    if only_line is not None and LINE_PATTERN.fullmatch(only_line) is None:
        raise FixError(f"{clip_text(only_line, 80)!r} is no line; give one such as 12 or file.py:12")
    with open_workspace(program, limits, progress) as workspace:
        try:
            search = _PatchSearch(workspace, goal, tolerance, only_line)
        except SearchTimeOverError:
            what = f"the program, run twice without any change, took more than {limits.seconds:g} s"
            raise FixError(f"{what}; raise --seconds, or give it less to do") from None
        except ProgramFailsError as e:
            patch = mend_program(workspace, e.failed_run, goal.widest_dtype)
            patch = run_in_other_python(workspace, patch, python, True) if python else patch
            return run_tests_of_project(workspace, patch, tests) if tests is not None else patch
        try:
            patch = search.find_patch()
        finally:
            search.proofs.close()
        if python:
            patch = run_in_other_python(workspace, patch, python, goal.narrowing_width is None)
        if tests is not None:
            patch = run_tests_of_project(workspace, patch, tests)
        if compares_steps and patch.kept_changes:
            with suppress(SearchTimeOverError):
                patch = replace(patch, step_differences=search.compare_steps())
        return replace(patch, run_count=workspace.run_count, notes=(*search.notes, *workspace.notes))


def run_tests_of_project(workspace: Workspace, patch: Patch, command: str) -> Patch:
    """Run the project's tests without and with a patch, and note the first that fails with it."""
    if not patch.kept_changes:
        return patch
    program = workspace.program
    runs: list[ProjectTests] = []
    for version in (0, 1):
        put_version(workspace, patch, version)
        try:
            runs.append(
                run_project_tests(
                    command, program, workspace.current_folder_in_copy, workspace.outside_contents,
                    workspace.environment,
                )
            )  # fmt: skip
        finally:
            workspace.restore_files()
    before, after = runs
    passed = sum(outcome == "PASSED" for outcome in before.outcomes.values())
    if not passed and before.status and not patch.mended:
        raise FixError(f"the tests fail without any change: {before.last_line}; mend --tests {command!r}")
    what = f"{count_text(passed, 'test')} of the project" if passed else "the tests of the project"
    return replace(
        patch,
        project_tests=f"{what} ran without and with the changes",
        broken_test=find_broken_test(before, after),
    )


def run_in_other_python(workspace: Workspace, patch: Patch, python: str, compares_values: bool) -> Patch:
    """Run a patched program here and in another interpreter, where its results must have the same dtypes.

    With `compares_values`, all values must be equal, too: a release may round narrow floats in another way.
    """
    if not patch.kept_changes:
        return patch
    put_version(workspace, patch, 1)
    own = workspace.run_plain()
    workspace.doing = "the program in another interpreter"
    with workspace.using_python(python):
        after = workspace.run_plain()
    if own is None or after is None:
        where = python if own is not None else "this interpreter, run once more"
        return replace(patch, other_result=f"the program fails with it in {where}")
    name = find_other_dtype(own.values, after.values)
    is_compared = bool(own.values)
    if compares_values and not name:
        values = compare_values(own.values, after.values, dtype("float64"))
        prints = compare_prints(own.printed, after.printed, dtype("float64"))
        name = next((x.reason or x.name for x in (values, prints) if not x.is_equal), "")
        is_compared = bool(values.compared_count or prints.compared_count)
    if name:
        return replace(patch, other_result=f"in {python} another result comes out than here: {name}")
    what = "values and dtypes" if compares_values else "dtypes"
    if not is_compared:
        return replace(patch, other_python=f"it also runs in {python}, where no result could be compared")
    return replace(patch, other_python=f"in {python} all results have the same {what}")


def put_version(workspace: Workspace, patch: Patch, version: int) -> None:
    """Put the files of a patch into the copy: version 0 is without it, 1 is with it."""
    program = workspace.program
    for path, contents in patch.contents.items():
        inside = path.is_relative_to(program.original_folder)
        place = program.copy_folder / path.relative_to(program.original_folder) if inside else path
        workspace.put_content(str(place), contents[version])


class ProgramFailsError(Exception):
    """Ends the search for narrower floats in a program that fails without any change."""

    def __init__(self, failed_run: FailedRun) -> None:
        super().__init__(f"the program fails without any change: {failed_run.reason}")
        self.failed_run = failed_run


class _PatchSearch:
    """The search for a patch of one program: its sources with the changes kept so far, and their run.

    `unchanged_run` is the run without any change. `current_run` has the changes kept so far. `unreadable` has
    the reason for each source that cannot be changed. `batch_size` is the number of causes whose changes are
    tried in one run; it is halved each time that such a run fails.
    """

    def __init__(
        self, workspace: Workspace, goal: Goal, tolerance: float | None, only_line: str | None
    ) -> None:
        self.workspace, self.goal, self.widest_dtype, self.tolerance = (
            workspace,
            goal,
            goal.widest_dtype,
            tolerance,
        )
        self.only_line = LINE_PATTERN.fullmatch(only_line) if only_line is not None else None
        self.root, self.original = workspace.program.copy_folder, workspace.program.original_folder
        self.wide_form = WideForm(dtype_width(self.widest_dtype) or 0)
        self.costs_before: list[RunCost] = []
        self.notes: list[str] = []
        self.unchanged_run = self.run_twice()
        self.current_run = self.unchanged_run
        self.proofs = workspace.make_proofs()
        self.sources: dict[str, SourceFile] = {}
        self.marked_contents: dict[str, bytes] = {}
        self.meeting_lines: set[tuple[str, int]] = set()
        self.unreadable: dict[str, str] = {}
        self.original_contents: dict[str, bytes] = {}
        self.batch_size = MAX_CAUSES

    @cached_property
    def wide_input_run(self) -> FinishedRun | FailedRun | None:
        """The unchanged run with wide input, or None if the program has no such input."""
        program = self.workspace.program
        is_script = not program.function and not program.runs_tests and not program.as_module
        text = self.original_contents.get(program.target, b"") if is_script else b""
        if not program.function and not self.wide_form.can_widen(text):
            return None
        with self.with_original_contents():
            return self.workspace.run(has_wide_input=True, wide_content=self.wide_form.widen_text(text))

    @contextmanager
    def with_original_contents(self) -> Iterator[None]:
        """Run without any change for a while."""
        for file, content in self.original_contents.items():
            self.workspace.put_content(file, content)
        try:
            yield
        finally:
            for file, source in self.sources.items():
                self.workspace.put_content(file, source.content)

    def run_twice(self) -> FinishedRun:
        """Run the program twice. Raises FixError if it fails, or gives different values the second time.

        The second run is a plain one, which is also measured. A program whose plain run gives other values,
        or none, is traced a second time.
        """
        first = self.run_unchanged()
        if not first.test_outcomes:
            plain = self.workspace.run_plain()
            if plain is not None:
                self.costs_before.append(plain.cost)
                values = compare_values(first.values, plain.values, self.widest_dtype)
                if values.is_equal and first.printed == plain.printed:
                    return first
        if self.workspace.program.runs_tests and "passed" not in first.test_outcomes.values():
            raise FixError("no test passes without any change; give pytest's arguments after pytest")
        second = self.run_unchanged()
        repeated = compare_values(first.values, second.values, self.widest_dtype)
        if (
            not repeated.is_equal
            or first.printed != second.printed
            or first.test_outcomes != second.test_outcomes
        ):
            name = (
                repeated.name or repeated.reason or ("its tests" if first.test_outcomes else "what it prints")
            )
            raise FixError(
                f"the program gives other values at each run ({name}): seed it, then run this again"
            )
        return first

    def run_unchanged(self) -> FinishedRun:
        """Run the program as it is, without its assertions if one fails. Raises ProgramFailsError."""
        finished_run = self.workspace.run()
        if (
            isinstance(finished_run, FailedRun)
            and finished_run.reason.startswith("AssertionError")
            and self.workspace.runs_assertions
        ):
            self.workspace.set_asserts(False)
            finished_run = self.workspace.run()
        if isinstance(finished_run, FailedRun):
            raise ProgramFailsError(finished_run)
        return finished_run

    def find_patch(self) -> Patch:
        """Try changes for each cause until none is left, then drop the unneeded ones."""
        fixed: list[tuple[KeptChange, Change]] = []
        unfixed: dict[tuple[str, int, str], UnfixedCause] = {}
        mended: set[tuple[str, int, str]] = set()
        for number in range(MAX_CAUSES):
            findings = self.goal.read_findings(self.current_run.run)
            self.read_sources(findings)
            self.note_meeting_lines(findings)
            listed = self.list_findings(findings)
            if not listed and not fixed:
                self.check_line_has_finding(findings)
            remaining_findings = self.list_remaining(findings, listed, unfixed, mended)
            if not remaining_findings:
                break
            key = self.step_key(findings, remaining_findings[0][0])
            places = f"place {number + 1} of {number + len(remaining_findings)}"
            self.workspace.doing = f"trying line {key[1]}, {places}"
            try:
                batch = self.try_batch(findings, remaining_findings)
                if batch:
                    fixed += batch
                    continue
                outcome = self.try_changes(findings, *remaining_findings[0])
            except SearchTimeOverError:
                unfixed |= self.list_untried(findings, [i for i, _ in remaining_findings])
                break
            if isinstance(outcome, tuple):
                fixed.append(outcome)
                mended.add(key)
            else:
                unfixed[key] = outcome
        smallest = self.drop_needless_changes(fixed)
        contents = {
            self.original_path(file): (before, self.sources[file].content)
            for file, before in self.original_contents.items()
            if file in self.sources and self.sources[file].content != before
        }
        remaining = {self.step_key(findings, i) for i, _ in self.list_findings(findings)}
        costs = self.measure_costs() if smallest else None
        asserts = ""
        if fixed and not self.workspace.runs_assertions:
            with suppress(SearchTimeOverError):
                asserts = self.check_assertions()
        progress = self.describe_progress(findings, bool(fixed), bool(unfixed))
        still_unfixed = tuple(x for at, x in unfixed.items() if at in remaining)
        unreached = _list_unreached_names(self.goal, self.unchanged_run)
        difference = _compare_runs(self.unchanged_run, self.current_run, self.widest_dtype, unreached)
        tests = len(self.unchanged_run.test_outcomes)
        is_large = difference.ulp_error > MAX_ULP_ERROR and not difference.reason
        if smallest:
            self.notes += [*islice(describe_unread_values(self.unchanged_run.values), MAX_PRINTED_VALUES)]
        noise = self.measure_noise() if smallest and is_large and self.tolerance is None else None
        return Patch(
            smallest, still_unfixed, contents, progress, difference, asserts, costs, tests,
            has_tolerance=self.tolerance is not None, noise=noise, noise_dtype=self.widest_dtype.name,
        )  # fmt: skip

    def list_remaining(
        self,
        findings: Findings,
        listed: Sequence[tuple[int, Any]],
        unfixed: Container[tuple[str, int, str]],
        mended: Container[tuple[str, int, str]],
    ) -> list[tuple[int, Any]]:
        """List the findings that were not tried, and those that a change at their place left as they were."""
        found = []
        for i, finding in listed:
            key = self.step_key(findings, i)
            if key not in unfixed and not (key in mended and self.goal.is_met_at(findings, i)):
                found.append((i, finding))
        return found

    def describe_progress(self, findings: Findings, is_fixed: bool, has_unfixed: bool) -> str:
        """Say how far the run was from the goal before and after, or that it had met the goal."""
        runs = self.unchanged_run, self.current_run
        before, after = map(self.measure_distance, runs)
        if has_unfixed or (is_fixed and before > after):
            return self.goal.describe_distance(before, after)
        if is_fixed:
            return self.goal.describe_results(*map(self.measure_kept, runs))
        return self.goal.describe_met_goal(findings, lambda file: path_text(self.original_path(file)))

    def list_untried(
        self, findings: Findings, steps: Sequence[int]
    ) -> dict[tuple[str, int, str], UnfixedCause]:
        """List the causes for which the search had no time, and note it."""
        seconds = self.workspace.limits.seconds
        found = {}
        for key in dict.fromkeys(self.step_key(findings, i) for i in steps):
            path = self.original_path(key[0]) if os.path.isabs(key[0]) else Path(key[0])
            found[key] = UnfixedCause(path, key[1], key[2], "not tried")
        causes = count_text(len(found), "cause was", "causes were")
        self.notes.append(f"the search ended after {seconds:g} s; {causes} not tried: raise --seconds")
        return found

    def check_assertions(self) -> str:
        """Run the changed program with its assertions. Say that they hold, or which one fails."""
        self.workspace.set_asserts(True)
        finished_run = self.workspace.run()
        return finished_run.reason if isinstance(finished_run, FailedRun) else ASSERTIONS_HOLD

    def list_findings(self, findings: Findings) -> Sequence[tuple[int, Any]]:
        """List the findings to fix: all that the goal forbids, or those at the line of `only_line`."""
        forbidden = self.goal.list_forbidden_findings(findings)
        if self.only_line is None:
            return forbidden
        file, line = self.only_line["file"] or "", int(self.only_line["line"])
        return [
            (i, finding) for i, finding in forbidden
            if (at := findings.predicted_run.steps[i].location) is not None and at.line == line
            and str(self.original_path(at.file)).endswith(file)
        ]  # fmt: skip

    def check_line_has_finding(self, findings: Findings) -> None:
        """Raise FixError if the user named a line, and all findings are at other lines."""
        keys = [self.step_key(findings, i) for i, _ in self.goal.list_forbidden_findings(findings)]
        if self.only_line is not None and keys:
            places = dict.fromkeys(f"{path_text(self.original_path(file))}:{line}" for file, line, _ in keys)
            raise FixError(f"nothing is to be fixed at line {self.only_line[0]}; but at {', '.join(places)}")

    def compare_steps(self) -> tuple[StepDifference, ...]:
        """Run the program without and with the changes, and compare the values of each step."""
        changed = {file: source.content for file, source in self.sources.items()}
        before, after = (self.run_keeping_steps(contents) for contents in (self.original_contents, changed))
        differences = compare_step_values(before.step_values, after.step_values, self.widest_dtype)
        return tuple(
            StepDifference(self.original_path(file), line, name, d) for file, line, name, d in differences
        )

    def run_keeping_steps(self, contents: Mapping[str, bytes]) -> FinishedRun:
        """Run the program with these contents of files, and keep the values of its steps. Raises FixError."""
        for file, content in contents.items():
            self.workspace.put_content(file, content)
        finished_run = self.workspace.run(records_steps=True)
        if isinstance(finished_run, FailedRun):
            raise FixError(f"the program fails while the values of its steps are kept: {finished_run.reason}")
        return finished_run

    def measure_costs(self) -> CostComparison | None:
        """Measure plain runs of the program without and with the changes. Return the least of each."""
        self.workspace.doing = "measuring time and memory"
        now = {file: self.sources[file].content for file in self.original_contents if file in self.sources}
        runs: list[list[RunCost]] = [self.costs_before, []]
        while any(len(measured) < MEASURED_RUNS for measured in runs):
            measured = min(reversed(runs), key=len)
            contents = self.original_contents if measured is self.costs_before else now
            for file in now:
                self.workspace.put_content(file, contents[file])
            try:
                plain = self.workspace.run_plain()
            except SearchTimeOverError:
                break
            if plain is None:
                return None
            measured.append(plain.cost)
            if all(runs) and max(cost.seconds for costs in runs for cost in costs) > SLOW_RUN_SECONDS:
                break
        if not all(runs):
            return None
        before, after = (
            RunCost(min(c.seconds for c in costs), min(c.peak_bytes for c in costs)) for costs in runs
        )
        return CostComparison(before, after, len(runs[1]))

    def measure_noise(self) -> NoiseComparison | None:
        """Run the unpatched program with each narrow float moved by one unit. Compare the patch with that.

        Return None if that run fails, or has other values.
        """
        self.workspace.doing = "the noise of the program"
        finished_run: FinishedRun | FailedRun | None = None
        with suppress(SearchTimeOverError), self.with_original_contents():
            finished_run = self.workspace.run(noise_dtype=self.widest_dtype.name)
        if not isinstance(finished_run, FinishedRun):
            return None
        values = [
            {**run.values, PRINTED_NAME: read_numbers(run.printed)}
            for run in (self.unchanged_run, self.current_run, finished_run)
        ]
        return compare_with_noise(values[0], values[1], values[2], self.widest_dtype)

    def drop_needless_changes(self, fixed: Sequence[tuple[KeptChange, Change]]) -> tuple[KeptChange, ...]:
        """Undo each change that later changes made unnecessary, and return the changes that are kept.

        A change is unnecessary if the program without it is as close to the goal and computes the same.
        """
        distance = self.measure_distance(self.current_run)
        kept = [*fixed]
        self.workspace.doing = "whether each change is needed"
        for entry in reversed(fixed[:-1]):  # no later change makes the last one unnecessary
            change = entry[1]
            if self.is_surely_needed(change):
                continue
            source = self.sources[change.file]
            later = [other for _, other in kept[kept.index(entry) + 1 :]]
            edits = _undo_change(change, later)
            if edits is None:
                continue
            undone = source.apply_edits(edits)
            try:
                if self.prove_functions({change.file: undone}).difference:
                    continue
                self.workspace.put_content(change.file, undone)
                finished_run = self.workspace.run()
            except SearchTimeOverError:
                self.workspace.put_content(change.file, source.content)
                break
            if (
                isinstance(finished_run, FinishedRun)
                and self.measure_distance(finished_run) <= distance
                and self.measure_kept(finished_run) <= self.measure_kept(self.current_run)
                and not self.why_results_differ(finished_run)
            ):
                self.sources[change.file] = replace(source, content=undone)
                self.current_run = finished_run
                kept.remove(entry)
                self.mark_edits(change.file, edits, False)
            else:
                self.workspace.put_content(change.file, source.content)
        return tuple(one for one, _ in kept)

    def is_surely_needed(self, change: Change) -> bool:
        """Return True if what a change writes makes a wide float narrow in the current run.

        Without it, this float is wide. So no run has to show that it is needed.
        """
        findings = self.goal.read_findings(self.current_run.run)
        run, limit = findings.predicted_run, dtype_width(self.widest_dtype) or 0
        texts = [text for edit in change.edits if (text := edit.text.removeprefix(", ").strip())]
        for i, step in enumerate(run.steps):
            if isinstance(step, Cast) and run.inputs[i] and 0 < (run.widths[i] or 0) <= limit:
                is_wide = any((run.widths[j] or 0) > limit for j in run.inputs[i])
                if is_wide and any(step.text in text for text in texts):
                    return True
        return False

    def measure_distance(self, finished_run: FinishedRun) -> int:
        """Measure how far a run is from the goal."""
        return sum(self.goal.distance_by_line(self.goal.read_findings(finished_run.run)).values())

    def measure_kept(self, finished_run: FinishedRun) -> int:
        """Measure how far the results of a run are from the goal."""
        return self.goal.measure_results(self.goal.read_findings(finished_run.run))

    def step_key(self, findings: Findings, step_number: int) -> tuple[str, int, str]:
        """Return the file, the line and the code of a step."""
        step = findings.predicted_run.steps[step_number]
        return (step.location.file, step.location.line, step.text) if step.location else ("", 0, step.text)

    def read_sources(self, findings: Findings) -> None:
        """Read the followed files: those of the program, and those of the named packages."""
        for file in findings.predicted_run.run.sources:
            if file in self.sources or file in self.unreadable:
                continue
            if not Path(file).is_absolute() or not Path(file).is_file():
                self.unreadable[file] = self.why_no_file(file)
                continue
            try:
                content = read_bytes(file, MAX_SOURCE_BYTES)
                is_imported = file != self.workspace.program.target
                self.sources[file] = open_source(self.original_path(file), content, is_imported)
                self.original_contents[file] = self.sources[file].content
                self.sources[file].check_syntax()
            except (FixError, SyntaxError, FileError) as e:
                self.sources.pop(file, None)
                self.unreadable[file] = str(e)

    def why_no_file(self, file: str) -> str:
        """Say why a followed source is not a file: in an archive, removed, or never written to a file."""
        path = self.workspace.current_folder_in_copy / file
        archive = next((folder for folder in path.parents if folder.is_file()), None)
        if archive is not None:
            where = path_text(self.original_path(str(archive)))
            return f"it is in the archive {where}; unpack it, and run it from there"
        if Path(file).is_absolute():
            return f"{path_text(self.original_path(file))} is not there any more; run typelattice fix again"
        return ""

    def original_path(self, file: str) -> Path:
        """Map a file of the copy to the user's file, through links. Any other file keeps its path."""
        inside = Path(file).is_relative_to(self.root)
        whole = self.original / Path(file).relative_to(self.root) if inside else Path(file)
        return Path(os.path.realpath(whole))

    def try_batch(
        self, findings: Findings, listed: Sequence[tuple[int, Any]]
    ) -> list[tuple[KeptChange, Change]]:
        """Try the likeliest change of several causes in one run. Return the changes if all of them pass."""
        chosen: list[Change] = []
        lines: set[tuple[str, int]] = set()
        for step_number, finding in listed[: self.batch_size] if len(listed) > 1 else ():
            changes = self.goal.propose_changes(findings, finding, self.sources)
            proved = (x for x in islice(changes, MAX_CHANGES_PER_CAUSE) if self.is_proved(x))
            found = next((x for x in proved if _is_apart(x, chosen)), None)
            if found is not None:
                chosen.append(found)
                lines.add(self.step_key(findings, step_number)[:2])
        if len(chosen) < 2:
            return []
        tried = self.run_changes(self.goal.distance_by_line(findings), chosen, lines)
        if isinstance(tried, FunctionProof):
            return self.keep_changes(chosen, tried)
        self.batch_size = len(chosen) // 2
        return []

    def is_proved(self, change: Change) -> bool:
        """Return True if a change leaves Python, and no function that it touches is wrong for a caller."""
        try:
            patched = self.sources[change.file].edited(change.edits)
            patched.check_syntax()
        except (SyntaxError, ValueError):
            return False
        return not self.prove_functions({change.file: patched.content}).difference

    def try_changes(
        self, findings: Findings, step_number: int, finding: Any
    ) -> tuple[KeptChange, Change] | UnfixedCause:
        """Try the changes of a cause one by one, and keep the first that passes."""
        file, line, code = self.step_key(findings, step_number)
        path = self.original_path(file) if os.path.isabs(file) else Path(file)
        reason = self.unreadable.get(file, "")
        if file not in self.sources and not reason:
            reason = (
                "it is in no file of the program; name its package with --package, and run from its folder"
            )
        before = self.goal.distance_by_line(findings)
        run_count = self.workspace.run_count
        package = getattr(findings.predicted_run.steps[step_number], "package", "")
        no_change = f"no change of its source is known{describe_how_to_follow(package)}"
        reasons = [(3, reason or no_change)]
        for change in islice(
            self.goal.propose_changes(findings, finding, self.sources), MAX_CHANGES_PER_CAUSE
        ):
            patched = self.sources[change.file].edited(change.edits)
            try:
                patched.check_syntax()
            except (SyntaxError, ValueError):
                continue
            tried = self.run_changes(before, [change])
            if isinstance(tried, FunctionProof):
                return self.keep_changes([change], tried)[0]
            reasons.append((tried[0], f"tried {self.line_at(change, patched.content)!r}: {tried[1]}"))
            if self.workspace.run_count - run_count > MAX_RUNS_PER_CAUSE:
                break
        # a change that failed in a run came further than one that is wrong for other callers
        return UnfixedCause(path, line, code, min(reasons, key=itemgetter(0))[1])

    def run_changes(
        self,
        old_distances: DistanceByLine,
        changes: Sequence[Change],
        mended_lines: Collection[tuple[str, int]] = (),
    ) -> FunctionProof | tuple[int, str]:
        """Run the program with some changes. Return their proof, or how early they failed, and why.

        No finding may be left at `mended_lines`: one of several changes may not help while others do.
        """
        contents = self.edit_sources(changes)
        proof = self.prove_functions(contents)
        if proof.difference:
            return proof.is_wrong_here + 1, proof.difference
        for file, content in contents.items():
            self.workspace.put_content(file, content)
        finished_run = self.workspace.run()
        refusal = (
            finished_run.reason
            if isinstance(finished_run, FailedRun)
            else self.why_rejected(finished_run, old_distances, changes)
            or self.why_line_is_left(finished_run, changes, mended_lines)
            or ("" if proof.is_whole else self.why_wide_input_narrows(changes, proof.has_callers))
        )
        if not refusal and isinstance(finished_run, FinishedRun):
            self.current_run = finished_run
            return proof
        for file in contents:
            self.workspace.put_content(file, self.sources[file].content)
        return 0, refusal

    def why_line_is_left(
        self, finished_run: FinishedRun, changes: Sequence[Change], lines: Collection[tuple[str, int]]
    ) -> str:
        """Name a line with a finding although a change should have mended it, or return ""."""
        maps = self.map_changed_lines(changes)
        findings = self.goal.read_findings(finished_run.run)
        for i, _ in self.goal.list_forbidden_findings(findings):
            file, line = _map_back(self.step_key(findings, i)[:2], maps)
            if (file, line) in lines:
                return f"line {line} is as before"
        for change in changes if lines else ():
            if not self.is_narrow_now(change, findings.predicted_run, maps):
                return f"line {change.line} is as wide as before"
        return ""

    def is_narrow_now(
        self, change: Change, predicted_run: PredictedRun, maps: Mapping[str, Mapping[int, int]]
    ) -> bool:
        """Return True if a step that a change wrote gives a narrow float."""
        limit = dtype_width(self.widest_dtype) or 0
        texts = [text for edit in change.edits if (text := edit.text.removeprefix(", ").strip())]
        return any(
            0 < (width or 0) <= limit
            and step.location is not None
            and _map_back((step.location.file, step.location.line), maps) == (change.file, change.line)
            and any(step.text in text or text in step.text for text in texts)
            for step, width in zip(predicted_run.steps, predicted_run.widths, strict=True)
        )

    def map_changed_lines(self, changes: Sequence[Change]) -> dict[str, dict[int, int]]:
        """Map the lines of each changed file to those before the changes."""
        contents = self.edit_sources(changes)
        return {file: map_lines(content, self.sources[file].content) for file, content in contents.items()}

    def edit_sources(self, changes: Sequence[Change]) -> dict[str, bytes]:
        """Apply changes of the current sources that do not overlap. Return the changed contents."""
        edits: dict[str, list[Edit]] = {}
        for change in changes:
            edits.setdefault(change.file, []).extend(change.edits)
        return {file: self.sources[file].apply_edits([*dict.fromkeys(x)]) for file, x in edits.items()}

    def keep_changes(
        self, changes: Sequence[Change], proof: FunctionProof
    ) -> list[tuple[KeptChange, Change]]:
        """Keep changes that have passed. Each is then written for the source with those before it."""
        kept: list[tuple[KeptChange, Change]] = []
        for i, change in enumerate(changes):
            change = _shift_change(change, changes[:i])
            source = self.sources[change.file]
            content = source.apply_edits(change.edits)
            line = source.line_of_byte(change.edits[0].start)
            lines = _line_text(source.content, line), self.line_at(change, content)
            original = map_lines(source.content, self.original_contents[change.file]).get(line, line)
            kept.append((KeptChange(self.original_path(change.file), original, *lines, proof.text), change))
            self.sources[change.file] = replace(source, content=content)
            self.mark_edits(change.file, change.edits, proof.has_callers)
        return kept

    def why_rejected(
        self, finished_run: FinishedRun, old_distances: DistanceByLine, changes: Sequence[Change]
    ) -> str:
        """Say why the run of changes is rejected, or return "" if they are kept."""
        maps = self.map_changed_lines(changes)
        distances = self.goal.distance_by_line(self.goal.read_findings(finished_run.run))
        new_distances = {_map_back(at, maps): bytes_ for at, bytes_ in distances.items()}
        own_lines = {(change.file, change.line) for change in changes}
        new_lines = [at for at in new_distances if at not in old_distances and at not in own_lines]
        places = [f"{path_text(self.original_path(file))}:{line}" for file, line in new_lines]
        refused = self.goal.why_rejected(places, self.current_run.values, finished_run.values)
        if refused:
            return refused
        integer_lines = {_map_back(at, maps) for at in _list_integer_lines(finished_run)}
        for file, line in sorted(integer_lines - _list_integer_lines(self.current_run)):
            return f"integers come up at {path_text(self.original_path(file))}:{line}"
        old, new = sum(old_distances.values()), sum(new_distances.values())
        is_nearer = new < old or (
            new == old and self.measure_kept(finished_run) < self.measure_kept(self.current_run)
        )
        if not is_nearer:
            return f"no step nearer: {self.goal.describe_distance(old, new)}"
        return self.why_results_differ(finished_run)

    def line_at(self, change: Change, content: bytes) -> str:
        """Return the line of a changed source at its first edit. Other edits may insert lines above it."""
        first = change.edits[0]
        inserted = [edit for edit in change.edits if edit.start < first.start]
        above = sum(edit.text.count("\n") - edit.old_text.count("\n") for edit in inserted)
        return _line_text(content, self.sources[change.file].line_of_byte(first.start) + above)

    def note_meeting_lines(self, findings: Findings) -> None:
        """Note the lines where narrow floats meet wide ones."""
        for _, finding in self.goal.list_forbidden_findings(findings):
            steps = (findings.predicted_run.steps[i] for i in self.goal.list_meeting_steps(finding))
            self.meeting_lines |= {(at.file, at.line) for step in steps if (at := step.location)}

    def prove_functions(self, contents: Mapping[str, bytes]) -> FunctionProof:
        """Prove the functions that new contents of files change. Raises SearchTimeOverError."""
        if self.workspace.seconds_left <= 0:
            raise SearchTimeOverError
        current = {name: source.content for name, source in self.sources.items()}
        files = {
            name: (self.original_contents[name], contents.get(name, current[name]))
            for name in self.original_contents
            if name in contents or current[name] != self.original_contents[name]
        }
        request = ProofRequest(files, current, self.goal.narrowing_width, frozenset(self.meeting_lines))
        return read_verdicts(self.proofs.prove(request, [*self.original_contents]))

    def mark_edits(self, file: str, edits: Sequence[Edit], is_in_function: bool) -> None:
        """Note what a patch wrote into functions, so that wide input leaves it as it is.

        Code outside of functions has no other callers. There a dtype that the patch names is part of the
        input, as any other dtype is.
        """
        before = self.marked_contents.get(file, self.original_contents[file])
        apply = self.wide_form.mark_edits if is_in_function else apply_edits
        self.marked_contents[file] = apply(before, edits)

    def why_results_differ(self, finished_run: FinishedRun) -> str:
        """Say which results changed in more than their widths, or return "" if none did."""
        before, after = (_list_kept_warnings(x) for x in (self.unchanged_run, finished_run))
        if before != after:
            other = next(iter({*after} ^ {*before}), "another number of warnings")
            return f"it does not warn as before: {other}"
        for test, outcome in self.unchanged_run.test_outcomes.items():
            if finished_run.test_outcomes.get(test) != outcome:
                new_outcome = finished_run.test_outcomes.get(test, "is gone")
                return f"{test} {new_outcome}: {finished_run.failures.get(test, '')}"
        largest = _compare_runs(self.unchanged_run, finished_run, self.widest_dtype)
        if largest.reason:
            return largest.reason
        if self.tolerance is not None and largest.relative_error > self.tolerance:
            return f"{largest}, beyond the tolerance of {self.tolerance:g}"
        return ""

    def why_wide_input_narrows(self, changes: Sequence[Change], is_in_function: bool) -> str:
        """Run the program with wide input. Say which results the changes made narrow, or return ""."""
        # the program has no wide input, or always fails with it
        if not isinstance(self.wide_input_run, FinishedRun):
            return ""
        contents = self.edit_sources(changes)
        for file, content in contents.items():
            self.workspace.put_content(file, content)
        target = self.workspace.program.target
        marked = self.marked_contents.get(target, self.original_contents.get(target, b""))
        edits = [edit for change in changes if change.file == target for edit in change.edits]
        marked = (self.wide_form.mark_edits if is_in_function else apply_edits)(marked, edits)
        finished_run = self.workspace.run(has_wide_input=True, wide_content=self.wide_form.widen_text(marked))
        if isinstance(finished_run, FailedRun):
            return f"with wide input: {finished_run.reason}"
        other = find_other_dtype(self.wide_input_run.values, finished_run.values)
        if other:
            return f"with wide input {other} is {finished_run.values[other].dtype}"
        maps = {
            file: map_lines(contents.get(file, source.content), self.original_contents[file])
            for file, source in self.sources.items()
        }
        narrow_lines = {_map_back(at, maps) for at in _list_narrow_lines(finished_run, self.widest_dtype)}
        new = narrow_lines - _list_narrow_lines(self.wide_input_run, self.widest_dtype)
        for file, line in sorted(new):
            return f"with wide input a narrow float comes up at {path_text(self.original_path(file))}:{line}"
        largest = compare_values(self.wide_input_run.values, finished_run.values, dtype("float64"))
        return (
            f"with wide input {largest.reason or largest}"
            if largest.reason or largest.relative_error > WIDE_INPUT_TOLERANCE
            else ""
        )


def _map_back(at: tuple[str, int], maps: Mapping[str, Mapping[int, int]]) -> tuple[str, int]:
    """Map a line of a changed file to its line before the change, by the map of each changed file."""
    return at[0], maps.get(at[0], {}).get(at[1], at[1])


def _is_apart(change: Change, others: Sequence[Change]) -> bool:
    """Return True if a change is in none of the lines of others, nor within their edits."""
    return all(
        change.file != other.file
        or (
            change.line != other.line
            and not any(a.start <= b.end and b.start <= a.end for a in change.edits for b in other.edits)
        )
        for other in others
    )


def _shift_change(change: Change, earlier_changes: Sequence[Change]) -> Change:
    """Return a change for the source with earlier changes, which were written for the same source."""
    earlier = [edit for other in earlier_changes if other.file == change.file for edit in other.edits]
    edits = []
    for edit in change.edits:
        grown = sum(_growth(x) for x in earlier if x.end <= edit.start)
        edits.append(replace(edit, start=edit.start + grown, end=edit.end + grown))
    return replace(change, edits=tuple(edits))


def _list_narrow_lines(finished_run: FinishedRun, widest_dtype: DType) -> set[tuple[str, int]]:
    """List the files and lines where a run has floats as narrow as a dtype."""
    limit = dtype_width(widest_dtype) or 0
    return _list_lines_where(finished_run, lambda o: 0 < (operand_width(o) or 0) <= limit)


def _list_integer_lines(finished_run: FinishedRun) -> set[tuple[str, int]]:
    """List the files and lines where a run has integer arrays."""
    return _list_lines_where(finished_run, is_integer)


def _list_kept_warnings(finished_run: FinishedRun) -> list[str]:
    """List the warnings that a patch must keep. It may do without what a library will refuse one day."""
    return [text for text in finished_run.warnings if not text.startswith(DEPRECATION)]


def _list_lines_where(
    finished_run: FinishedRun, has_property: Callable[[Operand | None], bool]
) -> set[tuple[str, int]]:
    """List the files and lines of the steps with results that satisfy a condition."""
    return {
        (step.location.file, step.location.line)
        for step, seen in finished_run.run
        if step.location is not None and seen.count and has_property(seen.operand)
    }


def _list_unreached_names(goal: Goal, finished_run: FinishedRun) -> set[str]:
    """Name the arrays of a run that no forbidden step reaches, such as its inputs."""
    findings = goal.read_findings(finished_run.run)
    steps = range(len(findings.predicted_run.steps))
    forbidden = (i for i, _ in goal.list_forbidden_findings(findings))
    reached, holding = find_reached_steps(findings.predicted_run, forbidden, steps)
    return {name for name, i in finished_run.run.results.items() if i not in reached | holding}


def _compare_runs(
    old_run: FinishedRun, new_run: FinishedRun, widest_dtype: DType, unreached_names: Container[str] = ()
) -> ValueDifference:
    """Compare the values and the prints of two runs, and return the larger difference."""
    values = compare_values(old_run.values, new_run.values, widest_dtype, unreached_names)
    return larger_difference(values, compare_prints(old_run.printed, new_run.printed, widest_dtype))


def _undo_change(change: Change, later_changes: Sequence[Change]) -> list[Edit] | None:
    """Return the edits that undo a change below later ones, or None if a later change lies within it."""
    edits: list[Edit] = []
    for edit in change.edits:
        before = (x for x in change.edits if x.start < edit.start)
        start = edit.start + sum(_growth(x) for x in before)
        end = start + len(edit.text.encode())
        for other in later_changes:
            if other.file != change.file:
                continue
            if any((x.start < end and start < x.end) or start < x.start < end for x in other.edits):
                return None
            grown = sum(_growth(x) for x in other.edits if x.end <= start)
            start, end = start + grown, end + grown
        edits.append(Edit(start, end, edit.old_text))
    return edits


def _growth(edit: Edit) -> int:
    """Return the bytes that an edit adds."""
    return len(edit.text.encode()) - (edit.end - edit.start)


def _line_text(content: bytes, line: int) -> str:
    lines = content.splitlines()
    return lines[line - 1].decode("utf-8").strip() if line <= len(lines) else ""
