"""Calls of operations that a system's file defines: operands, parameters, and a shape they may state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.core.operations.operations import (
    ACCUMULATOR_DTYPE_ARGUMENT,
    RESULT_SHAPE_ARGUMENT,
    Operation,
)
from typelattice.programs.calls.program_builder import ProgramBuilder
from typelattice.programs.calls.result_shapes import plain_axes
from typelattice.programs.calls.steps import Argument, Excerpt, Ref


def call_custom_operation(
    builder: ProgramBuilder,
    excerpt: Excerpt,
    operation: Operation,
    args: Sequence[Argument],
    keywords: Mapping[str, Argument],
) -> Ref:
    """Add the step of an operation that a system's file defines. Raises ProgramError.

    Its parameters are kept by name: numbers, texts, and arrays that do not promote. A call may state the
    shape of the result if it does not follow from the operands.
    """
    names = (*operation.operand_names, *operation.parameter_names)
    if len(args) > len(names):
        raise excerpt.error(f"{operation.name} is given {len(args)} arguments; it takes {', '.join(names)}")
    values = dict(zip(names, args, strict=False))
    for key, value in keywords.items():
        if key not in (*names, RESULT_SHAPE_ARGUMENT, ACCUMULATOR_DTYPE_ARGUMENT):
            near = spelling_hint(key, names)
            raise excerpt.error(
                f"{operation.name} has no {quote_short(key)}{near}; it takes {', '.join(names)}"
            )
        if key in values:
            raise excerpt.error(f"{operation.name} is given {key} twice")
        values[key] = value
    if missing := [key for key in operation.operand_names if values.get(key) is None]:
        raise excerpt.error(f"{operation.name} is given no {missing[0]}; it takes {', '.join(names)}")
    stated = plain_axes(builder.known_number(values.get(RESULT_SHAPE_ARGUMENT)))
    operands = [values.pop(key) for key in operation.operand_names]
    parameters = {key: builder.known_number(value) for key, value in values.items() if value is not None}
    if operation.call_form != "elementwise":  # it may have another shape than the operation that it is like
        return builder.add_call(excerpt, operation, operands, (), parameters, stated_shape=stated)
    made = builder.add_call(excerpt, operation, operands, (), parameters)
    return made if stated is None else builder.set_stated_shape(excerpt, made, stated)
