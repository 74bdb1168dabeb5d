"""JAX: weak arrays, immutable arrays, and its transformations."""
from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from typelattice.core.losses.range_and_overflow import PythonNumber
from typelattice.programs.namespaces.computing_libraries.computing_library import ComputingLibrary

ACCUMULATOR_PARAMETER = "preferred_element_type"  # the parameter of JAX's products


class JAX(ComputingLibrary):
    """JAX. Its arrays are immutable, so a changed copy replaces them."""

    fuses_casts = True
    remedy = "jax.config.update('jax_enable_x64', True)"  # int64 makes an array of int32 without this setting

    def is_weak(self, data: Any) -> bool:
        return bool(getattr(data, "weak_type", False))

    def number_to_array(self, value: PythonNumber, to: Any, like: Any) -> Any:
        return self.xp.asarray(value, dtype=to)  # within a transformation `like` has no device

    def put_elements(self, data: Any, key: Any, value: Any) -> Any:
        return data.at[key].set(value)

    def find_function(self, name: str) -> Callable[..., Any]:
        """Wrap a function as in the standard: axes count from the end, and a wrong one is an IndexError."""
        found = super().find_function(name)
        if name == "permute_dims":
            return lambda x, /, axes: found(x, tuple(a + x.ndim if a < 0 else a for a in axes))
        return _with_index_errors(found) if name == "expand_dims" else found

    def accumulate(self, name: str, to: Any, *arrays: Any, **options: Any) -> Any:
        """Call a product of arrays with its accumulator, so the arrays keep their dtypes, or cast them."""
        if self.has_accumulator(name):
            return self.find_function(name)(*arrays, **{ACCUMULATOR_PARAMETER: to}, **options)
        return super().accumulate(name, to, *arrays, **options)

    def has_accumulator(self, name: str) -> bool:
        """Return True if a function accepts the dtype to add up in, beside arrays of other dtypes."""
        return ACCUMULATOR_PARAMETER in signature(self.find_function(name)).parameters

    def register_array_class(
        self, cls: type, flatten_array: Callable[[Any], Any], unflatten_array: Callable[..., Any]
    ) -> None:
        import jax

        def flatten(x: Any) -> tuple[tuple[Any], Any]:
            data, facts = flatten_array(x)
            return (data,), facts

        jax.tree_util.register_pytree_node(
            cls, flatten, lambda facts, children: unflatten_array(*children, *facts)
        )


def _with_index_errors(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except ValueError as e:
            raise IndexError(str(e)) from e

    return call


LIBRARY = JAX
