"""Python's operators of Python's own numbers, such as `2 * 1.5`. No system decides these."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.losses.range_and_overflow import PythonNumber
from typelattice.core.operands.notation import MAX_INT_BITS
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, Operand, scalar_operand
from typelattice.core.operations.operations import find_operation

SAMPLE_NUMBER_BY_KIND: dict[Kind, PythonNumber] = {
    Kind.BOOL: True,
    Kind.SIGNED: 1,
    Kind.FLOAT: 1.0,
    Kind.COMPLEX: 1j,
}


def python_result(op_name: str, operands: Sequence[Operand]) -> Operand | None:
    """Return the Python number that an operator gives for Python numbers, or None if Python raises TypeError.

    Its value is known if theirs are, unless Python raises another error or it would be too large to compute.

    >>> from typelattice import operand
    >>> print(python_result("pow", [operand(2), operand(-1)]))
    0.5
    >>> print(python_result("divide", [operand(int), operand(3)]))
    float
    """
    function: Callable[..., Any] = getattr(operator, find_operation(op_name).special_method or "")
    values = [o.value for o in operands if o.value is not None]
    samples = [SAMPLE_NUMBER_BY_KIND[o.kind] for o in operands]
    if op_name == "bitwise_invert":
        # ~True is ~1, and Python warns of it.
        values, samples = [_convert_to_int(x) for x in values], [_convert_to_int(x) for x in samples]
    if op_name == "pow" and operands[0].kind.category <= 1 and _is_negative(operands[1]):
        samples = [1.0, 1.0]  # an integer to a negative power is a float
    try:
        kind = KIND_BY_PYTHON_TYPE[type(function(*samples))]
    except TypeError:
        return None
    if len(values) < len(operands) or not _has_small_result(op_name, values):
        return scalar_operand(kind)
    try:
        found = function(*values)
    except (ArithmeticError, ValueError):
        return scalar_operand(kind)
    return scalar_operand(KIND_BY_PYTHON_TYPE[type(found)], found)


def _convert_to_int(x: PythonNumber) -> PythonNumber:
    return int(x) if isinstance(x, bool) else x


def _is_negative(o: Operand) -> bool:
    return isinstance(o.value, int) and o.value < 0


def _has_small_result(op_name: str, values: Sequence[PythonNumber]) -> bool:
    """Return True if the result has at most MAX_INT_BITS bits, or if some operand is not an integer."""
    numbers = [x for x in values if isinstance(x, int)]
    if len(numbers) < len(values):
        return True
    bits = [x.bit_length() for x in numbers]
    match op_name:
        case "pow":
            return bits[0] * max(numbers[1], 0) <= MAX_INT_BITS
        case "bitwise_left_shift":
            return bits[0] + max(numbers[1], 0) <= MAX_INT_BITS
    return sum(bits) <= MAX_INT_BITS
