"""DataFusion: the types of SQL's operators and functions for columns of a table and literals."""

from __future__ import annotations

import re

import datafusion

from typelattice.conformance.recording.libraries.sql_base import SQL
from typelattice.conformance.recording.library import NoSuchOperandError, PythonNumber, versions_of

SQL_TYPE_BY_DTYPE = {
    "bool": "Boolean",
    "uint8": "UInt8", "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64",
    "int8": "Int8", "int16": "Int16", "int32": "Int32", "int64": "Int64",
    "float16": "Float16", "float32": "Float32", "float64": "Float64",
    "decimal(4,1)": "Decimal128(4, 1)", "decimal(10,2)": "Decimal128(10, 2)",
    "decimal(38,10)": "Decimal128(38, 10)",
}

SQL_OPERATOR_BY_OPERATION = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "remainder": "%",
    "equal": "=", "not_equal": "<>", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
    "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^",
    "bitwise_left_shift": "<<", "bitwise_right_shift": ">>", "logical_and": "AND", "logical_or": "OR",
}
"""Operations of two operands, and the operator between them."""

SQL_FORM_BY_OPERATION = {
    "negative": "-({})", "positive": "+({})", "logical_not": "NOT ({})",
    **{name: name + "({})" for name in ("abs", "sqrt", "cbrt", "exp", "sin", "cos", "tan", "asin", "acos")},
    **{name: name + "({})" for name in ("atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh")},
    **{name: name + "({})" for name in ("floor", "ceil", "trunc", "round", "log2", "log10", "degrees")},
    **{name: name + "({})" for name in ("radians", "isnan", "sum", "max", "min", "median")},
    **{name: name + "({}, {})" for name in ("atan2", "gcd", "lcm")},
    "sign": "signum({})", "pow": "power({}, {})", "log": "ln({})",
    "maximum": "greatest({}, {})", "minimum": "least({}, {})",
    "mean": "avg({})", "var": "var_pop({})", "std": "stddev_pop({})", "any": "bool_or({})",
    "all": "bool_and({})", "quantile": "percentile_cont(0.5) WITHIN GROUP (ORDER BY {})",
    "cumulative_sum": "sum({}) OVER ()", "where": "CASE WHEN condition THEN {} ELSE {} END",
}
"""How SQL writes an operation of some columns."""

DTYPE_BY_ARROW_NAME = {"halffloat": "float16", "float": "float32", "double": "float64"}
"""Arrow's names of dtypes, where they are not the standard's."""
DECIMAL_TYPE_PATTERN = re.compile(r"decimal128\((\d+), (\d+)\)")
"""A decimal, with its digits and those of them after the point."""


class DataFusion(SQL):
    """Columns and literals: an integer literal is an Int64, or a UInt64 beyond it; others are Float64."""

    name = "datafusion"
    how = "coalesce as result_type; operators and functions of SQL, of columns and literals"
    # With three operands, a decimal and a float give one of hundreds of decimal types.
    binary_only_operations = ("result_type", "concat")
    operators = SQL_OPERATOR_BY_OPERATION
    functions = SQL_FORM_BY_OPERATION

    def __init__(self) -> None:
        super().__init__()
        self.versions = versions_of("datafusion")
        self.native_dtypes = SQL_TYPE_BY_DTYPE
        self.context = datafusion.SessionContext()
        columns = ", ".join(f"""arrow_cast(1, '{own}') AS "{own}\"""" for own in SQL_TYPE_BY_DTYPE.values())
        self.context.sql(f"CREATE TABLE t AS SELECT true AS condition, {columns}").collect()

    def make_python_scalar(self, value: PythonNumber) -> str:
        if isinstance(value, complex) or value in (float("inf"), float("-inf")):
            raise NoSuchOperandError("SQL has no such literal")
        if value >= 2**64:
            raise NoSuchOperandError("such an integer literal is a Float64")
        return str(value).lower() if isinstance(value, bool) else f"({value!r})"

    def type_of(self, query: str) -> str:
        """Return the type of the one column that a query gives. An error names no types."""
        try:
            found = str(self.context.sql(query).collect()[0].schema.field(0).type)
        except Exception as e:  # DataFusion has no class of its own for its errors
            raise TypeError(str(e).partition("\n")[0]) from None
        decimal = DECIMAL_TYPE_PATTERN.fullmatch(found)
        return f"decimal({decimal[1]},{decimal[2]})" if decimal else DTYPE_BY_ARROW_NAME.get(found, found)


LIBRARIES = {DataFusion.name: DataFusion}
