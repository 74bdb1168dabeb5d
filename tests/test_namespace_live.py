"""Namespaces over PyTorch, JAX and Dask: the system's dtypes, under jit and vmap, and on worker processes."""
from __future__ import annotations

import pickle
import subprocess
import sys
from array import array
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import typelattice as tl

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
BINARY_OF_INTEGERS = (
    *(
        "add",
        "subtract",
        "multiply",
        "floor_divide",
        "remainder",
        "pow",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
    ),
    *(
        "bitwise_left_shift",
        "bitwise_right_shift",
        "equal",
        "not_equal",
        "less",
        "less_equal",
        "greater",
        "greater_equal",
    ),
    *("maximum", "minimum", "matmul"),
)

SYSTEMS = ("array-api", "numpy", "jax", "torch")


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("library", ["torch", "jax.numpy", "dask.array"])
def test_a_sum_is_what_the_system_says(system: str, library: str) -> None:
    module = pytest.importorskip(library)
    if library == "jax.numpy":
        pytest.importorskip("jax").config.update("jax_enable_x64", True)
    xp, known, computed = tl.namespace(system, module), tl.system(system), 0
    names = ("bool", "uint8", "uint16", "int8", "int32", "float32", "complex64")
    dtypes = [d for d in xp._context.dtypes.values() if d.name in names]
    for a, b, shape in product(dtypes, dtypes, ((2,), ())):
        p = known.explain(a, f"{b}:0d" if shape == () else b, op="multiply")
        try:
            result = xp.ones(2, dtype=a) * xp.ones(shape, dtype=b)
        except tl.PromotionError:
            assert p.dtype is None
        except tl.NamespaceError as e:
            assert "cannot" in str(e)
        else:
            assert result.dtype is p.dtype
            assert result.bare.dtype == xp._context.library.native(result.dtype)
            computed += 1
    assert computed > 20


OUT_OF_RANGE = [
    (system, library)
    for system in ("jep9407-1", "keras-jax", "polars", "tinygrad", "c")
    for library in ("torch", "jax.numpy", "dask.array", "numpy")
]


@pytest.mark.parametrize(("system", "library"), OUT_OF_RANGE)
def test_a_number_out_of_range_is_never_computed_with(system: str, library: str) -> None:
    """Where a file says nothing of it, or that it knows no limit: refused, over every library."""
    pytest.importorskip("jax").config.update("jax_enable_x64", True)
    xp = tl.namespace(system, pytest.importorskip(library))
    x = xp.asarray([1, 2], dtype="uint8")
    for number in (300, -1, 2**70):
        p = tl.system(system).explain("uint8", number, op="add")
        try:
            found = x + number
        except (tl.PromotionError, tl.NamespaceError) as e:
            assert "out of range" in str(e) or "cannot hold int128" in str(e)  # which C makes of 2**70
        else:
            assert (p.dtype, np.asarray(found).tolist()) == (found.dtype, [1 + number, 2 + number])
    assert bool(np.asarray(x < 300).all())


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


def test_a_pickled_array_over_jax_says_so_where_jax_has_no_64_bits() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    pickled = pickle.dumps(tl.namespace("jax", jax.numpy).asarray([2**40]))
    program = "import sys, pickle; pickle.load(sys.stdin.buffer)"
    source = f"import sys; sys.path.insert(0, {str(Path(tl.__file__).parents[1])!r}); {program}"
    done = subprocess.run(
        [sys.executable, "-c", source], input=pickled, capture_output=True, check=False, timeout=120
    )
    assert done.returncode == 1
    assert b"jax.numpy gave int32 where int64 was asked for; jax.config.update" in done.stderr


@pytest.mark.parametrize("number", [2**63, 2**63 + 1, 2**64 - 1, 65, 3])
def test_powers_of_uint64_over_torch_are_numpys(number: int) -> None:
    torch, bases = pytest.importorskip("torch"), np.array([0, 1, 2, 3, 5, 2**63, 2**64 - 1], "uint64")
    ours, theirs = (
        (lambda x: x ** xp.full(x.shape, number, dtype="uint64"))(xp.asarray(bases))
        for xp in (tl.namespace("array-api", lib) for lib in (torch, np))
    )
    assert np.array_equal(np.asarray(ours), np.asarray(theirs))


TURNED = (
    *((True, np.s_[::-1]), (np.s_[::-1], True), (True, None, np.s_[::-1]), (np.s_[::-1], [2, 0])),
    *(([1, 0], np.s_[::-1]), (np.s_[::-1], np.s_[::-1], None), (np.array([True, False, True]), np.s_[::-1])),
    *((np.s_[::-2], np.array([True, False, True, True])), (None, np.s_[::-1], 1), (..., np.s_[::-1], [0])),
)


@pytest.mark.parametrize("key", TURNED, ids=str)
def test_slices_over_torch_go_backwards_beside_any_index(key: tuple[Any, ...]) -> None:
    torch, values = pytest.importorskip("torch"), np.arange(12, dtype=np.int32).reshape(3, 4)
    found = []
    for library in (torch, np):
        xp = tl.namespace("array-api", library)
        own = tuple(xp.asarray(part) if isinstance(part, (list, np.ndarray)) else part for part in key)
        x = xp.asarray(values.copy())
        part = np.asarray(x[own]).copy()
        x[own] = xp.asarray(-1 - np.arange(part.size, dtype=np.int32).reshape(part.shape))
        found.append((part.tolist(), np.asarray(x).tolist()))
        x[own] = 7
        found[-1] += (np.asarray(x).tolist(),)
    assert found[0] == found[1]


def test_masked_arrays_of_dask_are_refused() -> None:
    da = pytest.importorskip("dask.array")
    masked = da.ma.masked_array(da.ones(3), [True, False, False])
    for library in (da, np):
        with pytest.raises(tl.NamespaceError, match="hides elements"):
            tl.namespace("dask", library).asarray(masked)


def test_a_system_of_jaxs_is_jax_bit_by_bit_where_it_counts_values() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    jnp, xp = jax.numpy, tl.namespace("jax", jax.numpy)
    bare = jnp.asarray([3, -2, 7], dtype="int8")
    x = xp.asarray(bare)
    for ours, theirs in (
        (x**300, bare**300), (xp.atan2(x, 255), jnp.atan2(bare, 255)), (x * 300, bare * 300),
        (x ** xp.asarray(257, dtype="uint16"), bare ** jnp.uint16(257)),
        (xp.logical_and(x, 256), jnp.logical_and(bare, 256)),
    ):  # fmt: skip
        assert (ours.bare.dtype, ours.bare.tolist()) == (theirs.dtype, theirs.tolist())


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


def test_jax_transforms_arrays() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    xp = tl.namespace("torch", jax.numpy)
    x, y = xp.asarray([1, 2, 3], dtype="int32"), xp.asarray([0.5, 1.5, 2.5], dtype="float16")

    def f(a: Any, b: Any) -> Any:
        return xp.sum(a * b + 2)

    assert jax.jit(f)(x, y).dtype is f(x, y).dtype is tl.dtype("float16")
    assert float(jax.jit(f)(x, y)) == float(f(x, y))
    mapped = jax.vmap(lambda a, b: a + b)(x, y)
    assert (mapped.dtype, mapped.shape) == (tl.dtype("float16"), (3,))
    weak = tl.namespace("jax", jax.numpy)
    assert jax.jit(lambda a: a * 2)(weak.asarray(1.5)).weak
    assert jax.grad(lambda a: weak.sum(a * a).bare)(weak.asarray([1.0, 2.0])).bare.tolist() == [2.0, 4.0]


def test_jax_without_64_bits_says_so() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(tl.NamespaceError, match="jax_enable_x64"):
            tl.namespace("jax", jax.numpy).ones(1, dtype="float64")
    finally:
        jax.config.update("jax_enable_x64", True)


UNSIGNED = {
    **dict.fromkeys(BINARY_OF_INTEGERS, 2),
    **dict.fromkeys(
        ("abs", "sign", "square", "negative", "positive", "bitwise_invert", "max", "min", "sum", "prod"), 1
    ),
    **dict.fromkeys(
        ("cumulative_sum", "cumulative_prod", "sort", "argmax", "argmin", "count_nonzero", "any", "all"), 1
    ),
    **dict.fromkeys(("flip", "diff", "unique_values", "trunc"), 1),
}


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
        for xp in (tl.namespace("array-api", lib) for lib in (torch, np))
    )
    assert ours.dtype is theirs.dtype
    assert np.array_equal(np.asarray(ours), np.asarray(theirs))


def test_unsigned_integers_over_torch_are_taken_and_replaced() -> None:
    torch = pytest.importorskip("torch")
    for xp in (tl.namespace("array-api", lib) for lib in (torch, np)):
        x = xp.asarray([1, 2, 3, 65535], dtype="uint16")
        assert np.asarray(x[x > 2]).tolist() == [3, 65535]
        x[x > 2] = xp.asarray(7, dtype="uint16")
        x[0] = 9
        x += 1
        assert np.asarray(x).tolist() == [10, 3, 8, 8]
        matrix = xp.reshape(x, (2, 2))
        assert np.asarray(matrix @ matrix).tolist() == [[124, 54], [144, 88]]
        assert np.asarray(xp.searchsorted(xp.sort(x), x)).tolist() == [3, 0, 1, 1]
        assert np.asarray(xp.clip(x, 4, 9)).tolist() == [9, 4, 8, 8]
        assert np.asarray(xp.diff(x, append=x[:1])).tolist() == [65529, 5, 0, 2]
        large = xp.asarray(2**63 + 1, dtype="uint64")
        assert (int(large), range(2**64)[large], bool(large)) == (2**63 + 1, 2**63 + 1, True)
        assert np.asarray(300 - x).tolist() == [290, 297, 292, 292]
        assert np.asarray(xp.concat([xp.take(x, xp.asarray([3])), xp.tril(matrix)[1]])).tolist() == [8, 8, 8]


BACKWARDS = (
    *(
        np.s_[::-1],
        np.s_[2::-1],
        np.s_[:0:-2],
        np.s_[5:1:-3],
        np.s_[1:5:-1],
        np.s_[::-1, ::-1],
        np.s_[..., ::-2],
    ),
    *(
        np.s_[1, ::-1],
        np.s_[::-1, 0],
        np.s_[None, ::-1, None],
        np.s_[None, ..., None, ::-1],
        np.s_[::-1, 1:3],
    ),
)


@pytest.mark.parametrize("key", BACKWARDS, ids=str)
def test_slices_over_torch_go_backwards(key: Any) -> None:
    torch, values = pytest.importorskip("torch"), np.arange(24, dtype=np.uint16).reshape(6, 4)
    x, y = (tl.namespace("array-api", lib).asarray(values.copy()) for lib in (torch, np))
    assert np.array_equal(np.asarray(x[key]), np.asarray(y[key]))
    ours, theirs = (z + 100 for z in (x[key], y[key]))
    x[key], y[key] = ours, theirs
    assert np.array_equal(np.asarray(x), np.asarray(y))
    x[key] = 7
    y[key] = 7
    assert np.array_equal(np.asarray(x), np.asarray(y))


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


def test_what_a_library_lacks_is_said() -> None:
    torch = pytest.importorskip("torch")
    xp = tl.namespace("numpy", torch)
    with pytest.raises(tl.NamespaceError, match=r"torch cannot compute unique_all of uint64"):
        xp.unique_all(xp.ones(2, dtype="uint64"))
    x = tl.namespace("numpy", pytest.importorskip("dask.array")).ones(2)
    with pytest.raises(tl.NamespaceError, match="do not change"):
        x[0] = 1
    with pytest.raises(tl.NamespaceError, match="mixes"):
        x + xp.ones(2)


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


STORED = (
    *(
        "bool",
        "uint8",
        "int8",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "float16",
        "bfloat16",
        "float32",
    ),
    *("float64", "complex64", "complex128"),
)
PUT_IN = (
    *(True, 0, 1, -1, 127, 128, 255, 256, 300, 2**31, 2**63, 2**64, 2**70, -(2**63), -(2**64)),
    *(0.0, -0.0, 1.5, -1.5, -0.5, 255.7, 300.0, 65504.0, 65520.0, 1e39, -1e39, float("inf"), float("nan")),
    *(2j, 1.5 + 0j, 1 + 2j),
)
OTHERWISE = {  # which values a library takes or refuses against its rule as the file states it
    "numpy": {},
    "torch": {
        "a small negative int wraps": lambda d, v: type(v) is int and v < 0 and d.startswith("u"),
        "a half has infinities": lambda d, v: abs(v) > 65504 and d in ("float16", "bfloat16") and v == v.real,
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
            ours = x.bare[0].item() if library == "torch" else np.asarray(x)[0]
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


@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
@pytest.mark.parametrize("system", ["jax", "torch", "numpy"])
def test_what_others_wrote_against_the_standard_runs(system: str, library: str) -> None:
    xpx = pytest.importorskip("array_api_extra")
    pytest.importorskip("jax").config.update("jax_enable_x64", True)
    xp = tl.namespace(system, pytest.importorskip(library))
    x = xp.asarray([[1.0, 2.0, 4.0], [3.0, 5.0, 1.0]], dtype="float32")
    i = xp.asarray([3, 1, 2])
    made = [
        xpx.cov(x), xpx.kron(i, i), xpx.pad(i, 2), xpx.sinc(x), xpx.isclose(x, x), xpx.at(x)[0, 0].add(1.5),
        xpx.nunique(i), xpx.one_hot(i, 4), xpx.setdiff1d(i, i[:1]), xpx.argpartition(i, 1),
        xpx.create_diagonal(i), xpx.nan_to_num(x),
        xpx.apply_where(x > 2, x, lambda each: each * 2, lambda each: each - 1), xpx.isin(i, i[:1]),
        xpx.union1d(i, i),
    ]  # fmt: skip
    assert {type(each) for each in made} == {xp._context.Array}
    assert made[5].dtype is made[-3].dtype is tl.dtype("float32")


@pytest.fixture(scope="module")
def cluster() -> Any:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as made,
        distributed.Client(made) as client,
    ):
        yield client


def shared(system: str) -> list[tl.DType]:
    """The dtypes of a system that NumPy has, too, and holds in whole bytes."""
    return [d for d in tl.system(system).dtypes if (d.bits or 0) >= 8 and d in tl.system("numpy").order]


@pytest.mark.parametrize("system", [name for name in tl.systems() if shared(name)])
def test_a_lazy_dtype_is_the_computed_one_chunk_by_chunk(system: str, cluster: Any) -> None:
    da = pytest.importorskip("dask.array")
    dask = pytest.importorskip("dask")
    xp = tl.namespace(system, da)
    common = [d for d in shared(system) if d in xp._context.dtypes.values()]
    lazy = []
    for op, a, b in product(("add", "divide", "less"), common[::2], common[1::2]):
        try:
            x, y = (xp.asarray(da.ones(4, chunks=2, dtype=str(d))) for d in (a, b))
            lazy.append(getattr(xp, op)(x, y))
        except (tl.PromotionError, tl.NamespaceError):
            continue
    for a in common:
        for op in ("sum", "mean", "max"):
            try:
                lazy.append(getattr(xp, op)(xp.asarray(da.ones(4, chunks=2, dtype=str(a)))))
            except (tl.PromotionError, tl.NamespaceError):
                continue
    assert len(lazy) > len(common)
    dice = lazy[:: max(1, len(lazy) // 30)]
    blocks = [block for x in dice for block in x.bare.to_delayed().ravel()]
    counts = [len(x.bare.to_delayed().ravel()) for x in dice]
    computed = iter(dask.compute(*blocks, scheduler=cluster))
    for x, n in zip(dice, counts, strict=True):
        for _ in range(n):
            assert next(computed).dtype == x.bare.dtype == tl.native(x.dtype, da)


@pytest.mark.parametrize("library", ["torch", "jax.numpy", "dask.array"])
def test_a_longer_result_is_not_written_in_place(library: str) -> None:
    """Nor over libraries whose arrays do not change, where a new array takes the name of the old one."""
    xp = tl.namespace("numpy", pytest.importorskip(library))
    x = xp.ones(1, dtype="float32")
    with pytest.raises(tl.NamespaceError, match=r"shape \(2,\) cannot be written into one of \(1,\)"):
        x += xp.ones(2, dtype="float32")


@pytest.mark.parametrize("number", [-1, 300, [1, -1], 2**63])
@pytest.mark.parametrize("library", ["torch", "jax.numpy", "dask.array"])
def test_numbers_out_of_range_make_no_array(library: str, number: Any) -> None:
    """PyTorch makes 255 of [-1]: under its own rules it may."""
    module = pytest.importorskip(library)
    with pytest.raises(tl.NamespaceError, match=r"is out of range for uint8; use a value within it"):
        tl.namespace("numpy", module).asarray(number, dtype="uint8")
    if library == "torch":
        assert tl.namespace("torch", module).asarray([-1], dtype="uint8").bare.tolist() == [255]
