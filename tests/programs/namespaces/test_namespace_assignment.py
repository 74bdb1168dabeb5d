"""What is written into the arrays of a namespace: elements, slices, results of operators in place."""
from __future__ import annotations

import copy
from itertools import product

import numpy as np
import pytest
from spaces import space

import typelattice as tl


def test_in_place_keeps_the_dtype_or_refuses() -> None:
    xp = space("array-api")
    x = xp.asarray([1.0, 2.0], dtype="float32")
    kept = x
    x += 1
    assert x is kept
    assert [float(v) for v in x] == [2.0, 3.0]
    with pytest.raises(tl.NamespaceError, match="float64 cannot be written into float32 under array-api"):
        x += xp.ones(2, dtype="float64")
    assert [float(v) for v in x] == [2.0, 3.0]
    flags = xp.asarray([True, False])
    flags &= False
    assert not xp.any(flags)
    y = space("numpy").ones(2, dtype="float32")
    y += space("numpy").ones(2, dtype="float64")
    assert y.dtype is tl.dtype("float32")
    z = space("jax").ones(2, dtype="int8")
    z += 1.5
    assert (z.dtype, z.weak) == (tl.dtype("float64"), True)
    with pytest.raises(tl.NamespaceError, match="shape"):
        x += xp.ones((2, 2), dtype="float32")


def test_elements_are_read_and_written() -> None:
    xp = space("numpy")
    x = xp.zeros((2, 3), dtype="int16")
    x[0, :] = 7
    x[x == 0] = xp.asarray(2, dtype="int8")
    assert x.bare.tolist() == [[7, 7, 7], [2, 2, 2]]
    assert x[1].shape == (3,)
    assert x[xp.asarray([1])].dtype is tl.dtype("int16")
    with pytest.raises(
        tl.PromotionError, match=r"1048576 is out of range for int16 \(numpy.toml, lines \d+, \d+\)"
    ):
        x[0, 0] = 1 << 20
    strict = space("array-api").zeros(2, dtype="int16")
    with pytest.raises(tl.PromotionError, match="no rule takes int16 to a Python float"):
        strict[0] = 0.5
    with pytest.raises(tl.PromotionError, match="int32 cannot be written into int16"):
        strict[0] = space("array-api").ones(1, dtype="int32")
    assert strict.bare.tolist() == [0, 0]


def test_an_assignment_casts_where_the_library_does() -> None:
    """Of 1.5 an integer array gets 1; of 300.7 in uint8 NumPy and PyTorch store nothing, JAX 255."""
    for name in ("numpy", "torch", "jax"):
        xp = space(name)
        x = xp.zeros(3, dtype="int32")
        x[0] = 1.5
        x[1] = xp.asarray(-2.5, dtype="float32")
        x[2:] = xp.asarray([3 + 4j]) if name != "numpy" else 3
        assert (x.bare.tolist(), x.dtype) == ([1, -2, 3], tl.dtype("int32")), name
        narrow = xp.zeros(1, dtype="uint8")
        narrow[0] = xp.asarray(300, dtype="int64")
        assert int(narrow[0]) == 44
    jax = space("jax").zeros(4, dtype="uint8")
    for i, value in enumerate((300.7, -3.0, float("nan"), 7 + 2j)):
        jax[i] = value
    assert jax.bare.tolist() == [255, 0, 0, 7]
    for name, value in product(("numpy", "torch"), (300.7, float("nan"), 2j, 2**70)):
        with pytest.raises(tl.PromotionError, match=r"is out of range for uint8|has to lie within"):
            space(name).zeros(1, dtype="uint8")[0] = value


def test_weakness_of_full_and_of_what_is_written_into() -> None:
    xp = tl.namespace("jax", np)
    assert (xp.full(2, 1.0) * xp.ones(2, dtype="float16")).dtype is tl.dtype("float16")
    x = xp.asarray(2.0)
    x += xp.asarray(1.0, dtype="float64")
    assert not x.weak


def test_copies_and_slices_are_numpys() -> None:
    xp = tl.namespace("numpy", np, to_numpy=True)
    x = xp.asarray([1, 2, 3])
    y = copy.copy(x)
    y[0] = 9
    assert x.bare.tolist() == [1, 2, 3]
    assert x[xp.asarray(1) : xp.asarray(3)].bare.tolist() == [2, 3]
    if np.__version__ >= "2":
        with pytest.raises(ValueError, match="copy"):
            np.asarray(x, dtype="float32", copy=False)
    with pytest.raises(tl.NamespaceError, match="bare arrays"):
        tl.implicit_cast("numpy", np.ones(1), "int8")


@pytest.mark.parametrize(
    ("system", "becomes"), [("jax", 44), ("numpy", None), ("torch", None), ("mlx", None)]
)
def test_a_number_out_of_range_is_assigned_as_the_library_does(system: str, becomes: int | None) -> None:
    x = tl.namespace(system, np).asarray([1, 2], dtype="uint8")
    if becomes is None:
        with pytest.raises((tl.PromotionError, tl.NamespaceError), match="300 is out of range for uint8"):
            x[0] = 300
    else:
        x[0] = 300
    assert x.bare.tolist() == [becomes or 1, 2]


def test_bounds_may_be_read_only() -> None:
    xp, low = space("jax"), np.broadcast_to(np.float32(1), (3,))
    assert xp.clip(xp.asarray([0.0, 1.0, 2.0]), xp.asarray(low), 1.5).bare.tolist() == [1.0, 1.0, 1.5]
    assert xp.clip(xp.asarray(low), xp.asarray(low), xp.asarray(low)).bare.tolist() == [1.0, 1.0, 1.0]


def test_under_rules_that_rebind_an_array_is_not_written_into() -> None:
    xp = space("jax")
    x = xp.asarray([1, 2])
    y = x
    x += 1
    assert (y.bare.tolist(), x.bare.tolist()) == ([1, 2], [2, 3])
    x += xp.ones((2, 2), dtype="int8")
    assert x.shape == (2, 2)
