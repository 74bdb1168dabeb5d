"""Modular MAX: operations of a graph."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from max.dtype import DType
from max.graph import DeviceRef, Graph, TensorType, TensorValue, ops

from typelattice.conformance.recording.libraries.framework_base import (
    ONE_AXIS,
    Framework,
    FunctionByOperation,
)
from typelattice.conformance.recording.library import (
    NoSuchOperandError,
    PythonNumber,
    versions_of,
)
from typelattice.conformance.recording.operation_functions import find_functions, skip_without
from typelattice.core.operations.operations import OPERATIONS

MAX_DTYPES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e4m3fn", "float8_e4m3fnuz"),
    *("float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
    *("bfloat16", "float16", "float32", "float64"),
)


class MAXGraph(Framework):
    """Inputs of a MAX graph. NumPy arrays count as weak operands, because MAX treats them like Python
    scalars.
    """

    name = "max"
    namespaces = (ops,)
    how = "max.graph.ops on graph inputs, < by operator; NumPy arrays are the weak ones"

    def __init__(self) -> None:
        self.versions = versions_of("max")
        self.native_dtypes = {name: DType[name] for name in MAX_DTYPES}
        inputs = [(dtype, shape) for dtype in self.native_dtypes.values() for shape in (ONE_AXIS, ())]
        types = [TensorType(dtype, shape, device=DeviceRef.CPU()) for dtype, shape in inputs]
        self.graph = Graph("promotion", input_types=types)
        self.graph.__enter__()  # ops are built into the open graph
        self.inputs = dict(zip(inputs, self.graph.inputs, strict=True))

    def make_array(self, dtype: Any, value: PythonNumber) -> Any:
        return self.inputs[dtype, ONE_AXIS].tensor

    def make_0d_array(self, dtype: Any, value: PythonNumber) -> Any:
        return self.inputs[dtype, ()].tensor

    def make_weak_array(self, dtype: Any, value: PythonNumber) -> Any:
        if dtype.name == "bool" or not hasattr(np, dtype.name):
            raise NoSuchOperandError(f"NumPy has no weak {dtype.name}")
        return np.full(2, value, dtype.name)

    def operations(self) -> FunctionByOperation:
        renamed = {"divide": "div", "floor_divide": "floor_div", "maximum": "max", "minimum": "min"}
        found = find_functions((ops,), self.make_array(DType.bool, True), renamed)
        found |= {
            "less": skip_without(TensorValue, "no operand is a tensor of the graph", operator.lt),
            "expand_dims": lambda x: ops.unsqueeze(x, 0),
            "nonzero": lambda x: ops.nonzero(x, "found"),
            "pad": lambda x: ops.pad(x, [1, 1]),
            "split": lambda x: ops.split(x, [1, 1])[0],
        }
        del found["irfft"]  # irfft exists only on a GPU
        # If one operand of an operator is a NumPy array, NumPy would answer instead of MAX. So operators are
        # left out.
        return {op: found[op] for op in found if op in OPERATIONS}


LIBRARIES = {MAXGraph.name: MAXGraph}
