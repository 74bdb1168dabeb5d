"""Operations that need not follow the rules: under autocast, or in a release that was not recorded."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from typelattice.core.operands.operand import Operand
from typelattice.core.registry.releases import list_releases
from typelattice.core.system_files.reader import system as find_system
from typelattice.programs.calls.steps import Call, Step
from typelattice.programs.replay.outcome import Outcome
from typelattice.programs.replay.replay import evaluator_finder
from typelattice.tracing.library_traits import active_cast_feature, own_system
from typelattice.tracing.run_data.producing_steps import StepTally
from typelattice.tracing.steps.arguments import UnknownCallError


class OwnArithmeticError(UnknownCallError):
    """An operation on an array of a class that computes in its own way. Messages end with `name_suffix`."""

    def __init__(self, array_class: str) -> None:
        super().__init__(f"{array_class} computes in its own way")
        self.name_suffix = f" as {array_class} defines it"


class LibraryCastError(UnknownCallError):
    """An operation that contradicts its rules, for example since autocast cast its operands.

    `reason`: the feature that casts, or the release of a package that was not recorded. Messages end with
    `name_suffix`.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"it has other rules under {reason}")
        self.name_suffix = f" under {reason}"


def check_casts_of_library(
    library: str, steps: Sequence[Step], new_steps: range, tallies: Sequence[StepTally], observed: Operand
) -> None:
    """Raise LibraryCastError if the last added step contradicts its rules, but need not follow them.

    It need not follow them if the library casts by itself now, or if the function's release was not recorded.
    `tallies` have the observed results of the earlier steps.
    """
    last = steps[new_steps[-1]] if new_steps else None
    reason = active_cast_feature(library) or (
        unrecorded_release(last.module) if isinstance(last, Call) else ""
    )
    if not reason:
        return
    find_evaluator = evaluator_finder(find_system(own_system(library, ())), steps)
    found: dict[int, Outcome] = {}
    for i in new_steps:
        for part in steps[i].inputs:
            if part not in found:
                found[part] = Outcome(tallies[part].operand)
        found[i] = find_evaluator(steps[i]).outcome_of_step(steps[i], found)
    predicted = found[new_steps[-1]].operand if new_steps else observed
    if predicted is None or predicted.dtype is not observed.dtype:
        raise LibraryCastError(reason)


def unrecorded_release(module: str) -> str:
    """Name the imported release of a package other than the library's own if it was not recorded, or "".

    >>> unrecorded_release("lax")
    ''
    """
    package = module.partition(".")[0]
    known, version = list_releases(package), getattr(sys.modules.get(package), "__version__", "")
    is_recorded = any(f"{version}.".startswith(f"{release}.") for release in known)
    return f"{package} {version}" if known and version and "." in module and not is_recorded else ""
