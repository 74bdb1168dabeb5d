"""Wide floats that a program intends: lines with a comment, and casts whose results are cast back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from typelattice.programs.calls.steps import Cast
from typelattice.tracing.findings.predicted_run import PredictedRun
from typelattice.tracing.findings.widening_causes import WideningCause, keep_widening_steps
from typelattice.tracing.run_data.float_widths import dtype_width

MAX_STORAGE_BITS = 8  # a float of so few bits only stores numbers: a program has to cast it to compute


@dataclass(frozen=True, slots=True)
class SortedCauses:
    """The causes to report, the number that a comment excuses, and the islands.

    An island is an explicit cast to a wider float with results that are all cast back, reduced to one number,
    or compared.
    """

    reported: tuple[WideningCause, ...]
    excused_count: int
    islands: tuple[WideningCause, ...]


def sort_causes(
    predicted_run: PredictedRun, causes: Iterable[WideningCause], is_excused: Callable[[int], bool]
) -> SortedCauses:
    """Leave out what a program intends. `is_excused` says if a comment stands on the line of a step.

    A comment covers its line. A wide float that leaves this line and widens another is still a cause.
    """
    reported: list[WideningCause] = []
    islands: list[WideningCause] = []
    excused_count = 0
    for cause in causes:
        marked = [i for i in (*cause.origin_steps, *cause.widening_steps) if is_excused(i)]
        is_storage = (dtype_width(cause.narrow_dtype) or 0) <= MAX_STORAGE_BITS
        is_explicit = all(_is_widening_cast(predicted_run, cause, i) for i in cause.origin_steps)
        left = [i for i in cause.widening_steps if i not in marked]
        if marked or is_explicit:
            left = [i for i in left if not is_contained(predicted_run, i)]
        if is_explicit and is_storage:
            continue
        if len(left) == len(cause.widening_steps):
            reported.append(cause)
        elif left:
            reported.append(keep_widening_steps(predicted_run, cause, left, marked[0] if marked else None))
        elif marked:
            excused_count += 1
        else:
            islands.append(cause)
    return SortedCauses(tuple(reported), excused_count, tuple(islands))


def _is_widening_cast(predicted_run: PredictedRun, cause: WideningCause, step_number: int) -> bool:
    """Return True if a step is a cast that the program writes, of a narrower float."""
    return isinstance(predicted_run.steps[step_number], Cast) and step_number in cause.widening_steps


def is_contained(predicted_run: PredictedRun, step_number: int) -> bool:
    """Return True if no array as wide as the result of a step leaves the operations that follow it.

    Each of them is used again until its result is narrow, is no float, or is a single number.
    """
    width = predicted_run.widths[step_number] or 0
    seen = {step_number}
    waiting = [step_number]
    while waiting:
        i = waiting.pop()
        if (predicted_run.widths[i] or 0) < width:
            continue
        consumers = predicted_run.consumers[i]
        result = predicted_run.result_of(i)
        if not consumers and (result is None or result.tier != "0d"):
            return False
        new = {*consumers} - seen
        seen |= new
        waiting += new
    return True
