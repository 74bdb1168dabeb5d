"""Dtypes of the inputs of graphs, and errors that name the step."""

from __future__ import annotations

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.engine.system import System
from typelattice.programs.calls.steps import Input, ProgramError
from typelattice.programs.namespaces.recipe import one_line_message


def input_dtype(step: Input, system: System) -> DType | None:
    """Return the dtype of an input, or None for a known number. Raises ProgramError for an unknown number."""
    o = system.operand(step.fixed_result)
    if o.tier != "scalar":
        return o.dtype
    if o.value is not None:
        return None
    raise ProgramError(
        f"the input {step.text} is a Python {o.kind.python_name} that is not known; give a number or a dtype"
    )


def failure_message(cannot: str, error: Exception) -> str:
    """Return the message for a library that fails at a step. The first note of the error names the step."""
    what = next(iter(getattr(error, "__notes__", ())), "it")
    return f"{cannot} {what}: {one_line_message(error)}; write it with other operations"
