"""Polars: series, data types and literals. `pl.lit(1)` is a Python number."""
from __future__ import annotations

import sys
from operator import attrgetter
from typing import Any

from typelattice.core.dtypes.dtypes import DTYPES, DType, DTypeError
from typelattice.core.operands.adapters import dtype_named, find_module
from typelattice.core.operands.notation import number_operand
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, Operand, operand_of_dtype

POLARS_NAME_BY_DTYPE = {"bool": "boolean"}  # Polars's names of dtypes, apart from capitals
DTYPE_BY_POLARS_NAME = {own: name for name, own in POLARS_NAME_BY_DTYPE.items()}
DYNAMIC_LITERAL_PREFIX = "dyn "  # Polars's prefix for a literal without a fixed type


def read(obj: Any) -> Operand | None:
    """Read a series, a data type or its class, or a literal. An expression over columns has no dtype."""
    pl = sys.modules["polars"]
    if isinstance(obj, pl.Series):
        return operand_of_dtype(_find_dtype(obj.dtype))
    if isinstance(obj, pl.DataType) or (isinstance(obj, type) and issubclass(obj, pl.DataType)):
        return operand_of_dtype(_find_dtype(obj))
    return _read_literal(obj, pl) if isinstance(obj, pl.Expr) and obj.meta.is_literal() else None


def _read_literal(literal: Any, pl: Any) -> Operand:
    """Read a literal: without a type a Python number, with one a 0-d array, or a series."""
    column = pl.select(literal).to_series()
    if str(literal).startswith(DYNAMIC_LITERAL_PREFIX):
        return number_operand(column.item())
    found = _find_dtype(column.dtype)
    if str(literal).startswith("Series"):
        return operand_of_dtype(found)
    value = column.item()
    return operand_of_dtype(found, tier="0d", value=value if type(value) in KIND_BY_PYTHON_TYPE else None)


def cache_key_of(cls: type) -> Any:
    """Return a function that gives the data type as a cache key, or None for expressions."""
    pl = sys.modules["polars"]
    if issubclass(cls, pl.Expr):
        return None
    return attrgetter("dtype") if issubclass(cls, pl.Series) else lambda d: d


def _find_dtype(own_dtype: Any) -> DType:
    name = str(own_dtype)
    ours = DTYPE_BY_POLARS_NAME.get(name.lower(), name.lower())
    return dtype_named(ours if ours in DTYPES else name, "Polars")


def native(dtype: DType) -> Any:
    """Return the class of the data type. Raises DTypeError for a dtype that Polars lacks."""
    pl: Any = find_module("polars")
    wanted = POLARS_NAME_BY_DTYPE.get(dtype.name, dtype.name)
    found = next((getattr(pl, own) for own in vars(pl) if own.lower() == wanted), None)
    if not (isinstance(found, type) and issubclass(found, pl.DataType)):
        raise DTypeError(f"Polars has no dtype {dtype}; cast to one that it has")
    return found
