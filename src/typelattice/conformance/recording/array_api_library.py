"""Any namespace of the array API standard as a library to record, without an adapter."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from typelattice.conformance.recording.library import (
    CannotAskError,
    Library,
    NoSuchOperandError,
    ParsedOperandString,
    python_answer,
    sort_dtype_names,
)
from typelattice.conformance.recording.operation_functions import find_functions, skip_unless_numbers

INSPECTION_FUNCTION = "__array_namespace_info__"
"""The function by which a namespace says which dtypes it has; it is in the standard since 2023."""

OPERATIONS_ON_NUMBERS = ("arange", "full", "linspace")
"""Operations that make arrays of Python numbers; the standard says nothing of arrays among these."""


class ArrayNamespace(Library):
    """A module such as `array_api_strict`, or any object that has the functions of the standard.

    Raises CannotAskError if the namespace does not state its dtypes.
    """

    copy_array: Callable[[Any], Any] = staticmethod(copy.deepcopy)

    def __init__(self, xp: Any) -> None:
        if not hasattr(xp, INSPECTION_FUNCTION):
            name = getattr(xp, "__name__", xp)
            what = f"{name} has no {INSPECTION_FUNCTION}, by which a namespace names its dtypes"
            raise CannotAskError(f"{what}; give a namespace that has it, or a class with the four methods")
        self.name = str(getattr(xp, "__name__", type(xp).__name__))
        self.versions = {self.name: str(getattr(xp, "__version__", "unknown"))}
        revision = getattr(xp, "__array_api_version__", "unknown")
        self.how = f"functions of the array API standard, revision {revision}"
        self._xp = xp
        self._dtypes: Mapping[str, Any] = getattr(xp, INSPECTION_FUNCTION)().dtypes(kind=None)

    def dtypes(self) -> Sequence[str]:
        return sort_dtype_names(self._dtypes)

    def make(self, operand: str) -> object:
        wanted = ParsedOperandString.parse(operand)
        if wanted.dtype is None:
            return wanted.value
        if wanted.dtype not in self._dtypes or wanted.tier not in ("array", "0d"):
            raise NoSuchOperandError(operand)
        shape = (2,) if wanted.tier == "array" else ()
        return self._xp.full(shape, wanted.value, dtype=self._dtypes[wanted.dtype])

    def read(self, result: object) -> str:
        dtype = getattr(result, "dtype", result)
        named = next((name for name, found in self._dtypes.items() if found == dtype), None)
        return named or python_answer(result) or str(getattr(dtype, "name", type(result).__name__))

    def operations(self) -> Mapping[str, Callable[..., object]]:
        xp = self._xp
        extensions = [getattr(xp, name) for name in ("linalg", "fft") if hasattr(xp, name)]
        # Parameters that the standard takes only by keyword.
        by_keyword: dict[str, Callable[..., object]] = {
            "expand_dims": lambda x: xp.expand_dims(x, axis=0),
            "permute_dims": lambda x: xp.permute_dims(x, axes=(0,)),
            "tensordot": lambda x, y: xp.tensordot(x, y, axes=1),
            "take": lambda x: xp.take(x, xp.asarray([0])),
        }
        found = find_functions(
            (xp, *extensions), xp.ones(2, dtype=self._dtypes["bool"]), copy_array=self.copy_array
        )
        found |= {op: call for op, call in by_keyword.items() if op in found}
        return found | {op: skip_unless_numbers(found[op]) for op in OPERATIONS_ON_NUMBERS if op in found}
