"""ndonnx: the array API on ONNX graphs."""

from __future__ import annotations

from typing import Any

import ndonnx as ndx

from typelattice.conformance.recording.libraries.framework_base import Framework, FunctionByOperation, Shape
from typelattice.conformance.recording.library import PythonNumber, versions_of
from typelattice.conformance.recording.operation_functions import (
    find_functions,
    return_array_itself,
    skip_unless_numbers,
)

NDONNX_DTYPES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64"),
)
"""The dtypes of numbers; the nullable ones and the strings are left out."""


class NDONNX(Framework):
    """Inputs of a graph, which have a dtype and no values."""

    name = "ndonnx"
    how = "functions of ndonnx on graph inputs"
    namespaces = (ndx,)

    def __init__(self) -> None:
        self.versions = versions_of("ndonnx")
        self.native_dtypes = {name: getattr(ndx, name) for name in NDONNX_DTYPES}

    def make_of_shape(self, shape: Shape, dtype: Any, value: PythonNumber) -> Any:
        return ndx.argument(shape=shape, dtype=dtype)

    def operations(self) -> FunctionByOperation:
        return find_functions((ndx,), self.make_array(ndx.bool, True), copy_array=return_array_itself) | {
            "expand_dims": lambda x: ndx.expand_dims(x, axis=0),
            "tensordot": lambda x, y: ndx.tensordot(x, y, axes=1),
            "full": skip_unless_numbers(lambda x: ndx.full((2,), x)),
            "arange": skip_unless_numbers(ndx.arange),
            "linspace": skip_unless_numbers(lambda x, y: ndx.linspace(x, y, 3)),
        }


LIBRARIES = {NDONNX.name: NDONNX}
