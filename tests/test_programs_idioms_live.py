"""Methods, casts and limits of dtypes as real libraries have them."""

from __future__ import annotations

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
