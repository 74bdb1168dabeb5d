"""JAX: arrays and tracers, weak types seen."""
from __future__ import annotations

from functools import cache
from typing import Any

from typelattice.adapters import known
from typelattice.adapters.numpy import native as native
from typelattice.dtypes import DType
from typelattice.operand import Operand, of


@cache
def _known(d: Any) -> DType:
    return known(getattr(d, "name", None) or str(d), "JAX")


def read(x: Any) -> Operand | None:
    """An array, a tracer, an abstract value or a scalar type such as jnp.int8."""
    d = getattr(x, "dtype", None)
    if d is None:
        return None
    found = _known(d)
    aval = getattr(x, "aval", x)
    return of(found, bool(getattr(aval, "weak_type", False)), "0d" if getattr(aval, "shape", None) == () else "array")
