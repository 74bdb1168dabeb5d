"""MLX: arrays and dtypes."""
from __future__ import annotations

import sys
from operator import attrgetter
from typing import Any

from typelattice.core.dtypes.dtypes import DType, DTypeError
from typelattice.core.operands.adapters import dtype_attribute, dtype_named, find_module
from typelattice.core.operands.operand import BOOL_DTYPE, Operand, operand_of_dtype
from typelattice.core.operands.read_objects import PLAIN_ARRAY_CLASSES


def read(obj: Any) -> Operand | None:
    """Return an array or an mlx.core.Dtype."""
    mx = sys.modules["mlx.core"]
    if isinstance(obj, mx.Dtype):
        return operand_of_dtype(_find_dtype(obj))
    if isinstance(obj, mx.array):
        PLAIN_ARRAY_CLASSES.add(mx.array)
        return operand_of_dtype(_find_dtype(obj.dtype), tier="0d" if obj.ndim == 0 else "array")
    return None


def cache_key_of(cls: type) -> Any:
    """Return a function that gives a cache key: a dtype itself, or an array's dtype and dimensions."""
    return attrgetter("dtype", "ndim") if issubclass(cls, sys.modules["mlx.core"].array) else lambda d: d


def _find_dtype(own_dtype: Any) -> DType:
    return dtype_named(str(own_dtype).removeprefix("mlx.core."), "MLX")


def native(dtype: DType) -> Any:
    """Return the mlx.core.Dtype. Raises DTypeError for a dtype that MLX lacks."""
    mx = find_module("mlx.core")
    found = mx.bool_ if dtype is BOOL_DTYPE else dtype_attribute(dtype, mx)
    if not isinstance(found, mx.Dtype):
        raise DTypeError(f"MLX has no dtype {dtype}; cast to one that it has")
    return found
