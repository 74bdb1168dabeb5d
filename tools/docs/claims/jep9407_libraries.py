"""JEP 9407: what JAX came to, and the tables of other libraries."""

from __future__ import annotations

import printed

import typelattice as tl
from claims import Found, alike, answer, ordered, pairs, some, verdict
from typelattice.core.dtypes.dtypes import Kind


def jax_loses_no_magnitude() -> Found:
    """JAX was to lose precision where it must, and no magnitude."""
    lost = [
        f"{a} + {b}: {answer('jax', a, b)}" for a, b in pairs("jax", "jax-2019")
        if any(c.loss and c.loss.magnitude for c in tl.system("jax").explain(a, b).casts)
    ]  # fmt: skip
    return verdict(not lost), f"pairs that lose magnitude: {some(lost)}"


def jax_is_like_torch() -> Found:
    """But for the wider unsigned integers and for scalars, JAX promotes as PyTorch does."""
    same, asked, differing = alike("jax", "torch-2021")
    return verdict(same == asked), f"{same} of {asked} cells of arrays alike; other ones: {some(differing)}"


def tensorflow_is_asymmetric() -> Found:
    """TensorFlow's table is asymmetric: the second operand has to go over to the dtype of the first."""
    cells = next(t for t in printed.JEP_TABLES if t.system == "tensorflow").answers()
    found = [f"{a} + {b}: {c}, {cells[b, a]}" for (a, b), c in cells.items() if a < b and c != cells[b, a]]
    return verdict(bool(found)), f"pairs whose two cells differ: {some(found)}"


def torch_has_one_unsigned() -> Found:
    """PyTorch has no unsigned integers but uint8."""
    found = {name: [str(d) for d in tl.system(name).dtypes if d.kind is Kind.UNSIGNED and (d.bits or 0) >= 8]
             for name in ("torch-2021", "torch")}  # fmt: skip
    return verdict(found["torch"] == ["uint8"], once=found["torch-2021"] == ["uint8"]), "; ".join(
        f"{n}: {', '.join(d)}" for n, d in found.items()
    )


def lax_does_not_promote() -> Found:
    """jax.lax promotes nothing: two arrays have to be of one dtype."""
    found = [
        f"{a} + {b}" for a, b in ordered("jax-lax") if a is not b and answer("jax-lax", a, b) != "refused"
    ]
    return verdict(not found), f"pairs of two dtypes that are answered: {some(found)}"
