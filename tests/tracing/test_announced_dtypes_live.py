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


def chapter(folder: Path, source: str) -> str:
    """What `trace` says of announced dtypes, on one line, or nothing."""
    (folder / "s.py").write_text(BEGINNING + dedent(source))
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
