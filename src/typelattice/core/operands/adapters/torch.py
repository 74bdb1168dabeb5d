"""PyTorch: tensors and dtypes."""
from __future__ import annotations

import sys
from operator import attrgetter
from typing import Any

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.operands.adapters import dtype_attribute, dtype_named, find_module
from typelattice.core.operands.operand import Operand, operand_of_dtype
from typelattice.core.operands.read_objects import PLAIN_ARRAY_CLASSES

BASE_ATTRIBUTE = "_base"  # of a view: the tensor that it shows, as of an element of a loop


def read(obj: Any) -> Operand | None:
    """Return a tensor or a torch.dtype."""
    torch = sys.modules["torch"]
    if isinstance(obj, torch.dtype):
        return operand_of_dtype(dtype_named(str(obj).removeprefix("torch."), "PyTorch"))
    if isinstance(obj, torch.Tensor):
        PLAIN_ARRAY_CLASSES.add(torch.Tensor)
        return operand_of_dtype(
            dtype_named(str(obj.dtype).removeprefix("torch."), "PyTorch"),
            tier="0d" if obj.ndim == 0 else "array",
        )
    return None


def cache_key_of(cls: type) -> Any:
    """Return a function that gives a cache key: a dtype itself, or a tensor's dtype and dimensions."""
    return attrgetter("dtype", "ndim") if issubclass(cls, sys.modules["torch"].Tensor) else lambda d: d


def is_without_shape(cls: type) -> bool:
    """Return True for the parameters of a lazy module, which have no shape until it first runs."""
    return issubclass(cls, sys.modules["torch"].nn.parameter.UninitializedTensorMixin)


def own_attribute(base: type, name: str) -> Any:
    """Return a function that reads an attribute past the `__torch_function__` of a subclass."""
    read = getattr(base, name).__get__
    past_subclasses = sys.modules["torch"]._C.DisableTorchFunctionSubclass

    def get(x: Any) -> Any:
        with past_subclasses():
            return read(x)

    return get


def native(dtype: DType) -> Any:
    """Return the torch.dtype."""
    return dtype_attribute(dtype, find_module("torch"))
