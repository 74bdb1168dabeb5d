"""Which operands the arrays of a run are: each dtype of a library is read once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from typelattice.operands.operand import Operand
from typelattice.tracing.kinds import ArrayKind

MOST = 4_096  # operands that are remembered


class ArrayReader:
    """Reads arrays as operands: `libraries` are those whose arrays were read, `unread` the names of dtypes
    that are none of ours.
    """

    def __init__(self) -> None:
        self.libraries: dict[str, None] = {}
        self.unread: set[str] = set()
        self._known: dict[tuple[str, Hashable], Operand | None] = {}

    def read(self, x: Any, kind: ArrayKind) -> Operand | None:
        """The operand that an array is, without its value; None of one that holds no numbers."""
        key = kind.library, kind.mark(x)
        if key in self._known:
            return self._known[key]
        try:
            found = kind.read(x)
        except Exception:  # arrays of objects, of texts, of dates; an object that says nothing of itself
            found = None
        if found is None:
            self.unread.add(_dtype_name(x))
        else:
            self.libraries.setdefault(kind.library)
            found = replace(found, value=None)
        if len(self._known) < MOST:
            self._known[key] = found
        return found


def _dtype_name(x: Any) -> str:
    """What a library calls the dtype of an array; the class of an object that has none."""
    dtype: Any = getattr(x, "dtype", type(x))
    return getattr(getattr(dtype, "type", dtype), "__name__", None) or str(dtype)
