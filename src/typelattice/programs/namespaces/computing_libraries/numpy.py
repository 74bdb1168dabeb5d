"""NumPy: its ufuncs cast as they go, block by block, and its scalars become arrays."""
from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from typelattice.core.losses.range_and_overflow import PythonNumber
from typelattice.programs.namespaces.computing_libraries.computing_library import ComputingLibrary

MIN_BLOCKED_SIZE = 1 << 18  # elements; larger arrays are computed in blocks
BLOCK_SIZE = 1 << 16  # elements of a block, so that it stays in the cache


class NumPy(ComputingLibrary):
    """NumPy. A ufunc casts during the call if its loop is chosen. Other libraries make a copy first."""

    compares_exactly = True

    def __init__(self, module: ModuleType, xp: Any, package: str, mutable: bool) -> None:
        super().__init__(np, xp, package, mutable)
        self.name = module.__name__

    def ensure_array(self, data: Any) -> Any:
        return data if hasattr(data, "__setitem__") else np.asarray(data)

    def cast(self, data: Any, to: Any) -> Any:
        """Cast an array. For pairs of dtypes that ml_dtypes casts only through a third, go through that."""
        try:
            return super().cast(data, to)
        except TypeError:
            wide = np.float32 if np.can_cast(to, np.float32) or data.dtype.kind in "iu" else np.int64
            return super().cast(super().cast(data, wide), to)

    def cast_exactly(self, data: Any, to: Any) -> Any:
        """Cast as the formats define it. ml_dtypes rounds a float64 twice, first to float32.

        So round to float32 first, with the last bit set if that is not exact: it then decides no tie.
        """
        if data.dtype != np.float64 or to.type.__module__ == "numpy":
            return self.cast(data, to)
        near = data.astype(np.float32)
        below, above = near.astype(np.float64) < data, near.astype(np.float64) > data
        is_even = near.view(np.uint32) & 1 == 0
        toward = np.where(below, np.float32(np.inf), np.float32(-np.inf))
        odd = np.where((below | above) & is_even, np.nextafter(near, toward), near)
        return self.cast(np.asarray(odd, np.float32), to)

    def number_to_array(self, value: PythonNumber, to: Any, like: Any) -> Any:
        return np.asarray(value).astype(to) if isinstance(value, complex) else np.asarray(value, to)

    def find_function(self, name: str) -> Callable[..., Any]:
        """Return a function of the standard. `clip` and, from NumPy 2.0 on, `sign` are NumPy's own.

        array-api-compat's `clip` writes into read-only bounds, and its `sign` divides infinities. NumPy's
        `sign` does not from 2.0 on.
        """
        if name == "clip":
            return np.clip
        return np.sign if name == "sign" and np.__version__ >= "2" else super().find_function(name)

    def scalar_to_array(self, scalar: object) -> Any:
        return np.asarray(scalar) if isinstance(scalar, np.generic) else None

    def uncast_function(self, op_name: str, zero_d: bool) -> Callable[..., Any]:
        """Return a function, or `operator.pow`: `x ** 0.5` takes the square root, but `np.power` does not."""
        function = operator.pow if op_name == "**" else super().uncast_function(op_name, zero_d)
        return function if not zero_d else lambda *operands: np.asarray(function(*operands))

    def casting_function(
        self, name: str, to: Any, sources: Sequence[Any], zero_d: bool
    ) -> Callable[..., Any]:
        function = self.find_function(name)
        casts = any(own != to for own in sources)
        if isinstance(function, np.ufunc):
            compute = function if not casts else _loop_function(function, to)
            if compute is not None:
                return compute if not zero_d else lambda *arrays: np.asarray(compute(*arrays))
        elif zero_d and not casts:
            return lambda *arrays: np.asarray(function(*arrays))
        return super().casting_function(name, to, sources, zero_d)


def _loop_function(function: np.ufunc, to: Any) -> Callable[..., Any] | None:
    """Return a ufunc that casts its inputs to one dtype and uses its loop, or None without such a loop."""
    signature = (*(to,) * function.nin, None)
    try:
        # resolve_dtypes computes nothing, so it warns of nothing.
        *_, gives = function.resolve_dtypes(signature, signature=signature, casting="unsafe")
    except TypeError:
        return None

    def whole(*arrays: Any) -> Any:
        return function(*arrays, signature=signature, casting="unsafe")

    if function.nin != 2 or gives != to:
        return whole

    def compute(a: Any, b: Any) -> Any:
        # Check the size first. For a small array the other checks would take as long as the sum.
        if (
            a.size >= MIN_BLOCKED_SIZE
            and a.shape == b.shape
            and a.flags.c_contiguous
            and b.flags.c_contiguous
        ):
            return _compute_in_blocks(function, to, a, b)
        return function(a, b, signature=signature, casting="unsafe")

    return compute


def _compute_in_blocks(function: np.ufunc, to: Any, a: Any, b: Any) -> Any:
    """Apply a ufunc to two contiguous arrays block by block, casting each block into the result's memory.

    This needs no temporary array of full size, and a block is still in the cache when the ufunc uses it.
    """
    out = np.empty(a.shape, to)
    whole, left, right = out.reshape(-1), a.reshape(-1), b.reshape(-1)
    for i in range(0, a.size, BLOCK_SIZE):
        part, x, y = whole[i : i + BLOCK_SIZE], left[i : i + BLOCK_SIZE], right[i : i + BLOCK_SIZE]
        if a.dtype == to:
            part[...] = y
            function(x, part, out=part)
        else:
            part[...] = x
            function(part, y.astype(to, copy=False), out=part)
    return out


LIBRARY = NumPy
