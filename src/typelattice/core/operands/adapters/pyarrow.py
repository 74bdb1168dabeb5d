"""Arrow: arrays, chunked arrays, scalars (0-d) and data types."""
from __future__ import annotations

import sys
from operator import attrgetter
from typing import Any

from typelattice.core.dtypes.dtypes import DType, DTypeError
from typelattice.core.operands.adapters import dtype_named, find_module
from typelattice.core.operands.operand import BOOL_DTYPE, KIND_BY_PYTHON_TYPE, Operand, operand_of_dtype

# Arrow's names of floats
DTYPE_BY_ARROW_NAME = {"halffloat": "float16", "float": "float32", "double": "float64"}


def read(obj: Any) -> Operand | None:
    """Return an array, a scalar or a data type. A scalar counts as a 0-d array."""
    pa = sys.modules["pyarrow"]
    if isinstance(obj, pa.DataType):
        return operand_of_dtype(_find_dtype(obj))
    if isinstance(obj, (pa.Array, pa.ChunkedArray)):
        return operand_of_dtype(_find_dtype(obj.type))
    if isinstance(obj, pa.Scalar):
        found, value = _find_dtype(obj.type), obj.as_py()
        return operand_of_dtype(found, tier="0d", value=value if type(value) in KIND_BY_PYTHON_TYPE else None)
    return None


def cache_key_of(cls: type) -> Any:
    """Return a function that gives the data type as a cache key, with `0d` for a scalar."""
    pa = sys.modules["pyarrow"]
    if issubclass(cls, pa.Scalar):
        return lambda x: (x.type, "0d")
    return attrgetter("type") if issubclass(cls, (pa.Array, pa.ChunkedArray)) else lambda d: d


def _find_dtype(own_dtype: Any) -> DType:
    return dtype_named(DTYPE_BY_ARROW_NAME.get(str(own_dtype), str(own_dtype)), "Arrow")


def native(dtype: DType) -> Any:
    """Return the pyarrow.DataType. Raises DTypeError for a dtype that Arrow lacks."""
    pa: Any = find_module("pyarrow")
    make = getattr(pa, "bool_" if dtype is BOOL_DTYPE else dtype.name, None)
    if make is None:
        raise DTypeError(f"Arrow has no dtype {dtype}; cast to one that it has")
    return make()
