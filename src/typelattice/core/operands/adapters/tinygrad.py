"""tinygrad: tensors, which are never computed, and dtypes. A tensor of a Python number is weak."""
from __future__ import annotations

import sys
from operator import attrgetter
from typing import Any

from typelattice.core.dtypes.dtypes import DTYPES, DType, DTypeError
from typelattice.core.operands.adapters import dtype_named, find_module
from typelattice.core.operands.operand import Operand, operand_of_dtype

# Tinygrad gives the name of the second to the first, and lacks the second.
TINYGRAD_NAME_BY_DTYPE = {"float8_e4m3fn": "fp8e4m3", "float8_e4m3": ""}


def read(obj: Any) -> Operand | None:
    """Return a tensor or a dtype. A weak one has the default dtype of its kind."""
    tinygrad = sys.modules["tinygrad"]
    if isinstance(obj, tinygrad.Tensor):
        return _operand_of_dtype_name(obj.dtype, "0d" if obj.ndim == 0 else "array")
    return _operand_of_dtype_name(obj, "array") if isinstance(obj, type(tinygrad.dtypes.bool)) else None


def _operand_of_dtype_name(own_dtype: Any, tier: Any) -> Operand:
    dtypes = sys.modules["tinygrad"].dtypes
    weak = {"weakint": dtypes.default_int, "weakfloat": dtypes.default_float}
    for name in DTYPES:
        if getattr(dtypes, _own_name(name), None) == weak.get(own_dtype.name, own_dtype):
            return operand_of_dtype(DTYPES[name], own_dtype.name in weak, tier)
    return operand_of_dtype(dtype_named(own_dtype.name, "tinygrad"))


def _own_name(name: str) -> str:
    """Return tinygrad's name of a dtype."""
    return TINYGRAD_NAME_BY_DTYPE.get(name, name.replace("float8_", "fp8"))


def cache_key_of(cls: type) -> Any:
    """Return a function that gives a cache key: a dtype itself, or a tensor's dtype and dimensions."""
    return attrgetter("dtype", "ndim") if issubclass(cls, sys.modules["tinygrad"].Tensor) else lambda d: d


def native(dtype: DType) -> Any:
    """Return the dtype of tinygrad. Raises DTypeError for a dtype that it lacks."""
    dtypes = find_module("tinygrad").dtypes
    found = getattr(dtypes, _own_name(dtype.name), None)
    if not isinstance(found, type(dtypes.bool)):
        raise DTypeError(f"tinygrad has no dtype {dtype}; cast to one that it has")
    return found
