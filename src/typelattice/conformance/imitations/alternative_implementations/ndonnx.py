"""ndonnx on arrays with values, which onnxruntime computes; its recording has the dtypes of graphs."""

from __future__ import annotations

from typing import Any

import ndonnx as ndx
import numpy as np

from typelattice.conformance.recording.libraries.framework_base import FunctionByOperation, Shape
from typelattice.conformance.recording.libraries.ndonnx import NDONNX
from typelattice.conformance.recording.library import PythonNumber


class EagerNDONNX(NDONNX):
    """Arrays with known values."""

    name = "ndonnx-eager"
    how = "functions of ndonnx on arrays of NumPy, computed"

    def make_of_shape(self, shape: Shape, dtype: Any, value: PythonNumber) -> Any:
        return ndx.asarray(np.full(shape, value).astype(self.dtype_name(dtype)))

    def operations(self) -> FunctionByOperation:
        found = super().operations()
        return {op: found[op] for op in found if op != "result_type"}  # result_type computes nothing

    def read(self, result: object) -> str:
        compute = getattr(result, "unwrap_numpy", None)
        return str(compute().dtype.name) if compute else super().read(result)


IMPLEMENTATIONS = {EagerNDONNX.name: EagerNDONNX}
