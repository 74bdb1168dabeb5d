"""Arguments of compiled functions that are weak in one call and strong in another: JAX compiles for each."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import typelattice as tl

pytestmark = pytest.mark.live
jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax
ONE = jnp.float32(1)


@pytest.fixture(autouse=True)
def by_default() -> Iterator[None]:
    """JAX without 64-bit dtypes, whatever other tests in this process have set."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", False)
    yield
    jax.config.update("jax_enable_x64", before)


def of_jit(first: Any) -> Any:
    step = jax.jit(lambda state, rate: {"x": state["x"] * rate})
    state = {"x": first + 0}
    for _ in range(3):
        state = step(state, ONE)
    return state["x"]


def of_scan(first: Any) -> Any:
    def step(total: Any, x: Any) -> Any:
        return total + x, None

    total = first * 1
    for _ in range(3):
        total, _ = lax.scan(step, total, jnp.ones(2, jnp.float32))
    return total


def of_fori_loop(first: Any) -> Any:
    def step(i: Any, total: Any) -> Any:
        return total + ONE

    total = first
    for _ in range(3):
        total = lax.fori_loop(0, 2, step, total)
    return total


def of_while_loop(first: Any) -> Any:
    def is_small(total: Any) -> Any:
        return total < 100

    def step(total: Any) -> Any:
        return total + ONE

    lax.while_loop(is_small, step, init_val=first)
    return lax.while_loop(is_small, step, init_val=ONE)


CASES = [
    (of_jit, "state['x']", "first"), (of_scan, "init", "first"),
    (of_fori_loop, "init_val", "total"), (of_while_loop, "init_val", "first"),
]  # fmt: skip
COMPILED = Counter[str]()
jax.monitoring.register_event_duration_secs_listener(
    lambda event, _, **named: COMPILED.update([named["fun_name"]] if "backend_compile" in event else [])
)


def compiled(function: Callable[[Any], Any], first: Any) -> int:
    """Count how often the function or loop within was compiled."""
    jax.clear_caches()
    COMPILED.clear()
    function(first)
    return max(n for name, n in COMPILED.items() if name in ("jit(<lambda>)", "jit(scan)", "jit(while)"))


@pytest.mark.parametrize("function, argument, text", CASES)
def test_the_line_that_made_an_argument_weak_is_named(
    function: Callable[[Any], Any], argument: str, text: str
) -> None:
    weak, strong = jnp.asarray(1.0), jnp.float32(1.0)
    assert (compiled(function, weak), compiled(function, strong)) == (2, 1)
    (found,) = tl.trace(function, weak).run.weakness_changes
    assert (found.argument, found.dtype, found.text) == (argument, "float32[]", text)
    assert found.location and found.location.file == __file__
    assert tl.trace(function, strong).run.weakness_changes == ()


def test_a_python_number_is_weak_where_it_enters() -> None:
    (found,) = tl.trace(of_fori_loop, 0.0).run.weakness_changes
    assert found.text == "lax.fori_loop(0, 2, step, total)"


def of_other_types() -> Any:
    step = jax.jit(lambda x, n: x * n)
    return step(jnp.asarray(1.0), 2), step(jnp.ones(3, jnp.float32), 2), step(jnp.ones(3, jnp.int32), 3)


def test_other_shapes_and_dtypes_are_no_finding() -> None:
    assert tl.trace(of_other_types).run.weakness_changes == ()


def of_flipped_state(first: Any) -> Any:
    def update(state: Any, gradient: Any) -> Any:
        return {"mu": 0.9 * state["mu"] + gradient.astype(jnp.float32), "step": state["step"] + 1}

    step = jax.jit(update)
    state = {"mu": jnp.zeros(3, first), "step": jnp.int32(0)}
    for _ in range(3):
        state = step(state, jnp.ones(3, jnp.bfloat16))
    return state["mu"]


def test_a_state_that_comes_back_with_another_dtype_is_named_by_the_line_that_changed_it() -> None:
    (found,) = tl.trace(of_flipped_state, jnp.bfloat16).run.weakness_changes
    assert (found.argument, found.dtype, found.new_dtype) == ("state['mu']", "bfloat16", "float32")
    assert found.text == '0.9 * state["mu"] + gradient.astype(jnp.float32)'
    assert tl.trace(of_flipped_state, jnp.float32).run.weakness_changes == ()


OTHER_PACKAGE = """
from typing import Any, NamedTuple
import jax.numpy as jnp
class State(NamedTuple):
    scale: Any
    total: Any
def init(p):
    return State(jnp.asarray(1.0), jnp.zeros_like(p))
def one():
    return jnp.asarray(1.0)
"""
STATE_OF_PACKAGE = """
import jax, jax.numpy as jnp, other_package
step = jax.jit(lambda p, s: (p * s.scale, other_package.State(s.scale * jnp.float32(0.5), s.total)))
p = jnp.ones(3, jnp.float32)
state = other_package.init(p)
for _ in range(2):
    p, state = step(p, state)
"""
NUMBER_OF_PACKAGE = """
import jax, jax.numpy as jnp, other_package
step = jax.jit(lambda p, x: p * x)
p, x = jnp.ones(3, jnp.float32), other_package.one()
p = step(p, x)
p = step(p, jnp.float32(2))
"""


@pytest.mark.parametrize("source", [STATE_OF_PACKAGE, NUMBER_OF_PACKAGE])
@pytest.mark.parametrize("is_followed", [False, True])
def test_a_package_that_made_a_weak_part_is_named_with_what_follows_it(
    source: str, is_followed: bool, tmp_path: Path
) -> None:
    home = tmp_path / "installed"
    (home / "other_package").mkdir(parents=True)
    (home / "other_package" / "__init__.py").write_text(OTHER_PACKAGE)
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "s.py").write_text(source)
    folders = os.pathsep.join([str(Path(tl.__file__).parents[1]), str(home)])
    options = ["--package", "other_package"] if is_followed else []
    done = subprocess.run(
        [sys.executable, "-m", "typelattice", "trace", *options, "s.py"], cwd=tmp_path / "project",
        env={**os.environ, "PYTHONPATH": folders}, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    said = " ".join((done.stdout + done.stderr).partition("compiled anew")[2].split())
    follow = "not followed: the line of other_package that made it; follow it with --package other_package"
    assert (follow in said) is not is_followed
    assert ("__init__.py:8: jnp.asarray(1.0)" in said or "__init__.py:10: jnp" in said) is is_followed
