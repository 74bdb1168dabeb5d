"""NumPy itself, with calls that no recording has: methods of ufuncs, more ufuncs, lists, long doubles."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from typelattice.conformance.recording.libraries.framework_base import FunctionByOperation
from typelattice.conformance.recording.libraries.numpy import NUMPY_DTYPES, NumPy
from typelattice.conformance.recording.library import ParsedOperandString
from typelattice.conformance.recording.operation_functions import SpelledFunction, first_result
from typelattice.conformance.recording.questions import SMALL_EXPONENTS
from typelattice.core.evidence.answer_notation import ARRAY_SUFFIX, SCALAR_SUFFIX
from typelattice.core.operations.operations import OPERATION_BY_NAME, Operation, make_custom_operation

LONG_DOUBLE_NAME_BY_DTYPE = {
    np.dtype(name).name: name
    for name in ("longdouble", "clongdouble")
    if np.dtype(name).name not in NUMPY_DTYPES  # on some platforms these are float64 and complex128
}
"""The platform's name of the dtypes that C calls long double, and NumPy's own."""

UFUNC_METHODS: Mapping[str, tuple[str, str, tuple[object, ...]]] = {
    "reduce": ("x", "sum", ()),
    "accumulate": ("x", "sum", ()),
    "reduceat": ("x", "sum", ([0],)),
    "outer": ("xy", "matmul", ()),
}
"""The methods of a ufunc that give an array: operands, the operation that is called so, further arguments."""


def _list_ufuncs_and_methods() -> Iterator[tuple[Operation, SpelledFunction]]:
    """Yield the methods of each ufunc, such as `np.add.reduce`, and each ufunc that is not an operation."""
    for name, ufunc in vars(np).items():
        if not isinstance(ufunc, np.ufunc) or name != ufunc.__name__ or ufunc.signature:
            continue
        if name not in OPERATION_BY_NAME:
            made = make_custom_operation(f"ufunc_{name}", "cbrt", "xy"[: ufunc.nin])
            yield made, SpelledFunction(_return_first_result(ufunc), f"numpy.{name}")
        if (ufunc.nin, ufunc.nout) == (2, 1):
            for method, (operands, like, more) in UFUNC_METHODS.items():
                made = make_custom_operation(f"{method}_{name}", like, operands)
                spelling = f"numpy.{name}.{method}({', '.join(['{}', *map(repr, more)])})"
                yield made, SpelledFunction(_append_arguments(getattr(ufunc, method), more), spelling)


def _return_first_result(ufunc: Callable[..., object]) -> Callable[..., object]:
    return lambda *operands: first_result(ufunc(*operands))


def _append_arguments(method: Callable[..., object], more: tuple[object, ...]) -> Callable[..., object]:
    return lambda *operands: method(*operands, *more)


def suffix_of_form(result: object) -> str:
    """Return the end of an answer that says whether a result is an array or a scalar."""
    if isinstance(result, np.ndarray):
        return ARRAY_SUFFIX
    return SCALAR_SUFFIX if isinstance(result, np.generic) else ""


class WholeNumPy(NumPy):
    """NumPy with the operands and operations that only NumPy has."""

    name = "numpy-eager"
    how = "numpy's functions and the methods of its ufuncs, called on arrays, lists and scalars"
    extra_operands = (*SMALL_EXPONENTS, *(f"{each}:list" for each in ("bool", "int", "float", "complex")))

    def __init__(self) -> None:
        super().__init__()
        found = list(_list_ufuncs_and_methods())
        self.custom_operations = {operation.name: operation for operation, _ in found}
        self._functions = {operation.name: function for operation, function in found}
        long_doubles = {name: np.dtype(name) for name in LONG_DOUBLE_NAME_BY_DTYPE.values()}
        self.native_dtypes = {**self.native_dtypes, **long_doubles}

    def make(self, operand: str) -> object:
        wanted = ParsedOperandString.parse(operand)
        if wanted.tier == "list":
            return [getattr(builtins, str(wanted.dtype))(wanted.value)] * 2
        return super().make(operand)

    def read(self, result: object) -> str:
        answer = super().read(result)
        return LONG_DOUBLE_NAME_BY_DTYPE.get(answer, answer) + suffix_of_form(result)

    def operations(self) -> FunctionByOperation:
        return {**super().operations(), **self._functions}


IMPLEMENTATIONS = {WholeNumPy.name: WholeNumPy}
