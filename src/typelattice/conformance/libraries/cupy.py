"""CuPy, which computes on a GPU."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

import cupy as cp
import numpy as np

from typelattice.conformance.libraries.numpy import NUMPY_DTYPES, NUMPY_NAME_BY_OPERATION
from typelattice.conformance.library import (
    CannotAskError,
    Library,
    NoSuchOperandError,
    NotAskedError,
    ParsedOperandString,
    python_answer,
    versions_of,
)
from typelattice.conformance.operation_functions import find_functions, list_operators
from typelattice.conformance.questions import SMALL_EXPONENTS


class CuPy(Library):
    """CuPy's functions on its arrays, on NumPy's scalars, which are CuPy's too, and on Python's."""

    name = "cupy"
    how = "cupy's functions, computed on a GPU"
    extra_operands = SMALL_EXPONENTS
    namespaces = (cp, cp.linalg, cp.fft)

    def __init__(self) -> None:
        self.versions = versions_of("cupy-cuda13x", "numpy")
        if not cp.cuda.is_available():
            raise CannotAskError("cupy computes on a GPU, and none is here; ask it on a machine that has one")

    def dtypes(self) -> Sequence[str]:
        return NUMPY_DTYPES

    def make(self, operand: str) -> object:
        wanted = ParsedOperandString.parse(operand)
        if wanted.dtype is None:
            return wanted.value
        if wanted.dtype not in NUMPY_DTYPES or wanted.tier == "weak":
            raise NoSuchOperandError(operand)
        dtype = np.dtype(wanted.dtype)
        if wanted.tier == "scalar":
            return dtype.type(wanted.value)
        return cp.full((2,) if wanted.tier == "array" else (), wanted.value, dtype)

    def read(self, result: object) -> str:
        if isinstance(result, np.generic):
            raise NotAskedError("NumPy itself answers")
        if isinstance(result, (np.dtype, cp.ndarray)):
            return str(getattr(result, "dtype", result).name)
        return python_answer(result) or type(result).__name__

    def operations(self) -> Mapping[str, Callable[..., object]]:
        found = find_functions(self.namespaces, self.make("bool"), NUMPY_NAME_BY_OPERATION)
        return (
            found
            | {op: _skip_without_array(found[op]) for op in list_operators()}
            | {
                "promote_types": lambda x, y: cp.promote_types(x.dtype, y.dtype),
                "expand_dims": lambda x: cp.expand_dims(x, 0),
            }
        )


def _skip_without_array(operator: Callable[..., object]) -> Callable[..., object]:
    """Return an operator that skips calls that NumPy or Python would answer."""

    @functools.wraps(operator)
    def call(*operands: object) -> object:
        if not any(isinstance(operand, cp.ndarray) for operand in operands):
            raise NotAskedError("no operand is CuPy's")
        return operator(*operands)

    return call


LIBRARIES: Mapping[str, Callable[[], Library]] = {CuPy.name: CuPy}
