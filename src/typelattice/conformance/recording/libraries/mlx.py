"""MLX on the CPU."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
from mlx import nn

from typelattice.conformance.recording.libraries.framework_base import Framework, FunctionByOperation, Shape
from typelattice.conformance.recording.library import PythonNumber, versions_of
from typelattice.conformance.recording.operation_functions import find_functions, skip_unless_numbers

MLX_DTYPES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("bfloat16", "float16", "float32", "float64", "complex64"),
)


class MLX(Framework):
    """MLX, to be recorded; its arrays are lazy, and know their dtype without being computed."""

    name = "mlx"
    how = "functions of mlx.core on the CPU"
    namespaces = (mx, mx.linalg, mx.fft, nn.losses, mx.fast, nn)

    def __init__(self) -> None:
        mx.set_default_device(mx.cpu)
        self.versions = versions_of("mlx")
        self.native_dtypes = {name: getattr(mx, {"bool": "bool_"}.get(name, name)) for name in MLX_DTYPES}

    def make_of_shape(self, shape: Shape, dtype: Any, value: PythonNumber) -> Any:
        return mx.full(shape, mx.array(value)).astype(dtype)  # mx.full does not read bool_ as a dtype

    def operations(self) -> FunctionByOperation:
        condition = mx.array([True, True])
        renamed = {"permute_dims": "transpose"}
        return find_functions((mx, mx.linalg, mx.fft), condition, renamed) | {
            "take": lambda x: mx.take(x, mx.array([0])),
            "expand_dims": lambda x: mx.expand_dims(x, 0),
            "vector_norm": mx.linalg.norm,
            "arange": skip_unless_numbers(mx.arange),
            "linspace": skip_unless_numbers(lambda x, y: mx.linspace(x, y, 3)),
        }


LIBRARIES = {MLX.name: MLX}
