"""DuckDB: the types of SQL's operators and functions for columns of a table."""

from __future__ import annotations

from typing import Any

import duckdb

from typelattice.conformance.recording.libraries.sql_base import SQL
from typelattice.conformance.recording.library import NoSuchOperandError, PythonNumber, versions_of

SQL_TYPE_BY_DTYPE = {
    "bool": "BOOLEAN",
    "uint8": "UTINYINT", "uint16": "USMALLINT", "uint32": "UINTEGER", "uint64": "UBIGINT",
    "uint128": "UHUGEINT",
    "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT", "int128": "HUGEINT",
    "float32": "FLOAT", "float64": "DOUBLE",
    "decimal(4,1)": "DECIMAL(4,1)", "decimal(10,2)": "DECIMAL(10,2)", "decimal(18,3)": "DECIMAL(18,3)",
    "decimal(38,10)": "DECIMAL(38,10)",
}

SQL_OPERATOR_BY_OPERATION = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "remainder": "%",
    "equal": "=", "not_equal": "<>", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
    "bitwise_and": "&", "bitwise_or": "|", "bitwise_left_shift": "<<", "bitwise_right_shift": ">>",
    "logical_and": "AND", "logical_or": "OR",
}
"""Operations of two operands, and the operator between them."""

SQL_FORM_BY_OPERATION = {
    "negative": "-({})", "positive": "+({})", "bitwise_invert": "~({})", "logical_not": "NOT ({})",
    **{name: name + "({})" for name in ("abs", "sign", "sqrt", "cbrt", "exp", "sin", "cos", "tan", "asin")},
    **{name: name + "({})" for name in ("acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh")},
    **{name: name + "({})" for name in ("floor", "ceil", "trunc", "round", "log2", "log10", "degrees")},
    **{name: name + "({})" for name in ("radians", "isnan", "isfinite", "isinf", "sum", "max", "min")},
    **{name: name + "({}, {})" for name in ("pow", "atan2", "gcd", "lcm", "nextafter")},
    "log": "ln({})", "bitwise_xor": "xor({}, {})", "maximum": "greatest({}, {})", "minimum": "least({}, {})",
    "prod": "product({})", "mean": "avg({})", "var": "var_pop({})", "std": "stddev_pop({})",
    "median": "median({})", "quantile": "quantile_cont({}, 0.5)", "any": "bool_or({})",
    "all": "bool_and({})", "cumulative_sum": "sum({}) OVER ()", "cumulative_prod": "product({}) OVER ()",
    "where": "CASE WHEN condition THEN {} ELSE {} END",
}
"""How SQL writes an operation of some columns."""


class DuckDB(SQL):
    """Only columns: a decimal literal has its own type, an integer literal the type of a column."""

    name = "duckdb"
    how = "coalesce as result_type; operators and functions of SQL, of columns"
    operators = SQL_OPERATOR_BY_OPERATION
    functions = SQL_FORM_BY_OPERATION

    def __init__(self) -> None:
        super().__init__()
        self.versions = versions_of("duckdb")
        self.native_dtypes = SQL_TYPE_BY_DTYPE
        self.connection = duckdb.connect()
        columns = ", ".join(f'1::{own} AS "{own}"' for own in SQL_TYPE_BY_DTYPE.values())
        self.connection.execute(f"CREATE TABLE t AS SELECT true AS condition, {columns}")

    def make_python_scalar(self, value: PythonNumber) -> object:
        raise NoSuchOperandError("a literal is typed by SQL, and not by Python")

    def type_of(self, query: str) -> str:
        """Return the type of the one column that a query gives. An error names no types."""
        try:
            found: Any = self.connection.execute(f"SELECT typeof(x) FROM ({query})").fetchone()
        except duckdb.Error as e:
            raise type(e)(str(e).partition(" the given name")[0].partition("\n")[0]) from None
        return str(found[0]).lower() if str(found[0]).startswith("DECIMAL(") else str(found[0])


LIBRARIES = {DuckDB.name: DuckDB}
