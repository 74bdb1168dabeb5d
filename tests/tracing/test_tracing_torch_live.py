"""Runs of PyTorch, in processes of their own: what it loads to look inside ends one that has TensorFlow."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.live
pytest.importorskip("torch")

BESIDE = """
import sys
from concurrent.futures import ThreadPoolExecutor

import tensorflow
import torch
import typelattice as tl

linear = torch.nn.Linear(3, 3)

def function(x):
    return linear(x) + 1

def repeated(x):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, x).result()

assert not tl.trace(function, torch.ones(2, 3)).run.opaque
run = tl.trace(repeated, torch.ones(2, 3)).run
assert "torch._dynamo" not in sys.modules
print(run.opaque, *run.unfollowed_code)
"""


def ended(*words: str) -> subprocess.CompletedProcess[str]:
    """A Python program of such words, once it has ended."""
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=300)


def test_runs_of_pytorch_are_followed() -> None:
    tests = (Path(__file__).parents[1] / "torch_alone.py")
    done = ended("-m", "pytest", "-m", "live", "-p", "no:cacheprovider", str(tests))
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")
def test_beside_tensorflow_a_module_is_opaque_where_a_look_inside_ends_the_process(tmp_path: Path) -> None:
    script = tmp_path / "beside.py"
    script.write_text(BESIDE, encoding="utf-8")
    done = ended("-W", "ignore", str(script))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 "), done.stdout
    assert "Triton, which ends a process that has TensorFlow" in done.stdout
