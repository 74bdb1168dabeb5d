"""array-api-strict: arrays and dtypes."""
from __future__ import annotations

import sys
from typing import Any

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.operands.adapters import array_api, dtype_attribute, find_module
from typelattice.core.operands.operand import Operand, operand_of_dtype


def read(obj: Any) -> Operand | None:
    """Return a dtype, or read an array as any array of the standard."""
    xp = sys.modules["array_api_strict"]
    return operand_of_dtype(array_api.name_dtype(xp, obj)) if isinstance(obj, type(xp.bool)) else None


def cache_key_of(cls: type) -> Any:
    """Return a function that marks an object by class, dtype and, for an array, number of dimensions.

    The class prevents a comparison with a mark of NumPy's. A dtype here has the same hash as NumPy's, and
    warns when the two are compared.
    """
    xp = sys.modules["array_api_strict"]
    return (lambda d: (cls, d)) if issubclass(cls, type(xp.bool)) else lambda x: (cls, x.dtype, x.ndim)


def native(dtype: DType) -> Any:
    """Return the dtype of that name."""
    return dtype_attribute(dtype, find_module("array_api_strict"))
