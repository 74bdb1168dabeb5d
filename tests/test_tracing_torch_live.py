"""Runs of PyTorch: methods that write in place, autocast, and what its own code does."""

from __future__ import annotations

from typing import Any

import pytest

import typelattice as tl
from typelattice.tracing.run import Run

pytestmark = pytest.mark.live
torch = pytest.importorskip("torch")


def rows(run: Run) -> dict[str, tuple[str | None, str, int]]:
    """What ran, by its text: operation, observed dtype, count."""
    assert not run.mismatches
    assert len(run.seen) == len(run.program.steps)
    return {step.text: (step.op, str(seen.operand.dtype), seen.count) for step, seen in run if seen.count}


def test_methods_that_write_in_place_are_steps_that_later_ones_take() -> None:
    def function(x: Any, y: Any) -> Any:
        x.add_(y)
        x.requires_grad_(False)
        x.copy_(y)
        x.mul_(2.5).exp_()
        return x + 1

    run = tl.trace(function, torch.ones(3), torch.ones(3, dtype=torch.float64)).run
    found = rows(run)
    assert found["x.add_(y)"] == ("setitem", "float32", 1)
    assert found["x.copy_(y)"] == ("setitem", "float32", 1)
    assert found["x.mul_(2.5).exp_()"] == ("setitem", "float32", 1) and found["x + 1"][0] == "add"
    assert "x.requires_grad_(False)" not in found
    at = {step.text: i for i, step in enumerate(run.program.steps) if run.seen[i].count}
    assert run.program.steps[at["x + 1"]].parts[0] == at["x.mul_(2.5).exp_()"]
    assert [str(o) for o in run.under("jax")][at["x + 1"]] == "float32"


def test_what_autocast_casts_is_named_and_is_no_mistake_of_the_rules() -> None:
    def function(x: Any) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = x @ x
            z = x + x
        return y + z, x @ z

    found = rows(tl.trace(function, torch.ones(3, 3)).run)
    assert found["x @ x"] == ("matmul under autocast", "bfloat16", 1)
    assert found["x + x"] == ("add", "float32", 1)
    assert found["x @ z"] == ("matmul", "float32", 1) and found["y + z"] == ("add", "float32", 1)
