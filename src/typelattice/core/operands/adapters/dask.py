"""Dask: arrays, which are never computed, with NumPy's dtypes."""
from __future__ import annotations

from operator import attrgetter
from typing import Any

from typelattice.core.operands.adapters import read_by_dtype
from typelattice.core.operands.adapters.numpy import native as native
from typelattice.core.operands.operand import Operand


def read(obj: Any) -> Operand | None:
    """Return a Dask array, never computed."""
    return read_by_dtype(obj, "Dask")


def cache_key_of(cls: type) -> Any:
    """Return a function that marks an array by its dtype and its number of dimensions."""
    return attrgetter("dtype", "ndim")
