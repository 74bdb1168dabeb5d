"""The table of Python's own functions, and of those of its standard library."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from typelattice.programs.calls.steps import (
    Slice,
)
from typelattice.programs.readers.source.python_values import (
    BoundFunction,
    BoundMethod,
    ClassValue,
    ContainerMethod,
    DefinedFunction,
    DottedName,
    IteratorValue,
    PythonFunction,
)
from typelattice.programs.readers.source.syntax_reader import (
    SourceReader,
)

USE_ARRAY_FUNCTION: Any = object()  # the result if a Python builtin means the function of arrays
CALLABLE_VALUES = (
    DefinedFunction, ClassValue, BoundFunction, PythonFunction, ContainerMethod, BoundMethod, DottedName,
    type,
)  # fmt: skip
PYTHON_CLASS_BY_NAME: Mapping[str, Any] = {
    "str": str, "list": list, "tuple": tuple, "dict": dict, "set": set, "Sequence": (list, tuple, str),
    "Mapping": dict, "Iterable": (list, tuple, str, dict, set, IteratorValue), "Callable": CALLABLE_VALUES,
    "Number": (bool, int, float, complex), "Integral": (bool, int), "Real": (bool, int, float),
    "NoneType": type(None), "slice": Slice,
}  # fmt: skip
WHOLE_RESULTS = ("floor", "ceil", "trunc", "gcd", "lcm", "factorial", "comb", "perm", "isqrt")
TRUTH_RESULTS = ("isclose", "isfinite", "isinf", "isnan")
MAX_WHOLE_ARGUMENT = 5_000  # of factorials and the like
PYTHON_FUNCTIONS: dict[str, PythonFunction] = {}


def define(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function under its names, those of modules with a dot."""

    def register(compute: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            PYTHON_FUNCTIONS[name] = PythonFunction(name, compute)
        return compute

    return register


def compute_plainly(reader: SourceReader, node: ast.AST, function: Callable[..., Any], *known: Any) -> Any:
    """Call a function of Python's with known values. Raises Python's own error."""
    try:
        return function(*known)
    except (TypeError, ValueError, LookupError, ArithmeticError) as e:
        raise reader.raised(node, e) from None
