"""Tuning a script or a function: the search, the measured front, and the widening of what loses digits."""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from types import FunctionType
from typing import Any

from typelattice.base.disk.journal import Journal
from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.repair.copies.program_to_run import ProgramToRun
from typelattice.repair.copies.progress import Progress
from typelattice.repair.patch.patch_search import find_current_folder, make_limits
from typelattice.repair.patch.workspace import (
    DEFAULT_LIMITS,
    DEFAULT_SECONDS,
    FailedRun,
    SearchLimits,
    SearchTimeOverError,
    open_workspace,
)
from typelattice.repair.tune.configuration_search import Configuration, ConfigurationSearch, Move, apply_all
from typelattice.repair.tune.error_measure import precision_of
from typelattice.repair.tune.listed_inputs import list_inputs_of_script
from typelattice.repair.tune.place_edits import width_of
from typelattice.repair.tune.places import STORED
from typelattice.repair.tune.trial import ProgramInput
from typelattice.repair.tune.tune_options import TuneError, TuneOptions, check_options
from typelattice.repair.tune.tuned_program import TunedProgram, prepare
from typelattice.repair.tune.tuning_result import (
    AS_IT_STANDS,
    IN_FLOAT64,
    NARROWED,
    TRIAL_PREFIX,
    WIDENED,
    Point,
    Tuning,
    Widening,
)
from typelattice.repair.tune.wide_lines import explain_refusals
from typelattice.tracing.entry_points.script import read_script
from typelattice.tracing.run_data.float_widths import dtype_width

MAX_POINTS = 6  # points of the front that are measured, each by two or three runs
SLOW_RUN_SECONDS = 2.0  # the time of a slower run is measured once
LOST_UNITS = 100.0  # units in the last place from which on a program is said to lose digits
JOURNAL_KIND = "tuning trials"


def tune(
    function: Callable[..., Any],
    /,
    *args: Any,
    tolerance: float,
    dtypes: Sequence[str] = ("float32", "float16"),
    measure: str = "norm",
    metric: str = "",
    inputs: Iterable[tuple[Any, ...]] = (),
    seconds: float = DEFAULT_SECONDS,
    jobs: int = 1,
    journal: str | os.PathLike[str] = "",
    allow_writes: Sequence[str | os.PathLike[str]] = (),
    **named: Any,
) -> Tuning:
    """Find the narrowest dtypes with which a function's results stay within a tolerance.

    The function is called with copies of its arguments, in processes of their own and on a copy of its
    folder. Its results are what it returns and what it writes into its arguments, or the value of the
    function `metric` of its file. Each of `inputs` is a tuple of further arguments with which every
    configuration is run as well. Raises TuneError, FixError or FileError.

    >>> tune(lambda x: x * 2.0, 1.0, tolerance=1e-4)
    Traceback (most recent call last):
    typelattice.TuneError: tune takes a function that is defined by name ...
    """
    options = check_options(
        TuneOptions(
            tolerance, tuple(dtypes), measure, metric, seconds=seconds, jobs=jobs, journal=os.fspath(journal)
        )
    )
    limits = make_limits(seconds, allow_writes)
    try:
        inner = inspect.unwrap(function)
    except Exception:  # an object may raise anything when it is asked for what it wraps
        inner = None
    if type(inner) is not FunctionType or "<" in inner.__qualname__:
        raise TuneError(
            "tune takes a function that is defined by name in a file; define one, and give its arguments"
        )
    file = Path(os.path.realpath(inner.__code__.co_filename))
    if not file.is_file():
        raise TuneError(f"the source of {inner.__qualname__} is not in a file; save it in one")
    try:
        given = tuple(
            ProgramInput(pickled_args=pickle.dumps(each))
            for each in ((args, named), *((tuple(more), named) for more in inputs))
        )
    except Exception as e:
        raise TuneError(
            f"an argument cannot be sent to another process: {e}; give arrays and numbers"
        ) from None
    folder = file.parents[inner.__module__.count(".") if inner.__module__ != "__main__" else 0]
    program = ProgramToRun(
        str(file), (), (), False, folder, folder, inner.__qualname__, inner.__module__, given[0].pickled_args
    )
    tuner = Tuner(program, options, limits, given, parameters=bind_dtypes(inner, args, named))
    return tuner.run()


def bind_dtypes(function: FunctionType, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, str]:
    """Return the dtype of each argument that is a float array, by the name of its parameter."""
    try:
        bound = inspect.signature(function).bind(*args, **named).arguments
    except (TypeError, ValueError):
        return {}
    found = {}
    for name, value in bound.items():
        dtype = DTYPES.get(str(getattr(value, "dtype", "")).rpartition(".")[2])
        if dtype is not None and dtype_width(dtype) is not None:
            found[name] = dtype.name
    return found


def make_script_tuner(
    target: str,
    argv: Sequence[str],
    options: TuneOptions,
    inputs: str = "",
    as_module: bool = False,
    limits: SearchLimits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> Tuner:
    """Make the tuner of a script or a module. Raises TuneError or FileError for a bad option."""
    options = check_options(options)
    here = find_current_folder()
    path = here
    if not as_module:
        read_script(target, 0)  # raises FileError if the path does not name a readable file
        path = Path(os.path.realpath(target))
    folder = here if as_module or path.is_relative_to(here) else path.parent
    program = ProgramToRun(
        target if as_module else str(path), tuple(argv), (), as_module, folder, folder, follows_project=True
    )
    given = (ProgramInput(tuple(argv)),)
    return Tuner(program, options, limits, given, progress, inputs_function=inputs)


@dataclass(eq=False)
class Tuner:
    """One tuning. After an interrupt, `best_so_far` has what was found until then."""

    program: ProgramToRun
    options: TuneOptions
    limits: SearchLimits
    inputs: tuple[ProgramInput, ...]
    progress: Progress | None = None
    inputs_function: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    tuned: TunedProgram | None = None
    search: ConfigurationSearch | None = None
    points: list[Point] = field(default_factory=list)
    widening: Widening | None = None
    ended: str = ""

    def run(self) -> Tuning:
        """Search, measure the front, and return it. Raises TuneError, FixError or FileError."""
        with ExitStack() as stack:
            self.open(stack)
            try:
                self.find_narrowest()
                self.find_widening()
                self.measure_points()
            except SearchTimeOverError:
                self.ended = f"the {self.limits.seconds:g} s were over before the search had ended"
            return self.best_so_far()

    def open(self, stack: ExitStack) -> None:
        """Copy the program, and run it for the first times. Raises TuneError, FixError or FileError."""
        workspace = stack.enter_context(open_workspace(self.program, self.limits, self.progress))
        try:
            inputs = self.inputs
            if self.inputs_function:
                inputs = list_inputs_of_script(workspace, self.inputs_function)
            shifts = range(self.options.seeds)
            shifted = tuple(replace(each, seed_shift=shift) for shift in shifts for each in inputs)
            self.tuned = prepare(workspace, self.program, self.options, shifted, self.parameters)
        except SearchTimeOverError:
            raise TuneError(
                f"the first runs of the program took more than {self.limits.seconds:g} s; "
                "raise --seconds, or give it less to do"
            ) from None
        self.open_journal(stack)
        self.tuned.open_pool(stack)

    def open_journal(self, stack: ExitStack) -> None:
        """Open the journal, and take what it has already. Raises JournalError if it is of another tuning."""
        tuned = self.tuned
        assert tuned is not None
        if not self.options.journal:
            return
        digest = hashlib.sha256()
        for file, source in sorted(tuned.sources.items()):
            digest.update(Path(file).name.encode() + b"\0" + source.content)
        digest.update(repr((self.program.argv, self.program.pickled_args, tuned.inputs)).encode())
        head = {
            "typelattice": JOURNAL_KIND, "version": 1, "program": digest.hexdigest()[:16],
            "measure": self.options.measure, "tolerance": self.options.tolerance,
            "metric": self.options.metric, "results": [*self.options.results],
        }  # fmt: skip
        journal = stack.enter_context(Journal(Path(self.options.journal), head))
        count = tuned.read_journal(journal.rows)
        if count:
            tuned.notes.append(
                f"{count} trials were in {self.options.journal} already, and were not run again"
            )
        tuned.journal = journal

    def find_narrowest(self) -> None:
        """Search from the widest configuration down."""
        tuned = self.tuned
        assert tuned is not None
        own = tuned.own_configuration
        tuned.evaluate(own, stops_early=False)
        search = self.search = ConfigurationSearch(
            tuned.graph, [d for d in self.options.dtypes if width_of(d) <= width_of(tuned.top_dtype)],
            self.options.tolerance, tuned.evaluate, tuned.prefetch, tuned.widest_configuration,
            self.options.is_ordered,
        )  # fmt: skip
        if tuned.setup.true_environment:  # the widest dtype is not that of the truth
            first = tuned.evaluate(search.best)
            if not search.holds(first):
                search.best = {}
                variables = ", ".join(f"{k}={v}" for k, v in tuned.setup.true_environment.items())
                tuned.notes.append(
                    f"in {tuned.top_dtype}, its widest dtype here, the program misses the tolerance: "
                    f"{first.reason or f'error {first.error:.1e}'}; float64 needs {variables}"
                )
                return
        search.search()

    def find_widening(self) -> None:
        """If the program as it stands misses the tolerance, or loses digits, find the smallest widening."""
        tuned = self.tuned
        assert tuned is not None
        own = tuned.own_configuration
        outcome = tuned.evaluate(own, stops_early=False)
        narrow = [
            p for p in tuned.places
            if p.sort != STORED and width_of(p.dtype) < width_of(tuned.top_dtype)
        ]  # fmt: skip
        dtype = tuned.setup.own_dtypes.get(outcome.name, "float64")
        unit = 2.0 ** (1 - precision_of(dtype))
        loses = outcome.error > LOST_UNITS * unit if self.options.measure != "ulp" else False
        if not narrow or (outcome.error <= self.options.tolerance and not loses):
            return
        tolerance = self.options.tolerance
        if outcome.error <= tolerance:
            tolerance = max(outcome.error / 10, unit)
        wide = {**own, **dict.fromkeys(narrow, tuned.top_dtype)}
        search = ConfigurationSearch(tuned.graph, (), tolerance, self._fully, tuned.prefetch, dict(wide))
        if not search.holds(self._fully(wide)):
            return
        moves = [
            Move(((p, "" if p.follows else p.dtype),), p.dtype) for p in sorted(narrow, key=_widening_cost)
        ]
        if search.grow(moves):
            while True:  # until no single place can go back
                before = dict(search.best)
                search.retry(
                    [
                        m
                        for m in moves
                        if m.places[0] in search.best and search.best[m.places[0]] == tuned.top_dtype
                    ]
                )
                if search.best == before:
                    break
        widened = [p for p in narrow if search.best.get(p) == tuned.top_dtype]
        for name in (d for d in self.options.dtypes if width_of(d) < width_of(tuned.top_dtype)):
            narrower = tuple((p, name) for p in widened if width_of(p.dtype) < width_of(name) or p.follows)
            less = apply_all(search.best, [Move(narrower, name)])
            if less != search.best and search.holds(self._fully(less)):
                search.best = less
        self.widening = Widening(
            before=outcome.error, after=self._fully(search.best).error, places=tuple(widened),
            configuration=search.best, tolerance=tolerance, misses=outcome.error > self.options.tolerance,
        )  # fmt: skip

    def _fully(self, configuration: Configuration) -> Any:
        assert self.tuned is not None
        return self.tuned.evaluate(configuration, stops_early=False)

    def measure_points(self) -> None:
        """Measure the configurations of the front: bytes by a traced run, seconds by plain runs."""
        tuned, search = self.tuned, self.search
        assert tuned is not None and search is not None
        chosen: dict[str, Configuration] = {
            AS_IT_STANDS: tuned.own_configuration,
            IN_FLOAT64: tuned.widest_configuration,
        }
        if search.best:
            chosen[NARROWED] = search.best
        if self.widening is not None:
            chosen[WIDENED] = self.widening.configuration
        seen = {tuned.key_of(c) for c in chosen.values()}
        others = [(f"{TRIAL_PREFIX}{key}", c) for key, c in self.list_front() if key not in seen]
        for label, configuration in [*chosen.items(), *others][:MAX_POINTS]:
            contents = tuned.make_contents(configuration)
            known = next((p for p in self.points if p.contents == contents), None)
            if known is None:
                self.points.append(self.measure(label, configuration))
            else:
                known.labels.append(label)
        self.name_narrowest()
        self.points = [p for p in self.points if p.is_named or not self.is_worse(p)]

    def name_narrowest(self) -> None:
        """Name the point with the fewest measured bytes within the tolerance. The search has estimates."""
        search, fits = self.search, [p for p in self.points if self.is_measured_within(p)]
        best = min(fits, key=lambda p: (p.float_bytes or 0, NARROWED not in p.labels), default=None)
        if search is None or best is None or NARROWED in best.labels:
            return
        known = next((p for p in fits if NARROWED in p.labels), None)
        if known is not None and (known.float_bytes or 0) - (best.float_bytes or 0) <= search.least_saving:
            return
        for point in self.points:
            if NARROWED in point.labels:
                point.labels[:] = [x for x in point.labels if x != NARROWED] or [f"{TRIAL_PREFIX}estimated"]
        best.labels.append(NARROWED)
        if dict(best.configuration) != search.best:
            search.best = dict(best.configuration)
            search.confirm(accepts=False)

    def is_measured_within(self, point: Point) -> bool:
        """Return True if the bytes and the error of a point are measured, and it keeps the tolerance."""
        return point.float_bytes is not None and point.error <= self.options.tolerance

    def is_worse(self, point: Point) -> bool:
        """Return True if another point is at least as good in error and in measured bytes."""
        if point.float_bytes is None:
            return True
        return any(
            p is not point and p.float_bytes is not None
            and p.error <= point.error and p.float_bytes <= point.float_bytes
            and (p.is_named or (p.error, p.float_bytes) != (point.error, point.float_bytes))
            for p in self.points
        )  # fmt: skip

    def list_front(self) -> list[tuple[str, Configuration]]:
        """List configurations that ran, none of them worse than another in both error and estimated bytes."""
        tuned = self.tuned
        assert tuned is not None
        found = [
            (outcome.error, tuned.graph.estimate_bytes(tuned.configurations[key]), key)
            for key, outcome in tuned.outcomes.items()
            if key in tuned.configurations and outcome.error < inf
        ]
        front, least = [], inf
        for _, size, key in sorted(found):
            if size < least:
                least = size
                front.append((key, tuned.configurations[key]))
        return front

    def measure(self, label: str, configuration: Configuration) -> Point:
        """Measure one configuration with all inputs."""
        tuned = self.tuned
        assert tuned is not None and tuned.worker.runner is not None
        outcome = tuned.evaluate(configuration, stops_early=False)
        point = Point(
            [label], dict(configuration), outcome.error, outcome.reason, outcome.name,
            contents=tuned.make_contents(configuration), seconds=outcome.seconds or None,
            input_count=outcome.input_count,
        )  # fmt: skip
        runner = tuned.worker.runner
        runner.put_contents(point.contents)
        tuned.workspace.doing = "bytes and time of a point"
        observed = runner.observe(tuned.inputs[0])
        if not isinstance(observed, FailedRun):
            point.float_bytes = observed.float_bytes
        if point.seconds is None or point.seconds < SLOW_RUN_SECONDS:
            again = runner.run(tuned.inputs[0])
            if not isinstance(again, FailedRun):
                point.seconds = min(again.seconds, point.seconds or inf)
        return point

    def best_so_far(self) -> Tuning:
        """Return what was found until now, without a further run."""
        tuned = self.tuned
        if tuned is None:
            raise TuneError("the search was ended before the first runs of the program had ended")
        points = self.points
        if self.search is not None and self.search.best and not any(NARROWED in p.labels for p in points):
            outcome = tuned.outcomes.get(tuned.key_of(self.search.best))
            if outcome is not None and self.search.holds(outcome):
                contents = tuned.make_contents(self.search.best)
                known = next((p for p in points if p.contents == contents), None)
                if known is not None:
                    known.labels.append(NARROWED)
                    return self.make_result(points)
                points = [*points, Point([NARROWED], dict(self.search.best), outcome.error, "", outcome.name,
                                         contents=contents, input_count=outcome.input_count)]  # fmt: skip
        return self.make_result(points)

    def make_result(self, points: Sequence[Point]) -> Tuning:
        """Return what was found, with some points."""
        tuned = self.tuned
        assert tuned is not None
        refusals = explain_refusals(tuned, self.search) if self.search is not None else ()
        return Tuning.make(tuned, points, refusals, self.widening, self.ended)


def _widening_cost(place: Any) -> tuple[bool, int]:
    """Order places by what their widening costs, the dearest first: those are made narrow again first."""
    return place.follows, -place.bytes
