"""JAX: its settings decide if 64-bit dtypes exist, and if dtypes are promoted."""

from __future__ import annotations

import sys
from collections.abc import Set
from typing import Any

from typelattice.core.dtypes.dtypes import DType
from typelattice.tracing.library_traits.array_values import find_numpy_dtype, read_numpy_values

ROUNDS_SCALARS = True
DTYPE_MODULE = "jax.numpy"
ANNOUNCING_FUNCTIONS = ("eval_shape",)


def is_stand_in(x: Any) -> bool:
    """Return True for a shape and a dtype without values."""
    return type(x) is getattr(sys.modules.get("jax"), "ShapeDtypeStruct", None)


def system(dtypes: Set[str]) -> str | None:
    """Return the system's name."""
    config = getattr(sys.modules.get("jax"), "config", None)
    if config is None:  # a program may remove modules from sys.modules
        return None
    if config.jax_numpy_dtype_promotion == "strict":
        return "jax-strict"
    if config.jax_enable_x64:
        return "jax"
    explicit = getattr(config, "jax_explicit_x64_dtypes", None)  # JAX 0.4 has no such setting
    return "jax-explicit-x64" if getattr(explicit, "name", "") == "ALLOW" else "jax-x32"


def read_values(x: Any) -> tuple[Any, DType | None]:
    """Return the values of an array in NumPy, and its dtype, or None while a function is compiled."""
    np, jax = sys.modules["numpy"], sys.modules["jax"]
    if not isinstance(x, jax.Array) or isinstance(x, jax.core.Tracer) or not isinstance(x.dtype, np.dtype):
        return x, None
    if x.is_deleted() or not x.is_fully_addressable or find_numpy_dtype(x.dtype)[0] is None:
        return x, None
    return read_numpy_values(np.asarray(x))
