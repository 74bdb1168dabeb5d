"""NumPy and ml_dtypes: arrays, scalars (0-d), scalar types, dtypes."""
from __future__ import annotations

from functools import lru_cache
from operator import attrgetter
from typing import Any

import numpy as np

from typelattice.core.dtypes.dtypes import DType, DTypeError
from typelattice.core.operands.adapters import dtype_named
from typelattice.core.operands.operand import Operand, operand_of_dtype
from typelattice.core.operands.read_objects import PLAIN_ARRAY_CLASSES

PLAIN_ARRAY_CLASSES.add(np.ndarray)
OWN_SCALARS = (np.generic,)  # other libraries may read these as Python's numbers


def read(obj: Any) -> Operand | None:
    """Return a dtype, a scalar type, an array or a scalar of NumPy. Its scalars count as 0-d arrays."""
    if isinstance(obj, type):
        return operand_of_dtype(_dtype_of_scalar_type(obj)) if issubclass(obj, np.generic) else None
    if isinstance(obj, np.dtype):
        return operand_of_dtype(_find_dtype(obj))
    if isinstance(obj, (np.ndarray, np.generic)):
        d = _find_dtype(obj.dtype)
        return (
            operand_of_dtype(d, tier="0d", value=number_in_array(obj))
            if obj.ndim == 0
            else operand_of_dtype(d)
        )
    return None


def cache_key_of(cls: type) -> Any:
    """Return the key of an array, its dtype and number of dimensions. A dtype is its own key.

    The key of a scalar is its class, since that decides the dtype.
    """
    if issubclass(cls, np.generic):
        # The key is a pair, to tell a scalar from its type: `np.int8` itself is read as a dtype.
        return attrgetter("__class__", "__class__")
    return attrgetter("dtype", "ndim") if issubclass(cls, np.ndarray) else lambda d: d


@lru_cache(maxsize=1024)
def _find_dtype(own_dtype: Any) -> DType:
    return dtype_named(own_dtype.name, "NumPy")


def _dtype_of_scalar_type(scalar_type: Any) -> DType:
    try:
        return _find_dtype(np.dtype(scalar_type))
    except TypeError:
        raise DTypeError(
            f"numpy.{scalar_type.__name__} stands for many dtypes; name one, such as int8"
        ) from None


def number_in_array(x: Any) -> bool | int | float | complex | None:
    """Return the Python number in a 0-d array."""
    item = x.item()
    return item if isinstance(item, (bool, int, float, complex)) else None


def native(dtype: DType) -> Any:
    """Return the NumPy dtype. ml_dtypes provides the dtypes that NumPy lacks."""
    if hasattr(np, dtype.name) and dtype.name not in ("float128", "complex256"):
        return np.dtype(dtype.name)
    try:
        import ml_dtypes
    except ImportError:
        raise DTypeError(f"NumPy has no {dtype} by itself; pip install ml_dtypes") from None
    if not hasattr(ml_dtypes, dtype.name):
        raise DTypeError(f"neither NumPy nor ml_dtypes has {dtype}; cast to one that they have")
    return np.dtype(getattr(ml_dtypes, dtype.name))
