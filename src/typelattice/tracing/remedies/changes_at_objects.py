"""Changes at calls of objects that hold arrays: of what a call takes, and of the object that it gives."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from typelattice.programs.calls.steps import Opaque, Step
from typelattice.tracing.array_holders import ArrayHolder, find_row
from typelattice.tracing.findings.widening_causes import WideningCause
from typelattice.tracing.library_traits import cast_text
from typelattice.tracing.remedies.change import Change, StepCast
from typelattice.tracing.remedies.dtype_forms import narrow_dtype_text
from typelattice.tracing.remedies.step_node import StepNode


def is_array_of_object(step: Step) -> bool:
    """Return True if the result of a step is an array in an object."""
    return isinstance(step, Opaque) and step.part[:1] == "."


def propose_numbers(at: StepNode, cause: WideningCause) -> Iterator[Change]:
    """Yield changes of wide arguments that are single numbers to Python's numbers, which widen nothing.

    A product such as `30 * u.s` has a unit, so it is no plain number. A quotient may be one.
    """
    for node, steps in _list_wide_arguments(at):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            continue
        operands = [at.predicted_run.result_of(p) for p in steps]
        if all(o is not None and o.tier == "0d" for o in operands):
            edit = at.source.make_replacement_edit(node, f"float({at.source.text(node)})")
            yield at.make_change(edit, casts=[StepCast(p, at.step) for p in steps])


def propose_at_object(at: StepNode, cause: WideningCause) -> Iterator[Change]:
    """Yield casts of the wide arguments of a call, and of the object that it gives.

    An object is cast as the row of its class says.
    """
    run, literal = at.predicted_run, narrow_dtype_text(at, cause)
    for node, steps in _list_wide_arguments(at):
        text = _cast_argument(at, run.steps[steps[0]], at.source.operand_text(node), literal)
        edit = at.source.make_replacement_edit(node, text)
        yield at.make_change(edit, casts=[StepCast(p, at.step) for p in steps])
    row = _find_row_of(run.steps[at.step])
    if row is not None and row.cast and isinstance(at.node, ast.expr):
        text = row.cast.format(object=at.source.operand_text(at.node), dtype=literal)
        yield at.make_change(at.source.make_replacement_edit(at.node, text))  # last: no replay tells of it


def _list_wide_arguments(at: StepNode) -> Iterator[tuple[ast.expr, list[int]]]:
    """Yield the arguments of a call, or the operands of an operator, that are wide, with their steps."""
    run = at.predicted_run
    arguments = at.list_operands()
    if isinstance(at.node, ast.Call):
        arguments = [*at.node.args, *(keyword.value for keyword in at.node.keywords)]
    wide = {p for p in run.inputs[at.step] if run.widths[p] == run.widths[at.step]}
    for node in arguments:
        steps = [i for i in at.list_steps_of(node) if i in wide]
        if steps:
            yield node, steps


def _cast_argument(at: StepNode, step: Step, text: str, literal: str) -> str:
    """Write the cast of an argument: of an object by the row of its class, else of an array."""
    row = _find_row_of(step)
    if row is not None and row.cast:
        return row.cast.format(object=text, dtype=literal)
    return cast_text(at.library, text, literal, at.find_library_alias())


def _find_row_of(step: Step) -> ArrayHolder | None:
    """Return the row of the class that the result of a step is a part of."""
    package, _, class_name = step.holder.partition(".") if isinstance(step, Opaque) else ("", "", "")
    return find_row(package, class_name) if class_name else None
