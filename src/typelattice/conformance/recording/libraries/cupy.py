"""CuPy, which computes on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import cupy as cp
import numpy as np

from typelattice.conformance.recording.libraries.framework_base import FunctionByOperation, Shape
from typelattice.conformance.recording.libraries.numpy import NUMPY_NAME_BY_OPERATION, NumPyDtypes
from typelattice.conformance.recording.library import (
    CannotAskError,
    Library,
    NotAskedError,
    PythonNumber,
    versions_of,
)
from typelattice.conformance.recording.operation_functions import find_functions, list_operators, skip_without
from typelattice.conformance.recording.questions import SMALL_EXPONENTS


class CuPy(NumPyDtypes):
    """CuPy's functions on its arrays, on NumPy's scalars, which are CuPy's too, and on Python's."""

    name = "cupy"
    how = "cupy's functions, computed on a GPU"
    extra_operands = SMALL_EXPONENTS
    namespaces = (cp, cp.linalg, cp.fft)

    def __init__(self) -> None:
        self.versions = versions_of("cupy-cuda13x", "numpy")
        if not cp.cuda.is_available():
            raise CannotAskError("cupy computes on a GPU, and none is here; ask it on a machine that has one")

    def make_of_shape(self, shape: Shape, dtype: Any, value: PythonNumber) -> object:
        return cp.full(shape, value, dtype)

    def make_scalar(self, dtype: Any, value: PythonNumber) -> object:
        return dtype.type(value)

    def read(self, result: object) -> str:
        if isinstance(result, np.generic):
            raise NotAskedError("NumPy itself answers")
        return super().read(result)

    def operations(self) -> FunctionByOperation:
        found = find_functions(self.namespaces, self.make("bool"), NUMPY_NAME_BY_OPERATION)
        return (
            found
            | {op: skip_without(cp.ndarray, "no operand is CuPy's", found[op]) for op in list_operators()}
            | {
                "promote_types": lambda x, y: cp.promote_types(x.dtype, y.dtype),
                "expand_dims": lambda x: cp.expand_dims(x, 0),
            }
        )


LIBRARIES: Mapping[str, Callable[[], Library]] = {CuPy.name: CuPy}
