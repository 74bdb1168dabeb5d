"""Single lines that once came out otherwise: each is run by its library, and read as a program."""

from __future__ import annotations

import contextlib
from importlib import import_module

import pytest

import typelattice as tl

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]

MODULES = {
    "np": "numpy", "torch": "torch", "jnp": "jax.numpy", "tf": "tensorflow", "mx": "mlx.core",
    "da": "dask.array", "pl": "polars",
}  # fmt: skip
COMPARED = [
    f"np.ones(2, {d}) {sign} {n}" for d in ("bool", "np.uint8") for sign in ("==", ">", "<=")
    for n in ("2", "2**63", "-2**64")
]  # fmt: skip
LARGE = ("1", "2**31", "2**63", "2**64", "-2**63 - 1")
SOLVED = [
    f"da.linalg.lstsq(da.ones((3, 2), dtype='{a}', chunks=3), da.ones(3, dtype='{b}', chunks=3))[{i}]"
    for a in ("bool", "uint8", "float32", "complex64") for b in ("uint8", "float32", "float64")
    for i in range(4)
]  # fmt: skip
LINES = {  # of each system
    "dask": SOLVED,
    "numpy": COMPARED + [
        f"np.{f}" for n in ("1", "300", "-1", "2**63", "-2**63") for f in (
            f"array({n})", f"array([1, {n}])", f"array([{n}, 2**63])", f"full((2,), {n})", f"uint8({n})",
            f"array([{n}], dtype=np.int8)", f"full(2, {n}, dtype=np.uint8)", f"negative({n})", f"add({n}, 1)",
        )
    ],
    "torch": [
        f"torch.{f}" for n in LARGE for f in (f"asarray({n})", f"tensor([1, {n}])", f"full((2,), {n})")
    ] + [
        f"torch.{f}" for n in ("-1", "300", "-300") for f in (
            f"tensor([1, {n}], dtype=torch.uint8)", f"full((2,), {n}, dtype=torch.uint8)",
        )
    ],
    "jax-x32": [f"jnp.{f}" for n in LARGE for f in (f"asarray({n})", f"array([1, {n}])")],
    "tensorflow": [f"tf.constant({x})" for n in LARGE for x in (n, f"[1, {n}]")],
    "mlx": [f"mx.array({x})" for n in LARGE for x in (n, f"[1, {n}]")] + [
        f"mx.array(np.ones(3, dtype='{d}')){then}" for then in ("", " * mx.ones(3, dtype=mx.float16)")
        for d in ("bool", "int64", "float16", "float32", "float64", "complex64", "complex128")
    ],
}


def real_answer(line: str) -> str:
    """The dtype of a line that its library runs, or that it refuses."""
    names = {}
    for name, module in MODULES.items():
        if f"{name}." in line:
            names[name] = pytest.importorskip(module)
    with contextlib.suppress(ImportError):
        import_module("jax").config.update("jax_enable_x64", False)
    try:
        return str(tl.operand(eval(line, names)).dtype)
    except (TypeError, ValueError, ArithmeticError, RuntimeError, LookupError):
        return "refused"


@pytest.mark.parametrize(("system", "line"), [(system, line) for system in LINES for line in LINES[system]])
def test_a_line_is_read_as_its_library_runs_it(system: str, line: str) -> None:
    found = tl.program(line).under(system)[-1].operand
    assert str(found.dtype if found else "refused") == real_answer(line)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "uint64", "float32"])
def test_a_number_in_a_case_of_polars_counts_as_in_polars(dtype: str) -> None:
    pl = pytest.importorskip("polars")
    own = {"bool": "Boolean", "uint8": "UInt8", "int16": "Int16", "uint64": "UInt64", "float32": "Float32"}
    x = pl.Series("x", [1, 0]).cast(getattr(pl, own[dtype]))
    frame = pl.DataFrame([pl.Series("c", [True, False]), x])
    for number in ("1", "300", "-1", "2**40", "1.5", "pl.lit(1)", "pl.lit(1.5)"):
        for chosen in (f"then({number}).otherwise(x)", f"then(x).otherwise({number})"):
            line = f"pl.when(c).{chosen}"
            real = frame.select(eval(line, {"pl": pl, "c": pl.col("c"), "x": pl.col("x")})).to_series()
            said = tl.program(line, c="bool", x=dtype).under("polars")[-1].operand
            assert said and said.dtype is tl.operand(real).dtype, line
