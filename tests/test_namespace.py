"""A namespace computes with NumPy and answers as the system says: dtype, weakness, refusal."""
from __future__ import annotations

import ast
import copy
import enum
import gc
import math
import pickle
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import typelattice as tl
from typelattice.facts.libraries import libraries
from typelattice.facts.operations import OPERATIONS
from typelattice.namespaces.namespace import LAST

np = pytest.importorskip("numpy")
pytest.importorskip("array_api_compat")
SYSTEMS = (
    "array-api",
    "numpy",
    "numpy-ml-dtypes",
    "numpy1",
    "jax",
    "jax-x32",
    "jax-strict",
    "torch",
    "tensorflow-all",
    "mlx",
)
ELEMENTWISE = [
    name for name, op in OPERATIONS.items() if op.form in ("elementwise", "whole") and op.most == 2
]
SHAPED = (
    *("matmul", "vecdot", "tensordot", "outer", "cross", "solve", "searchsorted"),
    *("dot", "inner", "vdot", "convolve", "correlate"),
)
NUMBERS = (True, 1, -1, 2.5, 1j)


def space(system: str) -> Any:
    return tl.namespace(system, np)


def of_value(x: object) -> tuple[object, ...]:
    return (x.dtype, x.weak) if isinstance(x, tl.Array) else (type(x),)


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
            assert (result.dtype, result.weak) == (p.dtype, p.weak and xp._context.recipes.weak_arrays), (
                op,
                x,
                y,
            )
            assert result.bare.dtype == tl.native(result.dtype, np)
        asked += 1
    assert lacking < asked / 4


ROOM = Path(tl.__file__).parent / "namespaces"


@pytest.mark.parametrize("path", [*ROOM.glob("*.py")], ids=lambda path: path.stem)
def test_what_is_particular_to_a_library_stands_in_its_file(path: Path) -> None:
    """Code outside of namespaces/libraries names no library; a docstring may, as an example."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            node.body[0] = ast.Pass()
    known = {name for each in libraries().values() for name in (each.name, *each.modules)}
    assert not (known - {"python", "max"}) & {*re.findall(r"\w+", ast.unparse(tree))}


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
    assert np.asarray(strict).tolist() == [0, 0]


def test_an_assignment_casts_where_the_library_does() -> None:
    """Of 1.5 an integer array gets 1; of 300.7 in uint8 NumPy and PyTorch store nothing, JAX 255."""
    for name in ("numpy", "torch", "jax"):
        xp = space(name)
        x = xp.zeros(3, dtype="int32")
        x[0] = 1.5
        x[1] = xp.asarray(-2.5, dtype="float32")
        x[2:] = xp.asarray([3 + 4j]) if name != "numpy" else 3
        assert (np.asarray(x).tolist(), x.dtype) == ([1, -2, 3], tl.dtype("int32")), name
        narrow = xp.zeros(1, dtype="uint8")
        narrow[0] = xp.asarray(300, dtype="int64")
        assert int(narrow[0]) == 44
    jax = space("jax").zeros(4, dtype="uint8")
    for i, value in enumerate((300.7, -3.0, float("nan"), 7 + 2j)):
        jax[i] = value
    assert np.asarray(jax).tolist() == [255, 0, 0, 7]
    for name, value in product(("numpy", "torch"), (300.7, float("nan"), 2j, 2**70)):
        with pytest.raises(tl.PromotionError, match=r"is out of range for uint8|has to lie within"):
            space(name).zeros(1, dtype="uint8")[0] = value


def test_conversions() -> None:
    xp = space("jax")
    x = xp.asarray(3, dtype="int8")
    assert (int(x), float(x), complex(x), bool(x), [10, 20, 30, 40][x]) == (3, 3.0, 3 + 0j, True, 40)
    y = xp.asarray([1, 2, 3], dtype="float32")
    assert np.asarray(y) is y.bare or np.asarray(y).tolist() == [1, 2, 3]
    assert np.from_dlpack(y).dtype == np.float32
    assert xp.from_dlpack(np.ones(2, "int16")).dtype is tl.dtype("int16")
    assert (len(y), y.ndim, y.size, y.shape, 2 in y, 5 in y) == (3, 1, 3, (3,), True, False)
    assert [float(v) for v in y] == [1, 2, 3]
    with pytest.raises(TypeError, match="nothing to go through"):
        iter(x)
    assert xp.asarray([[1, 2]]).T.shape == xp.asarray([[1, 2]]).mT.shape == (2, 1)
    with pytest.raises(tl.NamespaceError, match="two axes"):
        y.T  # noqa: B018


def test_what_it_says_of_itself() -> None:
    x = space("jax").asarray(1.5)
    assert repr(x) == "<float64, weak under jax over numpy: 1.5>"
    assert "<b>float64 (weak), shape ()</b>" in x._repr_html_()
    assert repr(x.__array_namespace__()) == "<namespace jax over numpy>"
    with pytest.raises(tl.NamespaceError, match="no version"):
        x.__array_namespace__(api_version="1999")


def test_html_is_escaped(tmp_path: Any) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\ntitle = "<script>"\ndefaults = { float = "f32" }\norder = "f32 -> f64"\n')
    assert "<script>" not in tl.namespace(file, np).ones(1)._repr_html_()


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


def test_what_does_not_go_together_is_refused() -> None:
    xp, other = space("jax"), space("numpy")
    x = xp.ones(2)
    for wrong, match in ((other.ones(2), "mixes"), *((x, "asarray") for x in (np.ones(2), "1", None, [1]))):
        with pytest.raises(tl.NamespaceError, match=match):
            xp.add(x, wrong)
    with pytest.raises(tl.NamespaceError, match="mixes"):
        x + other.ones(2)
    with pytest.raises(tl.NamespaceError, match="mixes"):
        xp.concat([x, other.ones(2)])
    with pytest.raises(tl.NamespaceError):
        np.ones(2) + x
    with pytest.raises(tl.PromotionError, match="array-api refuses int8 with float32"):
        space("array-api").ones(1, dtype="int8") + space("array-api").ones(1, dtype="float32")
    with pytest.raises(tl.NamespaceError, match="condition"):
        xp.where(x, x, x)
    with pytest.raises(tl.NamespaceError, match="one at least"):
        xp.concat([])
    with pytest.raises(tl.NamespaceError, match="cannot hold tensor_float32"):
        xp.ones(1, dtype="tensor_float32")
    with pytest.raises(tl.DTypeError, match="unknown dtype"):
        xp.ones(1, dtype="flout32")


def test_a_library_without_the_standard_is_refused() -> None:
    for library in (sys, ModuleType("nothing"), 3):
        with pytest.raises(tl.NamespaceError, match="no array library"):
            tl.namespace("jax", library)  # type: ignore[arg-type]
    with pytest.raises(tl.UnknownSystemError):
        tl.namespace("jaxx", np)


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


def test_threads_share_a_namespace() -> None:
    xp = space("jax")
    pairs = [*product((d for d in xp._context.dtypes.values() if (d.bits or 0) >= 8), repeat=2)] * 3

    def add(pair: tuple[Any, Any]) -> str:
        try:
            return str((xp.ones(3, dtype=pair[0]) + xp.ones(3, dtype=pair[1])).dtype)
        except tl.PromotionError:
            return "refused"

    with ThreadPoolExecutor(8) as pool:
        threaded = [*pool.map(add, pairs)]
    assert threaded == [*map(add, pairs)]


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


def listed() -> dict[str, set[str]]:
    """What the standard names, by the place in which it does."""
    text = (Path(__file__).parent / "array_api" / "members-2025.12.txt").read_text("ascii")
    found = re.findall(r"^(\w+): ((?:.+\n)(?:  .+\n)*)", text, re.MULTILINE)
    return {place: {*names.split()} for place, names in found}


def test_a_namespace_shows_what_the_standard_names_and_its_system() -> None:
    xp, names = space("numpy"), listed()
    more = {"system", "linalg", "fft", "__array_api_version__"}
    assert sorted(dir(xp)) == sorted(names["main"] | names["dtypes"] | more)
    assert sorted(dir(xp.linalg)) == sorted(names["linalg"])
    assert sorted(dir(xp.fft)) == sorted(names["fft"])
    assert all(hasattr(xp, name) for name in dir(xp))
    assert not any(hasattr(xp, name) for name in ("power", "iadd", "bfloat16", "wrap", "library", "recipes"))


@pytest.mark.live
def test_the_names_of_the_standard_are_those_of_array_api_strict() -> None:
    strict = pytest.importorskip("array_api_strict")
    names = listed()
    theirs = {name for name in strict.__all__ if not re.search("flags|Flags|Device|__version__", name)}
    assert theirs == names["main"] | names["dtypes"] | {"linalg", "fft", "__array_api_version__"}
    assert {*strict.linalg.__all__} <= names["linalg"]
    assert all(hasattr(strict.linalg, name) for name in names["linalg"])
    assert {*strict.fft.__all__} == names["fft"]


def test_what_the_standard_of_2025_12_added() -> None:
    xp = space("numpy")
    x, m = xp.asarray([3, 1, 2]), xp.asarray([[0.0, 1.0], [-1.0, 0.0]], dtype="float32")
    assert x.__array_namespace__(api_version="2025.12").__array_api_version__ == "2025.12"
    assert xp.broadcast_shapes((2, 1), (3,)) == (2, 3)
    with pytest.raises(ValueError, match=r"shapes \(2,\) and \(3,\) do not go together"):
        xp.broadcast_shapes((2,), (3,))
    assert (
        np.asarray(xp.isin(x, 1)).tolist() == np.asarray(xp.isin(x, xp.asarray([1], dtype="int8"))).tolist()
    )
    assert np.asarray(xp.isin(x, x, invert=True)).tolist() == [False, False, False]
    assert xp.linalg.eigvals(m).dtype is xp.linalg.eig(m).eigenvectors.dtype is tl.dtype("complex64")
    assert xp.linalg.eigvals(xp.eye(2)).dtype is tl.dtype("complex128")  # NumPy's own are float64 here
    assert xp.linalg.eigvals(xp.asarray([[1, 0], [0, 1]])).dtype is tl.dtype("complex128")
    assert type(xp.meshgrid(x, x)) is type(xp.broadcast_arrays(x, x)) is tuple
    assert type(xp.__array_namespace_info__().devices()) is tuple
    assert xp.expand_dims(x, axis=(0, 2)).shape == (1, 3, 1)
    assert xp.permute_dims(m[:1], (-1, 0)).shape == (2, 1)
    assert int(xp.searchsorted(xp.sort(x), 2)) == 1


def test_arrays_are_copied_and_pickled() -> None:
    xp = tl.namespace("jax", np)
    weak, x = xp.asarray(2.0), xp.asarray([1, 2], dtype="int8")
    for again in (copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))):
        assert again(xp) is xp
        y = again(x)
        assert (y.dtype, type(y)) == (x.dtype, type(x))
        assert y._type is x._type  # and so has the recipes that are there
        assert np.asarray(y + x).tolist() == [2, 4]
        assert again(weak).weak
    assert not np.shares_memory(copy.deepcopy(x).bare, x.bare)


def test_a_system_of_ones_own_is_pickled_with_its_arrays(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\ntitle = "Mine"\ntiers = ["array", "scalar"]\norder = "i8 -> i16 -> f32"\n'
    )
    xp = tl.namespace(path, np)
    x, y = pickle.loads(pickle.dumps([xp.asarray([1], dtype="int8"), xp.asarray([2], dtype="int16")]))
    assert (x + y).dtype is tl.dtype("int16")


def test_lists_of_arrays_meet_as_in_stack() -> None:
    xp = tl.namespace("jax", np)
    a, b = xp.asarray(2, dtype="int8"), xp.asarray(2.5, dtype="float16")
    assert xp.asarray([a, b]).dtype is tl.dtype("float16")
    assert np.asarray(xp.asarray([[a], [3]], dtype="int32")).tolist() == [[2], [3]]
    with pytest.raises(tl.PromotionError):
        (strict := tl.namespace("array-api", np)).asarray(
            [strict.asarray(1, dtype="int8"), strict.asarray(1.0)]
        )


NONSENSE = {
    "tensordot takes an array": lambda xp: xp.tensordot(1, 2.5),
    "stack takes a list of arrays": lambda xp: xp.stack(xp.ones(2)),
    "numpy makes no array of this int": lambda xp: xp.logical_xor(2**70, 1),
    "1180591620717411303424 is out of range for int64 under jax": lambda xp: xp.full(3, 2**70),
    "numpy cannot carry out from_dlpack": lambda xp: xp.from_dlpack(1),
    "numpy cannot carry out ones": lambda xp: xp.ones("x"),
}


@pytest.mark.parametrize("said", NONSENSE)
def test_nonsense_has_one_error(said: str) -> None:
    with pytest.raises(tl.NamespaceError, match=said):
        NONSENSE[said](tl.namespace("jax", np))


def test_each_number_of_a_call_has_its_own_fit() -> None:
    xp = tl.namespace("torch", np)
    assert np.asarray(xp.clip(xp.asarray([1, 200], dtype="uint8"), -5, 100)).tolist() == [
        100,
        100,
    ]  # -5 is 251 there
    assert [int(x) for x in tl.implicit_cast("jax", np.zeros((), "uint8"), 300, 1)] == [0, 44, 1]


def test_what_diff_puts_before_and_after_promotes() -> None:
    xp, strict = tl.namespace("numpy", np), tl.namespace("array-api", np)
    found = xp.diff(xp.asarray([1, 2, 4]), prepend=xp.asarray([0.5]), append=xp.asarray([1], dtype="int8"))
    assert (found.dtype.name, np.asarray(found).tolist()) == ("float64", [0.5, 1.0, 2.0, -3.0])
    with pytest.raises(tl.PromotionError):
        strict.diff(strict.asarray([1, 2]), prepend=strict.asarray([0.5]))


@pytest.mark.parametrize("system", ["numpy", "numpy1"])
@pytest.mark.parametrize("op", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_numpy_compares_integers_of_two_signs_exactly(op: str, system: str) -> None:
    xp = tl.namespace(system, np)
    x, y = np.array([2**53 + 1, 2**63, 5], "uint64"), np.array([2**53, 2**63 - 1, -5])
    for a, b in ((x, y), (y, x), (x[0], y[0])):
        assert np.array_equal(
            np.asarray(getattr(xp, op)(xp.asarray(a), xp.asarray(b))), getattr(np, op)(a, b)
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
    assert np.asarray(xp.full_like(xp.asarray([1]), fill_value=7)).tolist() == [7]
    mlx = tl.namespace("mlx", np)
    for d in ("int8", "int64", "float32"):
        assert mlx.unique_counts(mlx.asarray([1], dtype=d)).counts.dtype is mlx.asarray([1]).dtype


def test_weakness_of_full_and_of_what_is_written_into() -> None:
    xp = tl.namespace("jax", np)
    assert (xp.full(2, 1.0) * xp.ones(2, dtype="float16")).dtype is tl.dtype("float16")
    x = xp.asarray(2.0)
    x += xp.asarray(1.0, dtype="float64")
    assert not x.weak


def test_parts_are_of_the_dtype_computed_in() -> None:
    pytest.importorskip("ml_dtypes")
    xp = tl.namespace("jax", np)
    assert {part.dtype.name for part in xp.linalg.qr(xp.eye(2, dtype="int8"))} == {"float32"}


def test_threads_that_ask_first_get_one_namespace(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\ntitle = "Mine"\norder = "i8 -> i16"\n')
    system = tl.system(path)
    with ThreadPoolExecutor(8) as pool:
        assert len({id(xp) for xp in pool.map(lambda _: tl.namespace(system, np), range(64))}) == 1
    assert tl.namespace(system, np).__array_namespace_info__().default_dtypes().keys() == {
        "integral",
        "indexing",
    }


def test_copies_and_slices_are_numpys() -> None:
    xp = tl.namespace("numpy", np)
    x = xp.asarray([1, 2, 3])
    y = copy.copy(x)
    y[0] = 9
    assert np.asarray(x).tolist() == [1, 2, 3]
    assert np.asarray(x[xp.asarray(1) : xp.asarray(3)]).tolist() == [2, 3]
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
    assert np.asarray(x).tolist() == [becomes or 1, 2]


def test_a_dtype_is_ours_its_name_or_the_librarys_own() -> None:
    xp = tl.namespace("numpy", np)
    assert {xp.zeros(1, dtype=d).dtype for d in (xp.bool, "bool", np.bool_, np.dtype(bool), bool)} == {
        tl.dtype("bool")
    }
    for nonsense in ([1], True, float, 3, np.ones(2), xp.ones(1), "int9", object()):
        for ask in (
            lambda d: xp.zeros(1, dtype=d),
            lambda d: xp.sum(xp.ones(2), dtype=d),
            lambda d: xp.astype(xp.ones(2), d),
        ):
            with pytest.raises((tl.DTypeError, tl.OperandError)):
                ask(nonsense)


# -- numbers that a dtype cannot hold

MINE = (
    'name = "mine"\ntitle = "Mine"\ntiers = ["array", "scalar"]\ndefaults = { int = "i64", float = "f64" }\n'
)


def own_file(
    tmp_path: Path, more: str = "", order: str = "b -> u8 -> i16 -> i32 -> i64 -> f32 -> f64"
) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(f'{MINE}order = "{order}"\n{more}')
    return path


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
            m > 2**63  # noqa: B015
    with pytest.raises(tl.NamespaceError, match="-1 is out of range for uint32 under numpy"):
        xp.full((2,), -1, dtype="uint32")
    with pytest.raises(tl.NamespaceError, match="-1 is out of range for uint8 under numpy"):
        xp.full_like(x, -1)
    assert np.asarray(space("jax").full(1, -1, dtype="uint32")).tolist() == [2**32 - 1]
    assert np.asarray(xp.full(1, 1.5, dtype="int8")).tolist() == [1]


def test_nothing_is_computed_to_find_a_loop() -> None:
    """`atanh` of one is infinite, and NumPy may be told to raise."""
    with np.errstate(all="raise"):
        found = space("jax").atanh(space("jax").asarray([0, 0]))
    assert np.asarray(found).tolist() == [0, 0]


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


def test_bounds_may_be_read_only() -> None:
    xp, low = space("jax"), np.broadcast_to(np.float32(1), (3,))
    assert np.asarray(xp.clip(xp.asarray([0.0, 1.0, 2.0]), xp.asarray(low), 1.5)).tolist() == [1.0, 1.0, 1.5]
    assert np.asarray(xp.clip(xp.asarray(low), xp.asarray(low), xp.asarray(low))).tolist() == [1.0, 1.0, 1.0]


def test_sign_of_an_infinite_imaginary_number_is_numpys() -> None:
    if np.__version__ >= "2":
        x = np.array([complex(0, np.inf), complex(-np.inf, 0)])
        assert np.asarray(space("array-api").sign(space("array-api").asarray(x))).tolist() == [1j, -1]


def test_under_rules_that_rebind_an_array_is_not_written_into() -> None:
    xp = space("jax")
    x = xp.asarray([1, 2])
    y = x
    x += 1
    assert (np.asarray(y).tolist(), np.asarray(x).tolist()) == ([1, 2], [2, 3])
    x += xp.ones((2, 2), dtype="int8")
    assert x.shape == (2, 2)


# -- what arrays are made of


@pytest.mark.parametrize("numbers", [[-1], [3, 300], [[0], [-1]], 2**70, -1, [70000.0], [True, 256]])
def test_numbers_out_of_range_make_no_array(numbers: Any) -> None:
    refused = r"is out of range for uint8; use a value within it, or make a wider array and cast it"
    with pytest.raises(tl.NamespaceError, match=refused):
        tl.namespace("jax", np).asarray(numbers, dtype="uint8")


def test_numbers_out_of_range_of_the_default_dtype_make_no_array() -> None:
    with pytest.raises(tl.NamespaceError, match="2147483648 is out of range for int32"):
        tl.namespace("keras", np).asarray([1, 2**31])


@pytest.mark.parametrize("odd", [[[1, 2], [3]], [[1], 2]])
def test_nested_lists_of_different_lengths_make_no_array(odd: Any) -> None:
    with pytest.raises(tl.NamespaceError, match=r"numpy makes no array of this list: .*; give numbers"):
        tl.namespace("jax", np).asarray(odd)


@pytest.mark.parametrize("number", [1e39, 70000.0, math.inf, math.nan, 1j])
def test_what_fills_integers_is_a_number_that_they_have(number: complex) -> None:
    """A cast of another one gives what the machine happens to give."""
    xp = tl.namespace("jax", np)
    ones = xp.ones(2, dtype="uint8")
    for fill in (lambda: xp.full(2, number, dtype="uint8"), lambda: xp.full_like(ones, number)):
        with pytest.raises(tl.NamespaceError, match=r"is out of range for uint8"):
            fill()
    assert xp.full(2, -1.5, dtype="int8").bare.tolist() == [-1, -1]  # a fraction is cut off, as by astype


def test_masked_arrays_are_refused() -> None:
    masked = np.ma.masked_array([1, 2], [False, True])
    for call in (
        lambda xp: xp.asarray(masked), lambda xp: xp.asarray([masked, masked]),
        lambda xp: xp.asarray(masked, dtype="int8"),
        lambda xp: tl.implicit_cast("jax", masked, np.ones(2)),
    ):  # fmt: skip
        with pytest.raises(tl.NamespaceError, match="hides elements, which an array of a namespace cannot"):
            call(space("jax"))


def test_the_byte_order_is_the_machines() -> None:
    x = space("jax").asarray(np.array([1.5, 2.5], ">f4"))
    assert (x.dtype, x.bare.dtype, np.asarray(x + 1).tolist()) == (
        tl.dtype("float32"),
        np.float32,
        [2.5, 3.5],
    )


# -- threads, pickles, memory


def test_one_file_is_one_namespace(tmp_path: Path) -> None:
    """Read again, in other threads and from a pickle; a file that says something else is another."""
    path = own_file(tmp_path)
    xp = tl.namespace(path, np)
    assert (
        tl.namespace(str(path), np)
        is tl.namespace(tl.system(path), np)
        is pickle.loads(pickle.dumps(xp))
        is xp
    )
    x, y = pickle.loads(pickle.dumps(xp.ones(2, dtype="uint8"))), xp.ones(2, dtype="int16")
    assert (x + y).dtype is tl.dtype("int16")
    with ThreadPoolExecutor(16) as pool:
        assert {*pool.map(lambda _: tl.namespace(path, np), range(64))} == {xp}
    other = tl.namespace(own_file(tmp_path, order="b -> u8 -> i64 -> f64"), np)
    assert other is not xp
    with pytest.raises(tl.NamespaceError, match="mixes"):
        other.ones(1) + xp.ones(1)


def test_results_of_workers_go_together(tmp_path: Path) -> None:
    path = own_file(tmp_path)
    program = (
        "import sys, pickle, numpy, typelattice as tl; xp = tl.namespace(sys.argv[1], numpy);"
        "found = xp.unique_all(xp.asarray([int(sys.argv[2])] * 2, dtype='uint8'));"
        "sys.stdout.buffer.write(pickle.dumps(found))"
    )
    program = f"import sys; sys.path.insert(0, {str(ROOM.parents[1])!r}); {program}"
    commands = [[sys.executable, "-c", program, path, n] for n in "12"]
    done = [subprocess.run(c, capture_output=True, check=True, timeout=60).stdout for c in commands]
    one, two = map(pickle.loads, done)
    assert np.asarray(one.values + two.values).tolist() == [3]
    assert np.asarray(one.counts * two.counts).tolist() == [4]
    assert type(one).__name__ == "UniqueAllResult"


def test_namespaces_that_nobody_holds_go(tmp_path: Path) -> None:
    """After many files that say different things, there are no more than the last few.

    Those of this test are told by their source: other tests of the same process hold namespaces of their own.
    """
    for n in range(100):
        path = own_file(tmp_path, f'source = "that nobody holds, {n}"\n')
        tl.namespace(path, np).ones(1)
        tl.implicit_cast(path, np.ones(1), 1)
    gc.collect()
    spaces = (each for each in gc.get_objects() if isinstance(each, tl.Namespace))
    assert sum("that nobody holds" in each.system.source for each in spaces) == LAST.maxlen


@pytest.mark.parametrize("name", ["numpy", "jax"])
def test_a_number_wider_than_any_dtype_is_refused_by_its_bits(name: str) -> None:
    xp, wide = tl.namespace(name, np), 10**5000
    for f in (lambda: xp.asarray([1]) + wide, lambda: xp.result_type("int8", wide)):
        with pytest.raises(tl.OperandError, match="an int of 16,610 bits; no dtype holds more than 4,096"):
            f()
