"""Keras: its lattice, its ops on symbolic tensors, and their results on each backend."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from typelattice.conformance.recording.libraries.framework_base import Framework, FunctionByOperation, Shape
from typelattice.conformance.recording.library import (
    NoSuchOperandError,
    NotAskedError,
    PythonNumber,
    versions_of,
)
from typelattice.conformance.recording.operation_functions import find_functions, first_result, skip_without
from typelattice.core.operations.operations import OPERATIONS, OPERATORS

KERAS_DTYPES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "float64"),
    *("complex64", "complex128"),
)

KERAS_NAME_BY_OPERATION = {
    "permute_dims": "transpose",
    "unique_values": "unique",
}
"""What keras.ops calls operations by a name of its own."""

VALUE_DEPENDENT_OPERATIONS = {"arange"}
"""Operations whose result is as long as the operands say: a symbolic tensor does not say."""


class Keras(Framework):
    """Symbolic tensors, which may have any dtype, even one that the backend cannot hold."""

    backend: str
    packages: tuple[str, ...]

    def __init__(self) -> None:
        os.environ["KERAS_BACKEND"] = self.backend  # Keras reads this once, when it is imported
        import keras

        self.keras = keras
        self.namespaces = (keras.ops, keras.activations, keras.losses)
        self.name = f"keras-{self.backend}"
        self.how = f"keras.backend.result_type, keras.ops on KerasTensors; {self.backend} backend"
        self.versions = versions_of("keras", *self.packages)
        self.native_dtypes = {name: name for name in KERAS_DTYPES}

    def make_of_shape(self, shape: Shape, dtype: Any, value: PythonNumber) -> Any:
        return self.keras.KerasTensor(shape, dtype=dtype)

    def read(self, result: object) -> str:
        dtype = getattr(result, "dtype", result)
        known = isinstance(result, (bool, int, float, complex))
        return super().read(result) if known else self.keras.backend.standardize_dtype(dtype)

    def result_type(self, *operands: Any) -> Any:
        """Call it as keras.ops do: pass the type of a Python scalar in its place."""
        dtypes = [getattr(operand, "dtype", type(operand)) for operand in operands]
        return self.keras.backend.result_type(*dtypes)

    def operations(self) -> FunctionByOperation:
        condition = self.keras.KerasTensor((2,), dtype="bool")
        found = find_functions((self.keras.ops,), condition, KERAS_NAME_BY_OPERATION)
        symbolic = {op: found[op] for op in found if op not in VALUE_DEPENDENT_OPERATIONS}
        symbolic |= self.functions_with_arguments()
        tensor = self.keras.KerasTensor  # the backend computes calls without one
        asked = {op: skip_without(tensor, "no operand is symbolic", f) for op, f in symbolic.items()}
        return {"result_type": self.result_type} | asked

    def functions_with_arguments(self) -> FunctionByOperation:
        """Return the functions that need further arguments or dimensions."""
        ops = self.keras.ops
        return {
            "broadcast_to": lambda x: ops.broadcast_to(x, (2, 2)),
            "expand_dims": lambda x: ops.expand_dims(x, 0),
            "hstack": lambda *arrays: ops.hstack([ops.broadcast_to(x, (2, 2)) for x in arrays]),
            "searchsorted": ops.searchsorted,
            "take": lambda x: ops.take(x, [0]),
        }


class KerasOnJAX(Keras):
    backend = "jax"
    packages = ("jax",)


class KerasOnTensorFlow(Keras):
    backend = "tensorflow"
    packages = ("tensorflow-cpu",)


class KerasOnTorch(Keras):
    backend = "torch"
    packages = ("torch",)


class KerasOnNumPy(Keras):
    backend = "numpy"
    packages = ("numpy",)


class KerasLattice(KerasOnNumPy):
    """The lattice beneath: result_type before it turns 64 bits into 32."""

    def __init__(self) -> None:
        super().__init__()
        from keras.src.backend.common import dtypes

        dtypes.BIT64_TO_BIT32_DTYPE = {}
        self.name = "keras"
        self.how = "keras.backend.result_type with BIT64_TO_BIT32_DTYPE emptied; numpy backend"

    def operations(self) -> FunctionByOperation:
        return {"result_type": self.result_type}


class ComputedKeras(Keras):
    """Arrays of the backend. Their operators are the backend's own, and are left out here."""

    way = "computed"

    def __init__(self) -> None:
        super().__init__()
        self.name = f"keras-{self.backend}-computed"
        self.how = f"keras.ops on arrays, {self.way}; {self.backend} backend"

    def make_of_shape(self, shape: Shape, dtype: Any, value: PythonNumber) -> Any:
        """Return an array of a dtype. Raises NoSuchOperandError if the backend gives it another dtype."""
        try:
            made = self.keras.ops.cast(self.keras.ops.full(shape, value), dtype)
        except ValueError as error:  # PyTorch has no uint64
            raise NoSuchOperandError(str(error)) from error
        if self.keras.backend.standardize_dtype(made.dtype) != dtype:
            raise NoSuchOperandError(f"{self.backend} makes {made.dtype} of {dtype}")
        return made

    def operations(self) -> FunctionByOperation:
        ops = self.keras.ops
        condition = ops.ones((2,), "bool")
        found = find_functions((ops,), condition, KERAS_NAME_BY_OPERATION, self.matrix)
        asked = {op: found[op] for op in found if op not in OPERATORS} | self.functions_with_arguments()
        asked |= {
            "result_type": self.result_type,
            "nonzero": lambda x: first_result(ops.nonzero(x)),
            "clip": self.clip,
        }
        return {op: self.wrap_function(op, function) for op, function in asked.items()}

    def clip(self, *operands: object) -> object:
        """Clip with both bounds, which Keras always needs."""
        if len(operands) < 3:
            raise NotAskedError("a bound is missing")
        return self.keras.ops.clip(*operands)

    def wrap_function(self, op_name: str, function: Callable[..., object]) -> Callable[..., object]:
        """Return a function as the recorder calls it."""
        return function

    def matrix(self, x: Any) -> Any:
        """Return a diagonal matrix."""
        raise NotImplementedError


class ComputedKerasOnJAX(ComputedKeras, KerasOnJAX):
    way = "traced by eval_shape; computed if that fails for want of values, and linear algebra of half floats"

    def __init__(self) -> None:
        import jax

        jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_traceback_filtering", "off")
        super().__init__()

    def wrap_function(self, op_name: str, function: Callable[..., object]) -> Callable[..., object]:
        import jax

        from typelattice.conformance.recording.libraries.jax import trace_or_compute

        traced = trace_or_compute(op_name, function)

        @functools.wraps(function)
        def call(*operands: object) -> object:
            try:
                return traced(*operands)
            except jax.errors.ConcretizationTypeError:
                return function(*operands)

        return function if op_name == "result_type" else call

    def matrix(self, x: Any) -> Any:
        import jax.numpy as jnp

        return jnp.diag(x)


class ComputedKerasOnTensorFlow(ComputedKeras, KerasOnTensorFlow):
    def wrap_function(self, op_name: str, function: Callable[..., object]) -> Callable[..., object]:
        from typelattice.conformance.recording.libraries.tensorflow import clear_cache_first

        return clear_cache_first(function)

    def matrix(self, x: Any) -> Any:
        import tensorflow as tf

        return tf.linalg.diag(x)


class ComputedKerasOnTorch(ComputedKeras, KerasOnTorch):
    def matrix(self, x: Any) -> Any:
        import torch

        return torch.diag(x)


class ComputedKerasOnNumPy(ComputedKeras, KerasOnNumPy):
    def matrix(self, x: Any) -> Any:
        import numpy as np

        return np.diag(x)


class KerasMixedFloat16(ComputedKerasOnJAX):
    """Layers under the policy mixed_float16, which cast their floats before they compute."""

    def __init__(self) -> None:
        super().__init__()
        self.keras.config.set_dtype_policy("mixed_float16")
        self.name = "keras-mixed-float16"
        self.how = "layers such as Add, Dot and Activation under the policy mixed_float16; jax backend"

    def make_0d_array(self, dtype: Any, value: PythonNumber) -> Any:
        raise NoSuchOperandError("a layer takes batches")

    def operations(self) -> FunctionByOperation:
        layers = self.keras.layers
        merging = {
            "add": layers.Add, "subtract": layers.Subtract, "multiply": layers.Multiply,
            "maximum": layers.Maximum, "minimum": layers.Minimum,
        }  # fmt: skip
        activations = [name for name in OPERATIONS if hasattr(self.keras.activations, name)]
        return {
            **{op: self.call_merging_layer(layer) for op, layer in merging.items()},
            **{op: layers.Activation(op) for op in activations},
            "concat": lambda *arrays: layers.Concatenate(axis=0)(list(arrays)),
            "matmul": self.dot,
        }

    def call_merging_layer(self, layer: Callable[[], Any]) -> Callable[..., object]:
        """Return a function of arrays for a layer that takes a list of them."""
        return lambda *arrays: layer()(list(arrays))

    def dot(self, *arrays: Any) -> object:
        """Multiply matrices by the layer Dot, which needs batches of them."""
        shape = (1, 2, 2)
        batches = [self.keras.ops.broadcast_to(x, shape) if hasattr(x, "dtype") else x for x in arrays]
        return self.keras.layers.Dot(axes=(2, 1))(batches)


LIBRARIES = {
    "keras": KerasLattice,
    "keras-jax": KerasOnJAX,
    "keras-tensorflow": KerasOnTensorFlow,
    "keras-torch": KerasOnTorch,
    "keras-numpy": KerasOnNumPy,
    "keras-jax-computed": ComputedKerasOnJAX,
    "keras-tensorflow-computed": ComputedKerasOnTensorFlow,
    "keras-torch-computed": ComputedKerasOnTorch,
    "keras-numpy-computed": ComputedKerasOnNumPy,
    "keras-mixed-float16": KerasMixedFloat16,
}
