"""Any array of the Python array API standard."""
from __future__ import annotations

from typing import Any

from typelattice.adapters import known
from typelattice.dtypes import DTYPES
from typelattice.operand import Operand, of


def read(x: Any) -> Operand | None:
    """An array, by comparing its dtype with those of its namespace, as the standard promises that one may."""
    xp = x.__array_namespace__()
    for name, d in DTYPES.items():
        if hasattr(xp, name) and x.dtype == getattr(xp, name):
            return of(d, tier="0d" if x.ndim == 0 else "array")
    return of(known(str(x.dtype), xp.__name__), tier="0d" if x.ndim == 0 else "array")


def native(d: Any) -> Any:
    raise TypeError("say which namespace")
