"""CuPy: arrays, which are never copied to the CPU, with NumPy's dtypes and scalars."""
from __future__ import annotations

from operator import attrgetter
from typing import Any

from typelattice.core.operands.adapters import read_by_dtype
from typelattice.core.operands.adapters.numpy import native as native
from typelattice.core.operands.operand import Operand


def read(obj: Any) -> Operand | None:
    """Read an array by its dtype and dimensions, since reading its value would copy it to the CPU."""
    return read_by_dtype(obj, "CuPy")


def cache_key_of(cls: type) -> Any:
    """Return a function that gives an array's cache key: its dtype and number of dimensions."""
    return attrgetter("dtype", "ndim")
