"""Reading of a run's arrays as operands. Each dtype of a library is read once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from typelattice.base.errors.outside_errors import raise_if_from_outside
from typelattice.core.operands.operand import Operand
from typelattice.tracing.run_data.array_classes import ArrayClass

MAX_REMEMBERED_OPERANDS = 4_096  # beyond this number, no further operand is remembered


class ArrayReader:
    """A reader of arrays as operands.

    `libraries` has the libraries with arrays that were read. `unknown_dtypes` has the names of dtypes that
    are not ours.
    """

    def __init__(self) -> None:
        self.libraries: dict[str, None] = {}
        self.unknown_dtypes: set[str] = set()
        self._known: dict[tuple[str, Hashable], Operand | None] = {}

    def read_operand(self, array: Any, kind: ArrayClass) -> Operand | None:
        """Return the operand of an array, without its value, or None if the array holds no numbers."""
        key = kind.library, kind.cache_key(array)
        if key in self._known:
            return self._known[key]
        try:
            found = kind.read(array)
        except Exception as e:  # arrays of objects, texts or dates, and objects that cannot be read
            raise_if_from_outside(e, lambda: kind.read(array))
            found = None
        if found is None:
            self.unknown_dtypes.add(_dtype_name(kind.dtype(array)) or type(array).__name__)
        else:
            self.libraries.setdefault(kind.library)
            found = replace(found, value=None)
        if len(self._known) < MAX_REMEMBERED_OPERANDS:
            self._known[key] = found
        return found


def _dtype_name(dtype: Any) -> str:
    """Return the library's name of a dtype, or "" if there is none."""
    if dtype is None:
        return ""
    return getattr(getattr(dtype, "type", dtype), "__name__", None) or str(dtype)
