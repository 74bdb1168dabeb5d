"""Builders of steps: each adds an operation of one sort, and its operands, as a witness saw them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, Operand
from typelattice.core.system_files.reader import system as find_system
from typelattice.programs.calls.call_tables import OPERATION_BY_FUNCTION
from typelattice.programs.calls.program_builder import ProgramBuilder
from typelattice.programs.calls.steps import (
    IN_PLACE_OF_FUNCTION,
    Argument,
    Call,
    Cast,
    DTypeOf,
    Excerpt,
    Index,
    Ref,
)
from typelattice.tracing.library_traits import own_system
from typelattice.tracing.run_data.producing_steps import StepNumber
from typelattice.tracing.steps.arguments import UnknownCallError, list_arguments

StepMaker = Callable[[Excerpt, Sequence[Argument]], Argument]  # adds the steps of an operation on arguments


def argument_of_key(key: Any) -> Argument:
    """Convert a part of a key to an argument: an earlier step, a Python number, or a list of these.

    Raises UnknownCallError if it is not an operand.
    """
    match key:
        case StepNumber():
            return Ref(int(key))
        case (cls, number) if cls in KIND_BY_PYTHON_TYPE:
            plain: Argument = number
            return plain
        case (cls, *items) if cls in (list, tuple):
            return list_arguments(map(argument_of_key, items))
    raise UnknownCallError("it is no operand")


def operator_maker(builder: ProgramBuilder, name: str) -> StepMaker:
    """Return a maker of the step of an operator."""
    return lambda excerpt, args: builder.add_operator(excerpt, name, args)


def in_place_maker(builder: ProgramBuilder, name: str, is_same_array: bool) -> StepMaker:
    """Return a maker of the step of an operator such as `+=`, which returned the same array or a new one."""
    if name not in IN_PLACE_OF_FUNCTION:
        return operator_maker(builder, name)
    if is_same_array:
        return lambda excerpt, args: builder.add_in_place(excerpt, name, *args)

    def make_rebound(excerpt: Excerpt, args: Sequence[Argument]) -> Argument:
        made = builder.add_operator(excerpt, name, args)
        if isinstance(args[0], Ref) and isinstance(made, Ref):
            step = builder.steps[made.step]
            assert isinstance(step, Call)
            builder.steps[made.step] = replace(step, rebinds=True)
        return made

    return make_rebound


def index_maker(builder: ProgramBuilder, lists: str) -> StepMaker:
    """Return a maker of the step of an index into an array. `lists` describes the lists among the indices."""

    def build(excerpt: Excerpt, args: Sequence[Argument]) -> Argument:
        source, *others = args
        assert isinstance(source, Ref)
        return builder.add_step(
            Index(
                source.step,
                tuple(others),
                lists,
                text=excerpt.text,
                location=excerpt.location,
                owner=excerpt.owner,
            )
        )

    return build


def attribute_maker(builder: ProgramBuilder, name: str) -> StepMaker:
    """Return a maker of the step of an attribute that computes an array."""
    op = OPERATION_BY_FUNCTION.get(
        name, OPERATION_BY_FUNCTION["permute_dims"]
    )  # `x.T` and similar attributes permute axes
    return lambda excerpt, args: builder.add_call(excerpt, op, args)


def add_converted_array(
    builder: ProgramBuilder, excerpt: Excerpt, source: Ref, step_operand: Operand, observed: Operand
) -> Ref:
    """Return the array that a call returned, or its cast, as JAX without 64 bits casts NumPy's float64.

    Raises UnknownCallError if the library's system predicts another dtype.
    """
    if step_operand.dtype is observed.dtype:
        return source
    system = find_system(own_system(excerpt.owner or "", ()))
    if step_operand.dtype is None or system.dtype_of_new_array(step_operand.dtype) is not observed.dtype:
        raise UnknownCallError("it gives its array in another dtype")
    cast = Cast(
        source.step, DTypeOf(source.step), is_conversion=True,
        text=excerpt.text, location=excerpt.location, owner=excerpt.owner,
    )  # fmt: skip
    return builder.add_step(cast)


def assignment_maker(builder: ProgramBuilder) -> StepMaker:
    """Return a maker of the step of an assignment to elements."""
    return lambda excerpt, args: builder.add_setitem(excerpt, args[0], None, args[1])
