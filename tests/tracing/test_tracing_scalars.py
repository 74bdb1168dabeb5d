"""NumPy's scalars in a run: in-place operators replace them, and replays do as the other library does."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import typelattice as tl


def halved(x: Any) -> Any:
    t = x.sum()
    t /= 2
    return t


def added(x: Any, y: Any) -> Any:
    t = x.mean()
    t += y.mean()
    return t


def of_numbers(n: int, x: Any) -> Any:
    return np.sqrt(n, dtype=x.dtype), np.add(2, 3, dtype=np.float32)


def test_numpy_replaces_its_scalars_and_pytorch_writes_into_its_tensors() -> None:
    run = tl.trace(halved, np.arange(3)).run
    assert run.under("numpy")[-1].dtype == tl.dtype("float64")
    assert run.under("numpy1")[-1].dtype == tl.dtype("float64")
    assert run.under("jax")[-1].dtype == tl.dtype("float64")
    outcome = run.under("torch")[-1]
    assert outcome.is_refused
    assert "float32 cannot be written into int64" in (outcome.reason or "")


def test_a_wider_operand_is_written_into_the_narrower_scalar_under_pytorch() -> None:
    run = tl.trace(added, np.ones(3, np.float32), np.ones(3)).run
    assert run.under("numpy")[-1].dtype == tl.dtype("float64")
    assert run.under("torch")[-1].dtype == tl.dtype("float32")


def test_a_program_read_from_json_keeps_which_operators_replace() -> None:
    program = tl.trace(halved, np.arange(3)).run.program
    read = tl.Program.from_json(json.dumps(json.loads(program.to_json())))
    assert read.under("torch")[-1].is_refused
    assert not read.under("numpy")[-1].is_refused


def test_a_python_number_is_computed_in_the_dtype_that_is_asked_for() -> None:
    run = tl.trace(of_numbers, 2, np.ones(3, np.float32)).run
    assert not run.mismatches
    assert [str(o) for s, o in zip(run.program.steps, run.under("numpy"), strict=True) if s.op == "sqrt"] == [
        "float32"
    ]
