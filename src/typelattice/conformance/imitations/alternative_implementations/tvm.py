"""TVM's import of PyTorch's exported programs, compiled for the CPU and run."""

from __future__ import annotations

from collections.abc import Callable

import torch
import tvm
from tvm.relax.frontend.torch import from_exported_program

from typelattice.conformance.imitations.alternative_implementations.torch_compiled import (
    EagerTorch,
    module_of,
)
from typelattice.conformance.recording.library import versions_of


class TVM(EagerTorch):
    name = "tvm"
    how = "functions of torch, exported, as TVM's Relax imports them, compiled for the CPU"

    def __init__(self) -> None:
        super().__init__()
        self.versions = versions_of("apache-tvm", "torch")

    def call_transformed(self, function: Callable[..., object], tensors: list[torch.Tensor]) -> object:
        program = torch.export.export(module_of(function), tuple(tensors))
        built = tvm.compile(from_exported_program(program), target="llvm")
        machine = tvm.relax.VirtualMachine(built, tvm.cpu())
        return torch.from_dlpack(machine["main"](*map(tvm.runtime.from_dlpack, tensors))[0])


IMPLEMENTATIONS = {TVM.name: TVM}
