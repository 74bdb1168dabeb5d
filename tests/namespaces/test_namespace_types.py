"""What type checkers see of a namespace: functions, operators and arrays with their types; and wrong uses."""
from __future__ import annotations

import json
import re
import subprocess
import sys
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


def checked(tmp_path: Path, program: str, *command: str) -> tuple[int, set[int], str]:
    """The status of a type checker, the lines in which it found something, and all that it said."""
    path = tmp_path / "sample.py"
    path.write_text(program)
    done = subprocess.run(
        [sys.executable, "-m", *command, path.name], capture_output=True, text=True, check=False,
        cwd=tmp_path, timeout=300,
    )  # fmt: skip
    found = re.findall(r"sample\.py:(\d+)\b.*\berror\b", done.stdout)
    return done.returncode, {*map(int, found)}, done.stdout + done.stderr


def mypy(tmp_path: Path, program: str) -> tuple[int, set[int], str]:
    pytest.importorskip("mypy")
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nstrict = true\nmypy_path = {SOURCE}\n")
    return checked(tmp_path, program, "mypy")


def pyright(tmp_path: Path, program: str) -> tuple[int, set[int], str]:
    """Pyright in the form of basedpyright, which brings along the program that it needs."""
    pytest.importorskip("basedpyright")
    settings = {"extraPaths": [str(SOURCE)], "typeCheckingMode": "strict"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    return checked(tmp_path, program, "basedpyright", "--pythonpath", sys.executable)


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_checker_knows_the_types_of_members_and_results(checker: object, tmp_path: Path) -> None:
    status, _, said = checker(tmp_path, RIGHT)  # type: ignore[operator]
    assert status == 0, said


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_checker_finds_each_wrong_use(checker: object, tmp_path: Path) -> None:
    status, lines, said = checker(tmp_path, WRONG)  # type: ignore[operator]
    wrong = {n for n, line in enumerate(WRONG.split("\n"), 1) if line.startswith(("xp.", "_", "x."))}
    assert status == 1
    assert lines >= wrong, said
