"""Operations to which the rules need not apply: under autocast, or of a release that was not recorded."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from typelattice.calls.steps import Call, Step
from typelattice.facts.releases import releases
from typelattice.files.reader import system as find_system
from typelattice.operands.operand import Operand
from typelattice.programs.replay.outcome import Outcome
from typelattice.programs.replay.replay import evaluators_of
from typelattice.tracing.libraries import casting, own_system
from typelattice.tracing.run_data.array_links import Note
from typelattice.tracing.steps.arguments import UnknownCallError


class LibraryCastError(UnknownCallError):
    """An operation that contradicts its rules, for example since autocast cast its operands.

    `under` names the feature that casts, or the release of a package that was not recorded.
    """

    def __init__(self, under: str) -> None:
        super().__init__(f"it has other rules under {under}")
        self.under = f" under {under}"


def check(
    library: str, steps: Sequence[Step], added: range, notes: Sequence[Note], observed: Operand
) -> None:
    """Raise LibraryCastError if the last added step contradicts its rules, and these need not apply.

    They need not if the library casts by itself now, or if the function's release was not recorded.
    `notes` say what the steps before those gave.
    """
    last = steps[added[-1]] if added else None
    under = casting(library) or (unrecorded_release(last.module) if isinstance(last, Call) else "")
    if not under:
        return
    find_evaluator = evaluators_of(find_system(own_system(library, ())), steps)
    found: dict[int, Outcome] = {}
    for i in added:
        for part in steps[i].inputs:
            if part not in found:
                found[part] = Outcome(notes[part].operand)
        found[i] = find_evaluator(steps[i]).outcome(steps[i], found)
    said = found[added[-1]].operand if added else observed
    if said is None or said.dtype is not observed.dtype:
        raise LibraryCastError(under)


def unrecorded_release(module: str) -> str:
    """Name the imported release of another package than the library's own if it was not recorded; else "".

    >>> unrecorded_release("lax")
    ''
    """
    package = module.partition(".")[0]
    known, version = releases(package), getattr(sys.modules.get(package), "__version__", "")
    is_recorded = any(f"{version}.".startswith(f"{release}.") for release in known)
    return f"{package} {version}" if known and version and "." in module and not is_recorded else ""
