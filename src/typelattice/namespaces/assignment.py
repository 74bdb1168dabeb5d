"""Writing into arrays: elements that are replaced, and results that are put into the left operand."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from typelattice.engine.operate import written_into
from typelattice.engine.operations import find
from typelattice.engine.steps import RefusalError
from typelattice.facts.dtypes import DType
from typelattice.namespaces.array import Array
from typelattice.namespaces.context import Context
from typelattice.namespaces.errors import NamespaceError


def elements(context: Context) -> dict[str, Callable[..., Any]]:
    """The methods that read and replace elements."""

    def getitem(self: Array, key: Any, /) -> Array:
        return self._like(context.library.elements(self._data, context.bare(key)))

    def setitem(self: Array, key: Any, value: Any, /) -> None:
        operands = context.operands("assignment", (self, value))
        p = context.system.promote(*operands)
        if value.__class__ is not context.Array:
            # `where` refuses a number that arithmetic would wrap, as assignment does
            context.system.promote(*operands, op="where")
        if into(context, self, p.result) is not self.dtype:
            what = f"{p.result} cannot be written into {self.dtype}"
            raise NamespaceError(f"{what}; cast the value with astype")
        _, data = context.data(p, (self, value))
        element = context.library.cast(data, self._standing.native) if hasattr(data, "dtype") else data
        self._data = context.library.put(self._data, context.bare(key), element)

    return {"__getitem__": getitem, "__setitem__": setitem}


def into(context: Context, x: Array, d: DType) -> DType:
    """The dtype of an array once a result has been written into it, or has taken its place.

    Raises NamespaceError where the system does not let it.
    """
    try:
        return written_into(context.system, find("iadd", context.system.ops), d, x._standing.operand, [])
    except RefusalError as e:
        raise NamespaceError(f"{e.reason} under {context.system.name}: {e.remedy}") from None


def in_place(context: Context, function: Callable[..., Any]) -> Callable[..., Any]:
    """The operator that writes its result into the left operand, if system and library let it."""

    def operate(self: Array, other: Any) -> Any:
        out = function(self, other)
        kept = into(context, self, out.dtype)
        cast = context.library.cast(out._data, context.library.native(kept))
        if kept is not self.dtype or not context.library.mutable:
            return context.wrap(cast, kept, out.weak)
        if tuple(out.shape) != tuple(self.shape):
            shapes = f"{tuple(out.shape)} cannot be written into one of {tuple(self.shape)}"
            raise NamespaceError(f"a result of shape {shapes}; use x = x + y")
        self._data[...] = cast
        self._standing = context.planner.standing(kept, out.weak, self._data.ndim == 0)
        return self

    return operate
