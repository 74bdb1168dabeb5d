"""JAX computed call by call, and under its transformations; its recordings are traced."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from typelattice.conformance.recording.libraries.framework_base import FunctionByOperation
from typelattice.conformance.recording.libraries.jax import JAX
from typelattice.conformance.recording.library import NoSuchOperandError
from typelattice.conformance.recording.operation_functions import bind_constants


class EagerJAX(JAX):
    """Functions of jax.numpy that compute."""

    name = "jax-eager"
    how = "functions of jax.numpy, computed"

    def make(self, operand: str) -> object:
        made = super().make(operand)
        if isinstance(made, jax.ShapeDtypeStruct):
            raise NoSuchOperandError(f"the CPU has no arrays of {operand}")
        return made

    def operations(self) -> FunctionByOperation:
        found = self.eager()
        # result_type computes nothing
        return {op: self.as_whole(found[op]) for op in found if op != "result_type"}

    def as_whole(self, function: Callable[..., Any]) -> Callable[..., object]:
        """Return a function of arrays and Python scalars that waits for its result, so that it fails at
        once.
        """

        @functools.wraps(function)
        def call(*operands: object) -> object:
            return jax.block_until_ready(
                self.call_transformed(*bind_constants(function, operands, jax.Array))
            )

        return call

    def call_transformed(self, function: Callable[..., object], arrays: list[jax.Array]) -> object:
        """Call a function; a subclass transforms it first. Python scalars are constants in it."""
        return function(*arrays)


class JAXJit(EagerJAX):
    name = "jax-jit"
    how = "functions of jax.numpy under jax.jit"

    def call_transformed(self, function: Callable[..., object], arrays: list[jax.Array]) -> object:
        return jax.jit(function)(*arrays)


class JAXVmap(EagerJAX):
    name = "jax-vmap"
    how = "functions of jax.numpy under jax.vmap, over a new first axis of each array"

    def call_transformed(self, function: Callable[..., object], arrays: list[jax.Array]) -> object:
        return jax.vmap(function)(*(jnp.expand_dims(x, 0) for x in arrays))


class JAXGrad(EagerJAX):
    name = "jax-grad"
    how = "functions of jax.numpy as jax.vjp evaluates them"

    def call_transformed(self, function: Callable[..., object], arrays: list[jax.Array]) -> object:
        return jax.vjp(function, *arrays)[0]


class JAXEvalShape(EagerJAX):
    name = "jax-eval-shape"
    how = "functions of jax.numpy under jax.eval_shape, with abstract arrays"

    def call_transformed(self, function: Callable[..., object], arrays: list[jax.Array]) -> object:
        return jax.eval_shape(function, *arrays)


IMPLEMENTATIONS = {each.name: each for each in (EagerJAX, JAXJit, JAXVmap, JAXGrad, JAXEvalShape)}
