"""ndonnx: arrays, with or without values, and dtypes. Nullable dtypes and strings are refused."""
from __future__ import annotations

import sys
from operator import attrgetter
from typing import Any

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.operands.adapters import array_api, dtype_attribute, find_module
from typelattice.core.operands.operand import Operand, operand_of_dtype


def read(obj: Any) -> Operand | None:
    """Return a dtype, or read an array, symbolic or not, as any array of the standard."""
    ndx = sys.modules["ndonnx"]
    return operand_of_dtype(array_api.name_dtype(ndx, obj)) if isinstance(obj, ndx.DType) else None


def cache_key_of(cls: type) -> Any:
    """Return a function that gives a cache key: a dtype itself, or an array's dtype and dimensions."""
    return attrgetter("dtype", "ndim") if issubclass(cls, sys.modules["ndonnx"].Array) else lambda d: d


def native(dtype: DType) -> Any:
    """Return the dtype of that name."""
    return dtype_attribute(dtype, find_module("ndonnx"))
