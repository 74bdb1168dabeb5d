"""Common code of databases: the types of SQL's operators and functions for columns of a table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from types import SimpleNamespace
from typing import Any

from typelattice.conformance.recording.libraries.framework_base import Framework, FunctionByOperation
from typelattice.conformance.recording.library import NotAskedError, PythonNumber


class SQL(Framework):
    """The columns of a table `t`, one for each dtype with its name, and a column `condition`."""

    operators: Mapping[str, str]
    """Operations of two operands, and the operator between them."""
    functions: Mapping[str, str]
    """How SQL writes an operation of some columns: `power({}, {})`."""
    namespaces: tuple[object, ...]

    def __init__(self) -> None:
        self.namespaces = (SimpleNamespace(),)  # SQL has no module of functions: all calls here exist

    def type_of(self, query: str) -> str:
        """Return the type of the one column that a query gives."""
        raise NotImplementedError

    def make_array(self, dtype: str, value: PythonNumber) -> str:
        return f'"{dtype}"'

    def operations(self) -> FunctionByOperation:
        def between(sign: str) -> Any:
            return lambda *columns: self.type_of_expression(f" {sign} ".join(columns))

        def called(form: str) -> Any:
            def call(*columns: str) -> str:
                if len(columns) < form.count("{}"):
                    raise NotAskedError(f"SQL has no {form} of {len(columns)} columns")
                return self.type_of_expression(form.format(*columns))

            return call

        return {
            **{op: between(sign) for op, sign in self.operators.items()},
            **{op: called(form) for op, form in self.functions.items()},
            "result_type": lambda *columns: self.type_of_expression(f"coalesce({', '.join(columns)})"),
            "concat": self.concat,
        }

    def type_of_expression(self, text: str) -> str:
        return self.type_of(f"SELECT {text} AS x FROM t")

    def concat(self, *columns: str) -> str:
        selected = (f"SELECT {column} AS x FROM t" for column in columns)
        return self.type_of(reduce(lambda a, b: f"{a} UNION ALL {b}", selected))
