"""The scope of a run's checks: what they looked at, and the wide floats that no check can see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from typelattice.calls.steps import Input, Opaque, SourceLocation
from typelattice.facts.dtypes import DType
from typelattice.tracing.findings.intended_widenings import is_contained
from typelattice.tracing.findings.predicted_run import PredictedRun
from typelattice.tracing.findings.widening_causes import WideningCause
from typelattice.tracing.run_data.float_widths import dtype_width
from typelattice.tracing.run_data.run import HeldArray, ValueScope, is_operation


@dataclass(frozen=True, slots=True)
class UnseenWidening:
    """A wide float from a call without a rule, and the widest float that went in, or None."""

    location: SourceLocation
    text: str
    dtype: DType
    narrow_dtype: DType | None


@dataclass(frozen=True, slots=True)
class CheckScope:
    """The operations that the checks of a run looked at, and the wide floats that they cannot see.

    - `operation_count`: the operations that a rule describes, in `files`, of `libraries`.
    - `opaque_count`: the array results of calls without a rule. Nothing inside them was looked at.
    - `unseen_widenings`: wide floats that come from such calls, if no finding names them.
    - `held_arrays`: wide floats in objects that code which is not followed returned.
    - `value_scope`: the results whose values were checked, or None if values were not checked.
    """

    operation_count: int
    files: tuple[str, ...]
    libraries: tuple[str, ...]
    opaque_count: int
    unseen_widenings: tuple[UnseenWidening, ...]
    held_arrays: tuple[HeldArray, ...]
    value_scope: ValueScope | None


def find_scope(predicted_run: PredictedRun, causes: Iterable[WideningCause]) -> CheckScope:
    """Find the scope of the checks of a run with some causes of wide floats."""
    run = predicted_run.run
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
        run.value_scope,
    )


def _is_wide(predicted_run: PredictedRun, dtype: DType, narrow_dtype: DType | None) -> bool:
    """Return True if a float is wider than another, or than the narrowest float of the run."""
    least = narrow_dtype or predicted_run.narrowest_float
    return least is not None and (dtype_width(dtype) or 0) > (dtype_width(least) or 0)


def _list_unseen_widenings(
    predicted_run: PredictedRun, causes: Iterable[WideningCause]
) -> Iterable[UnseenWidening]:
    """List the wide floats from calls without a rule that no cause names, unless all are cast back."""
    named = {i for cause in causes for i in (*cause.origin_steps, *cause.widening_steps)}
    wide_inputs = {i for cause in causes for i in cause.later_wide_steps}
    for i, (step, seen) in enumerate(predicted_run.run):
        dtype = seen.operand.dtype
        if i in named or i in wide_inputs or step.location is None or not seen.count or dtype is None:
            continue
        if not isinstance(step, (Opaque, Input)) or not predicted_run.widths[i]:
            continue
        narrow = _widest_operand(predicted_run, i)
        if _is_wide(predicted_run, dtype, narrow) and not is_contained(predicted_run, i):
            yield UnseenWidening(step.location, step.text, dtype, narrow)


def _widest_operand(predicted_run: PredictedRun, step_number: int) -> DType | None:
    """Return the widest float among the operands of a step, or None if it takes no float."""
    operands = [predicted_run.result_of(p) for p in predicted_run.inputs[step_number]]
    floats = [o.dtype for o in operands if o is not None and o.dtype is not None and dtype_width(o.dtype)]
    return max(floats, key=lambda d: dtype_width(d) or 0, default=None)
