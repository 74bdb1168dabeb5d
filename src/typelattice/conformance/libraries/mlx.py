"""MLX on the CPU."""

from __future__ import annotations

from typing import Any

import mlx.core as mx

from typelattice.conformance.functions import further_operations
from typelattice.conformance.libraries.base import Framework, Operations
from typelattice.conformance.library import Scalar, standard_operations, versions_of

NAMES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("bfloat16", "float16", "float32", "float64", "complex64"),
)


class MLX(Framework):
    """Lazy arrays, which know their dtype without being computed."""

    name = "mlx"
    how = "functions of mlx.core on the CPU"

    def __init__(self) -> None:
        mx.set_default_device(mx.cpu)
        self.versions = versions_of("mlx")
        self.native = {name: getattr(mx, {"bool": "bool_"}.get(name, name)) for name in NAMES}

    def array(self, dtype: Any, value: Scalar) -> Any:
        return mx.array([value, value]).astype(dtype)  # mx.full takes bool_ for no dtype at all

    def zero_d(self, dtype: Any, value: Scalar) -> Any:
        return mx.array(value).astype(dtype)

    def operations(self) -> Operations:
        condition = mx.array([True, True])
        renamed = {"bitwise_left_shift": "left_shift", "atan2": "arctan2", "concat": "concatenate", "cumulative_sum": "cumsum"}
        further = {name: f"arc{name[1:]}" for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh")}
        further |= {"bitwise_right_shift": "right_shift", "cumulative_prod": "cumprod", "permute_dims": "transpose"}
        found = standard_operations(mx, condition, **renamed)
        return found | further_operations((mx, mx.linalg, mx.fft), condition, further) | {
            "take": lambda x: mx.take(x, mx.array([0])),
            "expand_dims": lambda x: mx.expand_dims(x, 0),
            "vector_norm": mx.linalg.norm,
        }


LIBRARIES = {MLX.name: MLX}
