"""NumPy's arrays and scalars beside the arrays of the installed libraries: what they give is what is said."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from itertools import product
from typing import Any

import pytest

import typelattice as tl

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
np = pytest.importorskip("numpy")

OWN = ("int8", "float16")
FOREIGN = ("bool", "int64", "float32", "float64")
FUNCTIONS: dict[str, tuple[str, str, str]] = {  # a system: its module, functions
    "torch": ("torch", "add", "maximum"),
    "mlx": ("mlx.core", "add", "maximum"),
    "jax": ("jax.numpy", "add", "maximum"),
    "tensorflow": ("tensorflow", "add", "maximum"),
    "dask": ("dask.array", "add", "maximum"),
}


def ones(xp: Any, name: str, dtype: str) -> Any:
    """An array of a library's own."""
    if name in ("torch", "mlx"):
        return xp.ones(2, dtype=getattr(xp, dtype))
    return xp.ones((2,), dtype=dtype)


def foreign(form: str, dtype: str) -> Any:
    """NumPy's array, array without dimensions, or scalar."""
    return {"array": np.ones(2, dtype), "0d": np.ones((), dtype), "scalar": np.dtype(dtype).type(1)}[form]


def really(function: Callable[[Any, Any], Any], a: Any, b: Any) -> str:
    """The dtype that a library gives, or that it refuses."""
    try:
        return str(tl.operand(function(a, b)).dtype)
    except Exception:
        return "refused"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_take_foreign_arrays_as_said(name: str) -> None:
    module, *functions = FUNCTIONS[name]
    pytest.importorskip(module.partition(".")[0])
    xp = import_module(module)
    if name == "jax":
        import_module("jax").config.update("jax_enable_x64", True)
    system, wrong = tl.system(name), []
    for own, dtype, form, left in product(OWN, FOREIGN, ("array", "0d", "scalar"), (False, True)):
        operands = ones(xp, name, own), foreign(form, dtype)
        operands = operands[::-1] if left else operands
        for function in functions:
            p = system.explain(*operands, op=function)
            assert [bool(o.foreign_library) for o in p.operands] == [left, not left]
            said = str(p.dtype) if p.dtype else "refused"
            real = really(getattr(xp, function), *operands)
            if said != real:
                asked = f"{function}({', '.join(map(str, p.operands))})"
                wrong.append(f"{asked}: said {said}, {name} gives {real}")
    assert not wrong, "\n".join(wrong[:5])


def test_arrays_side_by_side_are_told_apart_from_arrays_alone() -> None:
    torch = pytest.importorskip("torch")
    system = tl.system("torch")
    tensor, array = torch.zeros(2, dtype=torch.int8), np.zeros(2, np.float32)
    with pytest.raises(tl.PromotionError, match="NumPy computes"):
        system.result_type(array, tensor)
    assert system.result_type(array, array) is tl.dtype("float32")
    scaled = tensor * np.float64(2)
    assert tl.native(system.result_type(tensor, np.float64(2)), torch) is scaled.dtype
    # Of dtype and dimensions alone the scalar would pass for the array, which was refused.
    with pytest.raises(tl.PromotionError, match="NumPy computes"):
        system.result_type(tensor, np.ones((), np.float64))


def test_numpy_leaves_pytorchs_tensors_to_pytorch() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(tl.PromotionError, match="nothing is recorded of torch's arrays beside its own"):
        tl.system("numpy").result_type(np.ones(2), torch.ones(2))
