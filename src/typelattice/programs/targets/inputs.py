"""Inputs of a graph: each is of a dtype."""

from __future__ import annotations

from typelattice.engine.system import System
from typelattice.facts.dtypes import DType
from typelattice.programs.step import Input, ProgramError


def input_dtype(step: Input, system: System) -> DType | None:
    """The dtype of an input; None of a Python number that is known. Raises ProgramError of another."""
    o = system.operand(step.given)
    if o.tier != "scalar":
        return o.dtype
    if o.value is not None:
        return None
    raise ProgramError(
        f"the input {step.text} is a Python {o.kind.word} that is not known; give a number or a dtype"
    )
