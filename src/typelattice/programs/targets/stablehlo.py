"""Export of programs to StableHLO, as the text that JAX passes to its compiler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.engine.system import System
from typelattice.core.operands.adapters import native
from typelattice.core.operations.shapes import Shape
from typelattice.programs.calls.steps import Input, ProgramError, Step
from typelattice.programs.namespaces.computing_libraries.jax import JAX
from typelattice.programs.namespaces.namespace import Namespace
from typelattice.programs.namespaces.namespace_error import NamespaceError
from typelattice.programs.replay.run_on_arrays import run_steps
from typelattice.programs.targets.composed_functions import COMPOSED_FUNCTIONS, LibraryFunctions
from typelattice.programs.targets.export_checks import failure_message, input_dtype
from typelattice.programs.targets.graph_rules import graph_rules

# For this platform JAX leaves the operands of a product as they are. For a CPU it casts operands of two
# different integer dtypes, and refuses to write an algorithm. XLA still compiles the text for a CPU.
PLATFORMS_KEEPING_OPERAND_DTYPES = ("tpu",)


class StableHLO(JAX):
    """JAX's writer of graphs. It reports which products have their own accumulator."""

    writes_custom_calls = True

    def __init__(self) -> None:
        super().__init__(jnp, jnp, "jax", mutable=False)
        self.accumulators = 0

    def find_function(self, name: str) -> Callable[..., Any]:
        """Return a function of JAX, or one composed of such."""
        if name == "erf":  # the only one that JAX has elsewhere
            erf: Callable[..., Any] = jax.scipy.special.erf
            return erf
        try:
            return super().find_function(name)
        except NamespaceError:
            if name not in COMPOSED_FUNCTIONS:
                raise
        return partial(COMPOSED_FUNCTIONS[name], LibraryFunctions(self))

    def accumulate(self, name: str, to: Any, *arrays: Any, **options: Any) -> Any:
        """Write a product with its accumulator: in the algorithm, or for integers as its result dtype."""
        self.accumulators += 1
        left, right = arrays[0].dtype, arrays[-1].dtype
        if self.dtype_of(arrays[0]).kind is Kind.FLOAT and self.has_accumulator(name):
            options["precision"] = jax.lax.DotAlgorithm(left, right, to)
        return super().accumulate(name, to, *arrays, **options)

    def call_custom(
        self,
        domain: str,
        name: str,
        to: Any,
        shape: Shape,
        arrays: Sequence[Any],
        settings: Mapping[str, Any],
    ) -> Any:
        """Write a custom call, with the settings as its attributes."""
        made = jax.ffi.ffi_call(name, jax.ShapeDtypeStruct(shape, to))
        return made(*arrays, **{key: _write_attribute(x) for key, x in settings.items()})


def _write_attribute(value: Any) -> Any:
    """Write a setting as an attribute of a custom call: a 64-bit number, a list of them, a bool or a text."""
    if isinstance(value, (bool, str)):
        return value
    return np.float64(value) if isinstance(value, float) else np.asarray(value, "int64")[()]


def write_module(steps: Sequence[Step], results: Sequence[int], system: System) -> str:
    """Return a program as StableHLO text, with every promotion of the system as an explicit cast.

    Raises ProgramError if JAX lacks an operation.
    """
    specs: dict[str, Any] = {}
    with jax.enable_x64(True):
        for step in steps:
            d = input_dtype(step, system) if isinstance(step, Input) else None
            if d is not None:
                if step.shape is None or None in step.shape:
                    raise ProgramError(
                        f"the shape of the input {step.text} is not known; give one, e.g. {d}[3,4]"
                    )
                if d.bits == 1 and d.kind is not Kind.BOOL:
                    why = f"the input {step.text} is {d}, and StableHLO's i1 is bool"
                    raise ProgramError(f"{why}; cast it first")
                specs[step.text] = jax.ShapeDtypeStruct(step.shape, native(d, "jax"))
        library = StableHLO()
        xp = Namespace(graph_rules(system), library, False)

        def compute(given: dict[str, Any]) -> tuple[Any, ...]:
            taken = {name: xp.asarray(x) for name, x in given.items()}
            return tuple(getattr(x, "bare", x) for x in run_steps(steps, results, xp, taken))

        try:
            traced = jax.jit(compute).trace(specs)
            platforms = PLATFORMS_KEEPING_OPERAND_DTYPES if library.accumulators else None
            return str(traced.lower(lowering_platforms=platforms).as_text())
        except ProgramError:
            raise
        except Exception as e:  # JAX raises many classes of errors for what it lacks
            raise ProgramError(failure_message("JAX cannot lower", e)) from e
