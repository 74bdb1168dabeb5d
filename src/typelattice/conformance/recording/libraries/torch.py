"""PyTorch on the CPU, by itself and under autocast."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import torch

from typelattice.conformance.recording.libraries.framework_base import Framework, FunctionByOperation, Shape
from typelattice.conformance.recording.library import PythonNumber, versions_of
from typelattice.conformance.recording.operation_functions import find_functions

TORCH_DTYPES = (
    "bool",
    *(f"uint{bits}" for bits in (1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64)),
    *(f"int{bits}" for bits in (1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64)),
    *("float4_e2m1fn_x2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
    *("float8_e8m0fnu", "bfloat16", "float16", "float32", "float64"),
    *("complex32", "complex64", "complex128", "bcomplex32"),
)
"""Every dtype of a release that holds numbers; quantized and bits dtypes take no part in promotion."""


TORCH_NAME_BY_OPERATION = {"equal": "eq", "repeat": "repeat_interleave", "unique_values": "unique"}


FUNCTION_MODULES = (torch, torch.linalg, torch.fft, torch.special, torch.nn.functional)
"""Where torch keeps its functions."""


class Torch(Framework):
    """torch's own functions, on tensors of one dimension and of no dimensions."""

    name = "torch"
    how = "functions of torch and Python's operators on CPU tensors"
    binary_only_operations = ("result_type",)
    namespaces = (*FUNCTION_MODULES, torch.Tensor)

    def __init__(self) -> None:
        torch.set_num_threads(1)
        self.versions = versions_of("torch")
        self.native_dtypes = {name: getattr(torch, name) for name in TORCH_DTYPES if hasattr(torch, name)}

    def make_of_shape(self, shape: Shape, dtype: Any, value: PythonNumber) -> torch.Tensor:
        return _make_full_tensor(shape, dtype, value)

    def operations(self) -> FunctionByOperation:
        condition = torch.tensor([True, True])
        found = find_functions(FUNCTION_MODULES, condition, TORCH_NAME_BY_OPERATION, _make_matrix)
        del found["select"]  # torch's select takes an axis and an index
        return found | {
            "flip": lambda x: torch.flip(x, (0,)),
            "expand_dims": lambda x: torch.unsqueeze(x, 0),
            "matrix_transpose": lambda x: torch.broadcast_to(x, (2, 2)).mT,
            "take": lambda x: torch.take(x, torch.tensor([0])),
            "solve": lambda x, y: torch.linalg.solve(torch.diag(x), y),
            # torch.eig exists only to say that it was removed; so do torch.cholesky and torch.qr since 2.14.
            "eig": lambda x: torch.linalg.eig(torch.diag(x))[0],
            "cholesky": lambda x: torch.linalg.cholesky(_make_matrix(x)),
            "qr": lambda x: torch.linalg.qr(_make_matrix(x))[0],
            "pad": lambda x: torch.nn.functional.pad(x, (1, 1)),
            "split": lambda x: torch.split(x, 1)[0],
            "matrix_rank": lambda x: torch.linalg.matrix_rank(torch.broadcast_to(x, (2, 2))),
            "cumulative_sum": lambda x: torch.cumsum(x, 0),
            "cumulative_prod": lambda x: torch.cumprod(x, 0),
        }


def _make_matrix(array: torch.Tensor) -> torch.Tensor:
    """Return a diagonal matrix, which has an inverse, or one of ones if the dtype has no kernel to copy."""
    try:
        return torch.diag(array) if array.ndim else torch.broadcast_to(array, (2, 2))
    except NotImplementedError:
        return torch.broadcast_to(array, (2, 2))


def _make_full_tensor(shape: tuple[int, ...], dtype: torch.dtype, value: Any) -> torch.Tensor:
    """Return a tensor of a value, made from bytes if the dtype has no kernel to fill it.

    A nested list has the values of all elements.
    """
    if isinstance(value, list):
        return torch.tensor(value, dtype=dtype)
    try:
        return torch.full(shape, value, dtype=dtype)
    except NotImplementedError:
        return torch.ones(prod(shape) * dtype.itemsize, dtype=torch.uint8).view(dtype).reshape(shape)


class TorchAutocast(Torch):
    """The same functions under autocast, which first casts the operands of some of them."""

    name = "torch-autocast"
    how = "functions of torch and Python's operators on CPU tensors, under torch.autocast in bfloat16"

    def operations(self) -> FunctionByOperation:
        under_autocast = torch.autocast("cpu", dtype=torch.bfloat16)
        return {op: under_autocast(function) for op, function in super().operations().items()}

    def evaluate_call(
        self, function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> Any:
        """Return the result of a call under autocast."""
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return function(*args, **keywords)


LIBRARIES = {each.name: each for each in (Torch, TorchAutocast)}
