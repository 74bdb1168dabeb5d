"""The chain of steps from a result back to the step that decided its dtype."""

from __future__ import annotations

from collections.abc import Callable

from typelattice.tracing.findings.predicted_run import PredictedRun
from typelattice.tracing.findings.widening_causes import map_responsible_steps
from typelattice.tracing.run_data.float_widths import dtype_width


def find_dtype_chain(predicted_run: PredictedRun, step_number: int) -> tuple[int, ...]:
    """Follow a step's dtype back to the step that decided it. The step comes first, the decisive one last.

    For a float wider than the run's narrowest, follow the operands that are as wide, up to the step
    responsible for the width. For any other result, follow the operands of its dtype.
    """
    least = dtype_width(predicted_run.narrowest_float) if predicted_run.narrowest_float else None
    is_wide = (predicted_run.widths[step_number] or 0) > (least or 0)
    is_alike = (
        _same_width_test(predicted_run, step_number)
        if is_wide
        else _same_dtype_test(predicted_run, step_number)
    )
    found = [step_number]
    while (before := next((p for p in predicted_run.inputs[found[-1]] if is_alike(p)), None)) is not None:
        if is_wide and predicted_run.is_always_wide(found[-1]):
            break
        found.append(before)
    return tuple(found)


def _same_width_test(predicted_run: PredictedRun, step_number: int) -> Callable[[int], bool]:
    """Return a test for the steps that are as wide as a float step for the same reason."""
    responsible = map_responsible_steps(predicted_run)
    first, own = responsible[step_number], predicted_run.widths[step_number]
    return lambda p: predicted_run.widths[p] == own and responsible[p] == first


def _same_dtype_test(predicted_run: PredictedRun, step_number: int) -> Callable[[int], bool]:
    own = predicted_run.result_of(step_number)
    dtype = own.dtype if own else None

    def has_it(p: int) -> bool:
        observed = predicted_run.result_of(p)
        return dtype is not None and observed is not None and observed.dtype is dtype

    return has_it
