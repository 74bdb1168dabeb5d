"""Places that compute in a wider float than the array that they write the result into."""

from __future__ import annotations

from dataclasses import dataclass

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.engine.operation_rules import GROUP_BY_CLASS, class_of
from typelattice.programs.calls.steps import FUNCTION_OF_IN_PLACE, Call
from typelattice.tracing.findings.predicted_run import PredictedRun, pair_writes_with_computations, source_key
from typelattice.tracing.run_data.float_widths import dtype_width


@dataclass(frozen=True, slots=True)
class CastBack:
    """A place that computes in the wider dtype `compute_dtype` and casts the result back to `written_dtype`.

    For example `x *= y`, or a call with `out=`, with a float32 x and a float64 y. Nothing is wide after it,
    so it is not a cause, but it takes longer.
    """

    step: int
    compute_dtype: DType
    written_dtype: DType


def find_casts_back(predicted_run: PredictedRun) -> tuple[CastBack, ...]:
    """Find the places in a run that compute in a wider float than they write."""
    by_source: dict[object, CastBack] = {}
    computing = dict(pair_writes_with_computations(predicted_run.run))
    computing |= {
        i: i
        for i, step in enumerate(predicted_run.steps)
        if isinstance(step, Call) and step.op in FUNCTION_OF_IN_PLACE
    }
    for i, by in sorted(computing.items()):
        step = predicted_run.steps[by]
        if isinstance(step, Call) and GROUP_BY_CLASS[class_of(step.operation)] == "moving":
            continue  # the operation only copies values, as concat(dtype=...) does
        p, into = predicted_run.predictions[by].promotion, predicted_run.result_of(i)
        computed, written = p.compute if p else None, into.dtype if into else None
        if computed is None or written is None:
            continue
        wide, least = dtype_width(computed) or 0, dtype_width(written) or 0
        if wide > least > 0 and any(
            0 < (predicted_run.widths[x] or 0) < wide for x in predicted_run.inputs[by]
        ):
            by_source.setdefault(
                (source_key(predicted_run.steps[i]), computed, written), CastBack(i, computed, written)
            )
    return tuple(by_source.values())
