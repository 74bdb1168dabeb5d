"""pandas: series, indexes, arrays and data types of numbers, with NumPy, a mask or Arrow behind them."""
from __future__ import annotations

import sys
from operator import attrgetter
from typing import Any

from typelattice.facts.dtypes import DType, DTypeError
from typelattice.operands.adapters import imported, known, numpy, pyarrow
from typelattice.operands.operand import Operand, of


def read(x: Any) -> Operand | None:
    """Whatever has one data type, or is one; a frame has many, and is none."""
    if isinstance(x, type):
        return None
    d = getattr(x, "dtype", x)
    own = sys.modules["pandas"].api.extensions.ExtensionDtype
    if not isinstance(d, (own, sys.modules["numpy"].dtype)):
        return None
    if hasattr(d, "pyarrow_dtype"):
        return pyarrow.read(d.pyarrow_dtype)
    return numpy.read(getattr(d, "numpy_dtype", d)) or of(known(str(d), "pandas"))


def mark_of(cls: type) -> Any:
    """A data type as it is, else that which the object has."""
    own = sys.modules["pandas"].api.extensions.ExtensionDtype
    return (lambda d: d) if issubclass(cls, own) else attrgetter("dtype") if hasattr(cls, "dtype") else None


def native(d: DType) -> Any:
    """The NumPy dtype, behind which pandas keeps numbers unless it is told otherwise.

    Raises DTypeError for one that pandas does not keep.
    """
    pandas = imported("pandas")
    try:
        found = numpy.native(d)
        pandas.Series([1], dtype=found)
    except (TypeError, ValueError, NotImplementedError):
        raise DTypeError(f"pandas has no dtype {d}; cast to one that it has") from None
    return found
