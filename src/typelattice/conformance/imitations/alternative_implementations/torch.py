"""PyTorch's meta and fake tensors, and `torch._numpy`, with which torch.compile runs NumPy code."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch._numpy as tnp
from torch._subclasses.fake_tensor import FakeTensorMode

from typelattice.conformance.recording.libraries.framework_base import FunctionByOperation
from typelattice.conformance.recording.libraries.numpy import NUMPY_NAME_BY_OPERATION, NumPy
from typelattice.conformance.recording.libraries.torch import Torch
from typelattice.conformance.recording.library import NoSuchOperandError, ParsedOperandString, versions_of
from typelattice.conformance.recording.operation_functions import find_functions, list_operators


class MetaTensors(Torch):
    """Tensors with a shape and a dtype and no values."""

    name = "torch-meta"
    how = "functions of torch on tensors of the meta device"

    def __init__(self) -> None:
        super().__init__()
        torch.set_default_device("meta")


class FakeTensors(Torch):
    """Tensors that torch.compile and torch.export trace with."""

    name = "torch-fake"
    how = "functions of torch under FakeTensorMode"

    def __init__(self) -> None:
        super().__init__()
        FakeTensorMode().__enter__()

    def operations(self) -> FunctionByOperation:
        found = super().operations()
        # Copy by torch.clone: a deep copy of a fake tensor would have another mode.
        return found | {op: f for op, f in list_operators(torch.clone).items() if op in found}


class TorchNumPy(NumPy):
    """NumPy's functions in torch.compile."""

    name = "torch-numpy"
    how = "functions of torch._numpy on its arrays"

    def __init__(self) -> None:
        self.versions = versions_of("torch")

    def make(self, operand: str) -> object:
        if ":scalar" in operand or ParsedOperandString.parse(operand).dtype in ("uint16", "uint32", "uint64"):
            raise NoSuchOperandError(operand)  # torch._numpy has neither scalars nor these dtypes
        made = super().make(operand)
        return tnp.asarray(made) if isinstance(made, np.ndarray) else made

    def dtype_name(self, dtype: Any) -> str:
        return super().dtype_name(dtype).rstrip("_")  # its bool is called `bool_`

    def operations(self) -> FunctionByOperation:
        found = find_functions((tnp, tnp.linalg, tnp.fft), tnp.asarray([True, True]), NUMPY_NAME_BY_OPERATION)
        return found | {"expand_dims": lambda x: tnp.expand_dims(x, 0)}


IMPLEMENTATIONS = {each.name: each for each in (MetaTensors, FakeTensors, TorchNumPy)}
