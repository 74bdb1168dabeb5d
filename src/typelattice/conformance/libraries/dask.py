"""Dask arrays, which have the dtypes of NumPy's meta arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import dask.array as da
import numpy as np

from typelattice.conformance.libraries.numpy import NUMPY_DTYPES, NUMPY_NAME_BY_OPERATION
from typelattice.conformance.library import (
    Library,
    NoSuchOperandError,
    ParsedOperandString,
    python_answer,
    versions_of,
)
from typelattice.conformance.operation_functions import find_functions, skip_unless_numbers
from typelattice.conformance.questions import SMALL_EXPONENTS


class Dask(Library):
    """Dask with NumPy chunks; an operation's answer is the dtype of the lazy array it gives."""

    name = "dask"
    extra_operands = SMALL_EXPONENTS
    how = "dask.array's functions; the dtype a lazy result announces, nothing computed"
    namespaces = (da, da.linalg, da.fft, da.ma)

    def __init__(self) -> None:
        self.versions = versions_of("dask", "numpy")

    def dtypes(self) -> Sequence[str]:
        return NUMPY_DTYPES

    def make(self, operand: str) -> object:
        wanted = ParsedOperandString.parse(operand)
        if wanted.dtype is None:
            return wanted.value
        if wanted.dtype not in NUMPY_DTYPES or wanted.tier not in ("array", "0d"):
            raise NoSuchOperandError(operand)
        shape = (2,) if wanted.tier == "array" else ()
        return da.from_array(np.full(shape, wanted.value).astype(wanted.dtype))

    def read(self, result: object) -> str:
        dtype = result if isinstance(result, np.dtype) else getattr(result, "dtype", None)
        return str(dtype.name) if dtype else python_answer(result) or type(result).__name__

    def operations(self) -> Mapping[str, Callable[..., object]]:
        condition = da.ones(2, dtype=bool)
        found = find_functions((da, da.linalg, da.fft), condition, NUMPY_NAME_BY_OPERATION)
        return found | {
            "expand_dims": lambda x: da.expand_dims(x, 0),
            "nancumsum": lambda x: da.nancumsum(x, 0),
            "median": lambda x: da.median(x, 0),
            "nanmedian": lambda x: da.nanmedian(x, 0),
            "histogram": lambda x: da.histogram(x, 2, (0, 1))[0],
            "arange": skip_unless_numbers(da.arange),
            "linspace": skip_unless_numbers(lambda x, y: da.linspace(x, y, 3)),
        }


LIBRARIES: Mapping[str, Callable[[], Library]] = {"dask": Dask}
