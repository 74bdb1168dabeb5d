"""The result of a call: its operation's result, one of several results, or a dtype of a kind."""

from __future__ import annotations

from collections.abc import Sequence

from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.engine.evaluate_operation import find_operation_rules
from typelattice.core.engine.operation_rules import INT_WITHOUT_AXIS_RESULT
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.system import System
from typelattice.core.operands.operand import Operand, Tier, operand_of_dtype, scalar_operand
from typelattice.core.operations.operations import OPERATIONS
from typelattice.programs.calls.call_tables import (
    DTYPE_OF_COMPUTED_RESULT,
    DTYPE_OF_FUNCTION_ITSELF,
    OPERAND_DTYPE_SUFFIX,
)
from typelattice.programs.calls.multiple_results import result_dtype_origin
from typelattice.programs.calls.steps import Call
from typelattice.programs.namespaces.inspection import promote_to_kind


def result_of_call(
    system: System, promotion: Promotion, step: Call, operands: Sequence[Operand], tier: Tier
) -> tuple[Operand | None, str | None]:
    """Return the result of a call with a promotion. If it is refused, return None and the reason."""
    assert promotion.dtype is not None
    made, named = operand_of_dtype(promotion.dtype, promotion.weak, tier), dict(step.keywords)
    counts = (
        step.name in OPERATIONS and find_operation_rules(system, step.name).gives == INT_WITHOUT_AXIS_RESULT
    )
    number = Kind.SIGNED if counts else promotion.python_number_kind
    if number and not step.shape and "axis" not in named:
        return scalar_operand(number), None
    if step.name == "result_type" and named:
        found = promote_to_kind(system, promotion.dtype, named["kind"], system.defaults.get)
        return (
            (operand_of_dtype(found, tier=tier), None)
            if found
            else (None, f"has no dtype of kind {named['kind']}")
        )
    source = result_dtype_origin(step.name, named) if named else DTYPE_OF_FUNCTION_ITSELF
    if source == DTYPE_OF_COMPUTED_RESULT and promotion.compute is not None:
        return operand_of_dtype(promotion.compute, promotion.weak, tier), None
    if source == DTYPE_OF_FUNCTION_ITSELF:
        return made, None
    of_which = operands[0] if source.endswith(OPERAND_DTYPE_SUFFIX) else made
    other = system.explain(of_which, op=source.removesuffix(OPERAND_DTYPE_SUFFIX))
    return (
        (None, other.reason)
        if other.dtype is None
        else (operand_of_dtype(other.dtype, other.weak, tier), None)
    )
