"""Integer arithmetic that saturates, written with plain steps: in a wider dtype, or by signs."""
from __future__ import annotations

from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from typelattice.core.losses.plain_casts import StepWriter, V

OVERFLOWING_FUNCTIONS = ("add", "subtract", "multiply", "negative", "abs")
"""Operations whose exact result an integer dtype may not hold, and for which plain steps are known."""
INTEGER_KINDS = (Kind.UNSIGNED, Kind.SIGNED)


def write_saturating(
    name: str, dtype: DType, operands: Sequence[V], steps: StepWriter[V], own_dtypes: Collection[DType]
) -> V:
    """Write an operation on integers of a dtype, whose result is the nearest value of that dtype.

    The steps use no dtype beside `own_dtypes`, except for a product.
    Raises NoPlainStepsError for a product in a dtype without a wider one.
    """
    from typelattice.core.losses.plain_casts import BOOL_DTYPE, NoPlainStepsError

    least, most = int(dtype.min or 0), int(dtype.max or 0)
    low, high = _exact_range(name, least, most)
    whole_range = min(low, least), max(high, most)  # of the operands, too
    wider = _find_holding(whole_range, own_dtypes)
    if wider is None and name == "multiply":
        wider = _find_holding(whole_range, DTYPES.values())
    if wider is not None:
        found = steps.call(name, wider, *(steps.cast(x, wider) for x in operands))
        bounds = (steps.number(max(low, least), wider), steps.number(min(high, most), wider))
        return steps.cast(steps.call("clip", wider, found, *bounds), dtype)
    if name == "multiply":
        raise NoPlainStepsError(f"a product of {dtype} that saturates")
    x, zero, top = operands[0], steps.number(0, dtype), steps.number(most, dtype)
    found = steps.call(name, dtype, *operands)
    if dtype.kind is Kind.UNSIGNED:
        if name == "add":
            return steps.call("where", dtype, steps.call("less", BOOL_DTYPE, found, x), top, found)
        if name == "subtract":
            return steps.call("where", dtype, steps.call("less", BOOL_DTYPE, x, operands[1]), zero, found)
        return steps.call("subtract", dtype, x, x) if name == "negative" else x
    bottom = steps.number(least, dtype)
    if len(operands) == 1:  # only the least value has no opposite
        return steps.call("where", dtype, steps.call("equal", BOOL_DTYPE, x, bottom), top, found)
    other = operands[1] if name == "add" else x
    signs = [steps.call("bitwise_xor", dtype, x, found)]
    second = (other, found) if name == "add" else (x, operands[1])
    signs.append(steps.call("bitwise_xor", dtype, *second))
    both = steps.call("bitwise_and", dtype, *signs)
    has_overflowed = steps.call("less", BOOL_DTYPE, both, zero)
    is_negative = steps.call("less", BOOL_DTYPE, x, zero)
    limit = steps.call("where", dtype, is_negative, bottom, top)
    return steps.call("where", dtype, has_overflowed, limit, found)


def _exact_range(name: str, least: int, most: int) -> tuple[int, int]:
    """Return the least and the greatest exact result of an operation on values of a range."""
    ends = {
        "add": (2 * least, 2 * most),
        "subtract": (least - most, most - least),
        "negative": (-most, -least),
        "abs": (0, max(-least, most)),
    }
    if name in ends:
        return ends[name]
    products = [a * b for a in (least, most) for b in (least, most)]
    return min(products), max(products)


def _find_holding(whole_range: tuple[int, int], dtypes: Collection[DType]) -> DType | None:
    """Return the narrowest integer dtype of at most 64 bits that holds a range, or None without one."""
    low, high = whole_range
    held = [
        d
        for d in dtypes
        if d.kind in INTEGER_KINDS
        and d.bits in (8, 16, 32, 64)
        and d.bits == d.storage_bits
        and (d.min or 0) <= low
        and high <= (d.max or 0)
    ]
    return min(held, key=lambda d: d.bits or 0, default=None)
