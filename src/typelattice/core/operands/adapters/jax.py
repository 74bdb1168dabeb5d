"""JAX: arrays, tracers and abstract values. Weak ones are written `:weak`."""
from __future__ import annotations

import sys
from functools import lru_cache
from operator import attrgetter
from typing import Any

from typelattice.core.dtypes.dtypes import DType, DTypeError
from typelattice.core.operands.adapters import dtype_named, numpy
from typelattice.core.operands.operand import Operand, operand_of_dtype

HAS_FIXED_DTYPES = True  # the dtype of an array never changes


@lru_cache(maxsize=1024)
def _find_dtype(own_dtype: Any) -> DType:
    return dtype_named(getattr(own_dtype, "name", None) or str(own_dtype), "JAX")


def read(obj: Any) -> Operand | None:
    """Return an array, a tracer, an abstract value or a scalar type such as jnp.int8."""
    d = getattr(obj, "dtype", None)
    if d is None or isinstance(d, property):  # a class of arrays has a property here
        return None
    found = _find_dtype(d)
    aval = getattr(obj, "aval", obj)
    return operand_of_dtype(
        found,
        bool(getattr(aval, "weak_type", False)),
        "0d" if getattr(aval, "shape", None) == () else "array",
    )


def cache_key_of(cls: type) -> Any:
    """Return a function that gives an array's cache key: dtype, weakness and number of dimensions.

    It is None for tracers and scalar types, which are read each time.
    """
    return attrgetter("dtype", "weak_type", "ndim") if hasattr(cls, "weak_type") else None


def native(dtype: DType) -> Any:
    """Return the dtype of NumPy or ml_dtypes, if JAX takes it and the program has imported JAX."""
    found, jax = numpy.native(dtype), sys.modules.get("jax")
    try:
        if jax:
            jax.dtypes.result_type(found)
    except TypeError:
        raise DTypeError(f"JAX has no dtype {dtype}; cast to one that it has") from None
    return found
