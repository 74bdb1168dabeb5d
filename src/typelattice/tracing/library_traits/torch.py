"""PyTorch: autocast casts the operands of some operations, and its compiler reads bytecode."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from typelattice.core.dtypes.dtypes import DTYPES, DType
from typelattice.tracing.library_traits.array_values import is_real_float

AUTOCAST_DEVICES = ("cpu", "cuda", "mps", "xpu")
COMPILER_SWITCH = "torch._dynamo.config", "disable"
"""The module of the switch that turns off the compiler, and the switch's name. PyTorch imports the module
when it compiles. TORCH_COMPILE_DISABLE=1 also sets the switch."""

CAST_FORMAT = "{array}.to({dtype})"
"""How a program casts an array to a dtype."""


PLAIN_ARRAY_CLASSES = ("torch.Tensor",)

NUMPY_NAME_BY_OPTION = {"dim": "axis", "keepdim": "keepdims", "correction": "ddof"}
NUMPY_NAME_BY_FUNCTION = {"mm": "matmul", "bmm": "matmul", "mv": "matmul"}
LIKE_DEVIATION = ("var", "std")


def plain_call(
    name: str, operands: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[str, Sequence[Any], Mapping[str, Any]] | None:
    """Return a call as NumPy writes it, or None if NumPy has no such call.

    A method that writes into its array, such as `add_`, has a name with `=`, without the array.
    """
    options = {NUMPY_NAME_BY_OPTION.get(key, key): x for key, x in keywords.items()}
    plain = name.removesuffix("_")
    alpha = options.pop("alpha", 1)
    if alpha != 1:
        operands = [*operands[:-1], _scale_update(operands[-1], alpha)]
    if plain != name and operands and plain:
        return f"{plain}=", operands[1:], options
    if name in LIKE_DEVIATION:
        if any(type(x) is bool for x in operands):
            return None
        options = {"ddof": 1, **options}
    return NUMPY_NAME_BY_FUNCTION.get(name, name), operands, options


CONVERTING_METHODS = ("to", "type", "half", "float", "double", "bfloat16", "cpu", "cuda", "to_empty")
"""The methods of a module that cast its parameters and buffers in place, and return the module."""


def converted_arrays(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parameters and the buffers of a module with their names, or none of another object."""
    torch: Any = sys.modules.get("torch")
    cls = getattr(getattr(torch, "nn", None), "Module", None)
    if cls is not None and isinstance(module, cls):
        yield from cls.named_parameters(module)
        yield from cls.named_buffers(module)


def is_stand_in(x: Any) -> bool:
    """Return True for a tensor on the meta device."""
    return getattr(x, "is_meta", False) is True


FILE_SUFFIXES = (".pt", ".pth")
"""The usual suffixes of files that `torch.save` writes."""


def read_file(path: Path) -> object:
    """Return the tensors of a file that `torch.save` has written, or None if the library is not imported."""
    torch: Any = sys.modules.get("torch")
    return None if torch is None else torch.load(path, map_location="cpu", weights_only=True)


def _scale_update(x: Any, alpha: Any) -> Any:
    """Return the numbers that `add(x, alpha=0.1)` adds."""
    return read_values(x)[0] * alpha if type(alpha) in (int, float) else None


def read_values(x: Any) -> tuple[Any, DType | None]:
    """Return the values of a tensor in NumPy, and its dtype, or None if it has no values that can be read."""
    torch: Any = sys.modules["torch"]
    if not isinstance(x, torch.Tensor) or x.is_meta or x.is_quantized or x.layout is not torch.strided:
        return x, None
    is_wrapped = getattr(getattr(torch._C, "_functorch", None), "is_functorch_wrapped_tensor", None)
    if is_wrapped is not None and is_wrapped(x):
        return x, None
    dtype = DTYPES.get(str(x.dtype).removeprefix("torch."))
    if dtype is None or dtype.name == "complex32":
        return x, None
    with torch._C._DisableTorchDispatch():  # a mode of the program must not see our reading
        plain = x.detach().cpu().resolve_conj().resolve_neg()
        if is_real_float(dtype) and (dtype.bits or 64) <= 16 and dtype.name != "float16":
            plain = plain.float()
        return plain.numpy(), dtype


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
