"""PyTorch's autocast, which casts the operands of some operations, whatever the rules of promotion say."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from typelattice.files.reader import system as find_system
from typelattice.operands.operand import Operand
from typelattice.programs.replay import Outcome, engine_of
from typelattice.programs.step import Step
from typelattice.tracing.arguments import UnknownCallError
from typelattice.tracing.libraries import own_system
from typelattice.tracing.links import Note

LIBRARY = "torch"
DEVICES = ("cpu", "cuda", "mps", "xpu")


class AutocastError(UnknownCallError):
    """An operation whose dtype autocast chose, and no rule of promotion."""

    under = " under autocast"


def is_on(library: str) -> bool:
    """Whether a library casts operands of its own accord, here and now."""
    torch: Any = sys.modules.get("torch")
    if library != LIBRARY or not hasattr(torch, "is_autocast_enabled"):
        return False
    try:
        return any(torch.is_autocast_enabled(device) for device in DEVICES)
    except TypeError:  # before PyTorch 2.4 it was asked of each device by a function of its own
        return bool(torch.is_autocast_enabled() or torch.is_autocast_cpu_enabled())


def check(steps: Sequence[Step], added: range, notes: Sequence[Note], observed: Operand) -> None:
    """Raises AutocastError if the last step that was added is not what PyTorch's rules say of its operands.

    `notes` say what the steps before those gave.
    """
    engine = engine_of(find_system(own_system(LIBRARY, ())))
    found: dict[int, Outcome] = {}
    for i in added:
        for part in steps[i].parts:
            if part not in found:
                found[part] = Outcome(notes[part].operand)
        found[i] = engine(steps[i]).outcome(steps[i], found)
    said = found[added[-1]].operand if added else observed
    if said is None or said.dtype is not observed.dtype:
        raise AutocastError
