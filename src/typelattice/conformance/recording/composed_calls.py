"""Calls of functions whose rows are compositions, asked and compared by the text of the call.

A system has no rule with the name of such a function. Recordings name it by a call, such as
`torch.ldexp(x, y)`, whose names are operands. A system's answer is that of this program.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from typelattice.conformance.recording.book_functions import NAME_BY_FILLED, OPERAND_NAMES
from typelattice.core.engine.system import System
from typelattice.core.evidence.answer_notation import PYTHON_NUMBER_PREFIX, REFUSED_SIGN
from typelattice.core.operands.operand import Operand
from typelattice.programs.calls.steps import Input, ProgramError
from typelattice.programs.entry_points.make_program import program
from typelattice.programs.program.program import Program


def is_call(operation: str) -> bool:
    """Return True if a recorded name is a call, and not the name of an operation or a function."""
    return "(" in operation


def answer_call(system: System, call: str, operands: Sequence[Operand]) -> str:
    """Return the answer of a system for a call, as recordings write it."""
    made = read_call(call)
    if isinstance(made, ProgramError):
        return REFUSED_SIGN
    given = dict(zip(OPERAND_NAMES, operands, strict=False))
    steps = [
        replace(step, fixed_result=given[step.text])
        if isinstance(step, Input) and step.text in given
        else step
        for step in made.steps
    ]
    result = replace(made, steps=tuple(steps)).under(system).result.operand
    if result is None:
        return REFUSED_SIGN
    if result.tier == "scalar":
        return PYTHON_NUMBER_PREFIX + result.kind.python_name
    return f"{result.dtype}{'*' * result.weak}"


@cache
def read_call(call: str) -> Program | ProgramError:
    """Return the program of a call, or the error if it cannot be read."""
    names = {node.id for node in ast.walk(ast.parse(call)) if isinstance(node, ast.Name)}
    dtypes: Mapping[str, str] = {name: dtype for dtype, name in NAME_BY_FILLED.items()}
    known = {name: dtypes.get(name, "float32") for name in names if name in (*OPERAND_NAMES, *dtypes)}
    error = None
    for text in (call, f"{call}[0]"):  # a function may give a list of one array
        try:
            return program(text, **known)
        except ProgramError as e:
            error = error or e
    assert error is not None
    return error
