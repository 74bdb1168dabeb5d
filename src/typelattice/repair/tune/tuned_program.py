"""A program that is tuned: its runs as it stands and in float64, its places, and trials of configurations."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from typelattice.base.disk.journal import Journal
from typelattice.base.workers.pool import LocalPool, WorkerPool, connect_cluster
from typelattice.repair.copies.kept_values import describe_unread_values
from typelattice.repair.copies.program_to_run import ProgramToRun, TunedInput
from typelattice.repair.copies.source import FixError, open_source
from typelattice.repair.patch.workspace import FailedRun, Workspace
from typelattice.repair.tune.configuration_search import Configuration
from typelattice.repair.tune.error_measure import MeasuredError
from typelattice.repair.tune.libraries import tuned_library
from typelattice.repair.tune.loop_links import link_loops
from typelattice.repair.tune.observed_run import ObservedRun
from typelattice.repair.tune.place_edits import NO_CASTS, edit_source, needs_edit, needs_pin, widest, width_of
from typelattice.repair.tune.places import Place, PlaceSearch, UntunedPlace, find_alias, find_node
from typelattice.repair.tune.site_graph import SiteGraph
from typelattice.repair.tune.trial import (
    OBSERVED_RUN_MODULE,
    TUNED_RUN_MODULE,
    Contents,
    Outcome,
    ProgramInput,
    ProgramRunner,
    Results,
    RunFailsError,
    Trial,
    TrialSetup,
    TrialWorker,
    choose_results,
    compare_results,
    compute_truths,
)
from typelattice.repair.tune.tune_options import TuneError, TuneOptions
from typelattice.repair.tune.tuned_run import METRIC_NAME, RESULT_NAME
from typelattice.tracing.source.source_file import SourceFile

WIDE_DTYPE = "float64"
Containers = Sequence[tuple[Place, frozenset[int]]]  # objects of several, with the sites of their parameters
OWN_MODULES = (TUNED_RUN_MODULE, OBSERVED_RUN_MODULE, "typelattice.tracing.rewrite.syntax_tree")


@dataclass(eq=False)
class TunedProgram:
    """A program in its copy, with all that its first runs told."""

    workspace: Workspace
    options: TuneOptions
    inputs: tuple[ProgramInput, ...]
    parameters: Mapping[str, str]
    observed: ObservedRun
    as_it_stands: Results
    result_names: tuple[str, ...]
    sources: Mapping[str, SourceFile]
    places: list[Place]
    untuned: list[UntunedPlace]
    setup: TrialSetup
    worker: TrialWorker
    noise: MeasuredError
    containers: Containers = ()
    notes: list[str] = field(default_factory=list)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    configurations: dict[str, Configuration] = field(default_factory=dict)
    graph: SiteGraph = field(init=False)
    pool: WorkerPool | None = None
    journal: Journal | None = None
    extra_runs: int = 0

    def __post_init__(self) -> None:
        self.graph = SiteGraph(self.observed.sites, self.places)

    @property
    def top_dtype(self) -> str:
        """The widest dtype that a place may have in the program's own environment."""
        if not self.setup.true_environment:
            return WIDE_DTYPE
        return widest([place.dtype for place in self.places])

    @property
    def widest_configuration(self) -> dict[Place, str]:
        return dict.fromkeys((place for place in self.places if not place.follows), self.top_dtype)

    @property
    def own_configuration(self) -> dict[Place, str]:
        """The program as it stands."""
        return {place: place.dtype for place in self.places if not place.follows}

    def make_contents(self, configuration: Configuration) -> Contents:
        """Return the content of each file that a configuration changes, by its path in the copied folder."""
        return make_contents(self.workspace, self.sources, configuration, self.graph, self.containers)

    def key_of(self, configuration: Configuration) -> str:
        """Return the text by which the journal knows a configuration."""
        return " ".join(configuration.get(place, "-") for place in self.places)

    def evaluate(self, configuration: Configuration, stops_early: bool = True) -> Outcome:
        """Return the outcome of a configuration, by a run unless the journal has one."""
        key = self.key_of(configuration)
        self.configurations[key] = dict(configuration)
        known = self.outcomes.get(key)
        if known is not None and (stops_early or known.input_count == len(self.inputs) or known.error == inf):
            return known
        narrow = sum(1 for place, dtype in configuration.items() if dtype != self.top_dtype)
        self.workspace.doing = f"{narrow} of {len(self.places)} places narrow"
        trial = Trial(key, self.make_contents(configuration), stops_early)
        return self.keep(self.worker.try_contents(trial))

    def keep(self, outcome: Outcome) -> Outcome:
        """Keep an outcome, also in the journal."""
        self.outcomes[outcome.key] = outcome
        if self.journal is not None:
            self.journal.append(
                [outcome.key, repr(outcome.error), outcome.name, outcome.reason, outcome.seconds,
                 outcome.peak_bytes, outcome.input_count]
            )  # fmt: skip
        return outcome

    def read_journal(self, rows: Iterable[Any]) -> int:
        """Take the outcomes of an earlier search that was interrupted. Return how many there were."""
        for row in rows:
            if isinstance(row, list) and len(row) == 7:
                self.outcomes[row[0]] = Outcome(row[0], float(row[1]), *row[2:])
        return len(self.outcomes)

    def prefetch(self, configurations: Sequence[Configuration]) -> None:
        """Try configurations in the pool, if there is one."""
        if self.pool is None:
            return
        trials: list[Trial] = []
        for configuration in configurations:
            key = self.key_of(configuration)
            if key not in self.outcomes and key not in {trial.key for trial in trials}:
                self.configurations[key] = dict(configuration)
                trials.append(Trial(key, self.make_contents(configuration)))
        for outcome in self.pool.results(trials):
            self.extra_runs += outcome.run_count
            self.keep(outcome)

    def open_pool(self, stack: ExitStack) -> None:
        """Start further processes, or connect to a cluster, if the options say so."""
        options = self.options
        if options.scheduler:
            make = partial(TrialWorker, self.setup)
            self.pool = stack.enter_context(connect_cluster(make, lost_outcome, options.scheduler))
        elif options.jobs > 1:
            workers = [TrialWorker(self.setup) for _ in range(options.jobs)]
            self.pool = stack.enter_context(LocalPool(workers))

    @property
    def run_count(self) -> int:
        return self.workspace.run_count + self.extra_runs


def lost_outcome(task: Trial) -> Iterator[Outcome]:
    """Yield the outcome of a trial that ended every worker that took it."""
    yield Outcome(task.key, inf, reason="it ends the process")


def prepare(
    workspace: Workspace,
    program_to_run: ProgramToRun,
    options: TuneOptions,
    inputs: tuple[ProgramInput, ...],
    parameters: Mapping[str, str],
) -> TunedProgram:
    """Run a program as it stands and in float64, and find its places. Raises TuneError."""
    if hasattr(os, "fork"):
        workspace.preloaded_modules = OWN_MODULES
    runner = ProgramRunner(workspace, TunedInput(metric=options.metric))
    own = expect(runner.run(inputs[0]), "the program fails without any change")
    observed = expect(
        runner.observe(inputs[0], options.dtypes), "the program fails when its operations are followed"
    )
    libraries = [found for name in observed.libraries if (found := tuned_library(name)) is not None]
    if not libraries:
        raise TuneError(
            "no float array of NumPy, PyTorch or JAX was seen; name a script that computes with one of these"
        )
    seeded = tuple(name for library in libraries for name in library.seeded_functions)
    runner.tuned = replace(runner.tuned, seeded_functions=seeded)
    if workspace.preloaded_modules and all(library.forks_after_import for library in libraries):
        workspace.preloaded_modules += observed.modules
    sources, unread = open_sources(workspace, observed)
    link_loops(observed.sites, sources)
    names = find_result_names(workspace, options, own, sources)
    runner.tuned = replace(runner.tuned, kept_names=names)
    search = PlaceSearch(observed.sites, sources, workspace.program.function, parameters)
    places = search.find_places()
    containers = tuple(search.list_containers())
    if not places:
        raise TuneError(
            "no place decides the dtype of a float array in the files that may change; "
            f"{search.untuned[0].reason if search.untuned else 'tune a script that makes arrays'}"
        )
    environment: dict[str, str] = {}
    is_narrow = all(width_of(site.dtype) < 64 for site in observed.sites)
    for library in libraries:
        environment |= dict(library.wide_environment) if is_narrow else {}
    wide = dict.fromkeys((place for place in places if not place.follows), WIDE_DTYPE)
    own_dtypes = {name: value.dtype for name, value in own.values.items()}
    setup = TrialSetup(
        program_to_run, workspace.limits, inputs, runner.tuned, options.measure, options.tolerance,
        own_dtypes,
        names, make_contents(workspace, sources, wide, SiteGraph(observed.sites, places), containers),
        environment, workspace.preloaded_modules,
    )  # fmt: skip
    check_results(own, names, options)
    workspace.doing = "the program in float64"
    try:
        truths = compute_truths(runner, setup)
        again = compute_truths(runner, replace(setup, inputs=inputs[:1]))[0]
    except RunFailsError as e:
        raise TuneError(f"the program fails in float64, so there is no truth: {e}") from None
    worker = TrialWorker(setup)
    worker.use(runner, truths)
    noise = compare_results(truths[0], again, setup)
    program = TunedProgram(
        workspace, options, inputs, parameters, observed, own, names, sources, places,
        [*search.untuned, *unread], setup, worker, noise, containers,
    )  # fmt: skip
    check_noise(program)
    unread_files = choose_results(own, ()) if not (options.metric or options.results) else {}
    program.notes += describe_unread_values({**unread_files, **choose_results(own, names)})
    if len(inputs) > 1 and all(same_values(truths[0], each, setup) for each in truths[1:]):
        program.notes.append("the other inputs give the same results as the first: nothing depends on them")
    return program


def expect(found: Any, what: str) -> Any:
    """Return what a run gave. Raises TuneError if it failed."""
    if isinstance(found, FailedRun):
        advice = "raise --seconds, or give it less to do" if found.took_too_long else "make it run first"
        raise TuneError(f"{what}: {found.reason}; {advice}")
    return found


def same_values(first: Results, second: Results, setup: TrialSetup) -> bool:
    """Return True if two inputs gave equal results."""
    found = compare_results(first, second, setup)
    return not found.error and not found.reason


def check_noise(program: TunedProgram) -> None:
    """Raise TuneError if two runs of the program in float64 differ by more than the tolerance."""
    noise, tolerance = program.noise, program.options.tolerance
    if noise.error <= tolerance:
        if noise.error:
            program.notes.append(
                f"two runs in float64 differ by {noise.error:.1e} in {noise.name}: "
                "no smaller error can be told"
            )
        return
    figure = noise.reason or f"they differ by {noise.error:.1e} in {noise.name}"
    raise TuneError(
        f"two runs in float64 miss the tolerance {tolerance:g} themselves: {figure}; "
        "seed the random numbers of the program, or give a larger --tolerance"
    )


def check_results(own: Results, names: tuple[str, ...], options: TuneOptions) -> None:
    """Raise TuneError if a run gives no number that can be compared."""
    unread = own.values.get(RESULT_NAME)
    if RESULT_NAME in names and unread is not None and not unread.step:
        what = f"the function returns {unread.dtype}, of which no number can be read"
        raise TuneError(f"{what}; return its arrays, or give --metric")
    if any(value.numbers for value in choose_results(own, names).values()):
        return
    if options.metric:
        raise TuneError(f"the metric {options.metric} returns no float number; let it return one")
    raise TuneError(
        "the program prints, saves and binds no float number; print its results, or name them with --results"
    )


def find_result_names(
    workspace: Workspace, options: TuneOptions, own: Results, sources: Mapping[str, SourceFile]
) -> tuple[str, ...]:
    """Return the names whose values count as results, or () for what is printed and saved, or the metric."""
    if options.metric:
        return (METRIC_NAME,)
    if workspace.program.function:
        arguments = {name.partition("[")[0] for name in own.values if name.startswith("argument ")}
        return (RESULT_NAME, *sorted(arguments))
    has_numbers = (name for name, value in own.values.items() if value.numbers)
    bound = {name.partition("[")[0].partition(".")[0] for name in has_numbers}
    for name in options.results:
        if name not in bound:
            raise TuneError(f"the program binds no number to {name}; name one that it binds: --results NAME")
    if options.results:
        return options.results
    if any(value.numbers for value in choose_results(own, ()).values()):
        return ()
    source = sources.get(workspace.program.target)
    return unread_names(source.tree, bound) if source is not None else tuple(sorted(bound))


def unread_names(tree: ast.Module, bound: set[str]) -> tuple[str, ...]:
    """Return the names that a script binds to numbers and never reads, or all if it reads each of them."""
    read = {*names_read(tree)}
    return tuple(sorted(bound - read)) or tuple(sorted(bound))


def names_read(tree: ast.AST) -> Iterator[str]:
    """Yield the names that code reads, except the parameters of a function within it."""
    for node in ast.iter_child_nodes(tree):
        found = names_read(node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            own = {n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg)}
            found = (name for name in found if name not in own)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        yield from found


def open_sources(
    workspace: Workspace, observed: ObservedRun
) -> tuple[dict[str, SourceFile], list[UntunedPlace]]:
    """Open the files of the copy that ran. Those that cannot be changed are listed with the reason."""
    sources: dict[str, SourceFile] = {}
    unread: list[UntunedPlace] = []
    for file in sorted({site.file for site in observed.sites}):
        path = Path(file)
        if not path.is_relative_to(workspace.program.copy_folder):
            continue
        try:
            source = open_source(path, path.read_bytes(), file != workspace.program.target)
            source.check_syntax()
        except (FixError, SyntaxError, ValueError, OSError) as e:
            unread.append(UntunedPlace(file, 1, path.name, str(e)))
        else:
            sources[file] = source
    return sources, unread


def make_contents(
    workspace: Workspace,
    sources: Mapping[str, SourceFile],
    configuration: Configuration,
    graph: SiteGraph,
    containers: Containers,
) -> dict[str, bytes]:
    """Return the content of each file that a configuration changes, by its path in the copied folder."""
    found: dict[str, bytes] = {}
    written = merge_members(configuration, graph, containers)
    is_changed = any(needs_edit(place, dtype) for place, dtype in written.items())
    casts = list_argument_casts(sources, configuration, graph)
    for file, source in sources.items():
        choices = {
            place: dtype for place, dtype in written.items()
            if place.file == file and (needs_edit(place, dtype) or (is_changed and needs_pin(place)))
        }  # fmt: skip
        if choices or file in casts:
            name = str(Path(file).relative_to(workspace.program.copy_folder))
            found[name] = edit_source(source, choices, casts.get(file, NO_CASTS))
    return found


def merge_members(
    configuration: Configuration, graph: SiteGraph, containers: Containers
) -> Configuration:
    """Write one cast of a whole object where all its parameters have the same new dtype: `MLP().to(...)`."""
    found, held = dict(configuration), set[int]()
    for container, members in containers:
        places = {graph.find_place_of_parameter(number) for number in members}
        known = [place for place in places if place is not None and place in found]
        dtypes = {found[place] for place in known}
        others = (m for each, m in containers if each is not container and not m <= members)
        if len(known) == len(places) and len(dtypes) == 1 and not any(members & m for m in others):
            (dtype,) = dtypes
            if all(needs_edit(place, dtype) for place in known) and not members & held:
                held |= members
                found = {place: d for place, d in found.items() if place not in places}
                found[container] = dtype
    return found


def list_argument_casts(
    sources: Mapping[str, SourceFile], configuration: Configuration, graph: SiteGraph
) -> dict[str, dict[tuple[int, int], str]]:
    """Return the casts of arguments that objects with other parameters get, by file and span."""
    found: dict[str, dict[tuple[int, int], str]] = {}
    for site, key, dtype in graph.find_argument_casts(configuration):
        source, library = sources.get(site.file), tuned_library(site.library)
        node = find_node(source, site) if source is not None else None
        if source is None or library is None or not isinstance(node, ast.Call):
            continue
        if isinstance(key, int):
            argument = node.args[key] if key < len(node.args) else None
        else:
            argument = next((k.value for k in node.keywords if k.arg == key), None)
        alias = find_alias(source, library)
        if argument is None or isinstance(argument, ast.Starred):
            continue
        if isinstance(node.func, (ast.Name, ast.Attribute)) and site.has_weight:
            text = f"{source.text(node.func)}.weight.dtype"
        elif alias:
            text = f"{alias}.{dtype}"
        else:
            continue
        found.setdefault(site.file, {})[source.find_span(argument)] = library.cast.format(text)
    return found
