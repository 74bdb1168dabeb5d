"""A budget: the widest float that a test may compute with or return, and the steps that exceed it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from typelattice.core.dtypes.dtypes import DType
from typelattice.tracing.findings.predicted_run import PredictedRun, predict_run
from typelattice.tracing.findings.widening_causes import map_responsible_steps
from typelattice.tracing.report.formatting import count_text, location_text
from typelattice.tracing.report.scope_sentences import describe_held_array
from typelattice.tracing.report.sentences import describe_step
from typelattice.tracing.run_data.float_widths import dtype_width, operand_width
from typelattice.tracing.run_data.run import Run

NOTHING_CHECKED_MESSAGE = (
    "the dtype budget {} checked nothing: the test computed with no array in what is followed; name the "
    "package that does with --dtype-trace"
)
NARROW_RESULTS_MESSAGE = "  the results are within the budget; results=True in the mark checks them alone"


@dataclass(frozen=True, slots=True)
class WidthBudget:
    """The widest float of a test. Results of fewer bytes than `floor` are free.

    `only_results`: count only arrays that the package returns, which none of its own steps uses.
    """

    dtype: DType
    floor: int = 0
    only_results: bool = False


def budget_message(run: Run, earlier_run: Run | None, budget: WidthBudget) -> str:
    """Say in lines where a test took wider floats than its budget, or return "" if nowhere.

    `earlier_run` is the run before the test. All steps since then belong to the test.
    """
    counts = [seen.count for seen in earlier_run.observations] if earlier_run else []
    counts += [0] * (len(run.observations) - len(counts))
    since = [
        i
        for i, (now, earlier) in enumerate(zip(run.observations, counts, strict=True))
        if now.count > earlier
    ]
    held_arrays = [
        held
        for held in run.held_arrays
        if (dtype_width(held.dtype) or 0) > (dtype_width(budget.dtype) or 0)
        and not budget.floor  # the bytes of these arrays are not known
        and (earlier_run is None or held not in earlier_run.held_arrays)
    ]
    if not since and not held_arrays:
        return NOTHING_CHECKED_MESSAGE.format(budget.dtype)
    limit = dtype_width(budget.dtype) or 0
    used_steps = {p for i in since for p in run.program.steps[i].inputs} if budget.only_results else set()
    too_wide_steps = [
        i
        for i in since
        if i not in used_steps
        and (operand_width(run.observations[i].operand) or 0) > limit
        and run.observations[i].bytes >= budget.floor * run.observations[i].count
    ]
    excesses = _describe_excesses(predict_run(run), too_wide_steps) if too_wide_steps else []
    found = [line for each in excesses for line in each]
    found += [f"  {describe_held_array(held)}" for held in held_arrays]
    places = len(excesses) + len(held_arrays)
    head = f"the dtype budget {budget.dtype} is exceeded from {count_text(places, 'place')}"
    if places and not (
        budget.only_results or budget_message(run, earlier_run, replace(budget, only_results=True))
    ):
        found.append(NARROW_RESULTS_MESSAGE)
    return "\n".join([head, *found]) if places else ""


def _describe_excesses(predicted_run: PredictedRun, excess_steps: list[int]) -> list[list[str]]:
    """Describe the steps that made others too wide, in lines for each place."""
    steps_by_place: dict[object, list[int]] = {}
    first: dict[object, int] = {}
    causes = map_responsible_steps(predicted_run)
    for i in excess_steps:
        step = predicted_run.steps[causes[i]]
        first.setdefault((step.location, step.text), causes[i])
        steps_by_place.setdefault((step.location, step.text), []).append(i)
    return [[*_excess_lines(predicted_run, first[place], those)] for place, those in steps_by_place.items()]


def _excess_lines(predicted_run: PredictedRun, cause: int, excess_steps: list[int]) -> Iterator[str]:
    yield f"  {location_text(predicted_run.steps[cause].location)}: {predicted_run.steps[cause].text}"
    yield f"    {describe_step(predicted_run, cause)}"
    others = [i for i in excess_steps if i != cause]
    if others:
        location = location_text(predicted_run.steps[others[0]].location)
        yield f"    then {location}: {describe_step(predicted_run, others[0])}"
    if others[1:]:
        yield f"    and {count_text(len(others) - 1, 'more step')} in this test"
