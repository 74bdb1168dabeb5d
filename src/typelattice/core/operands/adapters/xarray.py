"""xarray: data arrays and variables. They hold arrays of another library, with NumPy's dtypes."""
from __future__ import annotations

import sys
from operator import attrgetter
from typing import Any

from typelattice.core.operands.adapters import numpy
from typelattice.core.operands.adapters.numpy import native as native
from typelattice.core.operands.operand import Operand


def read(obj: Any) -> Operand | None:
    """Read an object that has one dtype. A dataset has many, so it is not an operand."""
    d = None if isinstance(obj, type) else getattr(obj, "dtype", None)
    return numpy.read(d) if isinstance(d, sys.modules["numpy"].dtype) else None


def cache_key_of(cls: type) -> Any:
    """Return a function that marks an object by its dtype, as that is all that is read."""
    return attrgetter("dtype") if hasattr(cls, "dtype") else None
