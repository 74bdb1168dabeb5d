"""JAX computed call by call, and compiled by `jax.jit`; its recordings are traced."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax

from typelattice.conformance.libraries.jax import JAX
from typelattice.conformance.library import NoSuchOperandError


class Eager(JAX):
    """Functions of jax.numpy that compute."""

    name = "jax-eager"
    how = "functions of jax.numpy, computed"

    def make(self, operand: str) -> object:
        made = super().make(operand)
        if isinstance(made, jax.ShapeDtypeStruct):
            raise NoSuchOperandError(f"the CPU has no arrays of {operand}")
        return made

    def operations(self) -> Mapping[str, Callable[..., object]]:
        found = self.eager()
        return {op: self.computed(found[op]) for op in found if op != "result_type"}  # it computes nothing

    def computed(self, function: Callable[..., Any]) -> Callable[..., object]:
        """Return a function that waits for its result, so that what fails there fails here."""
        return lambda *operands: jax.block_until_ready(function(*operands))


class Jit(Eager):
    """The same functions compiled, with arrays as arguments and Python scalars as constants."""

    name = "jax-jit"
    how = "functions of jax.numpy under jax.jit"

    def computed(self, function: Callable[..., Any]) -> Callable[..., object]:
        def call(*operands: object) -> object:
            arrays = [x for x in operands if isinstance(x, jax.Array)]

            def of(*tracers: object) -> object:
                rest = iter(tracers)
                return function(*(next(rest) if isinstance(x, jax.Array) else x for x in operands))

            return jax.block_until_ready(jax.jit(of)(*arrays))

        return call


IMPLEMENTATIONS = {each.name: each for each in (Eager, Jit)}
