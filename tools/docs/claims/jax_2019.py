"""JAX documentation of 2019, Type promotion semantics."""

from __future__ import annotations

import printed

import typelattice as tl
from claims import COUNTED, Found, alike, answer, pairs, some, verdict
from typelattice.core.dtypes.dtypes import Kind

EXACT = (Kind.BOOL, Kind.UNSIGNED, Kind.SIGNED)


def highlighted_cells_differ_from_numpy() -> Found:
    """The highlighted cells are those in which JAX differs from NumPy."""
    cells = list(printed.highlighted())
    wrong = [f"{a} + {b}" for (a, b), marked, differs in cells if marked != differs]
    return verdict(
        not wrong
    ), f"{sum(marked for _, marked, _ in cells)} of {len(cells)} are highlighted; wrongly: {some(wrong)}"


def floats_win_over_integers() -> Found:
    """An integer or a bool beside a float or a complex number takes the dtype of that."""
    wrong = [
        f"{a} + {b}: {answer('jax-2019', a, b)}" for a, b in pairs("jax-2019")
        if a.kind in EXACT and b.kind not in EXACT and answer("jax-2019", a, b) != str(b)
    ]  # fmt: skip
    return verdict(not wrong), f"pairs that do not: {some(wrong)}"


def halves_meet_at_float32() -> Found:
    """bfloat16 and float16 promote to float32."""
    found = answer("jax-2019", "bfloat16", "float16")
    return verdict(found == "float32"), found


def numpy_is_wider() -> Found:
    """NumPy makes 64 bits of less more often than JAX does."""
    found = {
        name: tl.criteria(name, dtypes=tl.system("numpy").dtypes).counts["64 bits"]
        for name in ("numpy", "jax-2019")
    }
    return verdict(
        found["numpy"] > found["jax-2019"]
    ), f"pairs that do: NumPy {found['numpy']}, JAX {found['jax-2019']}"


def floats_are_torchs() -> Found:
    """Floats promote much as in PyTorch."""
    same, asked, differing = alike("jax-2019", "torch-2021")
    return COUNTED, f"{same} of {asked} cells of all arrays alike; other ones: {some(differing)}"


def the_codes_are_explained() -> Found:
    """Codes such as s2 and u4 name the rows and columns of the table."""
    named = {a for a, _ in printed.table("jax_2019")}
    missing = {"b1", "s2", "u4", "bf", "f2", "c8"} - named
    return verdict(
        not missing
    ), f"codes that are explained and in no row: {some(sorted(missing))}; the table writes i2"
