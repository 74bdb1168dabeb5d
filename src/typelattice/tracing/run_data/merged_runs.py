"""Runs of several processes as one. An operation that several of them saw is one step with one count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from typelattice.programs.calls.steps import Argument, DTypeOf, Ref, Step
from typelattice.programs.program.program import Program
from typelattice.tracing.run_data.run import (
    CompiledCallArgument,
    LocatedLoss,
    Observation,
    Run,
    UncheckedResults,
    ValueScope,
)


def merge_runs(runs: Sequence[Run]) -> Run:
    """Merge the runs of child processes into their parent's run, the first one."""
    first = runs[0]
    if len(runs) == 1:
        return first
    steps = _MergedSteps()
    results = steps.add_steps(first, range(len(first.observations)))
    not_followed, summaries = dict.fromkeys(first.unfollowed_code), dict.fromkeys(first.summaries)
    sources, systems, values = dict(first.sources), dict(first.systems), _MergedLosses(first)
    held_arrays, value_scopes = dict.fromkeys(first.held_arrays), [first.value_scope]
    weakness_changes, compiled_call_arguments = (
        dict.fromkeys(first.weakness_changes),
        dict.fromkeys(_renumber_arguments(first, results)),
    )
    for each in runs[1:]:
        others = [name for name, system in each.systems.items() if systems.get(name, system) != system]
        if others:
            summaries[f"a child process had another mode of {others[0]}: its run is left out"] = None
            continue
        compiled_call_arguments |= dict.fromkeys(
            _renumber_arguments(each, steps.add_steps(each, list_needed_steps(each)))
        )
        not_followed |= dict.fromkeys(each.unfollowed_code)
        summaries |= dict.fromkeys(each.summaries)
        sources, systems = {**each.sources, **sources}, {**each.systems, **systems}
        values.add_losses(each)
        held_arrays |= dict.fromkeys(each.held_arrays)
        value_scopes.append(each.value_scope)
        weakness_changes |= dict.fromkeys(each.weakness_changes)
    last = (len(steps.steps) - 1,) if steps.steps else ()
    return Run(
        Program(tuple(steps.steps), last, first.program.source),
        tuple(steps.observations),
        dict(sorted(systems.items())),
        tuple(not_followed),
        tuple(summaries),
        sources,
        max(0, sum(run.unfollowed_process_count for run in runs) - (len(runs) - 1)),
        {name: results[i] for name, i in first.results.items()},
        values.list_losses(),
        tuple(dict.fromkeys(name for run in runs for name in run.commands)),
        sum(run.followed_process_count for run in runs) + len(runs) - 1,
        tuple(weakness_changes),
        tuple(compiled_call_arguments),
        merge_value_scopes([scope for scope in value_scopes if scope is not None]),
        tuple(held_arrays),
        first.script,
        first.model,
        tuple(dict.fromkeys(call for run in runs for call in run.announced_calls)),
    )


def merge_value_scopes(scopes: Sequence[ValueScope]) -> ValueScope | None:
    """Add up the numbers of results that were checked in several processes, and of those that were not."""
    if not scopes:
        return None
    unchecked: dict[tuple[str, str], UncheckedResults] = {}
    for each in (each for scope in scopes for each in scope.unchecked):
        known = unchecked.get((each.reason, each.subject), replace(each, count=0))
        largest = max(known.largest_bytes, each.largest_bytes)
        total = replace(known, count=known.count + each.count, largest_bytes=largest)
        unchecked[each.reason, each.subject] = total
    return ValueScope(sum(scope.checked_count for scope in scopes), tuple(unchecked.values()))


def _renumber_arguments(run: Run, new_numbers: Mapping[int, int]) -> tuple[CompiledCallArgument, ...]:
    """Return the calls of a run that take arrays, by the new numbers of its steps."""
    return tuple(
        replace(each, step=new_numbers[each.step])
        for each in run.compiled_call_arguments
        if each.step in new_numbers
    )


def list_needed_steps(run: Run) -> list[int]:
    """List the steps that ran, and the steps that they use."""
    wanted = {i for i, seen in enumerate(run.observations) if seen.count}
    for i in range(len(run.observations) - 1, -1, -1):
        if i in wanted:
            wanted.update(run.program.steps[i].inputs)
    return sorted(wanted)


def drop_unused_steps(run: Run) -> Run:
    """Leave out the steps that did not run in a process, such as its parent's steps before a fork."""
    steps = _MergedSteps()
    arguments = _renumber_arguments(run, steps.add_steps(run, list_needed_steps(run)))
    program = Program(tuple(steps.steps), (), run.program.source)
    return replace(
        run,
        program=program,
        observations=tuple(steps.observations),
        results={},
        compiled_call_arguments=arguments,
    )


class _MergedSteps:
    """The steps of a merged run, each once."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.observations: list[Observation] = []
        self.numbers: dict[tuple[str, str], int] = {}

    def add_steps(self, run: Run, step_numbers: Sequence[int]) -> dict[int, int]:
        """Add some steps of a run, and return the new number of each."""
        new: dict[int, int] = {}

        def argument(x: Argument) -> Any:
            return type(x)(new[x.step]) if isinstance(x, (Ref, DTypeOf)) else x

        for i in step_numbers:
            step, seen = run.program.steps[i].map_refs(new.__getitem__, argument), run.observations[i]
            # Values are compared as texts, because 1 == 1.0 == True. A shape is the shape of the last result.
            key = repr(replace(step, shape=None)), repr(seen.operand)
            number = self.numbers.setdefault(key, len(self.steps))
            if number == len(self.steps):
                self.steps.append(step)
                self.observations.append(seen)
            else:
                old = self.observations[number]
                self.observations[number] = Observation(
                    old.operand, old.count + seen.count, old.bytes + seen.bytes
                )
            new[i] = number
        return new


class _MergedLosses:
    """The losses of values of several runs, by their places."""

    def __init__(self, run: Run) -> None:
        self.is_checked = run.value_losses is not None
        self.losses: dict[tuple[object, str, str], LocatedLoss] = {}
        self.add_losses(run)

    def add_losses(self, run: Run) -> None:
        """Add the observations of a run."""
        for each in run.value_losses or ():
            key = each.location, each.text, each.loss.rule
            known = self.losses.get(key)
            self.losses[key] = replace(known, runs=known.runs + each.runs) if known else each

    def list_losses(self) -> tuple[LocatedLoss, ...] | None:
        """Return all losses, or None if values were not checked."""
        return tuple(self.losses.values()) if self.is_checked else None
