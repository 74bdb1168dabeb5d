"""Modular MAX: dtypes, the values of graphs and their types, weights, and buffers, which are weak there."""
from __future__ import annotations

import sys
from typing import Any

from typelattice.core.dtypes.dtypes import DType, DTypeError
from typelattice.core.operands.adapters import dtype_named, find_module
from typelattice.core.operands.operand import Operand, operand_of_dtype


def read(obj: Any) -> Operand | None:
    """Read a DType, or an object with one: a TensorValue, TensorType, BufferType, TensorSpec, Buffer.

    A graph takes a Buffer for a constant beside its own values, as it takes an array of NumPy. So a Buffer is
    weak. A value that is no tensor, such as a chain, is no operand.
    """
    max_dtypes = sys.modules["max.dtype"].DType
    if isinstance(obj, max_dtypes):
        return operand_of_dtype(dtype_named(obj.name, "MAX"))
    own = None if isinstance(obj, type) else getattr(obj, "dtype", None)
    if not isinstance(own, max_dtypes):
        return None
    return operand_of_dtype(dtype_named(own.name, "MAX"), _is_buffer(obj), "0d" if _is_0d(obj) else "array")


def cache_key_of(cls: type) -> Any:
    """Return a function that gives a cache key: a dtype itself, or a dtype, weakness and whether it is 0d."""
    return lambda x: (
        x if isinstance(x, sys.modules["max.dtype"].DType) else (x.dtype, _is_buffer(x), _is_0d(x))
    )


def _is_buffer(obj: Any) -> bool:
    return isinstance(obj, sys.modules["max.driver"].Buffer) if "max.driver" in sys.modules else False


def _is_0d(obj: Any) -> bool:
    """Return True for an object without dimensions. A TensorSpec may have no shape at all."""
    shape = getattr(obj, "shape", None)
    return shape is not None and len(shape) == 0


def native(dtype: DType) -> Any:
    """Return the max.dtype.DType. Raises DTypeError for a dtype that MAX lacks."""
    found = getattr(find_module("max.dtype").DType, dtype.name, None)
    if found is None:
        raise DTypeError(f"MAX has no dtype {dtype}; cast to one that it has")
    return found
