"""A namespace computes with NumPy and answers as the system says: dtype, weakness, refusal."""
from __future__ import annotations

import enum
import pickle
import random
from itertools import product

import numpy as np
import pytest
from spaces import space

import typelattice as tl
from typelattice.core.operations.operations import OPERATIONS

SYSTEMS = (
    "array-api", "numpy", "numpy-ml-dtypes", "numpy1", "jax", "jax-x32", "jax-strict", "torch",
    "tensorflow-all", "mlx",
)  # fmt: skip
ELEMENTWISE = [
    name
    for name, op in OPERATIONS.items()
    if op.call_form in ("elementwise", "whole") and op.max_operands == 2
]
SHAPED = (
    *("matmul", "vecdot", "tensordot", "outer", "cross", "solve", "searchsorted"),
    *("dot", "inner", "vdot", "convolve", "correlate"),
)
NUMBERS = (True, 1, -1, 2.5, 1j)


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_function_of_two_gives_what_the_system_says(system: str) -> None:
    """Dtype, weakness and refusal; over pairs of dtypes, weak and 0-d arrays and Python numbers."""
    xp, dice, known = space(system), random.Random(9407), tl.system(system)
    dtypes = [*xp._context.dtypes.values()]
    arrays = [xp.ones(shape, dtype=d) for d in dtypes if (d.bits or 0) >= 8 for shape in ((2,), ())]
    arrays += [xp._context.wrap(np.ones(2, d.name), d, True) for d in known.defaults.values() if d in dtypes]
    asked = lacking = 0
    for x, y in dice.sample(
        [*product(arrays, arrays), *product(arrays, NUMBERS), *product(NUMBERS, arrays)], 400
    ):
        op = dice.choice([op for op in ELEMENTWISE if op not in SHAPED and hasattr(xp, op)])
        operands = [v._type.operand if isinstance(v, tl.Array) else v for v in (x, y)]
        if known.combine == "value":
            operands = [tl.operand(v.bare) if isinstance(v, tl.Array) else v for v in (x, y)]
        p = known.explain(*operands, op=op)
        try:
            result = getattr(xp, op)(x, y)
        except tl.PromotionError:
            assert p.dtype is None, p
        except tl.NamespaceError:
            lacking += 1
        except ValueError:  # NumPy has no integer power of a negative one
            assert op in ("pow", "power")
        else:
            assert (result.dtype, result.weak) == (p.dtype, p.weak and xp._context.recipes.has_weak_arrays), (
                op,
                x,
                y,
            )
            assert result.bare.dtype == tl.native(result.dtype, np)
        asked += 1
    assert lacking < asked / 4


def test_operators_are_the_functions() -> None:
    xp = space("jax")
    x, y = xp.asarray([6, 7], dtype="int8"), xp.asarray([2, 3], dtype="int16")
    assert (x + y).dtype is (y + x).dtype is tl.dtype("int16")
    assert [int(v) for v in x // y] == [3, 2]
    assert [(2 - x).dtype, (2.0 * x).dtype, (x / y).dtype] == [
        tl.dtype("int8"),
        tl.dtype("float64"),
        tl.dtype("float32"),
    ]
    assert (2.0 * x).weak
    assert (x < y).dtype is (x == 6).dtype is tl.dtype("bool")
    assert [*map(int, (x & 3) | (~x ^ y))] == [*map(int, (x.bare & 3) | (~x.bare ^ y.bare))]
    assert (x @ x).shape == ()


def test_comparison_of_numpy_is_exact_beyond_the_range() -> None:
    x = space("numpy").asarray([1, 255], dtype="uint8")
    assert [bool(v) for v in x < 300] == [True, True]
    assert [bool(v) for v in x == -1] == [False, False]


def test_weak_arrays_stay_weak_as_in_jax_and_nowhere_else() -> None:
    jax, numpy = space("jax"), space("numpy")
    assert jax.asarray(1).weak
    assert not jax.asarray([1]).weak
    assert not numpy.asarray(1).weak
    assert (jax.asarray(2.0) * 3).weak
    assert (jax.asarray(2.0) * jax.ones(2, dtype="float16")).dtype is tl.dtype("float16")
    assert not jax.astype(jax.asarray(2.0), "float32").weak


def test_defaults_are_those_of_the_system() -> None:
    names = ("jax", "jax-x32", "torch", "array-api")
    found = {name: (space(name).zeros(1).dtype, space(name).asarray([1]).dtype) for name in names}
    assert {name: (str(f), str(i)) for name, (f, i) in found.items()} == {
        "jax": ("float64", "int64"), "jax-x32": ("float32", "int32"), "torch": ("float32", "int64"),
        "array-api": ("float64", "int64"),
    }  # fmt: skip
    assert space("torch").arange(3).dtype is tl.dtype("int64")
    assert space("torch").arange(3.0).dtype is tl.dtype("float32")
    assert space("torch").__array_namespace_info__().default_dtypes()["complex floating"] is tl.dtype(
        "complex64"
    )


def test_limits_kinds_and_casts_are_those_of_the_dtypes() -> None:
    xp = space("jax")
    assert (xp.finfo("bfloat16").eps, xp.finfo(xp.complex64).bits, xp.iinfo("int8").min) == (2**-7, 32, -128)
    for d in ("float16", "float32", "float64"):
        ours, theirs = xp.finfo(d), np.finfo(d)
        for limit in ("eps", "max", "min", "smallest_normal"):
            assert getattr(ours, limit) == getattr(theirs, limit)
    assert xp.isdtype(xp.int8, ("signed integer", "bool"))
    assert not xp.isdtype(xp.uint8, "signed integer")
    assert xp.can_cast("int8", "float16")
    assert not space("array-api").can_cast("int8", "float32")
    with pytest.raises(tl.NamespaceError, match="use iinfo"):
        xp.finfo("int8")
    with pytest.raises(ValueError, match="unknown kind"):
        xp.isdtype(xp.int8, "integer")


def test_the_float_of_an_int() -> None:
    found = {
        name: str(space(name).result_type("int32", kind="float"))
        for name in ("numpy", "jax", "torch", "array-api")
    }
    assert found == {"numpy": "float64", "jax": "float32", "torch": "float32", "array-api": "float64"}
    xp = space("jax")
    assert xp.result_type("float16", "int8", kind="float") is tl.dtype("float16")
    assert xp.result_type("float32", kind="complex") is tl.dtype("complex64")


def test_an_intenum_and_subclasses_count_as_their_numbers() -> None:
    class Two(enum.IntEnum):
        TWO = 2

    xp = space("numpy")
    assert (xp.ones(1, dtype="int8") + Two.TWO).dtype is tl.dtype("int8")


def test_scalars_of_the_library_are_taken_as_the_system_says() -> None:
    """NumPy's scalar is an array without dimensions to JAX and NumPy 2; to PyTorch it has a kind."""
    dtypes = {}
    for name in ("numpy", "numpy1", "jax", "torch"):
        xp = space(name)
        x = xp.ones(2, dtype="float32")
        both = (
            x * np.float64(2),
            np.float64(2) * x,
            xp.add(np.float64(2), x),
            xp.where(x > 0, np.float64(2), x),
        )
        assert len({y.dtype for y in both}) == 1
        dtypes[name] = str(both[0].dtype), str((xp.ones(1, dtype="int8") + np.int16(300)).dtype)
        x[0] = np.float64(5)
        assert float(x[0]) == 5
    assert dtypes == {
        "numpy": ("float64", "int16"), "numpy1": ("float32", "int16"), "jax": ("float64", "int16"),
        "torch": ("float32", "int8"),
    }  # fmt: skip
    with pytest.raises(tl.NamespaceError, match="takes arrays of <namespace numpy over numpy>, not a numpy"):
        space("numpy").add(space("numpy").ones(1), np.ones(1))


def test_implicit_cast_gives_bare_arrays() -> None:
    x, y = np.ones(2, "int32"), np.ones(2, "float16")
    a, b, c = tl.implicit_cast("jax", x, y, 2)
    assert a.dtype == b.dtype == c.dtype == np.float16
    assert type(a) is np.ndarray
    assert tl.implicit_cast("jax", y, y)[0] is y
    with pytest.raises(tl.PromotionError, match="refuses"):
        tl.implicit_cast("array-api", x, y)
    with pytest.raises(tl.NamespaceError, match="one at least"):
        tl.implicit_cast("jax", 1, 2)


def test_large_arrays_in_blocks_are_the_same_as_small_ones() -> None:
    xp, dice = space("jax"), np.random.default_rng(0)
    x, y = dice.integers(-99, 99, 300_001).astype("int32"), dice.random(300_001, "float32")
    for a, b in ((x, y), (y, x)):
        assert np.array_equal((xp.asarray(a) - xp.asarray(b)).bare, a.astype("float32") - b.astype("float32"))
    half = xp.asarray(x.astype("int8")) * xp.asarray(y.astype("float16"))
    assert np.array_equal(half.bare, x.astype("int8").astype("float16") * y.astype("float16"))
    assert np.array_equal((xp.asarray(x) < xp.asarray(y)).bare, x.astype("float32") < y)


def test_other_functions_keep_dtypes() -> None:
    xp = space("jax")
    x = xp.asarray([[3, 1, 2], [6, 5, 4]], dtype="int16")
    for call in (
        xp.reshape(x, (3, 2)), xp.flip(x), xp.permute_dims(x, (1, 0)), xp.concat([x, x]), xp.stack([x, x]),
        xp.sort(x), xp.expand_dims(x, axis=0), xp.take(x, xp.asarray([0]), axis=1), xp.tril(x),
        xp.unique_values(x), xp.zeros_like(x),
        xp.max(x), xp.roll(x, 1),
        xp.repeat(x, 2), xp.tile(x, (2, 1)), xp.broadcast_to(x, (2, 2, 3)), *xp.broadcast_arrays(x, x),
        *xp.meshgrid(x[0], x[1]),
        *xp.unstack(x), xp.clip(x, 1, 2), xp.where(x > 2, x, x), xp.diff(x), xp.full_like(x, 3),
        xp.squeeze(x[0:1], axis=0),
    ):  # fmt: skip
        assert call.dtype is tl.dtype("int16"), call
    assert xp.sum(x).dtype is tl.dtype("int64")
    assert xp.sum(x, dtype="float32").dtype is tl.dtype("float32")
    assert xp.mean(x).dtype is tl.dtype("float32")
    assert xp.argmax(x).dtype is xp.nonzero(x)[0].dtype is tl.dtype("int64")
    assert xp.unique_all(x).counts.dtype is tl.dtype("int64")
    assert xp.any(x).dtype is tl.dtype("bool")
    square = xp.asarray([[2.0, 0.0], [0.0, 4.0]], dtype="float32")
    assert xp.linalg.inv(square).dtype is xp.linalg.svd(square).S.dtype is tl.dtype("float32")
    assert float(xp.linalg.det(square)) == 8
    assert xp.fft.fft(square).dtype is tl.dtype("complex64")
    assert xp.fft.rfftfreq(4).dtype is tl.dtype("float64")
    assert (xp.eye(2) @ xp.eye(2)).dtype is tl.dtype("float64")
    with pytest.raises(tl.NamespaceError, match="takes no dtype"):
        xp.max(x, dtype="int8")


def test_what_the_standard_of_2025_12_added() -> None:
    xp = space("numpy")
    x, m = xp.asarray([3, 1, 2]), xp.asarray([[0.0, 1.0], [-1.0, 0.0]], dtype="float32")
    assert x.__array_namespace__(api_version="2025.12").__array_api_version__ == "2025.12"
    assert xp.broadcast_shapes((2, 1), (3,)) == (2, 3)
    with pytest.raises(ValueError, match=r"shapes \(2,\) and \(3,\) do not go together"):
        xp.broadcast_shapes((2,), (3,))
    assert (
        xp.isin(x, 1).bare.tolist() == xp.isin(x, xp.asarray([1], dtype="int8")).bare.tolist()
    )
    assert xp.isin(x, x, invert=True).bare.tolist() == [False, False, False]
    assert xp.linalg.eigvals(m).dtype is xp.linalg.eig(m).eigenvectors.dtype is tl.dtype("complex64")
    assert xp.linalg.eigvals(xp.eye(2)).dtype is tl.dtype("complex128")  # NumPy's own are float64 here
    assert xp.linalg.eigvals(xp.asarray([[1, 0], [0, 1]])).dtype is tl.dtype("complex128")
    assert type(xp.meshgrid(x, x)) is type(xp.broadcast_arrays(x, x)) is tuple
    assert type(xp.__array_namespace_info__().devices()) is tuple
    assert xp.expand_dims(x, axis=(0, 2)).shape == (1, 3, 1)
    assert xp.permute_dims(m[:1], (-1, 0)).shape == (2, 1)
    assert int(xp.searchsorted(xp.sort(x), 2)) == 1


def test_lists_of_arrays_meet_as_in_stack() -> None:
    xp = tl.namespace("jax", np)
    a, b = xp.asarray(2, dtype="int8"), xp.asarray(2.5, dtype="float16")
    assert xp.asarray([a, b]).dtype is tl.dtype("float16")
    assert xp.asarray([[a], [3]], dtype="int32").bare.tolist() == [[2], [3]]
    with pytest.raises(tl.PromotionError):
        (strict := tl.namespace("array-api", np)).asarray(
            [strict.asarray(1, dtype="int8"), strict.asarray(1.0)]
        )


def test_what_diff_puts_before_and_after_promotes() -> None:
    xp, strict = tl.namespace("numpy", np), tl.namespace("array-api", np)
    found = xp.diff(xp.asarray([1, 2, 4]), prepend=xp.asarray([0.5]), append=xp.asarray([1], dtype="int8"))
    assert (found.dtype.name, found.bare.tolist()) == ("float64", [0.5, 1.0, 2.0, -3.0])
    with pytest.raises(tl.PromotionError):
        strict.diff(strict.asarray([1, 2]), prepend=strict.asarray([0.5]))


@pytest.mark.parametrize("system", ["numpy", "numpy1", "cupy"])
@pytest.mark.parametrize("op", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_numpy_compares_integers_of_two_signs_exactly(op: str, system: str) -> None:
    xp = tl.namespace(system, np)
    x, y = np.array([2**53 + 1, 2**63, 5], "uint64"), np.array([2**53, 2**63 - 1, -5])
    for a, b in ((x, y), (y, x), (x[0], y[0])):
        assert np.array_equal(
            np.asarray(getattr(xp, op)(xp.asarray(a), xp.asarray(b)).bare), getattr(np, op)(a, b)
        )


def test_a_result_without_dimensions_counts_as_one() -> None:
    xp = tl.namespace("torch", np)
    a, single = xp.asarray([1.0, 2.0], dtype="float64"), xp.ones(2, dtype="float32")
    for result in (a @ a, xp.linalg.det(xp.eye(2, dtype="float64")), xp.vecdot(a, a), xp.sum(a), a[0]):
        assert isinstance(result.bare, np.ndarray)
        assert (result * single).dtype is tl.dtype("float32")
    result = a @ a
    result += 1
    assert float(result) == 6.0


def test_default_dtypes_are_the_systems_and_numbers_of_the_library_keep_theirs() -> None:
    xp = tl.namespace("numpy", np)
    assert tl.namespace("torch", np).asarray([[]]).dtype is tl.dtype("float32")
    made = xp.arange(np.int64(3)), xp.full(2, np.int8(3)), xp.full(2, np.True_)
    assert [x.dtype.name for x in made] == ["int64", "int8", "bool"]
    assert (
        xp.asarray([1], dtype=np.int8).dtype is xp.zeros(1, dtype=np.dtype("int8")).dtype is tl.dtype("int8")
    )
    assert xp.full_like(xp.asarray([1]), fill_value=7).bare.tolist() == [7]
    mlx = tl.namespace("mlx", np)
    for d in ("int8", "int64", "float32"):
        assert mlx.unique_counts(mlx.asarray([1], dtype=d)).counts.dtype is mlx.asarray([1]).dtype


def test_parts_are_of_the_dtype_computed_in() -> None:
    pytest.importorskip("ml_dtypes")
    xp = tl.namespace("jax", np)
    assert {part.dtype.name for part in xp.linalg.qr(xp.eye(2, dtype="int8"))} == {"float32"}


def test_nothing_is_computed_to_find_a_loop() -> None:
    """`atanh` of one is infinite, and NumPy may be told to raise."""
    with np.errstate(all="raise"):
        found = space("jax").atanh(space("jax").asarray([0, 0]))
    assert found.bare.tolist() == [0, 0]


def test_sign_of_an_infinite_imaginary_number_is_numpys() -> None:
    if np.__version__ >= "2":
        x = np.array([complex(0, np.inf), complex(-np.inf, 0)])
        assert space("array-api").sign(space("array-api").asarray(x)).bare.tolist() == [1j, -1]


def test_a_namespace_refuses_conversion_to_numpy_by_name() -> None:
    strict, allowing = tl.namespace("jax", np), tl.namespace("jax", np, to_numpy=True)
    x = strict.asarray([1, 2])
    assert strict is tl.namespace("jax", np, to_numpy=False) and strict is not allowing
    assert pickle.loads(pickle.dumps(strict)) is strict

    with pytest.raises(tl.NamespaceError, match="converts an array under jax over numpy to NumPy's"):
        np.asarray(x)
    with pytest.raises(tl.NamespaceError, match=r"^numpy\.linalg.*norm, called by `np.linalg.norm\(x\)`,"):
        np.linalg.norm(x)
    with pytest.raises(tl.NamespaceError, match=r"give x.bare, or allow it for all .*to_numpy=True\)$"):
        np.linalg.norm(x)
    assert np.asarray(x.bare).tolist() == np.asarray(allowing.asarray([1, 2])).tolist() == [1, 2]
