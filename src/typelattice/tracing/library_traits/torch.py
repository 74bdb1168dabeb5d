"""PyTorch: autocast casts the operands of some operations, and its compiler reads bytecode."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from typelattice.tracing.library_traits import numpy_value_losses

AUTOCAST_DEVICES = ("cpu", "cuda", "mps", "xpu")
COMPILER_SWITCH = "torch._dynamo.config", "disable"
"""The module of the switch that turns off the compiler, and the switch's name. PyTorch imports the module
when it compiles. TORCH_COMPILE_DISABLE=1 also sets the switch."""

CAST_FORMAT = "{}.to({})"
"""How a program casts an array to a dtype."""


PLAIN_ARRAY_CLASSES = ("torch.Tensor",)

NUMPY_NAME_BY_OPTION = {"dim": "axis", "keepdim": "keepdims", "correction": "ddof"}


def value_losses(
    name: str, operands: Sequence[Any], keywords: Mapping[str, Any], result: Any
) -> Iterator[numpy_value_losses.FoundLoss]:
    """Yield the losses of an operation, found in NumPy arrays. bfloat16 has no such array."""
    own = as_array(result)
    unbiased = name in ("var", "std") and any(type(x) is bool for x in operands)
    if own is not result and not unbiased:
        axes = {NUMPY_NAME_BY_OPTION.get(key, key): x for key, x in keywords.items()}
        if name in ("var", "std"):
            axes = {"ddof": 1, **axes}
        yield from numpy_value_losses.value_losses(name, operands, axes, own, as_array)


CONVERTING_METHODS = ("to", "type", "half", "float", "double", "bfloat16", "cpu", "cuda", "to_empty")
"""The methods of a module that cast its parameters and buffers in place, and return the module."""


def converted_arrays(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parameters and the buffers of a module with their names, or none of another object."""
    torch: Any = sys.modules.get("torch")
    cls = getattr(getattr(torch, "nn", None), "Module", None)
    if cls is not None and isinstance(module, cls):
        yield from cls.named_parameters(module)
        yield from cls.named_buffers(module)


def as_array(tensor: Any) -> Any:
    """Return a tensor as a NumPy array. Return anything else as it is, also a tensor of a different dtype."""
    try:
        return tensor.detach().cpu().numpy()
    except (AttributeError, TypeError):
        return tensor


def active_cast_feature() -> str:
    """Return "autocast" if it casts operands right now, or ""."""
    return "autocast" if autocast_is_on() else ""


def autocast_is_on() -> bool:
    """Return True if autocast is on for some device."""
    torch: Any = sys.modules.get("torch")
    if not hasattr(torch, "is_autocast_enabled"):
        return False
    try:
        return any(torch.is_autocast_enabled(device) for device in AUTOCAST_DEVICES)
    except TypeError:  # before PyTorch 2.4 there was one function for each device
        return bool(torch.is_autocast_enabled() or torch.is_autocast_cpu_enabled())
