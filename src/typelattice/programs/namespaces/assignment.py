"""Writing into arrays: elements that are replaced, and results that are put into the left operand."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.engine.evaluate_operation import find_operation_rules
from typelattice.core.operations.operations import find_operation
from typelattice.programs.namespaces.array import Array
from typelattice.programs.namespaces.namespace_context import NamespaceContext
from typelattice.programs.namespaces.namespace_error import NamespaceError


def element_methods(context: NamespaceContext) -> dict[str, Callable[..., Any]]:
    """Build the methods `__getitem__` and `__setitem__` of arrays, by name."""

    def getitem(self: Array, key: Any, /) -> Array:
        return self._wrap_like(context.library.select_elements(self._data, context.unwrap(key)))

    def setitem(self: Array, key: Any, value: Any, /) -> None:
        given = context.read_operand("assignment", value)
        p = context.recipes.promote("setitem", context.convert_operands((self, given)))
        if context.recipes.is_own_system:  # then the library casts and warns in its usual way
            element = given._data if isinstance(given, Array) else given
        elif isinstance(given, Array):
            element = context.cast_for_assignment(given, self.dtype)
        else:
            element = context.recipes.convert_number(given, p, self._data)
        self._data = context.call_library(
            p, context.library.put_elements, self._data, context.unwrap(key), element
        )

    return {"__getitem__": getitem, "__setitem__": setitem}


def assignment_dtype(context: NamespaceContext, op_name: str, array: Array, other: Any) -> DType:
    """Return the dtype of `array` after `x += y`, whether the result is written into `array` or replaces it.

    Raises NamespaceError if the system refuses the write.
    """
    p = context.system.explain(
        *context.convert_operands((array, context.read_operand(op_name, other))), op=op_name
    )
    if p.dtype is None:
        raise NamespaceError(f"{p.reason} under {context.system.name}: {p.remedy}")
    return p.dtype


def in_place_maker(
    context: NamespaceContext, op_name: str, function: Callable[..., Any]
) -> Callable[..., Any]:
    """Return the operator that writes its result into the left operand, if system and library allow it.

    `function` computes the value to write: `x + y` for `+=`.

    If the system rebinds, as JAX does, the name on the left refers to a new array. Other references keep the
    old array.
    """

    rebinds = find_operation_rules(context.system, op_name).gives_into.makes_new_array
    library_operator: Callable[..., Any] = getattr(operator, find_operation(op_name).special_method or "")
    by_library = context.recipes.is_own_system and context.library.mutable

    def written_by_library(self: Array, other: Any) -> bool:
        """Let the library write the result itself, since the last bits may differ if memory overlaps."""
        given = context.read_operand(op_name, other)
        if (
            context.system.explain(*context.convert_operands((self, given)), op=op_name).dtype
            is not self.dtype
        ):
            return False
        try:
            library_operator(self._data, given._data if isinstance(given, Array) else given)
        except Exception:
            return False  # computing the result first raises the error again, or avoids it
        return True

    def operate(self: Array, other: Any) -> Any:
        if by_library and written_by_library(self, other):
            return self
        if rebinds:
            return function(self, other)
        kept = assignment_dtype(context, op_name, self, other)
        out = function(self, other)
        # The library rebinds in this case, too.
        rebound = context.recipes.is_own_system and not context.library.mutable
        if tuple(out.shape) != tuple(self.shape) and not rebound:
            shapes = f"{tuple(out.shape)} cannot be written into one of {tuple(self.shape)}"
            raise NamespaceError(f"a result of shape {shapes}; use x = x + y")
        cast = context.recipes.cast(out._data, kept)
        if kept is not self.dtype or not context.library.mutable:
            return context.wrap(cast, kept, out.weak)
        self._data[...] = cast
        self._type = context.recipes.array_type(kept, out.weak, self._data.ndim == 0)
        return self

    return operate
