"""The search for a loop: the first dtype to which all operands of an operation cast.

NumPy's ufuncs work in this way. They do not promote their operands. Each operand casts by itself, and the
loop of an operand's own dtype comes first. So `add` may give a dtype for operands that promotion refuses.
Sources: NumPy's linear search over the loops of a ufunc; the casts that ml_dtypes registers
(github.com/jax-ml/ml_dtypes, issue 189).
"""

from __future__ import annotations

from collections.abc import Sequence

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.engine.operation_rules import OperationRules
from typelattice.core.engine.rules import Rules
from typelattice.core.operands.operand import Operand


def find_casting_dtypes(
    rules: Rules, operation_rules: OperationRules, operands: Sequence[Operand]
) -> tuple[DType, ...]:
    """Return the dtypes to search for a loop, or () if the operation promotes its operands together.

    With some dtypes, another dtype stands in for a Python scalar (`stand-in`). The search ignores Python
    scalars if the arrays differ in dtype and no scalar is of a higher category.
    """
    if not operation_rules.loops:
        return ()
    if rules.combine == "value":
        from typelattice.core.engine import numpy1  # only NumPy 1 promotes by value

        return numpy1.find_loop_by_value(rules, operands, operation_rules.loops)
    strong = [o for o in operands if not o.weak]
    highest = max((o.kind.category for o in strong), default=0)
    if len({o.dtype for o in strong}) > 1 and all(o.kind.category <= highest for o in operands):
        operands = strong
    stands = any(o.dtype in rules.stand_in_beside for o in operands)
    return rules.dtypes_if_all_in_order(
        [(rules.stand_in.get(o.kind) if stands else None) if o.weak else o.dtype for o in operands]
    )


def find_loop(rules: Rules, operation_rules: OperationRules, dtypes: Sequence[DType]) -> DType | None:
    """Return the first dtype with a loop for these dtypes, or None if no loop takes them."""
    choices = (*(d for d in dtypes if d in operation_rules.loops_own), *operation_rules.loops)
    return next((loop for loop in choices if all(_casts_to_loop(rules, d, loop) for d in dtypes)), None)


def _casts_to_loop(rules: Rules, dtype: DType, loop: DType) -> bool:
    """Return True if a loop takes a dtype: the loop lies above it, or each casts to the other.

    A loop never takes a pair that the file refuses.
    """
    pair = frozenset((dtype, loop))
    above = dtype in rules.order and loop in rules.order and rules.order.le(dtype, loop)
    return (above or pair in rules.both_ways) and pair not in rules.refusals
