"""The chain of steps from a result back to the step that decided its dtype."""

from __future__ import annotations

from collections.abc import Callable

from typelattice.tracing.findings.checked_run import CheckedRun
from typelattice.tracing.findings.widening_causes import responsible_steps
from typelattice.tracing.run_data.float_widths import width_of


def chain(checked: CheckedRun, i: int) -> tuple[int, ...]:
    """Follow a step's dtype back to the step that decided it: the step itself first, the decisive one last.

    A float wider than the run's narrowest follows the operands that are as wide, up to the step responsible
    for the width. Any other result follows the operands of its dtype.
    """
    least = width_of(checked.narrowest) if checked.narrowest else None
    is_wide = (checked.widths[i] or 0) > (least or 0)
    is_alike = _wide_alike(checked, i) if is_wide else _same_dtype(checked, i)
    found = [i]
    while (before := next((p for p in checked.inputs[found[-1]] if is_alike(p)), None)) is not None:
        if is_wide and checked.is_always_wide(found[-1]):
            break
        found.append(before)
    return tuple(found)


def _wide_alike(checked: CheckedRun, i: int) -> Callable[[int], bool]:
    """Return a test for the steps that are as wide as a float step for the same reason."""
    responsible = responsible_steps(checked)
    first, own = responsible[i], checked.widths[i]
    return lambda p: checked.widths[p] == own and responsible[p] == first


def _same_dtype(checked: CheckedRun, i: int) -> Callable[[int], bool]:
    own = checked.observed(i)
    dtype = own.dtype if own else None

    def has_it(p: int) -> bool:
        observed = checked.observed(p)
        return dtype is not None and observed is not None and observed.dtype is dtype

    return has_it
