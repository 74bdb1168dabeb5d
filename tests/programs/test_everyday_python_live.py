"""Everyday Python with PyTorch and JAX is read as it runs there.

Each library runs in a process of its own, since the native code of several crashes in one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from everyday_programs import SHAPE, judge, list_programs

import typelattice as tl

pytestmark = pytest.mark.live


def make_ones(library: str, dtype: str) -> Any:
    """Return an array of ones."""
    if library == "torch":
        import torch

        return torch.ones(SHAPE, dtype=getattr(torch, dtype))
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax.numpy.ones(SHAPE, dtype)


def name_dtype(x: Any) -> str:
    weak = "*" if getattr(x, "weak_type", False) else ""
    return f"{str(x.dtype).removeprefix('torch.')}{weak}"


@pytest.mark.parametrize(("library", "fewest_right"), [("torch", 84), ("jax", 50)])
def test_programs_of_strangers_are_never_read_wrongly(library: str, fewest_right: int) -> None:
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    folders = [str(Path(tl.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    command = [sys.executable, "-W", "ignore", __file__, library]
    ended = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=500, check=True)
    verdicts = json.loads(ended.stdout.splitlines()[-1])
    assert [each for each in verdicts if each[0] == "wrong"] == []
    assert Counter(word for word, *_ in verdicts)["right"] >= fewest_right


def judge_all(library: str) -> list[tuple[str, int, str]]:
    """Judge each program of a library."""
    found = []
    for number, text in enumerate(list_programs(library)):
        x = make_ones(library, "float32")
        verdict = judge(number, text, x, "float32", library, name_dtype)
        found.append((verdict.word, verdict.number, verdict.detail))
    return found


if __name__ == "__main__":
    print(json.dumps(judge_all(sys.argv[1])))
