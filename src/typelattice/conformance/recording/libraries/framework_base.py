"""Common code of most frameworks: native dtypes, arrays by tier, a dtype read back by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from typelattice.conformance.recording.library import (
    NoSuchOperandError,
    ParsedOperandString,
    PythonNumber,
    python_answer,
)

FunctionByOperation = dict[str, Callable[..., object]]
Shape = tuple[int, ...]
ONE_AXIS: Shape = (2,)
"""The shape of the arrays that are recorded, of one axis."""


class Framework:
    """A library with one native dtype for each standard name; a subclass says how arrays are made."""

    name: str
    how: str
    versions: Mapping[str, str]
    native_dtypes: Mapping[str, Any]
    """Standard name to the framework's dtype."""

    def dtypes(self) -> Sequence[str]:
        return tuple(self.native_dtypes)

    def make(self, operand: str) -> object:
        parsed = ParsedOperandString.parse(operand)
        if parsed.dtype is None:
            return self.make_python_scalar(parsed.value)
        makers: dict[str, Callable[[Any, PythonNumber], object]] = {
            "array": self.make_array,
            "0d": self.make_0d_array,
            "scalar": self.make_scalar,
            "weak": self.make_weak_array,
        }
        if parsed.dtype not in self.native_dtypes or parsed.tier not in makers:
            raise NoSuchOperandError(operand)
        return makers[parsed.tier](self.native_dtypes[parsed.dtype], parsed.value)

    def read(self, result: object) -> str:
        return python_answer(result) or self.dtype_name(getattr(result, "dtype", result))

    def dtype_name(self, dtype: Any) -> str:
        """Return the standard name of a native dtype, or the framework's own name."""
        known = (name for name, own in self.native_dtypes.items() if own == dtype)
        return next(known, None) or str(getattr(dtype, "name", dtype))

    def operations(self) -> FunctionByOperation:
        raise NotImplementedError

    def make_of_shape(self, shape: Shape, dtype: Any, value: PythonNumber) -> object:
        """Return an array full of a value, or of the values in a nested list.

        A library whose arrays have one axis alone has no such arrays.
        """
        raise NoSuchOperandError(f"{self.name} has no arrays of the shape {shape}")

    def make_array(self, dtype: Any, value: PythonNumber) -> object:
        return self.make_of_shape(ONE_AXIS, dtype, value)

    def make_0d_array(self, dtype: Any, value: PythonNumber) -> object:
        return self.make_of_shape((), dtype, value)

    def make_scalar(self, dtype: Any, value: PythonNumber) -> object:
        raise NoSuchOperandError(f"{self.name} has no scalars of its own")

    def make_weak_array(self, dtype: Any, value: PythonNumber) -> object:
        raise NoSuchOperandError(f"{self.name} has no weakly typed arrays")

    def make_python_scalar(self, value: PythonNumber) -> object:
        return value
