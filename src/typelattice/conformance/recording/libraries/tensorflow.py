"""TensorFlow: its default mode, eager and in `tf.function`, and the three modes of tf.experimental.numpy."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.framework.weak_tensor import WeakTensor

from typelattice.conformance.recording.libraries.framework_base import Framework, FunctionByOperation, Shape
from typelattice.conformance.recording.library import (
    NoSuchOperandError,
    PythonNumber,
    versions_of,
)
from typelattice.conformance.recording.operation_functions import (
    bind_constants,
    find_functions,
    list_operators,
    return_array_itself,
)
from typelattice.conformance.recording.questions import COMMON_DTYPE_PATTERN
from typelattice.core.operations.operations import OPERATORS

TENSORFLOW_DTYPES = (
    *("bool", "uint2", "uint4", "uint8", "uint16", "uint32", "uint64"),
    *("int2", "int4", "int8", "int16", "int32", "int64"),
    *("float4_e2m1fn", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz"),
    *("float8_e5m2", "float8_e5m2fnuz", "bfloat16", "float16", "float32", "float64"),
    *("complex64", "complex128"),
)

TENSORFLOW_NAME_BY_OPERATION = {
    "permute_dims": "transpose",
    "unique_values": "unique",
    "nonzero": "where",
    "matrix_norm": "norm",
    "vector_norm": "norm",
}
"""What tf calls operations by a name of its own."""

LEGACY_NAME_BY_OPERATION = {"permute_dims": "transpose"}
"""What tf.experimental.numpy does."""


class TensorFlow(Framework):
    """Functions of tf, which convert the right operand to the dtype of the left."""

    name = "tensorflow"
    how = "eager functions of tf on the CPU, default mode"
    namespaces: tuple[object, ...] = (
        tf,
        tf.math,
        tf.linalg,
        tf.bitwise,
        tf.signal,
        tf.nn,
        tf.raw_ops,
        tf.image,
    )

    def __init__(self) -> None:
        self.versions = versions_of("tensorflow-cpu")
        self.native_dtypes = {name: _native_dtype(name) for name in TENSORFLOW_DTYPES}

    def make_of_shape(self, shape: Shape, dtype: Any, value: PythonNumber) -> Any:
        return tf.constant(np.full(shape, value, _numpy_dtype(dtype)))

    def read(self, result: object) -> str:
        return super().read(result) + "*" * isinstance(result, WeakTensor)

    def operations(self) -> FunctionByOperation:
        return {name: clear_cache_first(function) for name, function in self.eager().items()}

    def eager(self) -> FunctionByOperation:
        condition = tf.constant([True, True])
        spaces: tuple[object, ...] = (tf, tf.math, tf.linalg, tf.bitwise, tf.signal, tf.nn)
        found = find_functions(spaces, condition, TENSORFLOW_NAME_BY_OPERATION, _make_matrix)
        del found["clip"]  # TensorFlow's clip always needs both bounds
        return found | {
            "divide": tf.math.truediv,
            "floor_divide": tf.math.floordiv,
            "remainder": tf.math.floormod,
            "concat": lambda *arrays: tf.concat(arrays, 0),
            "matmul": lambda x, y: tf.matmul(x[None, :], y[:, None]),
            "@": lambda x, y: x[None, :] @ y[:, None],
            "searchsorted": lambda x, y: tf.searchsorted(x, y),
            "expand_dims": lambda x: tf.expand_dims(x, 0),
            "flip": lambda x: tf.reverse(x, [0]),
            "pad": lambda x: tf.pad(x, [[1, 1]]),
            "roll": lambda x: tf.roll(x, 1, 0),
            "tril": lambda x: tf.linalg.band_part(_make_matrix(x), -1, 0),
            "take": lambda x: tf.gather(x, [0]),
            "svdvals": lambda x: tf.linalg.svd(_make_matrix(x), compute_uv=False),
        }


class GraphFunctions(TensorFlow):
    """The same functions in a graph: tensors are its arguments, Python scalars its constants."""

    name = "tensorflow-function"
    how = "functions of tf under tf.function, computed on the CPU, default mode; the usual dtypes"
    compiled = False
    """True if XLA compiles each call."""

    def __init__(self) -> None:
        tf.get_logger().setLevel("ERROR")  # TensorFlow warns of each traced function
        super().__init__()
        self.native_dtypes = {
            name: dtype for name, dtype in self.native_dtypes.items() if COMMON_DTYPE_PATTERN.fullmatch(name)
        }

    def operations(self) -> FunctionByOperation:
        # A symbolic tensor can be neither copied nor written into.
        found = self.eager() | {
            op: f for op, f in list_operators(return_array_itself).items() if OPERATORS[op].is_in_place
        }
        return {op: self.as_whole(function) for op, function in found.items()}

    def as_whole(self, function: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(function)
        def call(*operands: object) -> object:
            of_tensors, tensors = bind_constants(function, operands, tf.Tensor)
            return tf.function(of_tensors, autograph=False, jit_compile=self.compiled)(*tensors)

        return call


class TensorFlowNumPy(TensorFlow):
    """tf.experimental.numpy, which promotes as NumPy does."""

    name = "tensorflow-legacy"
    namespaces = (*TensorFlow.namespaces, tf.experimental.numpy)
    how = "functions of tf.experimental.numpy, dtype_conversion_mode='legacy'"
    mode = "legacy"

    def __init__(self) -> None:
        tf.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode=self.mode)
        super().__init__()

    def eager(self) -> FunctionByOperation:
        numpy, condition = tf.experimental.numpy, tf.constant([True, True])
        return find_functions((numpy,), condition, LEGACY_NAME_BY_OPERATION, _make_matrix) | {
            "expand_dims": lambda x: numpy.expand_dims(x, 0),
            "pad": lambda x: numpy.pad(x, [[1, 1]], "constant"),
        }


class SafePromotion(TensorFlowNumPy):
    """Functions of tf, which promote if nothing is lost."""

    name = "tensorflow-safe"
    how = "functions of tf, dtype_conversion_mode='safe'; result_type of tf.experimental.numpy"
    mode = "safe"

    def make_weak_array(self, dtype: Any, value: PythonNumber) -> Any:
        if dtype.name not in ("int32", "int64", "float32", "float64", "complex128"):
            raise NoSuchOperandError(f"TensorFlow has no weak {dtype.name}")
        return WeakTensor(self.make_array(dtype, value))

    def eager(self) -> FunctionByOperation:
        result_type = tf.experimental.numpy.result_type
        return {"result_type": result_type} | TensorFlow.eager(self)


class WholePromotion(SafePromotion):
    """Functions of tf, which promote by the whole lattice."""

    name = "tensorflow-all"
    how = "functions of tf, dtype_conversion_mode='all'; result_type of tf.experimental.numpy"
    mode = "all"


def _make_matrix(array: Any) -> Any:
    return tf.linalg.diag(array)


def _native_dtype(name: str) -> Any:
    return getattr(tf.dtypes, name, None) or getattr(tf.dtypes.experimental, name)


def _numpy_dtype(dtype: Any) -> Any:
    return dtype.as_numpy_dtype or getattr(ml_dtypes, dtype.name)


def clear_cache_first(function: Callable[..., object]) -> Callable[..., object]:
    """Wrap a function so that it finds no scalar that an earlier call failed to convert.

    Such a scalar stays in TensorFlow's cache, and the next call with it succeeds.
    """

    @functools.wraps(function)
    def call(*operands: object) -> object:
        pywrap_tfe.TFE_ClearScalarCache()
        return function(*operands)

    return call


LIBRARIES = {
    each.name: each for each in (TensorFlow, GraphFunctions, TensorFlowNumPy, SafePromotion, WholePromotion)
}
