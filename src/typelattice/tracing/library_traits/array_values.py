"""The values of arrays in NumPy, exactly, with the facts of their dtypes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind

ReadValues = Callable[[Any], tuple[Any, "DType | None"]]
"""Returns the values of an array as a NumPy array or scalar, and its dtype, or None if they are unknown.

A dtype that NumPy lacks, such as bfloat16, has its values in a wider NumPy dtype.
"""
MAX_LIST_NUMBERS = 10_000  # numbers of a Python list that are read


def read_numpy_values(x: Any) -> tuple[Any, DType | None]:
    """Return the values of a NumPy array or scalar, and its dtype."""
    dtype, is_native = find_numpy_dtype(x.dtype)
    return (x if is_native or dtype is None else widen_values(x, dtype)), dtype


@cache
def find_numpy_dtype(dtype: Any) -> tuple[DType | None, bool]:
    """Return our dtype of one of NumPy's, and True if NumPy itself computes in it."""
    found = DTYPES.get(dtype.name) if dtype.isnative else None
    is_native: bool = dtype.kind in "biufc" and dtype.type.__module__ == "numpy"
    return found, is_native


def widen_values(x: Any, dtype: DType) -> Any:
    """Return values of a small dtype, such as bfloat16 or int4, in a NumPy dtype that holds them exactly."""
    np: Any = sys.modules["numpy"]
    return np.asarray(x).astype(np.float32 if dtype.kind is Kind.FLOAT else np.int16)


def read_numbers(x: Any) -> Any:
    """Return a flat list or tuple of Python numbers as an array, and anything else unchanged."""
    if type(x) not in (list, tuple) or not x or len(x) > MAX_LIST_NUMBERS:
        return x
    if not {*map(type, x)} <= {int, float, bool}:
        return x
    found = sys.modules["numpy"].asarray(x)
    return found if found.dtype.kind in "biuf" else x


def is_real_float(dtype: DType) -> bool:
    """Return True if a dtype is a real binary float."""
    return dtype.kind is Kind.FLOAT and dtype.precision is not None


def round_to_dtype(np: Any, x: Any, dtype: DType) -> Any:
    """Round float64 numbers to a float dtype, to the nearest even. Infinite numbers and NaN stay."""
    assert dtype.precision is not None and dtype.min_exponent is not None
    mantissa, exponent = np.frexp(x)
    # a subnormal number has fewer digits
    digits = np.clip(exponent - 1 - dtype.min_exponent + dtype.precision, -1, dtype.precision)
    rounded = np.ldexp(np.rint(np.ldexp(mantissa, digits)), exponent - digits)
    largest = float(dtype.max or np.inf)
    over = np.inf if "i" in dtype.specials else np.nan
    half_step = 2.0 ** (np.frexp(largest)[1] - dtype.precision - 1)
    return np.where(abs(rounded) >= largest + half_step, np.copysign(over, rounded), rounded)
