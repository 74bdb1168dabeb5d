"""Arrow: its compute functions, and its unification of schemas."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from typelattice.conformance.recording.libraries.framework_base import Framework, FunctionByOperation
from typelattice.conformance.recording.library import (
    NoSuchOperandError,
    PythonNumber,
    versions_of,
)
from typelattice.conformance.recording.operation_functions import find_functions
from typelattice.core.operations.operations import OPERATIONS

PYARROW_DTYPES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64"),
)

PYARROW_NAME_BY_OPERATION = {
    "bitwise_invert": "bit_wise_not",
    "logical_and": "and_",
    "logical_not": "invert",
    "logical_or": "or_",
    "logical_xor": "xor",
    "maximum": "max_element_wise",
    "minimum": "min_element_wise",
    "where": "if_else",
}
"""What pyarrow.compute calls operations by a name of its own."""


class PyArrow(Framework):
    """Arrays, and scalars of a type."""

    name = "arrow"
    how = "functions of pyarrow.compute"
    namespaces: tuple[object, ...] | None = (pc,)

    def __init__(self) -> None:
        self.versions = versions_of("pyarrow")
        self.native_dtypes = {
            name: getattr(pa, {"bool": "bool_"}.get(name, name))() for name in PYARROW_DTYPES
        }

    def make_array(self, dtype: Any, value: PythonNumber) -> Any:
        return pa.array([value, value]).cast(dtype)

    def make_scalar(self, dtype: Any, value: PythonNumber) -> Any:
        return pa.scalar(value).cast(dtype)

    def read(self, result: object) -> str:
        return super().read(getattr(result, "type", result))

    def operations(self) -> FunctionByOperation:
        found = find_functions((pc,), pa.array([True, True]), PYARROW_NAME_BY_OPERATION)
        return {op: found[op] for op in found if op in OPERATIONS} | {  # pyarrow's arrays have no operators
            "concat": lambda *arrays: pa.concat_arrays(arrays),
            "take": lambda x: pc.take(x, pa.array([0])),
        }


class UnifiedSchemas(PyArrow):
    """Types of one field in several schemas."""

    name = "arrow-unify"
    namespaces = None  # this library only unifies types
    how = "pyarrow.unify_schemas, promote_options='permissive'"

    def make_array(self, dtype: Any, value: PythonNumber) -> Any:
        return pa.schema([("field", dtype)])

    def make_scalar(self, dtype: Any, value: PythonNumber) -> Any:
        raise NoSuchOperandError("a schema has no scalars")

    def make_python_scalar(self, value: PythonNumber) -> Any:
        raise NoSuchOperandError("a schema has no scalars")

    def operations(self) -> FunctionByOperation:
        return {"result_type": _unify_schemas}


def _unify_schemas(*schemas: Any) -> Any:
    return pa.unify_schemas(list(schemas), promote_options="permissive").field("field").type


LIBRARIES = {PyArrow.name: PyArrow, UnifiedSchemas.name: UnifiedSchemas}
