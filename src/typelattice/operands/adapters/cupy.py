"""CuPy: arrays, which are never copied to the CPU; their dtypes and scalars are NumPy's."""
from __future__ import annotations

from operator import attrgetter
from typing import Any

from typelattice.operands.adapters import dtype_named
from typelattice.operands.adapters.numpy import native as native
from typelattice.operands.operand import Operand, operand_of


def read(x: Any) -> Operand | None:
    """Read an array by its dtype and dimensions; reading its value would copy it to the CPU."""
    d = getattr(x, "dtype", None)
    return (
        operand_of(dtype_named(d.name, "CuPy"), tier="0d" if x.ndim == 0 else "array")
        if d is not None
        else None
    )


def cache_key_of(cls: type) -> Any:
    """Return a function that gives an array's cache key: its dtype and number of dimensions."""
    return attrgetter("dtype", "ndim")
