"""A lazy array that is computed with another dtype than it had announced, and the call that announced it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

import typelattice as tl

pytestmark = pytest.mark.live

BEGINNING = """
import dask
import dask.array as da
import numpy as np
x = da.ones((6, 4), dtype=np.float32, chunks=3)
def double(block):
    return block * np.float32(2)
"""
WRONG = "announced float64, computed float32"


def chapter(folder: Path, source: str, beginning: str = BEGINNING) -> str:
    """What `trace` says of announced dtypes, on one line, or nothing."""
    (folder / "s.py").write_text(beginning + dedent(source))
    command = [sys.executable, "-m", "typelattice", "trace", "s.py"]
    env = {**os.environ, "PYTHONPATH": str(Path(tl.__file__).parents[1])}
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, check=True, timeout=120
    )
    heading = "computed with another dtype than announced"
    found = [part for part in (done.stdout + done.stderr).split("\n\n") if heading in part]
    assert "please report it" not in done.stdout + done.stderr
    return " ".join(" ".join(found).split())


@pytest.mark.parametrize(
    "computed",
    [
        "z.compute()", "dask.compute(x, z)", "dask.compute([z, x])", "np.asarray(z)", "np.array(z)",
        "z.persist().compute()", "z[0].compute()",
    ],
)
def test_the_call_that_announced_a_wrong_dtype_is_named(computed: str, tmp_path: Path) -> None:
    said = chapter(tmp_path, f"y = da.map_blocks(double, x, dtype=np.float64)\nz = y * 2\nr = {computed}\n")
    assert f"{computed}: {WRONG}" in said
    assert "no rule is known of `da.map_blocks(double, x, dtype=np.float64)` at s.py:8" in said


@pytest.mark.parametrize("computed", ["z.compute()", "(z + 1).compute()", "np.asarray(z)"])
def test_an_object_around_the_array_is_not_blamed(computed: str, tmp_path: Path) -> None:
    pytest.importorskip("xarray")
    source = "import xarray as xr\ny = da.map_blocks(double, x, dtype=np.float64)\nz = xr.DataArray(y)\n"
    said = chapter(tmp_path, f"{source}r = {computed}\n")
    assert "no rule is known of `da.map_blocks(double, x, dtype=np.float64)` at s.py:9" in said


@pytest.mark.parametrize(
    "source",
    [
        "y = da.map_blocks(double, x, dtype=np.float32)\nr = (y * 2).compute()\n",
        "y = da.map_blocks(double, x)\nr = dask.compute(x, y)\n",
        "y = da.map_blocks(double, x, dtype=np.float64)\nr = y * 2\n",
        "y = x * 2\nr = np.asarray(y, dtype=np.float64)\nq = np.array(y, np.float64)\n",
        "y = da.map_blocks(double, x, dtype=np.float64)  # typelattice: meant\nr = y.compute()\n",
    ],
    ids=["right", "inferred", "never computed", "cast", "meant"],
)
def test_other_arrays_are_not_named(source: str, tmp_path: Path) -> None:
    assert chapter(tmp_path, source) == ""


POLARS = """
import polars as pl
lf = pl.LazyFrame({"b": [0.5]}, schema={"b": pl.Float32})
def change(to):
    return lf.map_batches(lambda f: f.with_columns(pl.col("b").cast(to)), validate_output_schema=False)
"""
JAX = """
import jax, jax.numpy as jnp
x = jnp.ones(3, jnp.float32)
def f(v):
    return v if isinstance(v, jax.core.Tracer) else v.astype(jnp.bfloat16)
def both(v, to=jnp.float32):
    return v.astype(to), {"n": f(v)}
"""
TORCH = """
import torch
lib = torch.library.Library("strange", "DEF")
lib.define("twice(Tensor x) -> Tensor")
lib.impl("twice", lambda x: x.double(), "CPU")
lib.impl("twice", lambda x: torch.empty_like(x), "Meta")
twice = torch.ops.strange.twice
"""
KERAS = """
import os
os.environ["KERAS_BACKEND"] = "torch"
import keras
class Wrong(keras.layers.Layer):
    def call(self, x):
        return keras.ops.cast(x, "float16")
    def compute_output_spec(self, x):
        return keras.KerasTensor(x.shape, "float32")
layer, i, x = Wrong(), keras.Input((3,)), keras.ops.ones((2, 3), "float32")
"""
STAND_INS = [
    (POLARS, "q = change(pl.Float64)\ns = q.collect_schema()\nr = q.collect()\n",
     "s.py:7: q.collect_schema(): announced float32 in ['b'], computed float64 by `q.collect()` at s.py:8"),
    (JAX, "s = jax.eval_shape(f, x)\ny = f(x)\n",
     "s.py:8: jax.eval_shape(f, x): announced float32, computed bfloat16 by `f(x)` at s.py:9"),
    (JAX, "s = jax.eval_shape(both, x)\ny = both(x)\n",
     "jax.eval_shape(both, x): announced float32 in [1]['n'], computed bfloat16 by `both(x)` at s.py:9"),
    (TORCH, 'm = twice(torch.ones(3, device="meta"))\ny = twice(torch.ones(3))\n',
     'twice(torch.ones(3, device="meta")): announced float32, computed float64 by `twice(torch.ones(3))`'),
    (KERAS, "o = layer(i)\ny = layer(x)\n",
     "s.py:11: layer(i): announced float32, computed float16 by `layer(x)` at s.py:12"),
    (KERAS, "s = layer.compute_output_spec(x)\ny = layer(x)\n",
     "layer.compute_output_spec(x): announced float32, computed float16 by `layer(x)`"),
    (KERAS, "model = keras.Model(i, layer(i))\ny = model(x)\n",
     'keras.KerasTensor(x.shape, "float32"): announced float32, computed float16 by `model(x)`'),
]  # fmt: skip


@pytest.mark.parametrize("beginning, source, expected", STAND_INS)
def test_a_call_that_announces_another_dtype_than_it_computes_is_named(
    beginning: str, source: str, expected: str, tmp_path: Path
) -> None:
    assert expected in chapter(tmp_path, source, beginning)


RIGHT = [
    (POLARS, "q = change(pl.Float32)\ns = q.collect_schema()\nr = q.collect()\n"),
    (POLARS, "q = change(pl.Float64)\nr = q.collect()\n"),
    (POLARS, "q = change(pl.Float64)\ns = lf.collect_schema()\nr = q.collect()\n"),
    (POLARS, "q = change(pl.Float64)\ns = q.collect_schema()  # typelattice: meant\nr = q.collect()\n"),
    (JAX, "s = jax.eval_shape(jnp.sin, x)\ny = jnp.sin(x)\n"),
    (JAX, "s = jax.eval_shape(f, x)\ny = f(x.astype(jnp.float16))\n"),
    (JAX, "s = jax.eval_shape(f, x)\ny = jax.jit(f)(x)\n"),
    (TORCH, 'm = torch.sin(torch.ones(3, device="meta"))\ny = torch.sin(torch.ones(3))\n'),
    (TORCH, 'm = twice(torch.ones(3, device="meta"))\n'),
    (KERAS, "d = keras.layers.Dense(2)\no = d(i)\ny = d(x)\nm = keras.Model(i, o)\nz = m(x)\n"),
]


@pytest.mark.parametrize("beginning, source", RIGHT)
def test_calls_that_announce_what_they_compute_are_not_named(
    beginning: str, source: str, tmp_path: Path
) -> None:
    assert chapter(tmp_path, source, beginning) == ""
