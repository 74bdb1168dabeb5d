"""Dtypes that are asked for, and default dtypes, against the real libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import product
from types import ModuleType
from typing import Any

import pytest

import typelattice as tl

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]  # of 64 bits that become 32
np = pytest.importorskip("numpy")

DTYPES = ("bool", "uint8", "int32", "int64", "float16", "float64")
OF_X = (
    "sum(x)", "x.sum()", "sum(x, dtype=float32)", "sum(x, dtype=int64)", "x.sum(dtype=float32)",
    "prod(x)", "sum(x, dtype=x.dtype)", "prod(x, dtype=int64)", "x.prod()", "mean(x)", "x.mean()",
    "mean(x, dtype=float64)", "cumsum(x, 0)", "cumsum(x, 0, dtype=float32)",
    "cumsum(x, 0, dtype=int64)", "x.cumsum(0)", "x.cumsum(0, dtype=float64)", "zeros_like(x)",
    "ones_like(x, dtype=float64)", "full_like(x, 2, dtype=float64)", "empty_like(x, dtype=int64)",
    "asarray(x, dtype=float64)", "full((2,), x[0])", "full((2,), 3) + x", "full((2,), 3.0) * x",
    "zeros(3) + x", "where(x > 0, 1.0, 0.0)", "max(x)", "std(x)", "x.astype(float64)",
    "x.astype(float)", "x.astype(int)",
)  # fmt: skip
OF_NOTHING = (
    "zeros(3)", "zeros(3, dtype=float64)", "zeros(3, dtype=float)", "zeros(3, dtype=int)",
    "zeros(3, dtype=complex)", "zeros(3, dtype=bool)", "ones((2, 3), dtype=int8)",
    "empty(3, dtype=float16)", "full((2,), 3)", "full((2,), 3.0)", "full((2,), 1j)", "full((2,), True)",
    "full((2,), 3, dtype=float64)", "full((2,), 3, dtype=int64)", "arange(5)", "arange(0, 5, 0.5)",
    "arange(5.0)", "arange(5, dtype=float64)", "arange(0, 5, 1, dtype=int64)", "linspace(0, 1, 5)",
    "linspace(0.0, 1.0, 5)", "eye(3)", "eye(3, dtype=int64)", "asarray(1.5)", "asarray([1, 2])",
    "asarray([1.0, 2.0], dtype=float64)", "asarray(3, dtype=int64)", "arange(3) * 0.5", "float64(3)",
)  # fmt: skip


def of_numpy() -> tuple[ModuleType, Callable[[str], Any]]:
    return np, lambda d: np.ones(3, d)


def of_dask() -> tuple[ModuleType, Callable[[str], Any]]:
    da = pytest.importorskip("dask.array")
    return da, lambda d: da.ones(3, dtype=d)


def of_torch() -> tuple[ModuleType, Callable[[str], Any]]:
    torch = pytest.importorskip("torch")
    return torch, lambda d: torch.ones(3, dtype=getattr(torch, d))


def of_jax() -> tuple[ModuleType, Callable[[str], Any]]:
    """Arrays that are traced and never computed."""
    jax = pytest.importorskip("jax")
    return jax.numpy, lambda d: jax.ShapeDtypeStruct((3,), jax.dtypes.canonicalize_dtype(d))


def of_mlx() -> tuple[ModuleType, Callable[[str], Any]]:
    mx = pytest.importorskip("mlx.core")
    return mx, lambda d: mx.ones(3, dtype=mx.bool_ if d == "bool" else getattr(mx, d))


def of_tensorflow() -> tuple[ModuleType, Callable[[str], Any]]:
    tf = pytest.importorskip("tensorflow")
    return tf, lambda d: tf.ones(3, d)


LIBRARIES = {
    "numpy": of_numpy, "dask": of_dask, "torch": of_torch, "jax": of_jax, "jax-x32": of_jax, "mlx": of_mlx,
    "tensorflow": of_tensorflow,
}  # fmt: skip


@contextmanager
def mode(name: str) -> Iterator[None]:
    """JAX's 64-bit types as a system has them; in the end as they were."""
    if not name.startswith("jax"):
        yield
        return
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", name == "jax")
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", before)


def names(xp: ModuleType) -> dict[str, Any]:
    """What an expression may name: all that a library has, and Python's types."""
    named = {name: getattr(xp, name) for name in dir(xp) if not name.startswith("_")}
    return {**named, "float": float, "int": int, "complex": complex, "bool": bool}


def really(text: str, scope: dict[str, Any]) -> str | None:
    """The dtype that a library gives, with a star if it is weak; None where it has no such function."""
    x = scope.get("x")
    try:
        if type(x).__name__ == "ShapeDtypeStruct":
            made = import_module("jax").eval_shape(lambda x: eval(text, {**scope, "x": x}), x)
        else:
            made = eval(text, scope)
    except Exception:
        return None
    weak = "*" if getattr(made, "weak_type", False) else ""
    return f"{tl.operand(made).dtype}{weak}"


@pytest.mark.parametrize("name", LIBRARIES)
def test_what_is_asked_for_is_what_the_library_gives(name: str) -> None:
    xp, ones = LIBRARIES[name]()
    named, wrong, answered = names(xp), [], 0
    for text, dtype in (*product(OF_X, DTYPES), *((text, None) for text in OF_NOTHING)):
        with mode(name):
            real = really(text, {**named, "x": ones(dtype) if dtype else None})
        if real is None:
            continue  # it has no such function, keyword or method, which is no question of dtypes
        answered += 1
        given = tl.program(text, **({"x": f"{dtype}[3]"} if dtype else {})).under(name)
        said = str(given.result) if given.result.operand else "refused"
        if said != real:
            wrong.append(f"{text} of {dtype}: said {said}, {name} gives {real}")
    assert not wrong, "\n".join(wrong)
    assert answered >= {"tensorflow": 40, "mlx": 120}.get(name, 150), answered


def test_jax_without_64_bits_joins_every_pair_as_said() -> None:
    """The installed release; `result_type` of dtypes and of what holds them."""
    jnp = pytest.importorskip("jax").numpy
    system = tl.system("jax-x32")
    common = [d for d in system.dtypes if d in tl.system("numpy").order]
    with mode("jax-x32"):
        for a, b in product(common, repeat=2):
            said = system.result_type(a, b).name
            assert jnp.result_type(a.name, b.name) == said, (a, b)
        assert (jnp.ones(2, "float64") + jnp.ones(2, "int64")).dtype == "float32"
