"""Python numbers beside the arrays of a namespace, those beyond their dtypes among them."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from spaces import own_file, space

import typelattice as tl


@pytest.mark.parametrize(
    ("system", "outcome"),
    [("jax", 44), ("torch", 44), ("numpy", "out of range"), ("array-api", "out of range")],
)
def test_a_number_out_of_range_is_what_the_system_makes_of_it(system: str, outcome: int | str) -> None:
    xp = space(system)
    x = xp.zeros(1, dtype="uint8")
    for _ in range(2):  # with a recipe, and without
        if isinstance(outcome, str):
            with pytest.raises(tl.PromotionError, match=outcome):
                x + 300
        else:
            assert int((x + 300)[0]) == outcome
        assert int((x + 7)[0]) == 7


def test_each_number_of_a_call_has_its_own_fit() -> None:
    xp = tl.namespace("torch", np)
    assert np.asarray(xp.clip(xp.asarray([1, 200], dtype="uint8"), -5, 100)).tolist() == [
        100,
        100,
    ]  # -5 is 251 there
    assert [int(x) for x in tl.implicit_cast("jax", np.zeros((), "uint8"), 300, 1)] == [0, 44, 1]


@pytest.mark.parametrize("fit", ["", 'fit = { int = "widen" }\n', 'fit = { int = "exact" }\n'])
def test_a_number_of_which_the_system_says_nothing_is_refused(fit: str, tmp_path: Path) -> None:
    path = own_file(tmp_path, fit)
    xp = tl.namespace(path, np)
    x = xp.asarray([1, 2], dtype="uint8")
    for call in (lambda: x + 300, lambda: x * -1, lambda: 300 + x, lambda: xp.where(x > 1, x, 300)):
        with pytest.raises(tl.NamespaceError, match=r"(300|-1) is out of range for uint8 under mine, which"):
            call()
    with pytest.raises(tl.NamespaceError, match="300 is out of range for uint8"):
        tl.implicit_cast(path, np.ones(1, "uint8"), 300)
    assert (
        np.asarray(x < 300).tolist() == np.asarray(x > -1).tolist() == [True, True]
    )  # a comparison computes nothing
    assert np.asarray(xp.equal(x, 2**70)).tolist() == [False, False]


def test_an_integer_beyond_every_float_is_refused_as_python_does() -> None:
    for name in ("numpy", "jax", "torch", "array-api"):
        x = space(name).ones(1, dtype="float64")
        why = r"out of range|cannot compute|makes no|has to lie within"
        with pytest.raises((tl.PromotionError, tl.NamespaceError), match=why):
            x + 10**400
    with pytest.raises(tl.PromotionError, match="has to lie within int64 or uint64"):
        space("torch").ones(1, dtype="float32") + 10**39  # as PyTorch itself, which reads no such int


def test_numbers_where_the_librarys_own_rules_have_them() -> None:
    """What NumPy does by value: refusals of its own, infinities, and truth before rounding."""
    xp = space("numpy")
    m, x = xp.asarray([True, False]), xp.asarray([1, 2], dtype="uint8")
    half, single = xp.ones(2, dtype="float16"), xp.ones(2, dtype="float32")
    with pytest.raises(tl.PromotionError, match="300 is out of range for uint8"):
        xp.where(m, x, 300)
    older = space("numpy@2.4")  # NumPy wrapped until 2.4 what it refuses from 2.5 on
    before = older.asarray([True, False]), older.asarray([1, 2], dtype="uint8")
    with pytest.raises(tl.PromotionError, match=f"{2**64} is out of range for uint64"):
        older.where(*before, 2**64)
    if np.lib.NumpyVersion(np.__version__) < "2.5.0":
        assert np.asarray(older.where(*before, 300)).tolist() == [1, 44]
    with np.errstate(over="ignore"):
        assert np.asarray(xp.where(m, single, 1e39)).tolist() == [1, float("inf")]
        assert xp.hypot(70000, x).dtype is tl.dtype("float16")
    assert np.asarray(xp.logical_and(half, 1e-8)).tolist() == [True, True]
    if np.__version__ >= "2":
        with pytest.raises(tl.NamespaceError, match="too large"):
            _ = m > 2**63
    with pytest.raises(tl.NamespaceError, match="-1 is out of range for uint32 under numpy"):
        xp.full((2,), -1, dtype="uint32")
    with pytest.raises(tl.NamespaceError, match="-1 is out of range for uint8 under numpy"):
        xp.full_like(x, -1)
    assert np.asarray(space("jax").full(1, -1, dtype="uint32")).tolist() == [2**32 - 1]
    assert np.asarray(xp.full(1, 1.5, dtype="int8")).tolist() == [1]


def test_an_exponent_beyond_the_dtype_of_the_base_counts_whole() -> None:
    """JAX leaves the base its dtype and takes the exponent as it is: 3**300 has 113 in its low bits."""
    xp = space("jax")
    x = xp.asarray([3], dtype="int8")
    assert (
        int((x ** xp.asarray(300, dtype="uint16"))[0])
        == int((x**300)[0])
        == 113
        == (3**300 + 128) % 256 - 128
    )


@pytest.mark.parametrize("name", ["numpy", "jax"])
def test_a_number_wider_than_any_dtype_is_refused_by_its_bits(name: str) -> None:
    xp, wide = tl.namespace(name, np), 10**5000
    for f in (lambda: xp.asarray([1]) + wide, lambda: xp.result_type("int8", wide)):
        with pytest.raises(tl.OperandError, match="an int of 16,610 bits; no dtype holds more than 4,096"):
            f()
