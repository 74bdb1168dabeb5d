"""Libraries that cast operands of their own accord, whatever the rules of promotion say, as autocast does."""

from __future__ import annotations

from collections.abc import Sequence

from typelattice.calls.step import Step
from typelattice.files.reader import system as find_system
from typelattice.operands.operand import Operand
from typelattice.programs.replay.outcome import Outcome
from typelattice.programs.replay.replay import evaluators_of
from typelattice.tracing.libraries import casting, own_system
from typelattice.tracing.run_data.array_links import Note
from typelattice.tracing.steps.arguments import UnknownCallError


class LibraryCastError(UnknownCallError):
    """An operation whose operands the library cast by itself, as under autocast.

    `under` names the feature that casts.
    """

    def __init__(self, under: str) -> None:
        super().__init__(f"its operands are cast under {under}")
        self.under = f" under {under}"


def check(
    library: str, steps: Sequence[Step], added: range, notes: Sequence[Note], observed: Operand
) -> None:
    """Raise LibraryCastError if a library casts by itself now, and the last added step contradicts its rules.

    `notes` say what the steps before those gave.
    """
    under = casting(library)
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
