"""Python numbers beside the arrays of a namespace, those beyond their dtypes among them."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

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
    assert xp.clip(xp.asarray([1, 200], dtype="uint8"), -5, 100).bare.tolist() == [
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
        (x < 300).bare.tolist() == (x > -1).bare.tolist() == [True, True]
    )  # a comparison computes nothing
    assert xp.equal(x, 2**70).bare.tolist() == [False, False]


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
        assert older.where(*before, 300).bare.tolist() == [1, 44]
    with np.errstate(over="ignore"):
        assert xp.where(m, single, 1e39).bare.tolist() == [1, float("inf")]
        assert xp.hypot(70000, x).dtype is tl.dtype("float16")
    assert xp.logical_and(half, 1e-8).bare.tolist() == [True, True]
    if np.__version__ >= "2":
        with pytest.raises(tl.PromotionError, match="9223372036854775808 is out of range for int64"):
            _ = m > 2**63
    with pytest.raises(tl.NamespaceError, match="-1 is out of range for uint32 under numpy"):
        xp.full((2,), -1, dtype="uint32")
    with pytest.raises(tl.NamespaceError, match="-1 is out of range for uint8 under numpy"):
        xp.full_like(x, -1)
    assert space("jax").full(1, -1, dtype="uint32").bare.tolist() == [2**32 - 1]
    assert xp.full(1, 1.5, dtype="int8").bare.tolist() == [1]


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
    calls = (
        lambda: xp.asarray([1]) + wide, lambda: xp.result_type("int8", wide), lambda: xp.asarray(wide),
        lambda: xp.asarray([1, wide]), lambda: xp.full((2,), wide), lambda: xp.arange(wide),
    )  # fmt: skip
    for f in calls:
        with pytest.raises(tl.OperandError, match="an int of 16,610 bits; no dtype holds more than 4,096"):
            f()


def same_or_refused(ours: Callable[[], Any], theirs: Callable[[], Any]) -> bool:
    """Whether two calls give equal arrays of one dtype, or both raise."""
    try:
        expected = theirs()
    except Exception:
        with pytest.raises((tl.PromotionError, tl.NamespaceError)):
            ours()
        return True
    found = ours().bare
    return found.dtype == expected.dtype and bool(np.array_equal(np.asarray(found), np.asarray(expected)))


@pytest.mark.parametrize("value", [2**63, [2**63], [2**63, -1], 2**64, [2**64], -1, True])
def test_an_integer_beyond_the_default_dtype_is_what_numpy_makes_of_it(value: Any) -> None:
    xp = space("numpy")
    if value in (2**64, [2**64]):
        with pytest.raises(tl.PromotionError, match=r"out of range for uint64 \(numpy.toml, line"):
            xp.asarray(value)
        return
    assert same_or_refused(lambda: xp.asarray(value), lambda: np.asarray(value))
    if not isinstance(value, list):
        assert same_or_refused(lambda: xp.full((2,), value), lambda: np.full((2,), value))


def test_a_power_with_a_python_number_is_numpys_operator() -> None:
    """`x ** 0.5` takes the square root, whose real part is exactly zero here; `np.power` does not."""
    xp = space("numpy")
    x = np.asarray([-4 + 0j, 3 - 2j])
    for exponent in (0.5, 2, -1, 3, 1j):
        assert same_or_refused(lambda e=exponent: xp.asarray(x) ** e, lambda e=exponent: x**e)  # type: ignore[misc]


def test_overlapping_memory_is_written_as_numpy_writes_it() -> None:
    dice = np.random.default_rng(0)
    for size in range(3, 30):
        for step in (1, 2, -1):
            ours = dice.random(3 * size) + 1j * dice.random(3 * size)
            theirs = ours.copy()
            a, b = space("numpy").asarray(ours[: 2 * size][::step]), ours[1 : 2 * size + 1][::step]
            a *= space("numpy").asarray(b)
            c = theirs[: 2 * size][::step]
            c *= theirs[1 : 2 * size + 1][::step]
            assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("system", ["numpy", "jax", "array-api"])
def test_clip_takes_read_only_bounds_and_ends_at_the_upper_one(system: str) -> None:
    xp = space(system)
    low = xp.asarray(np.broadcast_to(np.float64(2), (2,)))
    x = xp.asarray([1.0, 5.0])
    assert xp.clip(x, low, xp.asarray([3.0, 3.0])).bare.tolist() == [2, 3]
    assert xp.clip(x, 4, 2).bare.tolist() == [2, 2]
    assert xp.clip(x).bare.tolist() == [1, 5]


def test_dtypes_stand_beside_python_types_as_keys() -> None:
    """The array API suite keeps both in one tuple, set or dictionary; equality never raises."""
    xp = space("array-api")
    assert xp.float32 not in (int, float, np.dtype("int8"))
    assert {int: 1, xp.float32: 2, xp.int8: 3}[xp.float32] == 2
    assert {float, xp.float32} - {xp.float32} == {float}
    names = {d: str(d) for d in (xp.bool, xp.int8, xp.float32)}  # a report looks each object up there
    for other in (None, "x", print, np, 1.5, (), xp.add, xp):
        assert names.get(other) is None and other not in [*names]


@pytest.mark.parametrize("system", ["numpy", "torch"])
def test_arrays_without_axes_are_flattened_where_an_axis_is_made(system: str) -> None:
    xp = space(system)
    joined = xp.concat([xp.asarray(1.0), xp.asarray([2.0, 3.0])], axis=None)
    assert joined.bare.tolist() == [1, 2, 3]
    assert xp.cumulative_sum(xp.asarray(5), include_initial=True).bare.tolist() == [0, 5]
    with pytest.raises((tl.PromotionError, tl.NamespaceError)):
        xp.concat([xp.asarray(1.0), xp.asarray([2.0, 3.0])])
