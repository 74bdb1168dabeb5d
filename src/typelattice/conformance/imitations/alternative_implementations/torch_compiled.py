"""PyTorch's functions compiled by torch.compile, exported by torch.export, and run by onnxruntime.

`torch-eager` answers for PyTorch itself: recordings hold only functions that several libraries have.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import torch

from typelattice.conformance.recording.libraries.framework_base import FunctionByOperation
from typelattice.conformance.recording.libraries.torch import Torch
from typelattice.conformance.recording.library import NotAskedError, versions_of
from typelattice.conformance.recording.operation_functions import (
    SpelledFunction,
    bind_constants,
    list_operators,
)
from typelattice.core.operations.operations import OPERATORS, Operation, make_custom_operation

UNARY_NAMES_BY_MODULE: Mapping[Any, str] = {
    torch: "digamma erfc erfinv frac i0 lgamma logit sgn sinc",
    torch.special: "airy_ai bessel_j0 entr erfcx i0e i1 log_ndtr ndtr ndtri",
    torch.nn.functional: "elu hardswish logsigmoid mish relu6 selu softplus softsign tanhshrink",
}
BINARY_NAMES_BY_MODULE: Mapping[Any, str] = {
    torch: "complex dist igamma ldexp logaddexp2 polar xlogy",
    torch.special: "xlog1py zeta",
    torch.nn.functional: "huber_loss kl_div l1_loss linear mse_loss",
}
"""Functions that PyTorch alone has, or that few others have, of one tensor and of two."""


def _functions_by_operation(spaces: Mapping[Any, str]) -> FunctionByOperation:
    """Return the functions by operation, such as `special_zeta`."""
    return {
        f"{space.__name__.rpartition('.')[2]}_{name}": SpelledFunction(found, f"{space.__name__}.{name}")
        for space, names in spaces.items()
        for name in names.split()
        if (found := getattr(space, name, None))
    }


class EagerTorch(Torch):
    """Functions of torch that compute."""

    name = "torch-eager"
    how = "functions of torch, computed"
    custom_operations: Mapping[str, Operation] = {
        name: make_custom_operation(name, "cbrt", operands)
        for spaces, operands in ((UNARY_NAMES_BY_MODULE, "x"), (BINARY_NAMES_BY_MODULE, "xy"))
        for name in _functions_by_operation(spaces)
    }

    def __init__(self) -> None:
        super().__init__()
        self.call_transformed(lambda x: -x, [torch.ones(2)])  # a first call loads modules for many seconds

    def operations(self) -> FunctionByOperation:
        found = (
            super().operations()
            | _functions_by_operation(UNARY_NAMES_BY_MODULE)
            | _functions_by_operation(BINARY_NAMES_BY_MODULE)
        )
        # Copy by torch.clone: a deep copy of a traced tensor would be a constant.
        found |= {
            op: f
            for op, f in list_operators(torch.clone).items()
            if op in found and OPERATORS[op].is_in_place
        }
        # result_type computes nothing, so there is no call to transform
        return {op: self.as_whole(found[op]) for op in found if op != "result_type"}

    def as_whole(self, function: Callable[..., object]) -> Callable[..., object]:
        """Return a function of tensors and Python scalars that transforms its call."""

        @functools.wraps(function)
        def call(*operands: object) -> object:
            return self.call_transformed(*bind_constants(function, operands, torch.Tensor))

        return call

    def call_transformed(self, function: Callable[..., object], tensors: list[torch.Tensor]) -> object:
        """Call a function; a subclass transforms it first. Python scalars are constants in it."""
        return function(*tensors)


class CompiledTorch(EagerTorch):
    """Each call compiled again; what cannot be compiled runs unchanged, as for a user."""

    name = "torch-compile"
    how = "functions of torch under torch.compile(backend='eager')"
    backend = "eager"

    def call_transformed(self, function: Callable[..., object], tensors: list[torch.Tensor]) -> object:
        torch._dynamo.reset()
        return torch.compile(function, backend=self.backend, dynamic=False)(*tensors)


class AOTTorch(CompiledTorch):
    name, backend = "torch-aot", "aot_eager"
    how = "functions of torch under torch.compile(backend='aot_eager')"


class InductorTorch(CompiledTorch):
    name, backend = "torch-inductor", "inductor"
    how = "functions of torch under torch.compile"


class ExportedTorch(EagerTorch):
    name = "torch-export"
    how = "functions of torch as programs of torch.export"

    def call_transformed(self, function: Callable[..., object], tensors: list[torch.Tensor]) -> object:
        return torch.export.export(module_of(function), tuple(tensors)).module()(*tensors)


class ONNXTorch(EagerTorch):
    name = "torch-onnx"
    how = "functions of torch as torch.onnx.export writes them, run by onnxruntime"

    def __init__(self) -> None:
        super().__init__()
        self.versions = versions_of("torch", "onnxscript", "onnxruntime")

    def call_transformed(self, function: Callable[..., object], tensors: list[torch.Tensor]) -> object:
        try:
            program: Any = torch.onnx.export(module_of(function), tuple(tensors), dynamo=True, verbose=False)
        except torch.onnx.OnnxExporterError as error:  # the exporter's own message is always the same
            raise type(error)(_innermost_error(error)) from None
        given = program.exported_program.graph.output_node().args[0][0]
        if given.meta["val"].is_complex():
            raise NotAskedError("ONNX has no complex numbers: the program gives each as two floats")
        return program(*tensors)[0]


def _innermost_error(error: BaseException) -> BaseException:
    """Return the first of the errors that led to this one."""
    return _innermost_error(error.__cause__) if error.__cause__ else error


def module_of(function: Callable[..., object]) -> Any:
    """Return a module that calls a function, for exporters."""
    module: Any = torch.nn.Module()
    module.forward = function
    return module


IMPLEMENTATIONS = {
    each.name: each for each in (EagerTorch, CompiledTorch, AOTTorch, InductorTorch, ExportedTorch, ONNXTorch)
}
