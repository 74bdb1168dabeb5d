"""The scope of a run's checks: what they looked at, and the wide floats that no check can see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from typelattice.core.dtypes.dtypes import DType
from typelattice.programs.calls.steps import Cast, Excerpt, Input, Opaque, SourceLocation
from typelattice.tracing.findings.intended_widenings import is_contained
from typelattice.tracing.findings.predicted_run import PredictedRun
from typelattice.tracing.findings.widening_causes import (
    WideningCause,
    list_written_arrays,
    map_responsible_steps,
)
from typelattice.tracing.run_data.float_widths import dtype_width, is_integer
from typelattice.tracing.run_data.run import HeldArray, ValueScope, is_operation

MAX_INTEGER_STEPS = 50  # integers that a wide float was computed from, and that are looked through


@dataclass(frozen=True, slots=True)
class UnseenWidening:
    """A wide float from a call without a rule, and the widest float that went in, or None."""

    location: SourceLocation
    text: str
    dtype: DType
    narrow_dtype: DType | None
    package: str = ""


@dataclass(frozen=True, slots=True)
class WideResult:
    """A wide float that has a name in the end and that widened nothing, such as a mask of ones.

    `location` and `text` belong to `step`, which decided its dtype, and `bytes` are those of one array.
    `integers` is the place where a narrower float became the integers that it was computed from, or None.
    """

    name: str
    dtype: DType
    bytes: int
    location: SourceLocation | None
    text: str
    step: int
    integers: Excerpt | None = None
    narrow_dtype: DType | None = None


@dataclass(frozen=True, slots=True)
class CheckScope:
    """The operations that the checks of a run looked at, and the wide floats that they cannot see.

    - `operation_count`: the operations that a rule describes, in `files`, of `libraries`.
    - `opaque_count`: the array results of calls without a rule. Nothing inside them was looked at.
    - `unseen_widenings`: wide floats that come from such calls, if no finding names them.
    - `held_arrays`: wide floats in objects that code which is not followed returned.
    - `wide_results`: wide floats with a name in the end that no cause names.
    - `value_scope`: the results whose values were checked, or None if values were not checked.
    """

    operation_count: int
    files: tuple[str, ...]
    libraries: tuple[str, ...]
    opaque_count: int
    unseen_widenings: tuple[UnseenWidening, ...]
    held_arrays: tuple[HeldArray, ...]
    wide_results: tuple[WideResult, ...]
    value_scope: ValueScope | None


def find_scope(predicted_run: PredictedRun, causes: Iterable[WideningCause]) -> CheckScope:
    """Find the scope of the checks of a run with some causes of wide floats."""
    run = predicted_run.run
    causes = [*causes]
    located = [
        step.location.file
        for step, seen in run
        if step.location is not None and seen.count and (is_operation(step) or isinstance(step, Opaque))
    ]
    return CheckScope(
        run.operations,
        tuple(dict.fromkeys(located)),
        tuple(run.systems),
        run.opaque,
        tuple(dict.fromkeys(_list_unseen_widenings(predicted_run, causes))),
        tuple(each for each in run.held_arrays if _is_wide(predicted_run, each.dtype, each.narrow_dtype)),
        tuple(list_wide_results(predicted_run, causes)),
        run.value_scope,
    )


def list_wide_results(
    predicted_run: PredictedRun, causes: Iterable[WideningCause], limit: int | None = None
) -> Iterable[WideResult]:
    """List the wide floats with a name in the end that no cause names, the largest first.

    They are wider than the narrowest float of the run, or than `limit` bits.
    """
    named: set[int] = set()
    for cause in causes:
        wide = {*cause.widening_steps, *cause.later_wide_steps}
        named |= {*cause.origin_steps, *cause.written_steps, *wide}
        named.update(array for i in wide for array in list_written_arrays(predicted_run, i))
    found: dict[int, WideResult] = {}
    responsible = map_responsible_steps(predicted_run)
    for name, i in predicted_run.run.results.items():
        operand = predicted_run.result_of(i)
        dtype = operand.dtype if operand is not None and operand.tier != "0d" else None
        if i in named or i in found or dtype is None or not predicted_run.widths[i]:
            continue
        if not named.isdisjoint(predicted_run.consumers[i]):
            continue  # it takes part in a cause
        maker = _find_maker(predicted_run, i)
        made = _find_decider(predicted_run, responsible, maker)
        if made in named and made != maker:
            continue  # a cause names the line that decides
        step, seen = predicted_run.steps[made], predicted_run.run.observations[i]
        if limit is not None and (dtype_width(dtype) or 0) <= limit:
            continue
        if limit is not None or _is_wide(predicted_run, dtype, None):
            size = seen.bytes // max(seen.count, 1)
            integers, narrow = _find_integers(predicted_run, made)
            found[i] = WideResult(name, dtype, size, step.location, step.text, made, integers, narrow)
    return sorted(found.values(), key=lambda each: -each.bytes)


def _find_decider(predicted_run: PredictedRun, responsible: Mapping[int, int], step: int) -> int:
    """Find the step that decided the dtype of a wide array.

    If the run has no narrower float, no replay tells what would be narrow. Then it is the first wide array
    that the array was computed from.
    """
    width, least = predicted_run.widths[step] or 0, predicted_run.narrowest_float
    if least is None or (dtype_width(least) or 0) < width:
        return responsible.get(step, step)
    while wide := [p for p in predicted_run.inputs[step] if predicted_run.widths[p] == width and p < step]:
        step = wide[0]
    return step


def _find_integers(predicted_run: PredictedRun, step: int) -> tuple[Excerpt | None, DType | None]:
    """Find where a narrower float became the integers that a step computes a wide float from."""
    own, seen, waiting = predicted_run.widths[step] or 0, {step}, [step]
    if any(predicted_run.widths[p] for p in predicted_run.inputs[step]):
        return None, None
    while waiting and len(seen) < MAX_INTEGER_STEPS:
        i = waiting.pop(0)
        for p in predicted_run.inputs[i]:
            operand = predicted_run.result_of(p)
            if i != step and 0 < (predicted_run.widths[p] or 0) < own and operand is not None:
                at = predicted_run.steps[i]
                return Excerpt(at.text, at.location), operand.dtype
            if p not in seen and is_integer(operand):
                seen.add(p)
                waiting.append(p)
    return None, None


def _find_maker(predicted_run: PredictedRun, step: int) -> int:
    """Return the step that made a wide array, before casts that left it as it was."""
    steps = predicted_run.steps
    while isinstance(steps[step], Cast) and len(steps[step].inputs) == 1:
        (before,) = steps[step].inputs
        if predicted_run.widths[before] != predicted_run.widths[step]:
            break
        step = before
    return step


def _is_wide(predicted_run: PredictedRun, dtype: DType, narrow_dtype: DType | None) -> bool:
    """Return True if a float is wider than another, or than the narrowest float of the run."""
    least = narrow_dtype or predicted_run.narrowest_float
    return least is not None and (dtype_width(dtype) or 0) > (dtype_width(least) or 0)


def _list_unseen_widenings(
    predicted_run: PredictedRun, causes: Iterable[WideningCause]
) -> Iterable[UnseenWidening]:
    """List the wide floats from calls without a rule that no cause names, unless all are cast back."""
    named = {i for cause in causes for i in (*cause.origin_steps, *cause.widening_steps)}
    wide_inputs = {i for cause in causes for i in (*cause.later_wide_steps, *cause.written_steps)}
    for i, (step, seen) in enumerate(predicted_run.run):
        dtype = seen.operand.dtype
        if i in named or i in wide_inputs or step.location is None or not seen.count or dtype is None:
            continue
        if not isinstance(step, (Opaque, Input)) or not predicted_run.widths[i]:
            continue
        narrow = _widest_operand(predicted_run, i)
        if _is_wide(predicted_run, dtype, narrow) and not is_contained(predicted_run, i):
            package = step.package if isinstance(step, Opaque) else ""
            is_part_of_object = isinstance(step, Opaque) and step.part[:1] == "."
            if i in predicted_run.separate_parts or is_part_of_object:
                continue  # listed among the results, or as arrays in objects
            yield UnseenWidening(step.location, step.text, dtype, narrow, package)


def _widest_operand(predicted_run: PredictedRun, step_number: int) -> DType | None:
    """Return the widest float among the operands of a step, or None if it takes no float."""
    operands = [predicted_run.result_of(p) for p in predicted_run.inputs[step_number]]
    floats = [o.dtype for o in operands if o is not None and o.dtype is not None and dtype_width(o.dtype)]
    return max(floats, key=lambda d: dtype_width(d) or 0, default=None)
