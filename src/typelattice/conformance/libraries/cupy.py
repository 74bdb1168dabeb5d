"""CuPy without a GPU: its promotion, and the loops that its ufuncs choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import cupy as cp
import numpy as np
from cupy._core._scalar import CScalar
from cupy._sorting.search import _where_ufunc

from typelattice.conformance.functions import functions, operators
from typelattice.conformance.libraries.numpy import DTYPES, RENAMED
from typelattice.conformance.library import (
    Library,
    NoSuchOperandError,
    OperandString,
    python_answer,
    versions_of,
)


class CuPy(Library):
    """CuPy's arrays with a dtype and no memory. A ufunc is asked which loop it takes, and launches none."""

    name = "cupy"
    spaces = (cp, cp.linalg, cp.fft)
    how = "promotion, and the loops that ufuncs choose; nothing computed, nothing else asked"

    def __init__(self) -> None:
        self.versions = versions_of("cupy-cuda13x", "numpy")

    def dtypes(self) -> Sequence[str]:
        return DTYPES

    def make(self, operand: str) -> object:
        wanted = OperandString.parse(operand)
        if wanted.dtype is None:
            return wanted.value
        if wanted.dtype not in DTYPES or wanted.tier == "weak":
            raise NoSuchOperandError(operand)
        dtype = np.dtype(wanted.dtype)
        if wanted.tier == "scalar":
            return dtype.type(wanted.value)  # CuPy's scalars are NumPy's
        return _array((2,) if wanted.tier == "array" else (), dtype)

    def read(self, result: object) -> str:
        if isinstance(result, (np.dtype, cp.ndarray)):
            return str(getattr(result, "dtype", result).name)
        return python_answer(result) or type(result).__name__

    def operations(self) -> Mapping[str, Callable[..., object]]:
        ufuncs = {name: made for name, made in vars(cp).items() if isinstance(made, cp.ufunc)}
        asked = type("ufuncs", (), {name: staticmethod(_loop(made)) for name, made in ufuncs.items()})
        condition = self.make("bool")
        found = functions((asked,), condition, RENAMED)
        return {name: found[name] for name in found if name not in operators()} | {
            "where": lambda x, y: _loop(_where_ufunc)(condition, x, y),
            "result_type": cp.result_type,
            "promote_types": lambda x, y: cp.promote_types(x.dtype, y.dtype),
        }


def _array(shape: tuple[int, ...], dtype: Any) -> Any:
    """Return an array of memory that does not exist: its own would have to lie on a GPU."""
    return cp.ndarray(shape, dtype, cp.cuda.MemoryPointer(cp.cuda.UnownedMemory(1, 64, None, 0), 0))


def _loop(ufunc: Any) -> Callable[..., object]:
    """Return a function that gives an array of the dtype of a ufunc's first output, uncomputed.

    It does as `ufunc.__call__` in `cupy/_core/_kernel.pyx` does up to the launch: wrap the scalars, choose
    a loop, and cast the scalars to its dtypes.
    """

    def call(*operands: object) -> object:
        if len(operands) != ufunc.nin:
            raise TypeError(f"Wrong number of arguments for {ufunc.name!r}")
        wrapped = [x if isinstance(x, cp.ndarray) else CScalar(x) for x in operands]
        loop = ufunc._ops.guess_routine(ufunc.name, {}, wrapped, None, ufunc._out_ops)
        inputs, outputs = loop.resolve_dtypes(wrapped, [None] * ufunc.nout)
        for operand, dtype in zip(wrapped, inputs, strict=True):
            if isinstance(operand, CScalar):
                operand.apply_dtype(dtype)
        return _array((), outputs[0])

    return call


LIBRARIES: Mapping[str, Callable[[], Library]] = {CuPy.name: CuPy}
