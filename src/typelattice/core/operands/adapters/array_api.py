"""Other libraries of the array API standard: arrays."""
from __future__ import annotations

from functools import lru_cache
from operator import attrgetter
from typing import Any

from typelattice.core.dtypes.dtypes import DTYPES, DType
from typelattice.core.operands.adapters import dtype_attribute, dtype_named
from typelattice.core.operands.operand import Operand, operand_of_dtype


def read(obj: Any) -> Operand | None:
    """Read an array: compare its dtype with the dtypes of its namespace, as the standard allows."""
    xp = obj.__array_namespace__()
    return operand_of_dtype(name_dtype(xp, obj.dtype), tier="0d" if obj.ndim == 0 else "array")


def name_dtype(xp: Any, own_dtype: Any) -> DType:
    """Return the DType of a dtype in a namespace."""
    try:
        return _find_dtype(xp, own_dtype)
    except TypeError:  # the standard allows dtypes without a hash
        return _find_dtype.__wrapped__(xp, own_dtype)


def cache_key_of(cls: type) -> Any:
    """Return a function that marks an array by its dtype and its number of dimensions."""
    return attrgetter("dtype", "ndim")


@lru_cache(maxsize=1024)  # some libraries make a new namespace, or a new dtype, each time
def _find_dtype(xp: Any, own_dtype: Any) -> DType:
    named = (d for name, d in DTYPES.items() if hasattr(xp, name) and own_dtype == getattr(xp, name))
    return next(named, None) or dtype_named(str(own_dtype), getattr(xp, "__name__", str(type(xp).__name__)))


def native_like(dtype: DType, like: Any) -> Any:
    """Return the dtype of the namespace that an array belongs to."""
    return dtype_attribute(dtype, like.__array_namespace__())


def native(dtype: Any) -> Any:
    raise TypeError("say which namespace")
