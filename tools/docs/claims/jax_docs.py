"""JAX documentation, Type promotion semantics, with the lattice."""

from __future__ import annotations

import typelattice as tl
from claims import Found, answer, listed, ordered, some, verdict
from typelattice.core.dtypes.dtypes import Kind

EXACT = (Kind.BOOL, Kind.UNSIGNED, Kind.SIGNED)
MIXED, GROUPED = "np.int16(1) + 1 + jnp.int16(1)", "np.int16(1) + (1 + jnp.int16(1))"


def promotion_is_the_join() -> Found:
    """What two types promote to is their join on the lattice."""
    jax = tl.system("jax")
    wrong = [
        f"{a} + {b}" for a, b in ordered("jax")
        if isinstance(join := jax.order.join(a, b), tl.DType) and jax.result_type(a, b) is not join
    ]  # fmt: skip
    return verdict(not wrong), f"pairs that promote elsewhere: {some(wrong)}"


def a_python_int_keeps_int16() -> Found:
    """A jnp.int16 plus the Python int 1 is an int16, where NumPy gives an int64."""
    found = {name: answer(name, "int16:0d", 1, op="add") for name in ("jax", "numpy1", "numpy")}
    once = found["jax"] == "int16" and found["numpy1"] == "int64"
    return verdict(once and found["numpy"] == "int64", once), listed(found) + ": NumPy 2 keeps it as well"


def a_numpy_array_does_not() -> Found:
    """A jnp.int16 plus an array of NumPy's that holds 1 is an int64."""
    found = answer("jax", "int16", "int64:0d", op="add")
    return verdict(found == "int64"), found


def floats_win_over_integers() -> Found:
    """An integer or a bool beside a float or a complex number takes the dtype of that."""
    wrong = [
        f"{a} + {b}: {answer('jax', a, b)}" for a, b in ordered("jax", "jax-2019")
        if a.kind in EXACT and b.kind not in EXACT and answer("jax", a, b) != str(b)
    ]  # fmt: skip
    return verdict(not wrong), f"pairs that do not: {some(wrong)}"


def mixed_sums_depend_on_parentheses() -> Found:
    """A sum of a NumPy scalar, a Python int and a JAX scalar depends on the parentheses."""
    found = {}
    for name in ("numpy1", "numpy"):
        systems = {"numpy": name, "jax": "jax"}
        found[name] = [str(tl.program(text).under(systems).dtype) for text in (MIXED, GROUPED)]
    today, once = (left != right for left, right in (found["numpy"], found["numpy1"]))
    told = "; ".join(f"{name}: {left} and {right}" for name, (left, right) in found.items())
    return verdict(today, once), f"from the left, and from the right, beside {told}"
