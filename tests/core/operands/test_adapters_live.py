"""The real frameworks' arrays, scalars, tracers and dtypes, read as operands; and DTypes as theirs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import typelattice as tl
from typelattice.core.dtypes.dtypes import DTYPES, DType

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
NO_NUMBERS = r"is in no promotion table; tables are of numbers: convert it first$"


@pytest.fixture
def jax() -> Iterator[Any]:
    """JAX, with 64-bit types enabled for the test."""
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


@pytest.fixture
def tf() -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    return pytest.importorskip("tensorflow")


def text(x: object) -> str:
    """The operand, without its value."""
    return str(tl.operand(x)).partition("=")[0]


def round_trips(namespace: ModuleType, names: set[str]) -> set[str]:
    """The dtypes that a namespace has under their own names; each is read as itself, and given back."""
    found = {d for d in DTYPES.values() if d.name in names}
    for d in found:
        theirs = tl.native(d, namespace)
        assert theirs == getattr(namespace, d.name, theirs)
        assert tl.operand(theirs).dtype is d
        assert tl.native(d.code if len(d.code) > 3 else d.name, namespace) == theirs
    return {d.name for d in found}


# JAX


def test_jax_arrays_know_their_tier_and_whether_they_are_weak(jax: Any) -> None:
    jnp = jax.numpy
    x = jnp.ones(3, "int8")
    assert [text(y) for y in (x, x[0], x.dtype, jnp.int8, x.aval, jax.ShapeDtypeStruct((2,), "int8"))] == [
        "int8", "int8:0d", "int8", "int8", "int8", "int8",
    ]  # fmt: skip
    assert [text(jnp.asarray(v)) for v in (1, 1.0, 1j, True)] == [
        "int64:0d:weak",
        "float64:0d:weak",
        "complex128:0d:weak",
        "bool:0d",
    ]
    assert text(jnp.asarray(1, "int64")) == "int64:0d"
    assert text(x * 1) == "int8"
    assert text(jnp.arange(3) * 1.0) == "float64:weak"


def test_jax_tracers_are_read_as_what_they_stand_for(jax: Any) -> None:
    seen = []

    def watched(a: Any, b: Any) -> Any:
        seen.append((text(a), text(b)))
        return a

    x = jax.numpy.ones((3, 2), "float16")
    jax.jit(watched)(x, 1.0)
    jax.vmap(watched, in_axes=(0, None))(x, 1)
    jax.grad(lambda v: watched(v, x))(1.0)
    jax.make_jaxpr(watched)(1, True)
    assert seen == [
        ("float16", "float64:0d:weak"),
        ("float16", "1"),
        ("float64:0d:weak", "float16"),
        ("int64:0d:weak", "bool:0d"),
    ]


def test_jax_answers_with_its_own_arrays_and_tracers(jax: Any) -> None:
    jnp, system = jax.numpy, tl.system("jax")
    operands = [
        jnp.ones(3, "int8"),
        jnp.ones(3, "uint64"),
        jnp.asarray(1),
        jnp.asarray(1.0),
        jnp.ones((), "bfloat16"),
        1,
        1.0,
        1j,
        True,
    ]
    for a in operands:
        for b in operands:
            if hasattr(a, "dtype") or hasattr(b, "dtype"):
                p, real = system.promote(a, b, op="add"), a + b
                assert (p.dtype, p.weak) == (tl.operand(real).dtype, real.aval.weak_type), (a, b)
    cast = jax.jit(lambda a, b: a.astype(system.result_type(a, b)))
    assert cast(jnp.ones(3, "int8"), jnp.ones(3, "uint8")).dtype == "int16"


def test_jax_has_a_native_dtype_for_each_of_its_own(jax: Any) -> None:
    jnp = jax.numpy
    names = round_trips(jnp, {n for n in vars(jnp) if n in DTYPES})
    assert {
        "bool",
        "int8",
        "uint64",
        "bfloat16",
        "float16",
        "complex128",
        "float8_e4m3fn",
        "int4",
    } <= names | {"bool"}
    assert jnp.zeros(3, dtype=tl.dtype("bfloat16")).dtype == jnp.bfloat16
    assert jnp.zeros(3).astype(tl.dtype("int8")).dtype == jnp.int8


def test_keys_of_jax_are_no_numbers(jax: Any) -> None:
    with pytest.raises(tl.DTypeError, match=NO_NUMBERS):
        tl.operand(jax.random.key(0))


# PyTorch


def test_torch_tensors_parameters_and_dtypes(torch: Any) -> None:
    assert text(torch.ones(3, dtype=torch.int8)) == "int8"
    assert text(torch.tensor(1)) == "int64:0d"
    assert text(torch.ones(3)[0]) == "float32:0d"
    assert text(torch.nn.Parameter(torch.ones(2))) == "float32"
    assert text(torch.ones(2, device="meta", dtype=torch.bfloat16)) == "bfloat16"
    assert text(torch.complex32) == "complex32"


def test_torch_has_a_native_dtype_for_each_of_its_own(torch: Any) -> None:
    own = {str(d).removeprefix("torch.") for d in vars(torch).values() if isinstance(d, torch.dtype)}
    assert round_trips(torch, own) == {n for n in own if not n.startswith(("q", "bits"))}
    with pytest.raises(tl.DTypeError, match=r"^torch has no dtype complex256|^unknown dtype"):
        tl.native("complex256", torch)
    with pytest.raises(tl.DTypeError, match=r"^torch has no dtype index; cast to one that it has$"):
        tl.native("index", torch)


def test_what_is_no_number_in_torch(torch: Any) -> None:
    for x in (torch.qint8, torch.bits8, torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.qint8)):
        with pytest.raises(tl.DTypeError, match=NO_NUMBERS):
            tl.operand(x)
    for x in (torch.Size([1]), torch.device("cpu"), torch.ones):
        with pytest.raises(tl.OperandError, match="takes no part in promotion"):
            tl.operand(x)


def test_torch_tensors_under_fake_mode(torch: Any) -> None:
    """In a process of its own: the compiler that fake tensors load aborts beside other libraries' copies."""
    asked = """
import torch
import typelattice as tl
from torch._subclasses.fake_tensor import FakeTensorMode

with FakeTensorMode():
    print(tl.operand(torch.ones(2, dtype=torch.int16)))
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", asked]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=env)
    assert (done.stdout, done.returncode) == ("int16\n", 0), done.stderr
    assert torch.ones(3).to(tl.native("float16", torch)).dtype is torch.float16


# TensorFlow


def test_tensors_variables_specs_and_weak_tensors_of_tensorflow(tf: Any) -> None:
    from tensorflow.python.framework.weak_tensor import WeakTensor

    assert text(tf.ones(3, tf.int8)) == "int8"
    assert text(tf.constant(1)) == "int32:0d"
    assert text(tf.Variable([1.0])) == "float32"
    assert text(tf.TensorSpec((3,), tf.bfloat16)) == "bfloat16"
    assert text(tf.half) == "float16"
    assert text(WeakTensor(tf.constant([1.0]))) == "float32:weak"
    assert text(WeakTensor(tf.constant(1))) == "int32:0d:weak"


def test_symbolic_tensors_of_tensorflow(tf: Any) -> None:
    seen = []

    @tf.function(autograph=False)
    def watched(a: Any, b: Any) -> Any:
        seen.append((text(a), text(b)))
        return a

    watched(tf.ones(3, tf.int8), tf.constant(1.0))
    unknown = tf.TensorSpec(None, tf.int16)
    tf.function(
        watched.python_function, input_signature=[unknown, unknown], autograph=False
    ).get_concrete_function()
    assert seen == [("int8", "float32:0d"), ("int16", "int16")]


def test_tensorflow_has_a_native_dtype_for_each_of_its_own(tf: Any) -> None:
    own = {d.name for d in vars(tf.dtypes).values() if isinstance(d, tf.DType)}
    assert round_trips(tf, own & set(DTYPES)) == {
        n for n in own if not n.startswith(("q", "string", "variant", "resource"))
    }
    assert tf.cast(tf.ones(3), tl.native("int8", tf)).dtype == tf.int8


@pytest.mark.parametrize("name", ["string", "qint8", "resource", "variant"])
def test_what_is_no_number_in_tensorflow(tf: Any, name: str) -> None:
    with pytest.raises(tl.DTypeError, match=NO_NUMBERS):
        tl.operand(getattr(tf, name))


def test_strings_of_tensorflow_are_no_numbers(tf: Any) -> None:
    with pytest.raises(tl.DTypeError, match=NO_NUMBERS):
        tl.operand(tf.constant("a"))


# Dask


def test_arrays_of_dask_are_read_and_never_computed() -> None:
    da = pytest.importorskip("dask.array")
    np = pytest.importorskip("numpy")

    def never(*_: Any) -> Any:
        raise AssertionError("computed")

    x = da.from_array(np.ones(3, "int8")).map_blocks(never, dtype="int8", meta=np.ones(0, "int8"))
    assert [text(y) for y in (x, x.sum(), da.ones((), dtype="float16"), x.dtype)] == [
        "int8",
        "int64:0d",
        "float16:0d",
        "int8",
    ]
    assert x.astype(tl.dtype("float32")).dtype == np.float32
    assert tl.native("int8", da) == np.dtype("int8")


# Any array of the standard


def test_arrays_of_the_array_api_standard() -> None:
    xp = pytest.importorskip("array_api_strict")
    for name in ("bool", "uint8", "int64", "float32", "float64", "complex64", "complex128"):
        d = getattr(xp, name)
        assert text(xp.ones(3, dtype=d)) == name
        assert text(xp.ones((), dtype=d)) == f"{name}:0d"
        assert tl.native(name, xp) == d
    assert tl.system("array-api").result_type(
        xp.ones(2, dtype=xp.int8), xp.ones(2, dtype=xp.uint8)
    ) is tl.dtype("int16")
    with pytest.raises(
        tl.DTypeError, match=r"^array_api_strict has no dtype float16; cast to one that it has$"
    ):
        tl.native("float16", xp)


def test_what_is_no_namespace_is_refused() -> None:
    for namespace in (3, None, os, "nonesuch", "os"):
        with pytest.raises(
            TypeError, match=r"is no array namespace known here.*; give a module such as numpy$"
        ):
            tl.native("int8", namespace)  # type: ignore[arg-type]


@pytest.mark.parametrize("d", ["bfloat16", "float8_e5m2", "int4"])
def test_dtypes_beyond_numpys_go_through_numpy_and_back(d: str) -> None:
    np = pytest.importorskip("numpy")
    pytest.importorskip("ml_dtypes")
    found = tl.dtype(d)
    assert isinstance(found, DType)
    assert np.zeros(3, dtype=found).dtype.name == d
    assert tl.operand(np.zeros(3).astype(found)).dtype is found


# MLX


def test_mlx_arrays_and_dtypes_are_read_and_given_back() -> None:
    mx = pytest.importorskip("mlx.core")
    assert [text(x) for x in (mx.ones(2, mx.bool_), mx.ones((), mx.bfloat16), mx.int8)] == [
        "bool",
        "bfloat16:0d",
        "int8",
    ]
    names = {"bool", "int8", "uint64", "bfloat16", "float32", "float64", "complex64"}
    assert round_trips(mx, names) == names
    with pytest.raises(tl.DTypeError, match="has no dtype int4; cast to one that it has"):
        tl.native("int4", mx)
    system = tl.system("mlx")
    assert system.result_type(mx.ones(2, mx.int32), mx.ones(2)) is tl.dtype("float32")
    assert system.result_type(mx.ones(2, mx.bool_), 2) is tl.dtype("int32")


# Dtypes of the framework that was given


def own_dtypes(library: str) -> tuple[str, dict[str, Any]]:
    """A system, and some of a framework's dtypes and arrays with the names of their dtypes."""
    match library:
        case "numpy" | "ml_dtypes":
            np, own = pytest.importorskip("numpy"), pytest.importorskip("ml_dtypes")
            return "numpy-ml-dtypes", {
                "int8": np.int8,
                "uint8": np.ones(2, "uint8"),
                "bfloat16": own.bfloat16,
            }
        case "jax":
            jnp = pytest.importorskip("jax.numpy")
            return "jax", {"int8": jnp.int8, "uint8": jnp.ones(2, "uint8"), "bfloat16": jnp.bfloat16}
        case "torch":
            torch = pytest.importorskip("torch")
            return "torch", {"int8": torch.int8, "uint8": torch.uint8, "complex32": torch.complex32}
        case "tensorflow":
            tf = pytest.importorskip("tensorflow")
            return "tensorflow-all", {"int8": tf.int8, "float32": tf.constant(1.0), "bfloat16": tf.bfloat16}
        case "mlx":
            mx = pytest.importorskip("mlx.core")
            return "mlx", {"bool": mx.bool_, "int8": mx.ones(2, mx.int8), "bfloat16": mx.bfloat16}
        case "polars":
            pl = pytest.importorskip("polars")
            return "polars", {
                "bool": pl.Boolean,
                "int8": pl.Int8(),
                "float32": pl.Series([1.0], dtype=pl.Float32),
            }
        case "pyarrow":
            pa = pytest.importorskip("pyarrow")
            return "arrow-unify", {
                "int8": pa.int8(),
                "uint8": pa.uint8(),
                "float32": pa.scalar(1.0, pa.float32()),
            }
        case "dask":
            da = pytest.importorskip("dask.array")
            return "dask", {name: da.ones(2, dtype=name) for name in ("int8", "uint8", "float16")}
        case "xarray":
            xr = pytest.importorskip("xarray")
            return "numpy", {
                name: xr.DataArray(range(2)).astype(name) for name in ("int8", "uint8", "float16")
            }
        case "ndonnx":
            ndx = pytest.importorskip("ndonnx")
            return "ndonnx", {
                "int8": ndx.int8,
                "uint8": ndx.uint8,
                "float32": ndx.asarray([1.0]).astype(ndx.float32),
            }
        case "tinygrad":
            dtypes = pytest.importorskip("tinygrad").dtypes
            return "tinygrad", {"int8": dtypes.int8, "uint8": dtypes.uint8, "bfloat16": dtypes.bfloat16}
        case "array_api_strict":
            xp = pytest.importorskip("array_api_strict")
            return "array-api", {"int8": xp.int8, "uint8": xp.ones(2, dtype=xp.uint8)}
        case "keras":
            keras = pytest.importorskip("keras")
            return "keras", {name: keras.KerasTensor((2,), name) for name in ("int8", "uint8", "bfloat16")}
    pd, np = pytest.importorskip("pandas"), pytest.importorskip("numpy")
    named = {
        "masked": ("Int8", "Float32", "boolean"),
        "arrow": ("int8[pyarrow]", "float[pyarrow]", "bool[pyarrow]"),
    }
    asked = (pd.Series([1], dtype=d).dtype for d in named.get(library.removeprefix("pandas "), "bf?"))
    return "numpy", {tl.operand(d).dtype.name: d for d in asked}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "library",
    [
        *("numpy", "ml_dtypes", "jax", "torch", "tensorflow", "keras", "mlx", "polars", "pyarrow", "dask"),
        *("xarray", "ndonnx", "tinygrad", "array_api_strict", "pandas", "pandas masked", "pandas arrow"),
    ],
)
def test_dtypes_of_a_framework_give_a_dtype_of_that_framework(library: str) -> None:
    """Each with each, and with a name of ours; the class is that of the framework's own dtypes."""
    system, objects = own_dtypes(library)
    for a, own in objects.items():
        for b, other in objects.items():
            expected = tl.system(system).result_type(a, b)
            for found in (
                tl.implicit_cast_type(system, own, other),
                tl.implicit_cast_type(system, own, b),
                tl.implicit_cast_type(system, a, other),
            ):
                assert not isinstance(found, DType)
                assert tl.operand(found).dtype is expected  # a name, for Keras
                if library.startswith("pandas "):
                    assert type(found).__module__ == "pandas"


def test_of_two_frameworks_the_systems_own_counts() -> None:
    torch, np = pytest.importorskip("torch"), pytest.importorskip("numpy")
    pair = torch.int8, np.dtype("uint8")
    assert tl.implicit_cast_type("torch", *pair) is torch.int16
    assert tl.implicit_cast_type("numpy", *pair) == np.dtype("int16")
    assert tl.implicit_cast_type("jax", *pair) is tl.dtype("int16")
    with pytest.raises(tl.DTypeError, match=r"^torch has no dtype tensor_float32; cast to one that it has$"):
        tl.implicit_cast_type("max-2024", torch.float32, "tensor_float32")
