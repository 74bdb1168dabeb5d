"""Keras: its lattice alone, and result_type and the ops on each backend."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from typelattice.conformance.functions import functions
from typelattice.conformance.libraries.framework import Framework, Operations
from typelattice.conformance.library import NotAskedError, Scalar, versions_of

DTYPES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "float64"),
    *("complex64", "complex128"),
)

RENAMED = {
    "permute_dims": "transpose",
    "unique_values": "unique",
}
"""What keras.ops calls operations by a name of its own."""

LINEAR = {
    *("solve", "cholesky", "inv", "pinv", "det", "qr", "eigh", "svd", "slogdet", "matrix_rank", "eig"),
    *("fft", "rfft", "irfft"),
}
"""Operations whose symbolic tensor has the operand's dtype, whatever the backend then computes."""

VALUES = {"arange"}
"""Operations whose result is as long as the operands say: a symbolic tensor does not say."""


class Keras(Framework):
    """Symbolic tensors, which may be of any dtype, also of one that the backend cannot hold."""

    backend: str
    packages: tuple[str, ...]

    def __init__(self) -> None:
        os.environ["KERAS_BACKEND"] = self.backend  # read once, on import
        import keras

        self.keras = keras
        self.spaces = (keras.ops, keras.activations)
        self.name = f"keras-{self.backend}"
        self.how = f"keras.backend.result_type, keras.ops on KerasTensors; {self.backend} backend"
        self.versions = versions_of("keras", *self.packages)
        self.native = {name: name for name in DTYPES}

    def array(self, dtype: Any, value: Scalar) -> Any:
        return self.keras.KerasTensor((2,), dtype=dtype)

    def zero_d(self, dtype: Any, value: Scalar) -> Any:
        return self.keras.KerasTensor((), dtype=dtype)

    def read(self, result: object) -> str:
        dtype = getattr(result, "dtype", result)
        known = isinstance(result, (bool, int, float, complex))
        return super().read(result) if known else self.keras.backend.standardize_dtype(dtype)

    def result_type(self, *operands: Any) -> Any:
        """Call it as keras.ops do: pass the type of a Python scalar in its place."""
        dtypes = [getattr(operand, "dtype", type(operand)) for operand in operands]
        return self.keras.backend.result_type(*dtypes)

    def operations(self) -> Operations:
        condition = self.keras.KerasTensor((2,), dtype="bool")
        found = functions((self.keras.ops,), condition, RENAMED)
        symbolic = {op: found[op] for op in found if op not in LINEAR and op not in VALUES} | {
            "broadcast_to": lambda x: self.keras.ops.broadcast_to(x, (2, 2)),
            "expand_dims": lambda x: self.keras.ops.expand_dims(x, 0),
            "hstack": lambda *arrays: self.keras.ops.hstack(
                [self.keras.ops.broadcast_to(x, (2, 2)) for x in arrays]  # one dimension is too few
            ),
            "searchsorted": self.keras.ops.searchsorted,
            "take": lambda x: self.keras.ops.take(x, [0]),
        }
        asked = {op: self.of_tensors(function) for op, function in symbolic.items()}
        return {"result_type": self.result_type} | asked

    def of_tensors(self, function: Callable[..., object]) -> Callable[..., object]:
        """A function that is not asked of Python scalars alone: without a tensor, the backend computes."""

        @functools.wraps(function)
        def call(*operands: object) -> object:
            if not any(isinstance(operand, self.keras.KerasTensor) for operand in operands):
                raise NotAskedError("no operand is symbolic")
            return function(*operands)

        return call


class Jax(Keras):
    backend = "jax"
    packages = ("jax",)


class TensorFlow(Keras):
    backend = "tensorflow"
    packages = ("tensorflow-cpu",)


class Torch(Keras):
    backend = "torch"
    packages = ("torch",)


class NumPy(Keras):
    backend = "numpy"
    packages = ("numpy",)


class Lattice(NumPy):
    """The lattice beneath: result_type before it turns 64 bits into 32."""

    def __init__(self) -> None:
        super().__init__()
        from keras.src.backend.common import dtypes

        dtypes.BIT64_TO_BIT32_DTYPE = {}
        self.name = "keras"
        self.how = "keras.backend.result_type with BIT64_TO_BIT32_DTYPE emptied; numpy backend"

    def operations(self) -> Operations:
        return {"result_type": self.result_type}


LIBRARIES = {
    "keras": Lattice,
    "keras-jax": Jax,
    "keras-tensorflow": TensorFlow,
    "keras-torch": Torch,
    "keras-numpy": NumPy,
}
