"""Operands that no float made wide, but that a narrow float became wide with, such as integers."""

from __future__ import annotations

from typelattice.programs.calls.steps import Call, Cast
from typelattice.tracing.findings.predicted_run import PredictedRun
from typelattice.tracing.findings.widening_causes import WideningCause
from typelattice.tracing.run_data.float_widths import is_integer


def find_met_operands(predicted_run: PredictedRun, cause: WideningCause) -> tuple[int, ...]:
    """Find where the operands of a cause got dtypes that are wide only together.

    Each is no wide float itself: an array of integers, as float32 and int32 are float64 in NumPy, or a float
    of another format, as bfloat16 and float16 are float32. The earliest step with the dtype stands for it.
    """
    step = predicted_run.steps[cause.step]
    if cause.step != cause.origin_steps[0] or not isinstance(step, Call) or step.requested_dtype is not None:
        return ()
    operands = [p for p in predicted_run.inputs[cause.step] if predicted_run.result_of(p) is not None]
    integers = [p for p in operands if is_integer(predicted_run.result_of(p))]
    floats = [p for p in operands if predicted_run.widths[p]]
    formats = {operand.dtype for p in floats if (operand := predicted_run.result_of(p)) is not None}
    met = integers or (floats if len(formats) > 1 else [])
    found = dict.fromkeys(_find_first_step(predicted_run, p) for p in met)
    return tuple(i for i in found if predicted_run.steps[i].location is not None and i != cause.step)


def _find_first_step(predicted_run: PredictedRun, step: int) -> int:
    """Find the earliest step that an operand has its dtype from."""
    while not isinstance(predicted_run.steps[step], Cast):
        own = predicted_run.result_of(step)
        before = [
            p
            for p in predicted_run.inputs[step]
            if (operand := predicted_run.result_of(p)) is not None and own is not None
            and operand.dtype is own.dtype and operand.dtype is not None and not operand.weak and p < step
        ]  # fmt: skip
        if not before:
            break
        step = before[0]
    return step
