"""Lists beside the arrays of the installed libraries: what an operation gives, or that it is refused."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from itertools import product
from typing import Any

import pytest

import typelattice as tl

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
np = pytest.importorskip("numpy")

DTYPES = ("bool", "int8", "int64", "float16", "float32", "float64", "complex64")
LISTS = ("[True, False]", "[1, 2]", "[1.5, 2.5]", "[1j, 2j]")
OPERATORS = ("x + L", "L * x", "x - L")
FUNCTIONS = ("add(x, L)", "maximum(L, x)", "stack([x, L])", "where(x == x, x, L)")
MODULES = {  # a system: its module, how it makes an array of NumPy's, and what is asked
    "numpy@2.4": ("numpy", "asarray", (*OPERATORS, *FUNCTIONS)),
    "dask": ("dask.array", "asarray", (*OPERATORS, *FUNCTIONS)),
    "tensorflow": ("tensorflow", "constant", ("x + L", "x - L", "add(x, L)")),
    "torch": ("torch", "as_tensor", (*OPERATORS, *FUNCTIONS)),
    "jax@0.10": ("jax.numpy", "asarray", (*OPERATORS, *FUNCTIONS)),
    "mlx": ("mlx.core", "array", (*OPERATORS, *FUNCTIONS)),
    "ndonnx": ("ndonnx", "asarray", (*OPERATORS, *FUNCTIONS)),
    "array-api": ("array_api_strict", "asarray", (*OPERATORS, *FUNCTIONS)),
    "tinygrad": ("tinygrad", "Tensor", OPERATORS),
}
OTHERWISE = {("tinygrad", "[True, False]")}  # which counts as True there, as the findings in docs/ show


def really(xp: Any, code: str, x: Any) -> str:
    """The dtype that a library gives, or that it refuses."""
    names = {name: getattr(xp, name) for name in ("add", "maximum", "stack", "where") if hasattr(xp, name)}
    try:
        return str(tl.operand(eval(code, {"x": x, **names})).dtype)
    except Exception:  # a refusal is an answer, by whatever exception it comes
        return "refused"


def maker(system: str) -> tuple[Any, Callable[[Any], Any]]:
    """A library's module, and what makes an array of NumPy's its own."""
    module, make, _ = MODULES[system]
    pytest.importorskip(module.partition(".")[0])
    if system == "jax@0.10":
        import_module("jax").config.update("jax_enable_x64", True)
    if system == "tinygrad":
        import_module("typelattice.conformance.recording.libraries.tinygrad").Tinygrad()  # chooses a device
    xp = import_module(module)
    return xp, getattr(xp, make)


@pytest.mark.parametrize("name", MODULES)
def test_a_list_beside_an_array_counts_as_is_said(name: str) -> None:
    xp, make = maker(name)
    wrong, asked = [], 0
    for form, dtype, text in product(MODULES[name][2], DTYPES, LISTS):
        try:
            x = make(np.ones(2, dtype))
            own = tl.operand(x).dtype
        except Exception:  # a dtype that the library lacks
            continue
        if (name, text) in OTHERWISE:
            continue
        code = form.replace("L", text)
        said = str(tl.program(code, x=f"{own}[2]").under(name)[-1])
        real = really(xp, code, x)
        asked += 1
        if real != (said if said in DTYPES or said.rstrip("*") == real else "refused"):
            wrong.append(f"{code} with {dtype}: said {said}, {name} gives {real}")
    assert asked > 40 and not wrong, "\n".join(wrong[:20])


INDICES = ("x[[0, 1]]", "x[[0, 1], 1]", "x[:, [0, 1]]", "x[[0, 1], [1, 0]]")
SHAPES = {("dask", "x[[0, 1], [1, 0]]")}  # for which it has no several lists, whatever their dtypes


@pytest.mark.parametrize("name", MODULES)
def test_a_list_as_an_index_is_taken_or_refused_as_is_said(name: str) -> None:
    xp, make = maker(name)
    wrong = []
    for code in INDICES:
        if (name, code) in SHAPES:
            continue
        said = str(tl.program(code, x="float32[3,4]").under(name)[-1])
        real = really(xp, code, make(np.ones((3, 4), "float32")))
        if real != said:
            wrong.append(f"{code}: said {said}, {name} gives {real}")
    assert not wrong, "\n".join(wrong)
