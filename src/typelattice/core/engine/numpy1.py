"""NumPy 1's promotion by value: a scalar or 0-d array counts as the smallest dtype that holds its value.

It is the one rule that no system file can state. Source, from PyArray_MinScalarType on:
github.com/numpy/numpy/blob/v1.26.4/numpy/core/src/multiarray/convert_datatype.c
"""
from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from typelattice.base.objects.frozen_classes import frozen
from typelattice.core.dtypes.dtypes import DTYPE_BY_CODE, DType, Kind, Node
from typelattice.core.engine.decisions import Decision, DefaultTaken, RefusalError, SizedByValue
from typelattice.core.engine.join_one_tier import join_nodes
from typelattice.core.engine.rules import Rules
from typelattice.core.losses.range_and_overflow import PythonNumber, is_in_range
from typelattice.core.operands.operand import Operand

UNSIGNED_DTYPES, SIGNED_DTYPES = (
    [DTYPE_BY_CODE[f"{letter}{bits}"] for bits in (8, 16, 32, 64)] for letter in "ui"
)
# NumPy compares with its own bounds, a little below the largest values of the dtypes.
FLOAT_BOUNDS = {DTYPE_BY_CODE["f16"]: 65000, DTYPE_BY_CODE["f32"]: 3.4e38, DTYPE_BY_CODE["c64"]: 3.4e38}
# A value joins as one of these dtypes, so the order must have them.
REQUIRED_DTYPES = {
    *UNSIGNED_DTYPES,
    *SIGNED_DTYPES,
    *FLOAT_BOUNDS,
}
ASSUMED_VALUE = 1  # the value to assume if none is known


@frozen()
class CountedDType:
    """The dtypes that an operand counts as: one beside bool and unsigned operands, one beside all others.

    The two differ for a positive integer. It counts as unsigned beside unsigned operands, and beside others
    as the signed dtype of the same width, if that holds it.
    """

    beside_unsigned: DType
    beside_other: DType

    def dtype_beside(self, other: DType) -> DType:
        return self.beside_unsigned if other.kind in (Kind.BOOL, Kind.UNSIGNED) else self.beside_other

    @property
    def both_dtypes(self) -> tuple[DType, DType]:
        return self.beside_unsigned, self.beside_other


def join_by_value(
    rules: Rules, operands: Sequence[Operand], nodes: Sequence[Node], decisions: list[Decision]
) -> Node:
    """Return the node of operands that enter at these nodes. Raises RefusalError if they do not join."""
    own_dtypes = [n for n in nodes if isinstance(n, DType)]
    if len(own_dtypes) < len(nodes):
        raise RefusalError(
            "a Python scalar has no dtype here", "give it one", DefaultTaken(tuple(nodes), None)
        )
    if not promotes_by_value(operands, own_dtypes):
        return join_nodes(
            rules, [dtype_holding_scalar(o, d) for o, d in zip(operands, own_dtypes, strict=True)], decisions
        )
    counts = [_counted_dtype_of_operand(o, d) for o, d in zip(operands, own_dtypes, strict=True)]
    for o, count in zip(operands, counts, strict=True):
        if o.tier != "array":
            decisions.append(SizedByValue((o.node,), count.beside_unsigned))
    return reduce(lambda a, b: _join_pair(rules, a, b, decisions), counts).beside_unsigned


def _join_pair(rules: Rules, a: CountedDType, b: CountedDType, decisions: list[Decision]) -> CountedDType:
    """Join the dtypes that two operands count as.

    The result may be signed or unsigned only if both operands may. NumPy keeps a flag for this.
    """
    node = join_nodes(
        rules, [a.dtype_beside(b.beside_unsigned), b.dtype_beside(a.beside_unsigned)], decisions
    )
    assert isinstance(node, DType)  # the order of a value-based system has no weak nodes among its dtypes
    both = a.beside_unsigned is not a.beside_other and b.beside_unsigned is not b.beside_other
    return CountedDType(
        node, SIGNED_DTYPES[UNSIGNED_DTYPES.index(node)] if both and node in UNSIGNED_DTYPES else node
    )


def find_loop_by_value(
    rules: Rules, operands: Sequence[Operand], loops: Sequence[DType]
) -> tuple[DType, ...]:
    """Return the first loop to which all operands cast, in either dtype that they count as, or ()."""
    own_dtypes = [d for o in operands if (d := o.dtype or rules.defaults.get(o.kind)) and d in rules.order]
    if len(own_dtypes) < len(operands):
        return ()
    by_value = promotes_by_value(operands, own_dtypes)
    counts = [
        _counted_dtype_of_operand(o, d) if by_value else _counted_dtype_without_value(o, d)
        for o, d in zip(operands, own_dtypes, strict=True)
    ]
    for loop in loops:
        if all(any(rules.order.le(d, loop) for d in count.both_dtypes) for count in counts):
            return (loop,)
    return ()


def promotes_by_value(operands: Sequence[Operand], own_dtypes: Sequence[DType]) -> bool:
    """Return True if NumPy 1 promotes these operands by value: `int8 array + 1` stays int8.

    Values count where arrays meet scalars or 0-d arrays, unless one of these is of a higher category than all
    arrays. The categories are bool, integers, and the inexact numbers together.
    """
    arrays: list[int] = []
    others: list[int] = []
    for o, d in zip(operands, own_dtypes, strict=True):
        (arrays if o.tier == "array" else others).append(
            min(dtype_holding_scalar(o, d).kind.category, Kind.FLOAT.category)
        )
    return bool(arrays and others) and max(arrays) >= max(others)


def dtype_holding_scalar(o: Operand, own_dtype: DType) -> DType:
    """Return the dtype of an operand. A large Python scalar gets the smallest dtype that holds it."""
    beyond = not o.dtype and o.value and not is_in_range(o.value, own_dtype)
    return counted_dtype_of_value(own_dtype, o.value).beside_unsigned if beyond else own_dtype


def _counted_dtype_of_operand(operand: Operand, own_dtype: DType) -> CountedDType:
    return (
        _counted_dtype_without_value(operand, own_dtype)
        if operand.tier == "array"
        else counted_dtype_of_value(dtype_holding_scalar(operand, own_dtype), operand.value)
    )


def _counted_dtype_without_value(o: Operand, own_dtype: DType) -> CountedDType:
    return CountedDType(dtype_holding_scalar(o, own_dtype), dtype_holding_scalar(o, own_dtype))


def counted_dtype_of_value(own_dtype: DType, value: PythonNumber | None) -> CountedDType:
    """Count a value as the smallest dtype that holds it. Raises RefusalError for an integer beyond all."""
    v = ASSUMED_VALUE if value is None else value
    if own_dtype.kind.category != 1:
        size = max(abs(v.real), abs(v.imag))
        # NumPy counts a float infinity or nan as float16, too. For a complex number it compares the size as
        # it is.
        size = size if own_dtype.kind is Kind.COMPLEX or size - size == 0 else 0
        smaller = (d for d, bound in FLOAT_BOUNDS.items() if d.kind is own_dtype.kind and size < bound)
        found = next((d for d in smaller if (d.bits or 0) < (own_dtype.bits or 0)), own_dtype)
        return CountedDType(found, found)
    for u, s in zip(UNSIGNED_DTYPES, SIGNED_DTYPES, strict=True):
        in_u, in_s = is_in_range(v, u), is_in_range(v, s)
        if in_u or in_s:
            return CountedDType(u if in_u else s, s if in_s else u)
    raise RefusalError("beyond uint64 it is an object", "use a float", SizedByValue((own_dtype,), None))
