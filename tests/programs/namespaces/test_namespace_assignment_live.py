"""What is written into the arrays of namespaces over the real libraries."""
from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import typelattice as tl

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
STORED = (
    "bool", "uint8", "int8", "uint16", "int32", "uint32", "int64", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
PUT_IN = (
    True, 0, 1, -1, 127, 128, 255, 256, 300, 2**31, 2**63, 2**64, 2**70, -(2**63), -(2**64),
    0.0, -0.0, 1.5, -1.5, -0.5, 255.7, 300.0, 65504.0, 65520.0, 1e39, -1e39, float("inf"), float("nan"),
    2j, 1.5 + 0j, 1 + 2j,
)  # fmt: skip
OTHERWISE = {  # which values a library takes or refuses against its rule as the file states it
    "numpy": {},
    "torch": {
        "fractions count": lambda d, v: (v, d[0]) in ((-0.5, "u"), (255.7, "u")),
    },
    "jax": {"an int of uint64 fits": lambda d, v: type(v) is int and v == 2**63 and d == "uint64"},
}  # fmt: skip


def stored(library: str, d: str, value: Any) -> Any:
    """The element that a library itself stores into an array of a dtype; None if it refuses."""
    module = pytest.importorskip(library)
    own = tl.native(d, module)
    x = module.ones(2, dtype=own)
    try:
        if library == "jax.numpy":
            return np.asarray(x.at[0].set(value))[0]
        x[0] = value
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return None
    return x[0].item() if library == "torch" else x[0]


@pytest.mark.parametrize(
    ("system", "library"), [("numpy", "numpy"), ("torch", "torch"), ("jax", "jax.numpy")]
)
def test_an_assignment_stores_what_the_library_stores(system: str, library: str) -> None:
    """Of arrays of every dtype and of Python numbers: the same element or a refusal, but for those listed."""
    pytest.importorskip("jax").config.update("jax_enable_x64", True)
    sample = np.asarray([1.5, 100.25, 0.0])
    arrays = [x for e in STORED if e != "bfloat16" for x in sample.astype(tl.native(e, np))]
    different, otherwise = [], set()
    for d, value in product(STORED, (*PUT_IN, *arrays)):
        rules = "numpy-ml-dtypes" if (system, d) == ("numpy", "bfloat16") else system
        xp = tl.namespace(rules, pytest.importorskip(library))
        number = not hasattr(value, "dtype")
        given = value if number else xp.asarray(value)
        theirs, x = stored(library, d, given if number else given.bare), xp.ones(2, dtype=d)
        try:
            x[0] = given
            ours = x.bare[0].item() if library == "torch" else np.asarray(x.bare)[0]
        except (tl.PromotionError, tl.NamespaceError):
            ours = None
        if theirs is None or ours is None:
            same = theirs is ours
        else:
            same = bool(ours == theirs) or (ours != ours and theirs != theirs)
        reasons = {why for why, covers in OTHERWISE[system].items() if number and covers(d, value)}
        if not same and reasons:
            otherwise |= reasons
        elif not same:
            different.append((d, str(value), ours, theirs))
    assert different == []
    assert otherwise == {*OTHERWISE[system]}


def test_elements_over_jax_are_replaced_in_a_copy() -> None:
    jax = pytest.importorskip("jax")
    xp = tl.namespace("jax", jax.numpy)
    x = xp.asarray([1, 2, 3], dtype="int8")
    before = x.bare
    x[0] = 9
    x[x < 3] = 0
    assert (x.bare.tolist(), x.dtype, before.tolist()) == ([9, 0, 3], tl.dtype("int8"), [1, 2, 3])

    def changed(y: Any) -> Any:
        y[1] = 2.5
        return y * 2

    once = xp.asarray([1.0, 1.0], dtype="float16")
    assert jax.jit(changed)(once).bare.tolist() == [2.0, 5.0]
    assert once.bare.tolist() == [1.0, 1.0]
    with pytest.raises(tl.NamespaceError, match="takes arrays of"):
        x[0] = "nine"


@pytest.mark.parametrize("library", ["torch", "jax.numpy", "dask.array"])
def test_a_longer_result_is_not_written_in_place(library: str) -> None:
    """Nor over libraries whose arrays do not change, where a new array takes the name of the old one."""
    xp = tl.namespace("numpy", pytest.importorskip(library))
    x = xp.ones(1, dtype="float32")
    with pytest.raises(tl.NamespaceError, match=r"shape \(2,\) cannot be written into one of \(1,\)"):
        x += xp.ones(2, dtype="float32")
