"""Python array API standard, proposal of 2020 for type promotion."""

from __future__ import annotations

import printed

import typelattice as tl
from claims import Found, alike, answer, listed, ordered, pairs, some, verdict
from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.registry.system_headings import LIBRARIES_HEADING, heading_of

EXACT = (Kind.BOOL, Kind.UNSIGNED, Kind.SIGNED)


def numpy_follows_kinds() -> Found:
    """In NumPy the result is of the higher kind: complex over float over integer over bool."""
    wrong = [
        f"{a} + {b}: {found}" for a, b in pairs("numpy")
        if (found := tl.system("numpy").result_type(a, b)).kind.category
        != max(a.kind.category, b.kind.category)
    ]  # fmt: skip
    return verdict(not wrong), f"pairs that do not: {some(wrong)}"


def cupy_follows_numpy() -> Found:
    """CuPy promotes as NumPy does, but for arrays without dimensions."""
    today, once = _beside_zero_d("cupy", "numpy"), _beside_zero_d("cupy", "numpy1")
    same, asked, _ = alike("cupy", "numpy")
    told = f"{same} of {asked} cells of arrays alike; 0-d ones that differ from NumPy 1's {some(once)}"
    return verdict(same == asked and bool(today), once=bool(once)), f"{told}; from NumPy 2's {some(today)}"


def dask_follows_numpy() -> Found:
    """Dask promotes as NumPy does."""
    same, asked, _ = alike("dask", "numpy")
    beside = _beside_zero_d("dask", "numpy")
    return verdict(
        same == asked and not beside
    ), f"{same} of {asked} cells alike; 0-d ones that differ: {some(beside)}"


def jax_departs_in_two_ways() -> Found:
    """JAX departs from NumPy only in that floats keep their width beside integers, and by bfloat16."""
    _, _, differing = alike("jax-2019", "numpy")
    other = [
        f"{a} + {b}" for a, b in ordered("jax-2019", "numpy")
        if answer("jax-2019", a, b) != answer("numpy", a, b) and (a.kind in EXACT) is (b.kind in EXACT)
    ]  # fmt: skip
    return verdict(
        not other
    ), f"{len(differing)} cells differ without bfloat16; of other sorts: {some(other)}"


def torch_looks_at_no_value() -> Found:
    """PyTorch follows kinds, whatever the value of a number."""
    found = {value: answer("torch", "int8", value, op="add") for value in (1, 1000)}
    return verdict(set(found.values()) == {"int8"}), ", ".join(
        f"int8 + {value}: {what}" for value, what in found.items()
    )


def tensorflow_wants_casts() -> Found:
    """TensorFlow promotes no two arrays of different dtypes."""
    found = [
        f"{a} + {b}" for a, b in pairs("tensorflow") if answer("tensorflow", a, b, op="add") != "refused"
    ]
    return verdict(not found), f"pairs that are answered: {some(found)}"


def int64_with_float16() -> Found:
    """int64 with float16 is float16 in JAX, and float64 in NumPy."""
    found = {name: answer(name, "int64", "float16") for name in ("jax", "numpy")}
    return verdict(found == {"jax": "float16", "numpy": "float64"}), listed(found)


def int64_with_uint64() -> Found:
    """int64 with uint64 is float64 in NumPy and in JAX, which rounds."""
    found = {name: answer(name, "int64", "uint64") for name in ("numpy", "jax-2019", "jax")}
    rounds = tl.loss(tl.dtype("int64"), tl.dtype("float64")).precision
    once = rounds and found["numpy"] == found["jax-2019"] == "float64"
    return verdict(once and found["jax"] == "float64", once), listed(
        found
    ) + "; * is weak, and gives way to any float"


def every_library_supports_it() -> Found:
    """Every library supports the promotions of the tables."""
    cells = {pair: c for t in printed.ARRAY_API_2020 for pair, c in t.cells.items()}
    against = {}
    for name in (s for s in tl.systems() if heading_of(s) == LIBRARIES_HEADING):
        known = tl.system(name).dtypes
        asked = [
            (printed.in_bytes(a), printed.in_bytes(b), printed.in_bytes(c)) for (a, b), c in cells.items()
        ]
        other = sum(answer(name, a, b) != str(c) for a, b, c in asked if {a, b, c} <= {*known})
        against |= {name: other} if other else {}
    return verdict(
        not against
    ), f"cells that come out otherwise: {', '.join(f'{n} {k}' for n, k in against.items())}"


def _beside_zero_d(name: str, numpy: str) -> list[str]:
    """The pairs of an array without dimensions and an array that a system answers otherwise than NumPy."""
    return [
        f"{a}:0d + {b}"
        for a, b in ordered(name, numpy)
        if answer(name, f"{a}:0d", b) != answer(numpy, f"{a}:0d", b)
    ]
