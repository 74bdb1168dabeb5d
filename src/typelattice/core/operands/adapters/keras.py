"""Keras: symbolic tensors and variables, with names as dtypes."""
from __future__ import annotations

import sys
from typing import Any

from typelattice.core.dtypes.dtypes import DType, DTypeError
from typelattice.core.operands.adapters import dtype_named, find_module
from typelattice.core.operands.operand import Operand, operand_of_dtype


def read(obj: Any) -> Operand | None:
    """Read a KerasTensor or a Variable. Tensors of the backend have the backend's adapter."""
    keras = sys.modules["keras"]
    if not isinstance(obj, (keras.KerasTensor, keras.Variable)):
        return None
    return operand_of_dtype(dtype_named(obj.dtype, "Keras"), tier="0d" if len(obj.shape) == 0 else "array")


def cache_key_of(cls: type) -> Any:
    """Return a function that marks a tensor by its dtype, and by whether it is 0-d."""
    return lambda x: (x.dtype, len(x.shape) == 0)


def native(dtype: DType) -> Any:
    """Return Keras's name for a dtype. Raises DTypeError for a dtype that Keras does not accept."""
    keras = find_module("keras")
    try:
        return keras.backend.standardize_dtype(dtype.name)
    except ValueError:
        raise DTypeError(f"Keras has no dtype {dtype}; cast to one that it has") from None
