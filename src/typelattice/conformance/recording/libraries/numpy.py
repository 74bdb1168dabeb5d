"""NumPy: 2, 2 with the dtypes of ml_dtypes, and 1 with its value-based promotion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from typelattice.conformance.recording.libraries.framework_base import Framework, FunctionByOperation, Shape
from typelattice.conformance.recording.library import (
    Library,
    MissingLibraryError,
    PythonNumber,
    sort_dtype_names,
    versions_of,
)
from typelattice.conformance.recording.operation_functions import find_functions
from typelattice.conformance.recording.questions import SMALL_EXPONENTS

NUMPY_DTYPES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
NUMPY_NAME_BY_OPERATION = {
    "permute_dims": "transpose",
    "unique_values": "unique",
    "matrix_transpose": "transpose",
    "vector_norm": "norm",
    "matrix_norm": "norm",
}


class NumPyDtypes(Framework):
    """A library with the dtypes of NumPy, which have their standard names."""

    native_dtypes: Mapping[str, np.dtype[Any]] = {name: np.dtype(name) for name in NUMPY_DTYPES}

    def dtype_name(self, dtype: Any) -> str:
        return str(getattr(dtype, "name", type(dtype).__name__))


class NumPy(NumPyDtypes):
    """NumPy 2: the fourteen numeric dtypes that every platform has."""

    name = "numpy"
    how = "numpy's functions, called on arrays, scalars and Python scalars"
    major = "2"
    extra_operands: Sequence[str] = SMALL_EXPONENTS
    namespaces: Sequence[Any] | None = (np, np.linalg, np.fft, np.lib.stride_tricks, np.ma)

    def __init__(self) -> None:
        self.versions = versions_of("numpy")
        if not np.__version__.startswith(f"{self.major}."):
            raise MissingLibraryError(f"this is a recording of numpy {self.major}, not {np.__version__}")
        np.seterr(all="ignore")

    def make_of_shape(self, shape: Shape, dtype: Any, value: PythonNumber) -> object:
        return np.full(shape, value).astype(dtype)

    def make_scalar(self, dtype: Any, value: PythonNumber) -> object:
        return dtype.type(value)

    def operations(self) -> FunctionByOperation:
        return find_functions((np, np.linalg, np.fft), np.ones(2, bool), NUMPY_NAME_BY_OPERATION) | {
            "promote_types": lambda x, y: np.promote_types(x.dtype, y.dtype),
            "count_nonzero": lambda x: np.count_nonzero(x, axis=0),
            "expand_dims": lambda x: np.expand_dims(x, 0),
        }


class NumPyWithMlDtypes(NumPy):
    """NumPy 2 with ml_dtypes, where `promote_types` and `add` disagree."""

    name = "numpy-ml-dtypes"
    how = "numpy's functions on native and ml_dtypes operands; promote_types of the dtypes alone"

    def __init__(self) -> None:
        super().__init__()
        import ml_dtypes

        self.versions = versions_of("numpy", "ml_dtypes")
        scalars = [t for t in vars(ml_dtypes).values() if isinstance(t, type)]
        further = [np.dtype(t) for t in scalars if issubclass(t, np.generic)]
        known = {**self.native_dtypes, **{dtype.name: dtype for dtype in further}}
        self.native_dtypes = {name: known[name] for name in sort_dtype_names(known)}


class NumPy1(NumPy):
    """NumPy 1, in which the value of a scalar or 0-d array decides: both have many values."""

    name = "numpy1"
    how = "numpy's functions under value-based casting, 0-d arrays at the limits of every dtype"
    major = "1"

    def __init__(self) -> None:
        super().__init__()
        self.extra_operands = [*SMALL_EXPONENTS] + [
            f"{dtype}:0d={value}" for dtype in NUMPY_DTYPES for value in _boundary_values(np.dtype(dtype))
        ]


def _boundary_values(dtype: np.dtype[Any]) -> list[str]:
    """Return the values at which a 0-d array of this dtype begins to count as a narrower one."""
    if dtype.kind == "b":
        return ["False"]
    if dtype.kind in "fc":
        # NumPy 1 has the limits 65000 and 3.4e38, not the largest float16 and float32:
        # https://github.com/numpy/numpy/blob/v1.26.4/numpy/core/src/multiarray/convert_datatype.c
        cuts = (0.0, 64999.0, 65001.0, 3.3e38, 3.5e38, float("inf"))
        largest = float(np.finfo(dtype).max)
        return [str(cut) for cut in cuts if cut <= largest or cut == float("inf")]
    info = np.iinfo(dtype)
    edges = {0, -1}
    for bits in (8, 16, 32, 64):
        half = 2 ** (bits - 1)
        edges |= {half - 1, half, 2 * half - 1, 2 * half, -half, -half - 1}
    return [str(edge) for edge in sorted(edges) if info.min <= edge <= info.max]


LIBRARIES: Mapping[str, Callable[[], Library]] = {
    library.name: library for library in (NumPy, NumPyWithMlDtypes, NumPy1)
}
