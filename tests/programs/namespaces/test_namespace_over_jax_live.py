"""Namespaces over JAX: its own values, under jit, vmap and grad, and without 64 bits."""
from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import typelattice as tl

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]


def test_a_system_of_jaxs_is_jax_bit_by_bit_where_it_counts_values() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    jnp, xp = jax.numpy, tl.namespace("jax", jax.numpy)
    bare = jnp.asarray([3, -2, 7], dtype="int8")
    x = xp.asarray(bare)
    for ours, theirs in (
        (x**300, bare**300), (xp.atan2(x, 255), jnp.atan2(bare, 255)), (x * 300, bare * 300),
        (x ** xp.asarray(257, dtype="uint16"), bare ** jnp.uint16(257)),
        (xp.logical_and(x, 256), jnp.logical_and(bare, 256)),
    ):  # fmt: skip
        assert (ours.bare.dtype, ours.bare.tolist()) == (theirs.dtype, theirs.tolist())


def test_jax_transforms_arrays() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    xp = tl.namespace("torch", jax.numpy)
    x, y = xp.asarray([1, 2, 3], dtype="int32"), xp.asarray([0.5, 1.5, 2.5], dtype="float16")

    def f(a: Any, b: Any) -> Any:
        return xp.sum(a * b + 2)

    assert jax.jit(f)(x, y).dtype is f(x, y).dtype is tl.dtype("float16")
    assert float(jax.jit(f)(x, y)) == float(f(x, y))
    mapped = jax.vmap(lambda a, b: a + b)(x, y)
    assert (mapped.dtype, mapped.shape) == (tl.dtype("float16"), (3,))
    weak = tl.namespace("jax", jax.numpy)
    assert jax.jit(lambda a: a * 2)(weak.asarray(1.5)).weak
    assert jax.grad(lambda a: weak.sum(a * a).bare)(weak.asarray([1.0, 2.0])).bare.tolist() == [2.0, 4.0]


def test_jax_without_64_bits_says_so() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(tl.NamespaceError, match="jax_enable_x64"):
            tl.namespace("jax", jax.numpy).ones(1, dtype="float64")
    finally:
        jax.config.update("jax_enable_x64", True)


def test_a_pickled_array_over_jax_says_so_where_jax_has_no_64_bits() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    pickled = pickle.dumps(tl.namespace("jax", jax.numpy).asarray([2**40]))
    program = "import sys, pickle; pickle.load(sys.stdin.buffer)"
    source = f"import sys; sys.path.insert(0, {str(Path(tl.__file__).parents[1])!r}); {program}"
    done = subprocess.run(
        [sys.executable, "-c", source], input=pickled, capture_output=True, check=False, timeout=120
    )
    assert done.returncode == 1
    assert b"jax.numpy gave int32 where int64 was asked for; jax.config.update" in done.stderr
