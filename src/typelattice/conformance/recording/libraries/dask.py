"""Dask arrays, which have the dtypes of NumPy's meta arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import dask.array as da
import numpy as np

from typelattice.conformance.recording.libraries.framework_base import FunctionByOperation, Shape
from typelattice.conformance.recording.libraries.numpy import NUMPY_NAME_BY_OPERATION, NumPyDtypes
from typelattice.conformance.recording.library import Library, PythonNumber, versions_of
from typelattice.conformance.recording.operation_functions import find_functions, skip_unless_numbers
from typelattice.conformance.recording.questions import SMALL_EXPONENTS


class Dask(NumPyDtypes):
    """Dask with NumPy chunks; an operation's answer is the dtype of the lazy array it gives."""

    name = "dask"
    extra_operands = SMALL_EXPONENTS
    how = "dask.array's functions; the dtype a lazy result announces, nothing computed"
    namespaces = (da, da.linalg, da.fft, da.ma)

    def __init__(self) -> None:
        self.versions = versions_of("dask", "numpy")

    def make_of_shape(self, shape: Shape, dtype: Any, value: PythonNumber) -> object:
        return da.from_array(np.full(shape, value).astype(dtype))

    def operations(self) -> FunctionByOperation:
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
