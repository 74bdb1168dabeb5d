"""The result for each range of values of an integer, in systems where values count."""
from __future__ import annotations

from itertools import pairwise

from typelattice.base.objects.frozen_classes import replace
from typelattice.core.dtypes.dtypes import DType
from typelattice.core.engine.promote_operands import promote_operands
from typelattice.core.engine.promotion import Promotion

# The values from which an integer may need another dtype.
RANGE_ENDS = sorted({0, *(sign * 2**n for n in (7, 8, 15, 16, 31, 32, 63, 64) for sign in (1, -1))})
ValueInterval = tuple[int, int, DType | None]  # least value, greatest value, dtype; None means refused


def list_intervals(promotion: Promotion) -> list[ValueInterval]:
    """Split the values of an integer into ranges, each with the resulting dtype.

    Empty unless the value of exactly one integer is unknown.

    >>> from typelattice import system
    >>> list_intervals(system("numpy1").explain("int8", "int"))[2]
    (-32768, -129, int16)
    """
    operands = promotion.promoting_operands
    unknown = [
        i for i, o in enumerate(operands) if o.tier != "array" and o.kind.category == 1 and o.value is None
    ]
    if len(unknown) != 1:
        return []
    i, d = unknown[0], operands[unknown[0]].dtype
    low, past = (int(d.min or 0), int(d.max or 0) + 1) if d else (-RANGE_ENDS[-1] // 2, RANGE_ENDS[-1])
    found: list[ValueInterval] = []
    for start, end in pairwise([low, *(cut for cut in RANGE_ENDS if low < cut < past), past]):
        known = (*operands[:i], replace(operands[i], value=start), *operands[i + 1 :])
        dtype = promote_operands(promotion.system, known, promotion.op, promotion.find_rule).dtype
        begin = found.pop()[0] if found and found[-1][2] is dtype else start
        found.append((begin, end - 1, dtype))
    return found
