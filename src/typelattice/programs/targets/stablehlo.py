"""Export of programs to StableHLO, as text: what JAX gives its compiler for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from typelattice.calls.step import Input, ProgramError, Step
from typelattice.engine.system import System
from typelattice.namespaces.namespace import namespace
from typelattice.operands.adapters import native
from typelattice.programs.replay.run_on_arrays import run
from typelattice.programs.targets.inputs import failure_message, input_dtype


def module(steps: Sequence[Step], results: Sequence[int], system: System) -> str:
    """Return a program as StableHLO text, with every promotion of the system as an explicit cast.

    Raises ProgramError for an operation that JAX lacks.
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
                specs[step.text] = jax.ShapeDtypeStruct(step.shape, native(d, "jax"))
        xp = namespace(system, jnp)

        def compute(given: dict[str, Any]) -> tuple[Any, ...]:
            taken = {name: xp.asarray(x) for name, x in given.items()}
            return tuple(getattr(x, "bare", x) for x in run(steps, results, xp, taken))

        try:
            return str(jax.jit(compute).lower(specs).as_text())
        except ProgramError:
            raise
        except Exception as e:  # of whatever class JAX raises for what it lacks
            raise ProgramError(failure_message("JAX cannot lower", e)) from e
