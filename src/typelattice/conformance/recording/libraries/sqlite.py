"""SQLite: the storage classes of SQL's operators and functions for columns of a table."""

from __future__ import annotations

import sqlite3

from typelattice.conformance.recording.libraries.framework_base import FunctionByOperation
from typelattice.conformance.recording.libraries.sql_base import SQL
from typelattice.conformance.recording.library import NoSuchOperandError, PythonNumber

SQL_TYPE_BY_DTYPE = {"int64": "integer", "float64": "real"}

SQL_OPERATOR_BY_OPERATION = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "remainder": "%",
    "equal": "=", "not_equal": "<>", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
    "bitwise_and": "&", "bitwise_or": "|", "bitwise_left_shift": "<<", "bitwise_right_shift": ">>",
    "logical_and": "AND", "logical_or": "OR",
}
"""Operations of two operands, and the operator between them."""

SQL_FORM_BY_OPERATION = {
    "negative": "-({})", "positive": "+({})", "bitwise_invert": "~({})", "logical_not": "NOT ({})",
    **{name: name + "({})" for name in ("abs", "sign", "sqrt", "exp", "sin", "cos", "tan", "asin", "acos")},
    **{name: name + "({})" for name in ("atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor")},
    **{name: name + "({})" for name in ("ceil", "trunc", "round", "log2", "log10", "degrees", "radians")},
    **{name: name + "({})" for name in ("sum", "max", "min")},
    **{name: name + "({}, {})" for name in ("atan2", "pow")},
    "fmod": "mod({}, {})", "log": "ln({})",
    "mean": "avg({})", "cumulative_sum": "sum({}) OVER ()",
}
"""How SQL writes an operation of some columns."""


class SQLite(SQL):
    """Columns that hold integers, and columns that hold floats. A truth is the integer 0 or 1.

    A value keeps its storage class in coalesce, CASE and UNION, and so does the larger of two values in max.
    These promote nothing, and are left out.
    """

    name = "sqlite"
    how = "operators and functions of SQL, of columns; coalesce, CASE and max promote nothing"
    operators = SQL_OPERATOR_BY_OPERATION
    functions = SQL_FORM_BY_OPERATION

    def __init__(self) -> None:
        super().__init__()
        self.versions = {"sqlite": sqlite3.sqlite_version}
        self.native_dtypes = SQL_TYPE_BY_DTYPE
        self.connection = sqlite3.connect(":memory:")
        self.connection.execute('CREATE TABLE t (condition, "integer" INTEGER, "real" REAL)')
        self.connection.execute("INSERT INTO t VALUES (1, 1, 1.0)")

    def make_python_scalar(self, value: PythonNumber) -> object:
        raise NoSuchOperandError("a literal is typed by SQL, and not by Python")

    def operations(self) -> FunctionByOperation:
        found = super().operations()
        return {name: f for name, f in found.items() if name not in ("result_type", "concat")}

    def type_of(self, query: str) -> str:
        """Return the storage class of the one value that a query gives."""
        rows = self.connection.execute(f"SELECT typeof(x) FROM ({query})").fetchall()
        return str(rows[-1][0])


LIBRARIES = {SQLite.name: SQLite}
