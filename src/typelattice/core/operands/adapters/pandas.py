"""pandas: series, indexes, arrays and data types of numbers, of NumPy, masked, or of Arrow."""
from __future__ import annotations

import sys
from operator import attrgetter
from typing import Any

from typelattice.core.dtypes.dtypes import DType, DTypeError
from typelattice.core.operands.adapters import dtype_named, find_module, numpy, pyarrow
from typelattice.core.operands.operand import BOOL_DTYPE, Operand, operand_of_dtype


def read(obj: Any) -> Operand | None:
    """Read an object that has one data type or is one. A frame has many, so it is not an operand."""
    if isinstance(obj, type):
        return None
    d = getattr(obj, "dtype", obj)
    own = sys.modules["pandas"].api.extensions.ExtensionDtype
    if not isinstance(d, (own, sys.modules["numpy"].dtype)):
        return None
    if hasattr(d, "pyarrow_dtype"):
        return pyarrow.read(d.pyarrow_dtype)
    return numpy.read(getattr(d, "numpy_dtype", d)) or operand_of_dtype(dtype_named(str(d), "pandas"))


def cache_key_of(cls: type) -> Any:
    """Return a function that gives a cache key: a data type itself, or the data type of another object."""
    own = sys.modules["pandas"].api.extensions.ExtensionDtype
    return (lambda d: d) if issubclass(cls, own) else attrgetter("dtype") if hasattr(cls, "dtype") else None


def native_like(dtype: DType, like: Any) -> Any:
    """Return the dtype in the storage of another object: masked, Arrow's or NumPy's.

    Raises DTypeError for a dtype that this storage lacks.
    """
    pandas = find_module("pandas")
    own = getattr(like, "dtype", like)
    if hasattr(own, "pyarrow_dtype"):
        return pandas.ArrowDtype(pyarrow.native(dtype))
    if not hasattr(pandas, type(own).__name__):  # only masked dtypes have a class of pandas' own
        return native(dtype)
    wanted = f"{'boolean' if dtype is BOOL_DTYPE else dtype.name}dtype"
    masked = next((getattr(pandas, name) for name in dir(pandas) if name.lower() == wanted), None)
    if masked is None:
        raise DTypeError(f"pandas has no masked dtype {dtype}; cast to one that it has")
    return masked()


def native(dtype: DType) -> Any:
    """Return the NumPy dtype, pandas' default for numbers.

    Raises DTypeError for a dtype that pandas does not store.
    """
    pandas = find_module("pandas")
    try:
        found = numpy.native(dtype)
        pandas.Series([1], dtype=found)
    except (TypeError, ValueError, NotImplementedError):
        raise DTypeError(f"pandas has no dtype {dtype}; cast to one that it has") from None
    return found
