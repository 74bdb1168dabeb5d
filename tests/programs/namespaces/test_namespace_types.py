"""What type checkers see of a namespace: functions, operators and arrays with their types; and wrong uses."""
from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import typelattice

pytest.importorskip("numpy")
SOURCE = Path(typelattice.__file__).parents[1]
RIGHT = """
from typing import assert_type

import numpy as np

import typelattice as tl

xp = tl.namespace("jax", np)
x = xp.asarray([1, 2], dtype="int8")
y = xp.ones((2, 2), dtype=xp.float32)
assert_type(xp, tl.Namespace)
assert_type(x, tl.Array)
assert_type(xp.add(x, 2.5), tl.Array)
assert_type(1 + x * 2.0 - y, tl.Array)
assert_type(-x, tl.Array)
assert_type(x < 3, tl.Array)
assert_type(x == 3, tl.Array)
assert_type(y @ y, tl.Array)
assert_type(x[0], tl.Array)
assert_type(x[x > 1], tl.Array)
assert_type(y[..., ::2], tl.Array)
assert_type(xp.sum(x, axis=0), tl.Array)
assert_type(xp.where(x > 1, x, 0), tl.Array)
assert_type(xp.concat([x, x]), tl.Array)
assert_type(xp.linalg.svd(y).S, tl.Array)
assert_type(xp.linalg.inv(y), tl.Array)
assert_type(xp.fft.fft(y), tl.Array)
assert_type(xp.unique_all(x).counts, tl.Array)
assert_type(x.dtype, tl.DType)
assert_type(x.weak, bool)
assert_type(x.ndim, int)
assert_type(x.mT, tl.Array)
assert_type(x.shape, tuple[int | None, ...])
assert_type(xp.result_type(x, 1, "float16", kind="float"), tl.DType)
assert_type(xp.finfo(x).eps, float)
assert_type(xp.isdtype(x.dtype, "integral"), bool)
assert_type(xp.pi, float)
assert_type(xp.system, tl.System)
assert_type(xp.__array_namespace_info__().default_dtypes()["integral"], tl.DType)
assert_type(x.__array_namespace__().exp(x), tl.Array)
assert_type([item for item in x], list[tl.Array])
assert_type(float(x[0]), float)
x[0] = 1
x += 1
z = np.zeros(2, dtype=tl.dtype("int8"))
w = np.ones(3).astype(tl.system("jax").result_type("int8", "uint8"))
d = np.dtype(tl.dtype("int8"))
"""
WRONG = """
import numpy as np

import typelattice as tl

xp = tl.namespace("jax", np)
x = xp.asarray([1])
xp.summ(x)
xp.sum(x, axes=0)
_ = x + "one"
xp.linalg.inverse(x)
x.dtyp
xp.power(x, 2)
xp.where(x, x)
"""


def checked(folder: Path, *command: str) -> tuple[str, set[tuple[str, int]]]:
    """The output of a type checker over both programs, and the files and lines with an error."""
    (folder / "right.py").write_text(RIGHT)
    (folder / "wrong.py").write_text(WRONG)
    done = subprocess.run(
        [sys.executable, "-m", *command, "right.py", "wrong.py"], capture_output=True, text=True, check=False,
        cwd=folder, timeout=300,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    found = re.findall(r"(right|wrong)\.py:(\d+)\b.*\berror\b", done.stdout)
    return done.stdout + done.stderr, {(file, int(line)) for file, line in found}


def mypy(folder: Path) -> tuple[str, set[tuple[str, int]]]:
    pytest.importorskip("mypy")
    # mypy leaves out the bodies of functions whose errors are ignored: it checks ours in `make lint`.
    ours = "[mypy-typelattice.*]\nignore_errors = true\n"
    (folder / "mypy.ini").write_text(f"[mypy]\nstrict = true\nmypy_path = {SOURCE}\n{ours}")
    return checked(folder, "mypy")


def pyright(folder: Path) -> tuple[str, set[tuple[str, int]]]:
    """Pyright in the form of basedpyright, which brings along the program that it needs."""
    pytest.importorskip("basedpyright")
    settings = {"extraPaths": [str(SOURCE)], "typeCheckingMode": "strict"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    return checked(folder, "basedpyright", "--pythonpath", sys.executable)


@pytest.mark.live
@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_checker_knows_the_types_of_members_and_finds_each_wrong_use(
    checker: Callable[[Path], tuple[str, set[tuple[str, int]]]], tmp_path: Path
) -> None:
    said, found = checker(tmp_path)
    assert [line for file, line in found if file == "right"] == [], said
    wrong = {n for n, line in enumerate(WRONG.split("\n"), 1) if line.startswith(("xp.", "_", "x."))}
    assert {line for file, line in found if file == "wrong"} >= wrong, said
