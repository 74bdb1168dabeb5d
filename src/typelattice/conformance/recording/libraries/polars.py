"""Polars: columns of a frame, with which expressions compute, and Series by themselves."""

from __future__ import annotations

from functools import reduce
from typing import Any

import polars as pl

from typelattice.conformance.recording.libraries.framework_base import Framework, FunctionByOperation
from typelattice.conformance.recording.library import PythonNumber, versions_of
from typelattice.conformance.recording.operation_functions import (
    find_functions,
    list_operator_functions,
    return_array_itself,
    skip_number_first,
    skip_unless_numbers,
)

POLARS_TYPE_BY_DTYPE = {
    "bool": "Boolean",
    **{f"uint{bits}": f"UInt{bits}" for bits in (8, 16, 32, 64, 128)},
    **{f"int{bits}": f"Int{bits}" for bits in (8, 16, 32, 64, 128)},
    **{f"float{bits}": f"Float{bits}" for bits in (16, 32, 64)},
}


OPERATIONS_WITH_OPERATOR = (
    *("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "pow", "negative"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_invert"),
)
"""What is asked by Python's operators."""


POLARS_NAME_BY_OPERATION = {
    "argmax": "arg_max",
    "argmin": "arg_min",
    "argsort": "arg_sort",
    "cumulative_prod": "cum_prod",
    "cumulative_sum": "cum_sum",
    "flip": "reverse",
    "isclose": "is_close",
    "isinf": "is_infinite",
    "nanmax": "nan_max",
    "nanmin": "nan_min",
    "nonzero": "arg_true",
    "trunc": "truncate",
    "unique_values": "unique",
}
"""What Polars calls operations by a name of its own."""


class Polars(Framework):
    """Expressions over columns; a literal of a given dtype counts as a scalar."""

    name = "polars"
    how = "pl.concat(how='vertical_relaxed') as result_type; operators and functions of expressions"
    namespaces = (pl, pl.Expr)
    has_only_columns = True

    def __init__(self) -> None:
        self.versions = versions_of("polars")
        self.native_dtypes = {name: getattr(pl, own) for name, own in POLARS_TYPE_BY_DTYPE.items()}
        columns = {name: pl.Series([1, 1]).cast(dtype) for name, dtype in self.native_dtypes.items()}
        self.frame = pl.DataFrame(columns)

    def make_array(self, dtype: Any, value: PythonNumber) -> Any:
        return pl.col(self.dtype_name(dtype))

    def make_scalar(self, dtype: Any, value: PythonNumber) -> Any:
        return pl.lit(value, dtype=dtype)

    def read(self, result: object) -> str:
        if isinstance(result, pl.Expr):
            return super().read(self.frame.select(result.alias("result"))["result"])
        return super().read(result)

    def result_type(self, *columns: pl.Expr) -> Any:
        frames = [self.frame.select(column.alias("result")) for column in columns]
        return pl.concat(frames, how="vertical_relaxed")["result"]

    def operations(self) -> FunctionByOperation:
        condition = pl.col("bool")
        found = find_functions(
            (pl.Expr,), condition, POLARS_NAME_BY_OPERATION, copy_array=return_array_itself
        )
        return found | list_operator_functions(*OPERATIONS_WITH_OPERATOR) | {
            "result_type": self.result_type,
            "maximum": pl.max_horizontal,
            "minimum": pl.min_horizontal,
            "atan2": pl.arctan2,
            "where": lambda x, y: pl.when(condition).then(x).otherwise(y),
            "concat": lambda *columns: reduce(pl.Expr.append, columns),
            "full": skip_unless_numbers(lambda x: pl.repeat(x, 2)),
            "asarray": skip_unless_numbers(lambda x: pl.Series([x])),
            "arange": skip_unless_numbers(pl.arange),
            "linspace": skip_unless_numbers(lambda x, y: pl.linear_space(x, y, 3)),
        }


class PolarsSeries(Framework):
    """Series, which promote by their own rules where they do not use an expression.

    A reduction of a Series gives a Python number, which has no dtype.
    """

    name = "polars-series"
    how = "pl.concat(how='vertical_relaxed') as result_type; operators and methods of Series"
    namespaces = (pl, pl.Series)

    def __init__(self) -> None:
        self.versions = versions_of("polars")
        self.native_dtypes = {name: getattr(pl, own) for name, own in POLARS_TYPE_BY_DTYPE.items()}

    def make_array(self, dtype: Any, value: PythonNumber) -> Any:
        return pl.Series([1, 1]).cast(dtype)

    def result_type(self, *series: pl.Series) -> Any:
        return pl.concat([each.to_frame() for each in series], how="vertical_relaxed").to_series()

    def operations(self) -> FunctionByOperation:
        condition = pl.Series([True, True])
        found = find_functions((pl.Series,), condition, POLARS_NAME_BY_OPERATION, copy_array=pl.Series.clone)
        return found | list_operator_functions(*OPERATIONS_WITH_OPERATOR) | {
            "result_type": self.result_type,
            "where": skip_number_first(lambda x, y: x.zip_with(condition, y)),
            "concat": lambda *series: pl.concat(series),
            "append": skip_number_first(lambda x, y: x.clone().append(y)),
        }


LIBRARIES = {Polars.name: Polars, PolarsSeries.name: PolarsSeries}
