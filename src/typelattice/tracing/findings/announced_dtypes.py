"""Arrays that are computed later, and that had announced another dtype than they have when computed."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from typelattice.core.dtypes.dtypes import DType
from typelattice.programs.calls.steps import Cast, Input, Opaque, Step
from typelattice.tracing.library_traits import computing_functions
from typelattice.tracing.run_data.run import Run

PART_PATTERN = re.compile(r"\[(\d+)\]")  # of a tuple of results, one for each argument


@dataclass(frozen=True, slots=True)
class WrongAnnouncement:
    """An array whose computed dtype is not the one that it had announced.

    `step` computed it. `sources` are the nearest steps without a rule that it comes from, or else the inputs:
    one of them announced a dtype that its function does not give. Every step between has a rule.
    """

    step: int
    announced: DType
    computed: DType
    sources: tuple[int, ...]


def find_wrong_announcements(run: Run) -> Iterator[WrongAnnouncement]:
    """Yield each step of a run that computed an array, and gave another dtype than the array had announced.

    A library that computes later names its computing functions in its file of `library_traits`.
    """
    owners = {owner for owner in run.systems if computing_functions(owner)}
    functions = {name for owner in owners for name in computing_functions(owner)}
    for i, (step, seen) in enumerate(run) if owners else ():
        source = _find_computed_array(run.program.steps, step, owners, functions)
        if source is None or not seen.count or not run.observations[source].count:
            continue
        announced, computed = run.observations[source].operand.dtype, seen.operand.dtype
        if announced is not None and computed is not None and announced is not computed:
            sources = tuple(_find_sources(run.program.steps, source, functions))
            yield WrongAnnouncement(i, announced, computed, sources)


def _find_computed_array(
    steps: Sequence[Step], step: Step, owners: Container[str | None], functions: Container[str]
) -> int | None:
    """Return the step of the array that a step computes, or None if it computes none."""
    if isinstance(step, Opaque) and step.name.lstrip(".") in functions and step.input_steps:
        part = PART_PATTERN.fullmatch(step.part)
        number = int(part[1]) if part else 0
        is_one_each = number < len(step.input_steps) and (part is not None or not step.part)
        return step.input_steps[number] if is_one_each else None
    if isinstance(step, Cast) and step.owner not in owners and steps[step.inputs[0]].owner in owners:
        return step.inputs[0]  # `np.asarray(x)` computes x; a dtype that the source requests is not announced
    return None


def _find_sources(steps: Sequence[Step], start: int, computing: Container[str]) -> Iterator[int]:
    """Yield the nearest steps without a rule that an array comes from, or the inputs if there is none."""
    waiting, seen, inputs, is_found = [start], {start}, [], False
    while waiting:
        number = waiting.pop(0)
        step = steps[number]
        if isinstance(step, Opaque) and step.name.lstrip(".") not in computing:
            is_found = True
            yield number
            continue
        if isinstance(step, Input):
            inputs.append(number)
        waiting += [p for p in step.inputs if p not in seen]
        seen.update(step.inputs)
    if not is_found:
        yield from inputs
