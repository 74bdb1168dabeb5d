"""Trials: runs of a program with some contents of its files, compared with its results in float64."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path

from typelattice.repair.copies.kept_values import KeptValue
from typelattice.repair.copies.measured_run import MeasuredRun
from typelattice.repair.copies.program_to_run import ProgramToRun, TunedInput
from typelattice.repair.copies.progress import Progress
from typelattice.repair.patch.workspace import (
    FailedRun,
    SearchLimits,
    SearchTimeOverError,
    Workspace,
    open_workspace,
)
from typelattice.repair.tune.error_measure import MeasuredError, measure_error, printed_values, printed_words
from typelattice.repair.tune.observed_run import ObservedRun
from typelattice.repair.tune.tuned_run import METRIC_NAME

TUNED_RUN_MODULE, OBSERVED_RUN_MODULE = (
    "typelattice.repair.tune.tuned_run",
    "typelattice.repair.tune.observed_run",
)
Contents = Mapping[str, bytes]  # the changed files of a trial, by their paths in the copied folder


class RunFailsError(Exception):
    """A run that failed or took too long, where it had to succeed."""


@dataclass(frozen=True, slots=True)
class ProgramInput:
    """One input of a program: its arguments, its pickled arguments if it is a function, and moved seeds."""

    argv: tuple[str, ...] = ()
    pickled_args: bytes = b""
    seed_shift: int = 0


@dataclass(frozen=True, slots=True)
class Results:
    """The results of a run: values by name, printed words, and what the run cost."""

    values: Mapping[str, KeptValue]
    words: str
    seconds: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class TrialSetup:
    """All that a worker needs to try contents of files.

    `result_names` are the results that count: names that the program binds, or () for what it prints and
    saves. `true_contents` make the program compute in float64, under `true_environment`.
    """

    program: ProgramToRun
    limits: SearchLimits
    inputs: tuple[ProgramInput, ...]
    tuned: TunedInput
    measure: str
    tolerance: float
    own_dtypes: Mapping[str, str]
    result_names: tuple[str, ...]
    true_contents: Contents
    true_environment: Mapping[str, str]
    preloaded_modules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trial:
    """Contents to be tried, under a key. If it `stops_early`, the first input that fails ends it."""

    key: str
    contents: Contents
    stops_early: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a trial: the largest error over the inputs, where, and the cost of the first run.

    `input_count` is the number of inputs that were run. `reason` says why there is no error, or is empty.
    """

    key: str
    error: float
    name: str = ""
    reason: str = ""
    seconds: float = 0.0
    peak_bytes: int = 0
    input_count: int = 0
    run_count: int = 0


@dataclass(eq=False)
class ProgramRunner:
    """The copy of a program's folder, in which it runs with each input."""

    workspace: Workspace
    tuned: TunedInput
    changed: set[str] = field(default_factory=set)
    originals: dict[str, bytes] = field(default_factory=dict)

    def put_contents(self, contents: Contents) -> None:
        """Give files other contents, and restore those of the trial before."""
        for name in self.changed - contents.keys():
            self.workspace.put_content(self.path_of(name), self.originals[name])
        for name, content in contents.items():
            if name not in self.originals:
                self.originals[name] = Path(self.path_of(name)).read_bytes()
            self.workspace.put_content(self.path_of(name), content)
        self.changed = {*contents}

    def path_of(self, name: str) -> str:
        """Return the path in the copy."""
        return os.path.join(self.workspace.program.copy_folder, name)

    def run(self, given: ProgramInput) -> Results | FailedRun:
        """Run the program with an input. Raises SearchTimeOverError."""
        ended = self.workspace.run_by(TUNED_RUN_MODULE, self.program_for(given))
        if isinstance(ended, FailedRun):
            return ended
        found: MeasuredRun = ended.result
        values = dict(found.values)
        is_function = bool(self.workspace.program.function)
        if not is_function and METRIC_NAME not in values:
            values |= dict(printed_values(ended.printed))
        words = "" if is_function or METRIC_NAME in values else printed_words(ended.printed)
        return Results(values, words, found.seconds, found.peak_bytes)

    def observe(self, given: ProgramInput, narrow_dtypes: tuple[str, ...] = ()) -> ObservedRun | FailedRun:
        """Run the program traced. Raises SearchTimeOverError."""
        program = self.program_for(given)
        assert program.tuned is not None
        program = replace(program, tuned=replace(program.tuned, narrow_dtypes=narrow_dtypes))
        ended = self.workspace.run_by(OBSERVED_RUN_MODULE, program)
        if isinstance(ended, FailedRun):
            return ended
        found: ObservedRun = ended.result
        return found

    def program_for(self, given: ProgramInput) -> ProgramToRun:
        """Return the program with an input."""
        program = self.workspace.program
        return replace(
            program,
            argv=given.argv,
            pickled_args=given.pickled_args or program.pickled_args,
            tuned=replace(self.tuned, seed_shift=given.seed_shift),
        )


def choose_results(results: Results, names: tuple[str, ...]) -> dict[str, KeptValue]:
    """Return the values that count: those of some names and their parts, or what is printed and saved."""
    if not names:
        return {
            name: value
            for name, value in results.values.items()
            if name.startswith(("line ", "the file ", METRIC_NAME))
        }
    return {
        name: value
        for name, value in results.values.items()
        if any(name == each or name.startswith((f"{each}[", f"{each}.")) for each in names)
    }


class TrialWorker:
    """A worker that tries contents in a copy of its own. Its first trial also computes the truth."""

    def __init__(self, setup: TrialSetup) -> None:
        self.setup = setup
        self.runner: ProgramRunner | None = None
        self.truths: list[Results] = []
        self._stack = ExitStack()
        self._stopped = threading.Event()

    def use(self, runner: ProgramRunner, truths: list[Results]) -> None:
        """Run in a copy that exists, with the truth that was computed there."""
        self.runner, self.truths = runner, truths

    def results(self, task: Trial) -> Iterator[Outcome]:
        """Yield the outcome of a trial. Raises SearchTimeOverError."""
        yield self.try_contents(task)

    def try_contents(self, trial: Trial) -> Outcome:
        """Run the program with the contents of a trial, once for each input."""
        if self.runner is None:
            workspace = self._stack.enter_context(
                open_workspace(self.setup.program, self.setup.limits, Progress())
            )
            workspace.preloaded_modules = self.setup.preloaded_modules
            self.runner = ProgramRunner(workspace, self.setup.tuned)
            self.truths = compute_truths(self.runner, self.setup)
        runner, setup = self.runner, self.setup
        before = runner.workspace.run_count
        runner.put_contents(trial.contents)
        worst, seconds, peak, count = MeasuredError(), 0.0, 0, 0
        for given, truth in zip(setup.inputs, self.truths, strict=True):
            if self._stopped.is_set():
                raise SearchTimeOverError
            results = runner.run(given)
            count += 1
            if isinstance(results, FailedRun):
                worst = MeasuredError(inf, "", f"it fails: {results.reason}")
                break
            if count == 1:
                seconds, peak = results.seconds, results.peak_bytes
            found = compare_results(truth, results, setup)
            worst = found if found.error > worst.error or found.reason else worst
            if found.reason or (trial.stops_early and found.error > setup.tolerance):
                break
        runs = runner.workspace.run_count - before
        return Outcome(trial.key, worst.error, worst.name, worst.reason, seconds, peak, count, runs)

    def stop(self) -> None:
        """Begin no further run."""
        self._stopped.set()

    def close(self) -> None:
        """Remove the copy."""
        self._stack.close()


def compare_results(truth: Results, results: Results, setup: TrialSetup) -> MeasuredError:
    """Measure the error of a run. Other words than those of the truth are a reason to reject it."""
    counts_prints = not setup.result_names
    if counts_prints and truth.words != results.words:
        return MeasuredError(inf, "what is printed", "it prints other words")
    return measure_error(
        choose_results(truth, setup.result_names), choose_results(results, setup.result_names),
        setup.measure, setup.own_dtypes,
    )  # fmt: skip


def compute_truths(runner: ProgramRunner, setup: TrialSetup) -> list[Results]:
    """Run the program in float64 with each input. Raises RunFailsError."""
    runner.put_contents(setup.true_contents)
    environment = dict(runner.workspace.environment)
    found = []
    try:
        if setup.true_environment:
            runner.workspace.close()
            runner.workspace.environment.update(setup.true_environment)
        for given in setup.inputs:
            results = runner.run(given)
            if isinstance(results, FailedRun):
                raise RunFailsError(results.reason)
            found.append(results)
    finally:
        if setup.true_environment:
            runner.workspace.close()
            runner.workspace.environment.clear()
            runner.workspace.environment.update(environment)
    return found
