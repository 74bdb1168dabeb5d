"""What a promotion says of a value out of range, against what NumPy, JAX and PyTorch do with the value."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import typelattice as tl
from typelattice.core.registry.releases import system_for_version

Value = int | float | complex
BITS = (1, 2, 4, 7, 8, 15, 16, 31, 32, 63, 64, 70)
INTS = sorted({s * 2**n + o for n in BITS for s in (1, -1) for o in (-1, 0, 1)})
FLOATS = [
    v for x in (0.5, 240.0, 65504.0, 65519.0, 65520.0, 3.4e38, 3.5e38, 1e39, 1e300, math.inf) for v in (x, -x)
]
COMPLEX = [1j, 1e39j, complex(-1e39, 1), complex(1, -math.inf)]
NATIVE = [f"{k}{n}" for k in ("uint", "int") for n in (8, 16, 32, 64)] + [
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
OURS = [
    "bfloat16",
    *(f"float8_{x}" for x in ("e4m3", "e4m3fn", "e4m3b11fnuz", "e5m2", "e5m2fnuz", "e3m4", "e8m0fnu")),
]
OURS += ["float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn", "int4", "uint4", "int2", "uint2"]


def same(a: Any, b: Any, within: float = 0.0) -> bool:
    """Whether two numbers are equal, NaNs too, in both parts; float8_e8m0fnu has its least for a zero."""
    pairs = (
        [(complex(a).real, complex(b).real), (complex(a).imag, complex(b).imag)]
        if isinstance(b, complex)
        else [(a, b)]
    )
    return all(x == y or (x != x and y != y) or abs(x - y) <= max(abs(y) * within, 1e-38) for x, y in pairs)


def differences(
    system: str,
    dtypes: Sequence[str],
    compute: Callable[[str, Value], Any],
    op: str = "add",
    values: Sequence[Value] = (*INTS, *FLOATS, *COMPLEX),
) -> Iterator[str]:
    """The values of which the system says something else than comes of computing."""
    for d in dtypes:
        for v in values:
            p = tl.system(system).explain(d, v, op=op)
            said = p.fits[0] if p.fits else None
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    got = compute(d, v)
                except (OverflowError, TypeError, ValueError) as e:
                    if p.dtype is not None:
                        yield f"{d} {op} {v}: {type(e).__name__}, the system says {said}"
                    continue
            if p.dtype is None or said is None:
                yield f"{d} {op} {v}: {got}, the system refuses: {p.reason}"
            elif said.outcome == "exact":
                continue  # no cast: the value is compared as it is
            elif said.outcome == "fits":
                if not same(got, v, within=rounding(p.compute)):
                    yield f"{d} {op} {v}: {got}, the system says that it fits"
            elif not same(got, said.becomes):
                yield f"{d} {op} {v}: {got}, the system says {said.outcome} to {said.becomes}"


def rounding(d: tl.DType | None) -> float:
    """The relative error of one rounding to a dtype."""
    return 2.0**-d.precision if d and d.precision else 0.0


def test_numpy_does_with_a_value_what_its_system_says() -> None:
    assert list(differences("numpy", NATIVE, lambda d, v: (np.zeros(1, d) + v)[0].item())) == []


def test_numpy_does_with_a_value_what_its_system_says_of_the_dtypes_of_ml_dtypes() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")

    def add(d: str, v: Value) -> Any:
        found = (np.zeros(1, getattr(ml_dtypes, d)) + v)[0]
        if isinstance(v, complex):
            return complex(found)
        return float(found) if isinstance(v, float) or "float" in str(found.dtype) else int(found)

    assert list(differences("numpy-ml-dtypes", OURS, add)) == []


def test_where_does_with_a_python_int_what_the_system_of_the_release_says() -> None:
    """Before NumPy 2.5 it wraps in silence what 64 bits hold, as no other operation does.

    https://github.com/numpy/numpy/issues/27006.
    """
    system = system_for_version("numpy", np.__version__)
    dtypes = [d for d in NATIVE if "int" in d]

    def where(d: str, v: Value) -> Any:
        return np.where([False], np.zeros(1, d), v)[0].item()

    assert [x for x in differences(system, dtypes, where, "where") if "complex" not in x] == []


def test_where_makes_numbers_beyond_a_float_infinite() -> None:
    def where(d: str, v: Value) -> Any:
        return np.where([False], np.zeros(1, d), v)[0].item()

    floats = [d for d in NATIVE if "int" not in d]
    assert list(differences("numpy", floats, where, "where")) == []


@pytest.mark.live
def test_jax_does_with_a_value_what_its_system_says() -> None:
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        dtypes = [*NATIVE, *OURS[:7]]
        assert list(differences("jax", dtypes, lambda d, v: (jax.numpy.zeros(1, d) + v)[0].item())) == []
    finally:
        jax.config.update("jax_enable_x64", before)


@pytest.mark.live
def test_jax_without_64_bits_does_with_a_value_what_its_system_says() -> None:
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", False)
    try:
        narrow = [d for d in (*NATIVE, *OURS[:7]) if d == "complex64" or not d.endswith(("64", "128"))]
        assert list(differences("jax-x32", narrow, lambda d, v: (jax.numpy.zeros(1, d) + v)[0].item())) == []
    finally:
        jax.config.update("jax_enable_x64", before)


@pytest.mark.live
def test_jax_writes_into_float8_what_its_system_says() -> None:
    """A float8 without infinities becomes NaN. A float4, without NaN, stays at its largest value."""
    jax = pytest.importorskip("jax")
    floats = [*OURS[:7], "float4_e2m1fn"]

    def write(d: str, v: Value) -> Any:
        return float(jax.numpy.zeros(1, d).at[0].set(v)[0])

    assert list(differences("jax-x32", floats, write, "setitem", FLOATS)) == []


@pytest.mark.live
def test_pytorch_copies_into_float8_what_its_system_says() -> None:
    """`float8_e4m3fn` keeps its largest value; beyond the range of the others is NaN or an infinity."""
    torch = pytest.importorskip("torch")
    names = [f"float8_{x}" for x in ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz")]

    def zeros(d: str) -> Any:
        return torch.zeros(1, dtype=getattr(torch, d))

    def write(d: str, v: Value) -> Any:
        x = zeros(d)
        x[0] = v
        return x.float().item()

    def where(d: str, v: Value) -> Any:
        return torch.where(torch.tensor([True]), v, zeros(d)).float().item()

    assert list(differences("torch", names, write, "setitem", [*INTS, *FLOATS])) == []
    assert list(differences("torch", names, where, "where", [*INTS, *FLOATS])) == []
