"""OpenVINO's import of PyTorch's functions, compiled for the CPU and run."""

from __future__ import annotations

from collections.abc import Callable

import openvino
import torch

from typelattice.conformance.imitations.alternative_implementations.torch_compiled import (
    EagerTorch,
    module_of,
)
from typelattice.conformance.recording.library import versions_of


class OpenVINO(EagerTorch):
    name = "openvino"
    how = "functions of torch as openvino.convert_model imports them, compiled for the CPU"

    def __init__(self) -> None:
        super().__init__()
        self.versions = versions_of("openvino", "torch")

    def call_transformed(self, function: Callable[..., object], tensors: list[torch.Tensor]) -> object:
        model = openvino.convert_model(module_of(function), example_input=tuple(tensors))
        return openvino.compile_model(model, "CPU")(tensors)[0]


IMPLEMENTATIONS = {OpenVINO.name: OpenVINO}
