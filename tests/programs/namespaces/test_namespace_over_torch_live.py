"""Namespaces over PyTorch, with what it lacks: kernels of unsigned integers, slices that go backwards."""
from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest

import typelattice as tl

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]


def test_unsigned_and_0d_over_torch_are_the_standards() -> None:
    """Where torch lets an array's dtype stand beside a tensor without dimensions, or refuses pairs."""
    torch = pytest.importorskip("torch")
    xp = tl.namespace("array-api", torch)
    x, y = xp.ones(2, dtype="int8"), xp.asarray(1, dtype="int64")
    assert (x + y).dtype is tl.dtype("int64")
    assert (x.bare + y.bare).dtype == torch.int8
    assert (xp.ones(1, dtype="uint16") + xp.ones(1, dtype="int32")).dtype is tl.dtype("int32")
    with pytest.raises(RuntimeError):
        torch.ones(1, dtype=torch.uint16) + torch.ones(1, dtype=torch.int32)
    assert bool(tl.namespace("numpy", torch).asarray([1], dtype="uint8")[0] < 300)  # torch would wrap 300


def test_a_float_beside_half_precision_is_pytorchs() -> None:
    """Which computes with the number itself: 0.001 * 70000 is 70, though float16 has no 70000."""
    torch = pytest.importorskip("torch")
    for d in ("float16", "bfloat16"):
        xp, bare = tl.namespace("torch", torch), torch.tensor([0.001, 0.1, 3.0], dtype=getattr(torch, d))
        for number in (70000.0, 0.1, 1e-8, 3.3333):
            x = xp.asarray(bare)
            for ours, theirs in (
                (x * number, bare * number),
                (number / x, number / bare),
                (x - number, bare - number),
            ):
                assert torch.equal(ours.bare, theirs)
    assert float((tl.namespace("torch", torch).asarray([0.001], dtype="float16") * 70000.0)[0]) == 70


def test_buffers_of_others_are_read_rightly_over_torch() -> None:
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    xp = tl.namespace("numpy-ml-dtypes", torch)
    makes = {
        "float32": [jax.numpy.ones(3, "float32"), np.ones(3, ">f4"), np.ones(3, "float32")[::-1]],
        "float64": [array("d", [1, 1, 1]), memoryview(np.ones(3)), np.broadcast_to(np.ones(1), (3,))],
        "int16": [array("h", [1, 1, 1]), np.ones(3, "int16")],
        "uint16": [np.ones(3, "uint16")],
        "bfloat16": [jax.numpy.ones(3, "bfloat16"), torch.ones(3, dtype=torch.bfloat16)],
    }
    for d, objects in makes.items():
        for x in map(xp.asarray, objects):
            assert (x.dtype, xp.astype(x, "float32").bare.tolist()) == (tl.dtype(d), [1, 1, 1])
    assert xp.asarray(memoryview(np.arange(6).reshape(2, 3))).bare.tolist() == [[0, 1, 2], [3, 4, 5]]
    for wrong in (b"ab", object(), np.array(["a"])):
        with pytest.raises((tl.NamespaceError, tl.DTypeError)):
            xp.asarray(wrong)


# -- unsigned integers

TAKES = {  # functions by the number of arrays that they take
    1: "abs sign square negative positive bitwise_invert max min sum prod cumulative_sum cumulative_prod "
    "sort argmax argmin count_nonzero any all flip diff unique_values trunc",
    2: "add subtract multiply floor_divide remainder pow bitwise_and bitwise_or bitwise_xor maximum minimum "
    "bitwise_left_shift bitwise_right_shift equal not_equal less less_equal greater greater_equal matmul",
}
UNSIGNED = {op: arrays for arrays, ops in TAKES.items() for op in ops.split()}


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
@pytest.mark.parametrize("op", UNSIGNED)
def test_unsigned_integers_over_torch_are_numpys(op: str, dtype: str) -> None:
    """Where torch stores them and has no kernel, also beyond the signed range."""
    torch, dice = pytest.importorskip("torch"), np.random.default_rng(7)
    top = int(np.iinfo(dtype).max)
    edges = np.array([0, 1, 2, 3, 255, top, top - 1, top // 2, top // 2 + 1, top // 3], dtype)
    x = np.concatenate([np.repeat(edges, len(edges)), dice.integers(0, top, 400, dtype, endpoint=True)])
    y = np.concatenate([np.tile(edges, len(edges)), dice.permutation(x[-400:])])
    if op in ("floor_divide", "remainder"):
        y = np.maximum(y, 1).astype(dtype)
    if op in ("pow", "bitwise_left_shift", "bitwise_right_shift"):
        y = y % np.asarray(np.iinfo(dtype).bits, dtype)
    ours, theirs = (
        getattr(xp, op)(*(xp.asarray(each) for each in (x, y)[: UNSIGNED[op]]))
        for xp in (tl.namespace("array-api", lib, to_numpy=True) for lib in (torch, np))
    )
    assert ours.dtype is theirs.dtype
    assert np.array_equal(np.asarray(ours), np.asarray(theirs))


@pytest.mark.parametrize("number", [2**63, 2**63 + 1, 2**64 - 1, 65, 3])
def test_powers_of_uint64_over_torch_are_numpys(number: int) -> None:
    torch, bases = pytest.importorskip("torch"), np.array([0, 1, 2, 3, 5, 2**63, 2**64 - 1], "uint64")
    ours, theirs = (
        (lambda x: x ** xp.full(x.shape, number, dtype="uint64"))(xp.asarray(bases))
        for xp in (tl.namespace("array-api", lib, to_numpy=True) for lib in (torch, np))
    )
    assert np.array_equal(np.asarray(ours), np.asarray(theirs))


def test_unsigned_integers_over_torch_are_taken_and_replaced() -> None:
    torch = pytest.importorskip("torch")
    for xp in (tl.namespace("array-api", lib, to_numpy=True) for lib in (torch, np)):
        x = xp.asarray([1, 2, 3, 65535], dtype="uint16")
        assert x[x > 2].bare.tolist() == [3, 65535]
        x[x > 2] = xp.asarray(7, dtype="uint16")
        x[0] = 9
        x += 1
        assert x.bare.tolist() == [10, 3, 8, 8]
        matrix = xp.reshape(x, (2, 2))
        assert (matrix @ matrix).bare.tolist() == [[124, 54], [144, 88]]
        assert xp.searchsorted(xp.sort(x), x).bare.tolist() == [3, 0, 1, 1]
        assert xp.clip(x, 4, 9).bare.tolist() == [9, 4, 8, 8]
        assert xp.diff(x, append=x[:1]).bare.tolist() == [65529, 5, 0, 2]
        large = xp.asarray(2**63 + 1, dtype="uint64")
        assert (int(large), range(2**64)[large], bool(large)) == (2**63 + 1, 2**63 + 1, True)
        assert (300 - x).bare.tolist() == [290, 297, 292, 292]
        assert xp.concat([xp.take(x, xp.asarray([3])), xp.tril(matrix)[1]]).bare.tolist() == [8, 8, 8]


# -- indices

BACKWARDS = (
    np.s_[::-1], np.s_[2::-1], np.s_[:0:-2], np.s_[5:1:-3], np.s_[1:5:-1], np.s_[::-1, ::-1],
    np.s_[..., ::-2], np.s_[1, ::-1], np.s_[::-1, 0], np.s_[None, ::-1, None],
    np.s_[None, ..., None, ::-1], np.s_[::-1, 1:3],
)  # fmt: skip


@pytest.mark.parametrize("key", BACKWARDS, ids=str)
def test_slices_over_torch_go_backwards(key: Any) -> None:
    torch, values = pytest.importorskip("torch"), np.arange(24, dtype=np.uint16).reshape(6, 4)
    x, y = (tl.namespace("array-api", lib, to_numpy=True).asarray(values.copy()) for lib in (torch, np))
    assert np.array_equal(np.asarray(x[key]), np.asarray(y[key]))
    ours, theirs = (z + 100 for z in (x[key], y[key]))
    x[key], y[key] = ours, theirs
    assert np.array_equal(np.asarray(x), np.asarray(y))
    x[key] = 7
    y[key] = 7
    assert np.array_equal(np.asarray(x), np.asarray(y))


BESIDE_OTHERS = (
    (True, np.s_[::-1]), (np.s_[::-1], True), (True, None, np.s_[::-1]), (np.s_[::-1], [2, 0]),
    ([1, 0], np.s_[::-1]), (np.s_[::-1], np.s_[::-1], None), (np.array([True, False, True]), np.s_[::-1]),
    (np.s_[::-2], np.array([True, False, True, True])), (None, np.s_[::-1], 1), (..., np.s_[::-1], [0]),
)  # fmt: skip


@pytest.mark.parametrize("key", BESIDE_OTHERS, ids=str)
def test_slices_over_torch_go_backwards_beside_any_index(key: tuple[Any, ...]) -> None:
    torch, values = pytest.importorskip("torch"), np.arange(12, dtype=np.int32).reshape(3, 4)
    found = []
    for library in (torch, np):
        xp = tl.namespace("array-api", library, to_numpy=True)
        own = tuple(xp.asarray(part) if isinstance(part, (list, np.ndarray)) else part for part in key)
        x = xp.asarray(values.copy())
        part = np.asarray(x[own]).copy()
        x[own] = xp.asarray(-1 - np.arange(part.size, dtype=np.int32).reshape(part.shape))
        found.append((part.tolist(), np.asarray(x).tolist()))
        x[own] = 7
        found[-1] += (np.asarray(x).tolist(),)
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint16", "uint32", "uint64", "int32", "int64"])
def test_indices_over_torch_are_of_any_integer_dtype(dtype: str) -> None:
    """PyTorch takes uint8 for a mask, and of the others int32 and int64 only."""
    torch = pytest.importorskip("torch")
    xp = tl.namespace("array-api", torch)
    x, m = xp.asarray([10.0, 20.0, 30.0]), xp.reshape(xp.arange(6), (2, 3))
    i, one = xp.asarray([2, 0], dtype=dtype), xp.asarray(1, dtype=dtype)
    found = [
        x[i],
        x[one],
        m[one, i],
        m[0, i],
        m[xp.asarray([1], dtype=dtype), i],
        xp.take(x, i),
        xp.take_along_axis(x, i),
    ]
    assert [y.bare.tolist() for y in found] == [[30, 10], 20, [5, 3], [2, 0], [5, 3], [30, 10], [30, 10]]
    assert xp.repeat(x[:2], xp.asarray([1, 2], dtype=dtype)).bare.tolist() == [10, 20, 20]
    x[i] = xp.asarray([5.0, 6.0])
    assert x.bare.tolist() == [6, 20, 5]


@pytest.mark.parametrize(
    ("dtype", "number"),
    [
        ("int8", 300), ("uint8", 300), ("uint8", -1), ("int8", -1), ("float16", 7e4), ("float16", 70000),
        ("float32", 1e39), ("int64", 2**63), ("int8", 2), ("float32", 2.5),
    ],
)  # fmt: skip
def test_what_pytorch_refuses_of_a_number_is_refused_and_else_the_values_are_its_own(
    dtype: str, number: float
) -> None:
    torch = pytest.importorskip("torch")
    xp, own = tl.namespace("torch", torch), getattr(torch, dtype)
    x, bare = xp.asarray([1, 2], dtype=dtype), torch.tensor([1, 2], dtype=own)
    for ours, theirs in (
        (lambda: x**number, lambda: bare**number),
        (lambda: number**x, lambda: number**bare),
        (lambda: xp.clip(x, None, number), lambda: torch.clip(bare, None, number)),
        (lambda: xp.clip(x, number), lambda: torch.clip(bare, number)),
        (lambda: xp.full((2,), number, dtype=dtype), lambda: torch.full((2,), number, dtype=own)),
        (lambda: xp.full((2,), number), lambda: torch.full((2,), number)),
        (lambda: xp.full_like(x, number), lambda: torch.full_like(bare, number)),
    ):
        try:
            expected = theirs()
        except (RuntimeError, TypeError):
            with pytest.raises((tl.PromotionError, tl.NamespaceError)):
                ours()
            continue
        found = ours().bare
        assert found.dtype == expected.dtype
        assert torch.equal(found, expected)


def test_the_sign_of_nan_is_pytorchs_under_its_own_rules_and_else_the_standards() -> None:
    torch = pytest.importorskip("torch")
    for system, expected in (("torch", 0.0), ("array-api", float("nan"))):
        xp = tl.namespace(system, torch)
        found = xp.sign(xp.asarray([float("nan")], dtype="float32")).bare
        np.testing.assert_array_equal(found.numpy(), [expected])
