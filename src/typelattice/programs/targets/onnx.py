"""ONNX, through ndonnx: the functions of its namespace build the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ndonnx

from typelattice.calls.steps import Input, ProgramError, Step
from typelattice.engine.system import System
from typelattice.namespaces.array import Array
from typelattice.namespaces.namespace import namespace
from typelattice.programs.replay.run_on_arrays import run_steps
from typelattice.programs.targets.export_checks import failure_message, input_dtype


def write_model(steps: Sequence[Step], results: Sequence[int], system: System) -> Any:
    """Write a program without implicit casts as an ONNX model. Raises ProgramError if ndonnx lacks a step."""
    xp = namespace(system, ndonnx)
    arguments = {}
    given = {}
    for step in steps:
        if isinstance(step, Input):
            d = input_dtype(step, system)
            if d is None:  # a Python number of known value is a constant, not an input
                continue
            lengths = tuple(f"{step.text}_{i}" if n is None else n for i, n in enumerate(step.shape or ()))
            if step.shape is None:
                raise ProgramError(f"the input {step.text} has no shape; give one, e.g. {d}[3,4] or {d}[?,4]")
            native = getattr(ndonnx, d.name, None)
            if native is None:
                raise ProgramError(f"ndonnx has no {d}, which the input {step.text} has; cast it first")
            arguments[step.text] = ndonnx.argument(shape=lengths, dtype=native)
            given[step.text] = xp.asarray(arguments[step.text], dtype=d)
    try:
        made = run_steps(steps, results, xp, given)
        # a part may be a Python number
        bare = [x.bare if isinstance(x, Array) else xp.asarray(x).bare for x in made]
        outputs = {f"result{i}" if len(made) > 1 else "result": x for i, x in enumerate(bare)}
        return ndonnx.build(arguments, outputs)
    except ProgramError:
        raise
    except Exception as e:  # ndonnx and its builder raise many classes of errors for what they lack
        raise ProgramError(failure_message("ndonnx cannot build", e)) from e
