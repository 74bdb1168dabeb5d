"""Arrays that are computed later, and that had announced another dtype than they have when computed."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.operations.operations import OPERATIONS
from typelattice.programs.calls.steps import Cast, DTypeOf, Input, Opaque, Step
from typelattice.tracing.library_traits import computing_functions
from typelattice.tracing.run_data.run import Run


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
    computed_arrays = _find_computed_arrays(run.program.steps, owners, functions) if owners else {}
    for i, source in computed_arrays.items():
        seen = run.observations[i]
        if not seen.count or not run.observations[source].count:
            continue
        announced, computed = run.observations[source].operand.dtype, seen.operand.dtype
        if announced is not None and computed is not None and announced is not computed:
            sources = tuple(_find_sources(run, source, functions, owners))
            yield WrongAnnouncement(i, announced, computed, sources)


def _find_computed_arrays(
    steps: Sequence[Step], owners: Container[str | None], functions: Container[str]
) -> Mapping[int, int]:
    """Map each step that computes an array to the step of that array.

    A call that computes several arrays has a step for each result. They stand in the order of the arrays.
    """
    found: dict[int, int] = {}
    results_by_call: dict[tuple[object, str, tuple[int, ...]], list[int]] = {}
    for i, step in enumerate(steps):
        computes_alone = isinstance(step, Cast) and step.to == DTypeOf(step.operand)  # `np.asarray(x)`
        if isinstance(step, Opaque) and step.name.lstrip(".") in functions:
            results_by_call.setdefault((step.location, step.text, step.input_steps), []).append(i)
        elif computes_alone and step.owner not in owners and _is_lazy(steps, step.inputs[0], owners):
            found[i] = step.inputs[0]
    for (_, _, arrays), results in results_by_call.items():
        found.update(zip(results, arrays, strict=True) if len(arrays) == len(results) else ())
    return dict(sorted(found.items()))


def _is_lazy(steps: Sequence[Step], number: int, owners: Container[str | None]) -> bool:
    """Return True for an array that is computed later, and for an object of another library around one."""
    step = steps[number]
    return step.owner in owners or (
        isinstance(step, Opaque) and any(steps[p].owner in owners for p in step.inputs)
    )


def _find_sources(
    run: Run, start: int, computing: Container[str], owners: Container[str | None]
) -> Iterator[int]:
    """Yield the nearest steps without a rule that an array comes from, or the inputs if there is none.

    An object of another library around such an array, such as xarray's, announces what the array does, and so
    do its operators.
    """
    steps = run.program.steps

    def dtype_of(number: int) -> DType | None:
        return run.observations[number].operand.dtype

    waiting, seen, inputs, is_found = [start], {start}, [], False
    while waiting:
        number = waiting.pop(0)
        step = steps[number]
        if isinstance(step, Opaque) and step.name.lstrip(".") not in computing:
            wraps = step.owner not in owners and any(
                (steps[p].owner in owners or step.name in OPERATIONS) and dtype_of(p) is dtype_of(number)
                for p in step.inputs
            )
            if not wraps:
                is_found = True
                yield number
                continue
        if isinstance(step, Input):
            inputs.append(number)
        waiting += [p for p in step.inputs if p not in seen]
        seen.update(step.inputs)
    if not is_found:
        yield from inputs
