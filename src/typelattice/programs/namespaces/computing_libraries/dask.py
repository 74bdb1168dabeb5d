"""Dask: lazy, immutable arrays."""
from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from typelattice.core.losses.range_and_overflow import PythonNumber
from typelattice.programs.namespaces.computing_libraries.computing_library import ComputingLibrary


class Dask(ComputingLibrary):
    """Dask's arrays, computed chunk by chunk. The graph contains every cast."""

    def __init__(self, module: ModuleType, xp: Any, package: str, mutable: bool) -> None:
        super().__init__(module, xp, package, mutable=False)  # an assignment would make another graph

    def find_function(self, name: str) -> Callable[..., Any]:
        """Return a function of the standard. Dask's own `clip` and `sign` are NumPy's."""
        return getattr(self.module, name) if name in ("clip", "sign") else super().find_function(name)

    def scalar_to_array(self, scalar: object) -> Any:
        """Convert a NumPy scalar to a Dask array without dimensions. Return None for anything else.

        Dask has no scalars.
        """
        numpy_scalar = hasattr(scalar, "dtype") and type(scalar).__module__ == "numpy"
        return self.xp.asarray(scalar) if numpy_scalar and not hasattr(scalar, "__setitem__") else None

    def put_elements(self, data: Any, key: Any, value: Any) -> Any:
        """Return a changed copy. Other references to the array keep its old graph."""
        changed = data.copy()
        changed[key] = value
        return changed

    def python_value(self, data: Any) -> PythonNumber:
        return super().python_value(data.compute())


LIBRARY = Dask
