"""Requested dtypes: the dtype that a new array gets, and the Python numbers that it cannot hold."""

from __future__ import annotations

from collections.abc import Iterable

from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.engine.decisions import Decision, OutOfTargetRange, RefusalError, RequestTaken
from typelattice.core.engine.evaluate_operation import VALUE_REMEDY, find_operation_rules
from typelattice.core.engine.promote_operands import promote_operands
from typelattice.core.engine.question import Question
from typelattice.core.engine.rules import Rules
from typelattice.core.engine.scalar_fit import check_scalar_limits, fit_values
from typelattice.core.operands.operand import Operand, operand_of_dtype
from typelattice.core.operations.operations import Operation

RequestedDType = DType | Operand
"""A dtype, or a Python scalar that stands for the default dtype of its kind: `float` in `x.astype(float)`."""


def find_requested_dtype(
    question: Question, requested: RequestedDType, decisions: list[Decision]
) -> DType:
    """Return the dtype of an array for a requested one, which the system may replace by another.

    Raises RefusalError if the system has no default dtype of a requested kind.
    """
    rules = question.rules
    if isinstance(requested, Operand):
        p = promote_operands(rules, (requested,), None, question.find_rule)
        replaced = rules.requested.get(requested.kind)
        if replaced is not None:
            decisions.append(RequestTaken((requested.node,), replaced))
            return replaced
        if p.dtype is None:
            raise RefusalError(str(p.reason), str(p.remedy), p.decision)
        decisions += p.decisions
        requested = p.result
    target = rules.dtype_of_new_array(requested)
    decisions.append(RequestTaken((requested,), target))
    return target


def may_refuse_operand(rules: Rules, operation: Operation, operand: Operand) -> bool:
    """Return True if an operation may refuse an operand although the call states a dtype.

    It has no kernel for the operand's kind: TensorFlow's `reduce_sum` takes no bool, whatever the result is.
    """
    return operation.takes_dtype and operand.kind not in find_operation_rules(rules, operation.name).kernels


def check_numbers_in_array(rules: Rules, name: str, numbers: Iterable[Operand], target: DType) -> None:
    """Raise RefusalError for a Python number of which the library makes no array of a dtype.

    An int may be out of range: `np.uint8(300)`, `np.float32(10**400)`. The rule of the function `name`
    decides, such as `asarray`, `full` or `arange`. Numbers of other kinds are cast, unless its rule names
    them.
    """
    known = [x for x in numbers if x.tier == "scalar" and x.value is not None]
    if target.kind is Kind.BOOL or not known:
        return
    op = find_operation_rules(rules, name)
    checked = [x for x in known if x.kind is Kind.SIGNED or x.kind.python_name in (op.fit or ())]
    # Without an array, the scalar has its default dtype.
    check_scalar_limits(rules.limits if op.limits is None else {}, checked)
    for fit in fit_values(rules, [operand_of_dtype(target), *checked], target, op):
        if fit.outcome == "raise":
            decision = OutOfTargetRange((fit.target,), None, fit.kind.python_name)
            raise RefusalError(f"{fit.value} {fit.misfit}", VALUE_REMEDY, decision)
