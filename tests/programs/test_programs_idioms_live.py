"""Methods, casts and limits of dtypes as real libraries have them."""

from __future__ import annotations

import inspect
import math
import os
import subprocess
import sys
from typing import Any

import pytest
from test_programs_idioms import CASTS, GIVEN, described, evaluated, fits, names_in

import typelattice as tl

pytestmark = pytest.mark.live


@pytest.mark.parametrize(("text", "dtype"), [(text, dtype) for text, dtype in CASTS if "cuda" not in text])
def test_methods_of_tensors_are_those_of_pytorch(text: str, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    x, y = torch.ones(3, dtype=torch.int8), torch.ones(3, dtype=torch.float64)
    made = evaluated(text, x, y=y, torch=torch)
    assert described(made) == f"torch.{dtype}"
    p = tl.program(text, **{n: d for n, d in GIVEN.items() if names_in(text, n)})
    assert fits(p.steps[p.results[0]].shape, tuple(made.shape))


LIMITS = {  # where each library has finfo, the system of its rules, and how it makes an array of a dtype
    "numpy": ("numpy", "np", "np.ones(3, np.{})"),
    "jax": ("jax.numpy", "jnp", "jnp.ones(3, jnp.{})"),
    "torch": ("torch", "torch", "torch.ones(3, dtype=torch.{})"),
    "array-api": ("array_api_strict", "xp", "xp.ones(3, dtype=xp.{})"),
    "mlx": ("mlx.core", "mx", "mx.ones(3, dtype=mx.{})"),
    "ndonnx": ("ndonnx", "ndx", "ndx.ones(3, dtype=ndx.{})"),
}


@pytest.mark.parametrize("system", LIMITS)
def test_the_limits_of_a_dtype_are_of_its_library(system: str) -> None:
    """NumPy's and JAX's are scalars of the dtype, which promote; those of others are Python floats."""
    module, name, made = LIMITS[system]
    library = pytest.importorskip(module)
    if system == "jax":
        pytest.importorskip("jax").config.update("jax_enable_x64", True)
    for narrow, wide in (("float32", "float32"), ("float32", "float64")):
        if system == "mlx" and wide == "float64":
            continue
        text = f"x + {name}.finfo({name}.{wide}).eps"
        x = eval(made.format(narrow), {name: library})
        real = eval(text, {name: library, "x": x})
        said = tl.program(text, x=f"{narrow}[3]").under(system).dtype
        assert said is tl.operand(real).dtype, text


OF_JAX = [
    "jnp.add.reduce(x)", "jnp.add.accumulate(x)", "jnp.multiply.accumulate(x)", "jnp.maximum.reduce(x)",
    "jnp.multiply.outer(x, 2.5)", "jnp.histogram(x)[0]", "jnp.histogram(x)[1]", "x.sum().item() * x",
    "x * (2.5 if jnp.issubdtype(x.dtype, jnp.floating) else 2)", "sum(x * s for s in (1, 2.5))",
    "lax.convert_element_type(x, jnp.float16)", "x.view(jnp.int8)",
    "x.at[0].set(1.5)", "x.at[:2].add(x[1])", "x.at[0].multiply(2.5) * x", "x.at[x == x].max(0)",
]  # fmt: skip


@pytest.mark.parametrize("text", OF_JAX)
def test_idioms_of_jax_give_the_dtypes_that_it_computes(text: str) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    for dtype in ("bool", "int8", "int64", "float16", "float32", "complex64"):
        if dtype == "bool" and ("view" in text or ".at[" in text):
            continue  # of which JAX has no view, and adds none to elements
        made = str(tl.program(text, x=f"{dtype}[3]").under("jax").dtype)
        x = jax.numpy.ones(3, dtype)
        assert made == described(evaluated(text, x, jnp=jax.numpy, lax=jax.lax)), dtype


@pytest.mark.parametrize("result", [0, 1])
def test_both_results_of_pytorchs_histogram_have_the_dtype_that_it_gives(result: int) -> None:
    torch = pytest.importorskip("torch")
    for dtype in ("float32", "float64"):
        said = tl.program(f"torch.histogram(x, 3)[{result}]", x=f"{dtype}[3]").under("torch").dtype
        x = torch.ones(3, dtype=getattr(torch, dtype))
        assert said is tl.operand(torch.histogram(x, 3)[result]).dtype

# Functions as people write them for PyTorch: each is run, and read.
OF_PYTORCH = {
    "attention": """
def attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    return F.softmax(scores, dim=-1) @ v
""",
    "layer_norm": """
def layer_norm(x, weight, bias, eps=1e-5):
    wide = x.float()
    mean = wide.mean(-1, keepdim=True)
    variance = ((wide - mean) ** 2).mean(-1, keepdim=True)
    y = (wide - mean) * torch.rsqrt(variance + eps)
    return (y.to(x.dtype) * weight + bias).type_as(x)
""",
    "rotated": """
def rotated(x, other, weight, base=10000.0):
    length, width = x.shape
    frequencies = 1.0 / (base ** (torch.arange(0, width, 2).float() / width))
    angles = torch.outer(torch.arange(length).float(), frequencies)
    parts = [turned * x[..., i::2] for i, turned in enumerate([angles.cos(), angles.sin()])]
    return torch.cat(parts, dim=-1) * weight
""",
}


@pytest.mark.parametrize("name", OF_PYTORCH)
def test_functions_for_pytorch_give_the_dtypes_that_it_computes(name: str) -> None:
    torch = pytest.importorskip("torch")
    scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, "math": math}
    exec(OF_PYTORCH[name], scope)
    for dtypes in (["float16"] * 3, ["float16", "float16", "float32"], ["float32", "float32", "float64"]):
        given = [torch.ones((4, 4), dtype=getattr(torch, d)) for d in dtypes]
        names = list(inspect.signature(scope[name]).parameters)[:3]
        p = tl.program(OF_PYTORCH[name], **{n: f"{d}[4,4]" for n, d in zip(names, dtypes, strict=True)})
        try:
            made = str(tl.operand(scope[name](*given)).dtype)
        except RuntimeError:
            made = "refused"
        assert str(p.under("torch").result).replace("not reached", "refused") == made, dtypes


def test_scipys_own_functions_called_with_symbols_give_what_they_give_for_arrays() -> None:
    """With SciPy's support of the array API, which is asked for before it is imported."""
    pytest.importorskip("scipy")
    pytest.importorskip("torch")
    code = """
import torch, scipy.special as special, typelattice as tl
for f in (special.softmax, special.log_softmax):
    for dtype in ("int32", "float16", "float32", "float64"):
        made = tl.operand(f(torch.ones((3, 4), dtype=getattr(torch, dtype)), axis=1)).dtype
        said = tl.program(f, f"{dtype}[3,4]", axis=1).under("torch").dtype
        assert said is made, (f, dtype, said, made)
"""
    environment = {**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
