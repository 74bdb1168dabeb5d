"""Writing into arrays: elements replaced, and results put into the left operand, as far as system and library let it."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from typelattice.engine.answer import Refused
from typelattice.engine.operate import write
from typelattice.engine.operations import find
from typelattice.facts.dtypes import DType
from typelattice.namespaces.backend import NamespaceError

if TYPE_CHECKING:
    from typelattice.namespaces.array import Array
    from typelattice.namespaces.space import Namespace


def assign(space: Namespace, x: Array, key: Any, value: Any) -> None:
    """Elements of an array replaced. Raises NamespaceError of a library whose arrays do not change."""
    operands = space.operands("assignment", (x, value))
    p = space.system.promote(*operands)
    if value.__class__ is not space.Array:
        space.system.promote(*operands, op="where")  # which refuses a number where arithmetic wraps it, as assignment does
    if into(space, x, p.result) is not x.dtype:
        raise NamespaceError(f"{p.result} cannot be written into {x.dtype}; cast the value with astype")
    _, data = space.data(p, (x, value))
    element = space.backend.cast(data, x._standing.native) if hasattr(data, "dtype") else data
    x._data = space.backend.put(x._data, space.bare(key), element)


def into(space: Namespace, x: Array, d: DType) -> DType:
    """The dtype of an array once a result has been written into it, or has taken its place. Raises NamespaceError."""
    try:
        return write(space.system, find("iadd", space.system.ops), d, x._standing.operand, [])
    except Refused as refused:
        reason, remedy, _ = refused.args
        raise NamespaceError(f"{reason} under {space.system.name}: {remedy}") from None


def in_place(space: Namespace, function: Callable[..., Any]) -> Callable[..., Any]:
    """The operator that writes its result into the left operand, if the system lets it and the library can."""

    def operate(self: Array, other: Any) -> Any:
        out = function(self, other)
        kept = into(space, self, out.dtype)
        cast = space.backend.cast(out._data, space.backend.native(kept))
        if kept is not self.dtype or not space.backend.mutable:
            return space.wrap(cast, kept, out.weak)
        if tuple(out.shape) != tuple(self.shape):
            shapes = f"{tuple(out.shape)} cannot be written into one of {tuple(self.shape)}"
            raise NamespaceError(f"a result of shape {shapes}; use x = x + y")
        self._data[...] = cast
        self._standing = space.planner.standing(kept, out.weak, self._data.ndim == 0)
        return self

    return operate
