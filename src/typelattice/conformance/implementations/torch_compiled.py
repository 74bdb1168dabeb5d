"""PyTorch's functions compiled by torch.compile, exported by torch.export, and run by onnxruntime."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from typelattice.conformance.libraries.framework import Operations
from typelattice.conformance.libraries.torch import Torch
from typelattice.conformance.library import versions_of


class Compiled(Torch):
    """Each call compiled anew; what cannot be compiled runs as it is, as it does for a user."""

    name = "torch-compile"
    how = "functions of torch under torch.compile(backend='eager')"
    backend = "eager"

    def operations(self) -> Operations:
        found = super().operations()
        return {op: self.asked(found[op]) for op in found if op != "result_type"}  # it computes nothing

    def asked(self, function: Callable[..., object]) -> Callable[..., object]:
        """Return a function that transforms its call; Python scalars are constants."""

        @functools.wraps(function)
        def call(*operands: object) -> object:
            tensors = [x for x in operands if isinstance(x, torch.Tensor)]

            def of_tensors(*inputs: object) -> object:
                rest = iter(inputs)
                return function(*(next(rest) if isinstance(x, torch.Tensor) else x for x in operands))

            return self.transformed(of_tensors, tensors)

        return call

    def transformed(self, function: Callable[..., object], tensors: list[torch.Tensor]) -> object:
        torch._dynamo.reset()
        return torch.compile(function, backend=self.backend, dynamic=False)(*tensors)


class AheadOfTime(Compiled):
    name, backend = "torch-aot", "aot_eager"
    how = "functions of torch under torch.compile(backend='aot_eager')"


class Inductor(Compiled):
    name, backend = "torch-inductor", "inductor"
    how = "functions of torch under torch.compile"


class Exported(Compiled):
    name = "torch-export"
    how = "functions of torch as programs of torch.export"

    def transformed(self, function: Callable[..., object], tensors: list[torch.Tensor]) -> object:
        return torch.export.export(_module(function), tuple(tensors)).module()(*tensors)


class ONNX(Compiled):
    name = "torch-onnx"
    how = "functions of torch as torch.onnx.export writes them, run by onnxruntime"

    def __init__(self) -> None:
        super().__init__()
        self.versions = versions_of("torch", "onnxscript", "onnxruntime")

    def transformed(self, function: Callable[..., object], tensors: list[torch.Tensor]) -> object:
        program: Any = torch.onnx.export(_module(function), tuple(tensors), dynamo=True, verbose=False)
        return program(*tensors)[0]


def _module(function: Callable[..., object]) -> Any:
    module: Any = torch.nn.Module()
    module.forward = function
    return module


IMPLEMENTATIONS = {each.name: each for each in (Compiled, AheadOfTime, Inductor, Exported, ONNX)}
