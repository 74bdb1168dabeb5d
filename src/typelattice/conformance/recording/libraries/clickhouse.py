"""ClickHouse: the types of SQL's operators and functions for columns of a table, in the embedded chdb."""

from __future__ import annotations

import re
from typing import Any

import chdb

from typelattice.conformance.recording.libraries.framework_base import FunctionByOperation
from typelattice.conformance.recording.libraries.sql_base import SQL
from typelattice.conformance.recording.library import NoSuchOperandError, PythonNumber, versions_of

SQL_TYPE_BY_DTYPE = {
    "bool": "Bool",
    "uint8": "UInt8", "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64",
    "uint128": "UInt128", "uint256": "UInt256",
    "int8": "Int8", "int16": "Int16", "int32": "Int32", "int64": "Int64",
    "int128": "Int128", "int256": "Int256",
    "bfloat16": "BFloat16", "float32": "Float32", "float64": "Float64",
}

SQL_OPERATOR_BY_OPERATION = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "remainder": "%",
    "equal": "=", "not_equal": "<>", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
    "logical_and": "AND", "logical_or": "OR",
}
"""Operations of two operands, and the operator between them."""

SQL_FORM_BY_OPERATION = {
    "negative": "-({})", "logical_not": "NOT ({})", "bitwise_invert": "bitNot({})",
    **{name: name + "({})" for name in ("abs", "sign", "sqrt", "cbrt", "exp", "sin", "cos", "tan", "asin")},
    **{name: name + "({})" for name in ("acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh")},
    **{name: name + "({})" for name in ("floor", "ceil", "trunc", "round", "log", "log2", "log10", "log1p")},
    **{name: name + "({})" for name in ("exp2", "erf", "sigmoid", "degrees", "radians")},
    **{name: name + "({})" for name in ("sum", "max", "min", "median")},
    **{name: name + "({}, {})" for name in ("pow", "atan2", "hypot", "gcd", "lcm")},
    "rint": "roundBankers({})", "clip": "clamp({}, {}, {})", "logical_xor": "xor({}, {})",
    "isnan": "isNaN({})", "isfinite": "isFinite({})", "isinf": "isInfinite({})",
    "floor_divide": "intDiv({}, {})", "maximum": "greatest({}, {})", "minimum": "least({}, {})",
    "bitwise_and": "bitAnd({}, {})", "bitwise_or": "bitOr({}, {})", "bitwise_xor": "bitXor({}, {})",
    "bitwise_left_shift": "bitShiftLeft({}, {})", "bitwise_right_shift": "bitShiftRight({}, {})",
    "mean": "avg({})", "var": "varPop({})", "std": "stddevPop({})", "quantile": "quantile(0.5)({})",
    "cumulative_sum": "sum({}) OVER ()", "where": "CASE WHEN condition THEN {} ELSE {} END",
    "sort": "arraySort([{}])[1]", "unique_values": "arrayDistinct([{}])[1]",
    "diff": "arrayDifference([{}])[1]", "vecdot": "arrayDotProduct([{}], [{}])",
    "vector_norm": "L2Norm([{}])",
}
"""How SQL writes an operation of some columns."""

ERROR_PATTERN = re.compile(
    r"DB::Exception: (.*?)(?: of (?:function|argument|\d)|: In scope|: while|\. )", re.DOTALL
)
TYPE_NAME_PATTERN = re.compile("|".join(sorted(SQL_TYPE_BY_DTYPE.values(), key=len, reverse=True)))


class ClickHouse(SQL):
    """Only columns: a literal has the narrowest type that holds it.

    The array of some columns has their least supertype as the type of its elements, and so has CASE. coalesce
    of columns that hold no NULL is its first argument, and promotes nothing.
    """

    name = "clickhouse"
    how = "the elements of an array as result_type; operators and functions of SQL, of columns"
    operators = SQL_OPERATOR_BY_OPERATION
    functions = SQL_FORM_BY_OPERATION

    def __init__(self) -> None:
        super().__init__()
        self.native_dtypes = SQL_TYPE_BY_DTYPE
        self.connection: Any = chdb.connect(":memory:")
        server = self.ask("SELECT version()").rpartition(".")[0]
        self.versions = {"clickhouse": server, **versions_of("chdb")}
        columns = ", ".join(f'"{own}" {own}' for own in SQL_TYPE_BY_DTYPE.values())
        self.ask(f"CREATE TABLE t (condition Bool, {columns}) ENGINE = Memory")
        self.ask(f"INSERT INTO t VALUES ({', '.join(['true'] + ['1'] * len(SQL_TYPE_BY_DTYPE))})")

    def make_python_scalar(self, value: PythonNumber) -> object:
        raise NoSuchOperandError("a literal is typed by SQL, and not by Python")

    def operations(self) -> FunctionByOperation:
        found = super().operations()
        return {**found, "result_type": lambda *xs: self.type_of_expression(f"[{', '.join(xs)}][1]")}

    def ask(self, text: str) -> str:
        """Return the first value of a query. An error names no types. Raises TypeError."""
        try:
            return str(self.connection.query(text, "TabSeparated")).partition("\t")[0].strip()
        except RuntimeError as e:
            found = ERROR_PATTERN.search(str(e))
            raise TypeError(TYPE_NAME_PATTERN.sub("TYPE", found[1] if found else str(e)[:100])) from None

    def type_of(self, query: str) -> str:
        """Return the type of the one column that a query gives. Its value is computed, too."""
        found = self.ask(f"SELECT toTypeName(x), x FROM ({query}) LIMIT 1")
        if found.startswith("Variant("):
            raise TypeError("no type holds the values of all: the result is a Variant of their types")
        return found


LIBRARIES = {ClickHouse.name: ClickHouse}
