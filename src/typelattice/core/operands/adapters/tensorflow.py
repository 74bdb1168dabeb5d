"""TensorFlow: tensors, weak tensors, variables, dtypes."""
from __future__ import annotations

from typing import Any

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.operands.adapters import dtype_attribute, dtype_named, find_module
from typelattice.core.operands.operand import Operand, operand_of_dtype

HAS_FIXED_DTYPES = True  # the dtype of a tensor or a variable never changes


def read(obj: Any) -> Operand | None:
    """Read a tf.DType, or an object with one, as an operand."""
    own = obj if type(obj).__name__ == "DType" else getattr(obj, "dtype", None)
    name = getattr(own, "name", None)
    if not isinstance(name, str):
        return None
    rank = getattr(getattr(obj, "shape", None), "rank", None)
    return operand_of_dtype(
        dtype_named(name.removesuffix("_ref"), "TensorFlow"),
        type(obj).__name__ == "WeakTensor",
        "0d" if rank == 0 else "array",
    )


def cache_key_of(cls: type) -> Any:
    """Return a tensor's key: its class (weak ones have their own), its dtype, and whether it is 0d."""
    return lambda x: (cls, getattr(x, "dtype", x), getattr(getattr(x, "shape", None), "rank", None) == 0)


def native(dtype: DType) -> Any:
    """Return the tf.DType."""
    return dtype_attribute(dtype, find_module("tensorflow").dtypes)
