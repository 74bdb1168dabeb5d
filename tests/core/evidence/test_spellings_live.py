"""The table of spellings against the libraries: each function exists, and is the one that was recorded."""

from __future__ import annotations

import importlib
import re
from concurrent.futures import ProcessPoolExecutor
from functools import reduce
from multiprocessing import get_context

import pytest

from typelattice.conformance.recording.load_library import load_library
from typelattice.conformance.recording.operation_functions import SpelledFunction
from typelattice.core.evidence.spellings import find_call_form

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
MODULE_BY_ALIAS = {
    "np": "numpy", "jnp": "jax.numpy", "lax": "jax.lax", "xp": "array_api_strict", "da": "dask.array",
    "tf": "tensorflow", "tnp": "tensorflow.experimental.numpy", "mx": "mlx.core", "ndx": "ndonnx",
    "pl": "polars", "pc": "pyarrow.compute", "pa": "pyarrow", "Tensor": "tinygrad.Tensor",
    "tl": "triton.language",
}  # fmt: skip


def find_object(dotted: str) -> object:
    """Return what a dotted name means: a module, or an attribute of one."""
    root, *names = dotted.split(".")
    if root in MODULE_BY_ALIAS:
        root, *first = MODULE_BY_ALIAS[root].split(".")
        names = first + names
    found = importlib.import_module(root)
    for depth in range(1, len(names)):  # some submodules are attributes only after their import
        try:
            importlib.import_module(".".join([root, *names[:depth]]))
        except ImportError:
            break
    return reduce(getattr, names, found)


def list_wrong_spellings(recording: str) -> tuple[int, list[tuple[str, str]]]:
    """Return how many functions were compared, and those that are not the recorded ones."""
    compared, wrong = 0, []
    for op, function in load_library(recording).operations().items():
        named = re.match(r"[A-Za-z]\w*\.[\w.]+", find_call_form(recording, op) or "")
        if named is None:  # an operator, or a function without a module
            continue
        form = named[0]
        recorded = getattr(function, "__wrapped__", function)
        name = form.rpartition(".")[2]
        if isinstance(recorded, SpelledFunction):
            name = recorded.spelling.partition("(")[0].rpartition(".")[2]
        if not callable(find_object(form)) or form.rpartition(".")[2] != name:
            wrong.append((op, form))
        compared += 1
    return compared, wrong


@pytest.mark.parametrize(
    "recording",
    [
        *("array-api", "numpy@2.4", "jax@0.10", "jax-lax@0.10", "dask", "torch@2.13", "tensorflow", "scipy"),
        *("tensorflow-legacy", "keras-numpy", "keras-jax-computed", "mlx", "ndonnx", "polars", "arrow"),
        *("tinygrad", "triton", "keras-mixed-float16", "polars-series", "tensorflow-all"),
    ],
)
def test_every_spelled_function_is_the_recorded_one(recording: str) -> None:
    # A recorder may configure its library for the whole process.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        compared, wrong = process.submit(list_wrong_spellings, recording).result()
    assert not wrong
    assert compared > 5
