"""Dask: arrays, which are never computed; their dtypes are NumPy's."""
from __future__ import annotations

from operator import attrgetter
from typing import Any

from typelattice.operands.adapters import dtype_named
from typelattice.operands.adapters.numpy import native as native
from typelattice.operands.operand import Operand, operand_of


def read(x: Any) -> Operand | None:
    """Return a Dask array, never computed."""
    d = getattr(x, "dtype", None)
    return (
        operand_of(dtype_named(d.name, "Dask"), tier="0d" if x.ndim == 0 else "array")
        if d is not None
        else None
    )


def cache_key_of(cls: type) -> Any:
    """Return a function that marks an array by its dtype and its number of dimensions."""
    return attrgetter("dtype", "ndim")
