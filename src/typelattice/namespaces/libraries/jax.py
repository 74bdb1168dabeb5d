"""JAX: weak arrays, arrays that do not change, and its transformations."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from typelattice.facts.range import Value
from typelattice.namespaces.libraries.library import Library


class JAX(Library):
    """JAX. An array is not written into: a changed copy takes its place."""

    remedy = "jax.config.update('jax_enable_x64', True)"  # without it int64 makes an array of int32

    def weak(self, data: Any) -> bool:
        return bool(getattr(data, "weak_type", False))

    def number(self, value: Value, to: Any, like: Any) -> Any:
        return self.xp.asarray(value, dtype=to)  # within a transformation `like` has no device

    def put(self, data: Any, key: Any, value: Any) -> Any:
        return data.at[key].set(value)

    def adopt(self, cls: type, apart: Callable[[Any], Any], together: Callable[..., Any]) -> None:
        import jax

        def flatten(x: Any) -> tuple[tuple[Any], Any]:
            data, facts = apart(x)
            return (data,), facts

        jax.tree_util.register_pytree_node(cls, flatten, lambda facts, children: together(*children, *facts))


LIBRARY = JAX
