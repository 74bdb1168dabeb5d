"""Widths of floats: the bits of a real number. A complex number is as wide as each of its parts."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from typelattice.core.dtypes.dtypes import DType, Kind, complex_of, real_part_dtype
from typelattice.core.operands.operand import Operand


def operand_width(operand: Operand | None) -> int | None:
    """Return the bits of a float with its own width, or None for integers, Python numbers and weak dtypes.

    >>> from typelattice import operand
    >>> [operand_width(operand(x)) for x in ("float32", "complex64", "int64", "1.5")]
    [32, 32, None, None]
    """
    if operand is None or operand.dtype is None or operand.weak or operand.tier == "scalar":
        return None
    return dtype_width(operand.dtype)


def dtype_width(dtype: DType) -> int | None:
    """Return the bits of a float dtype, or None for any other dtype, or if the platform decides the width."""
    return real_part_dtype(dtype).bits if dtype.kind.category >= Kind.FLOAT.category else None


def dtype_at_width_of(dtype: DType, target: DType) -> DType:
    """Return a dtype at the width of another float: complex if the dtype is complex, else real.

    >>> from typelattice import dtype
    >>> target = dtype("complex64")
    >>> dtype_at_width_of(dtype("float64"), target), dtype_at_width_of(dtype("complex128"), dtype("float32"))
    (float32, complex64)
    """
    return complex_of(real_part_dtype(target)) if dtype.kind is Kind.COMPLEX else real_part_dtype(target)


@lru_cache(maxsize=1024)  # a run has few operands, each of them many times
def narrow_operand(operand: Operand | None, narrow_dtype: DType) -> Operand:
    """Return an operand cast to the width of a narrower float. An integer is cast to that float."""
    assert operand is not None and operand.dtype is not None
    target = narrow_dtype if is_integer(operand) else dtype_at_width_of(operand.dtype, narrow_dtype)
    return replace(operand, dtype=target, kind=target.kind, value=None)


def is_integer(operand: Operand | None) -> bool:
    """Return True if an operand is an integer with a dtype of its own."""
    integral = operand is not None and operand.kind in (Kind.SIGNED, Kind.UNSIGNED)
    return integral and operand is not None and operand.dtype is not None and not operand.weak
