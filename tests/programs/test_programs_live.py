"""Programs against the real libraries: functions as people write them, graphs that run."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import typelattice as tl
from typelattice.core.system_files.reader import parse
from typelattice.programs.program.program import Program

pytestmark = pytest.mark.live
np = pytest.importorskip("numpy")

FILE = Path(__file__).parents[2] / "examples" / "programs" / "what_if.py"
_spec = importlib.util.spec_from_file_location("what_if", FILE)
assert _spec and _spec.loader
what_if = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(what_if)

FLOATS = ("float16", "float32", "float64")
DTYPES = ("int32", "uint8", *FLOATS)
PAIRS = [(a, b) for a in DTYPES for b in FLOATS]
CALLS: dict[str, list[tuple[str, ...]]] = {
    "softmax": [(d,) for d in DTYPES],
    "logsumexp": [(d,) for d in DTYPES],
    "layer_norm": PAIRS,
    "normalise": [(d,) for d in DTYPES],
    "robust_loss": PAIRS,
    "attention": [(a, b, c) for a in ("float16", "float32") for b in ("float16", "float32") for c in FLOATS],
}


def of_numpy() -> Any:
    return np, lambda d: np.ones((4, 4), d)


def of_jax() -> Any:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.numpy, lambda d: jax.numpy.ones((4, 4), d)


def of_torch() -> Any:
    """PyTorch's own functions under the standard's names; it knows the standard's keywords, too."""
    torch = pytest.importorskip("torch")
    names = ("exp", "log", "sqrt", "sum", "mean", "abs", "clip", "where")
    named = {name: getattr(torch, name) for name in names}
    own = SimpleNamespace(**named, max=torch.amax, matrix_transpose=lambda x: x.mT)
    return own, lambda d: torch.ones((4, 4), dtype=getattr(torch, d))


def of_strict() -> Any:
    strict = pytest.importorskip("array_api_strict")
    return strict, lambda d: strict.ones((4, 4), dtype=getattr(strict, d))


def of_dask() -> Any:
    da = pytest.importorskip("dask.array")
    own = SimpleNamespace(**{n: getattr(da, n) for n in dir(da)})
    own.matrix_transpose = lambda x: da.swapaxes(x, -1, -2)
    return own, lambda d: da.ones((4, 4), dtype=d)


def of_ndonnx() -> Any:
    ndx = pytest.importorskip("ndonnx")
    return ndx, lambda d: ndx.ones((4, 4), dtype=getattr(ndx, d))


def of_mlx() -> Any:
    mx = pytest.importorskip("mlx.core")
    own = SimpleNamespace(**{n: getattr(mx, n) for n in dir(mx)})
    own.matrix_transpose = lambda x: mx.swapaxes(x, -1, -2)
    own.clip = lambda x, low, high: mx.clip(x, low, high)
    return own, lambda d: mx.ones((4, 4), dtype=getattr(mx, d))


def of_tensorflow() -> Any:
    """TensorFlow's own functions under the standard's names and keywords."""
    tf = pytest.importorskip("tensorflow")
    names = {"exp": tf.exp, "log": tf.math.log, "sqrt": tf.sqrt, "abs": tf.abs, "where": tf.where}
    own = SimpleNamespace(**names, clip=tf.clip_by_value, matrix_transpose=tf.linalg.matrix_transpose)
    for name in ("sum", "max", "mean"):
        setattr(own, name, getattr(tf, f"reduce_{name}"))
    return own, lambda d: tf.ones((4, 4), dtype=d)


def of_keras() -> Any:
    """keras.ops of symbolic tensors."""
    keras = pytest.importorskip("keras")
    names = ("exp", "log", "sqrt", "sum", "max", "mean", "abs", "clip", "where")
    own = SimpleNamespace(**{name: getattr(keras.ops, name) for name in names})
    own.matrix_transpose = lambda x: keras.ops.swapaxes(x, -1, -2)
    return own, lambda d: keras.KerasTensor((4, 4), dtype=d)


def of_tinygrad() -> Any:
    """tinygrad's methods as functions; tensors are lazy, and nothing is computed."""
    tinygrad = pytest.importorskip("tinygrad")
    import_module("tinygrad.helpers").DEV.value = "PYTHON"  # which needs neither driver nor compiler
    names = ("exp", "log", "sqrt", "abs", "clip", "where")
    methods = {name: getattr(tinygrad.Tensor, name) for name in names}
    own = SimpleNamespace(**methods, matrix_transpose=lambda x: x.transpose(-1, -2))
    for name in ("sum", "max", "mean"):
        method = getattr(tinygrad.Tensor, name)
        setattr(own, name, lambda x, axis=None, keepdims=False, method=method: method(x, axis, keepdims))
    return own, lambda d: tinygrad.Tensor.full((4, 4), 1, dtype=getattr(tinygrad.dtypes, d))


def system_of(name: str) -> str:
    """The system of a library: Keras has one with TensorFlow as its backend, and one with any other."""
    if name != "keras":
        return name
    backend = pytest.importorskip("keras").config.backend()
    return "keras-tensorflow" if backend == "tensorflow" else "keras-jax"


# TensorFlow's clip_by_value takes each bound with the array by itself, and so an int beside a float, which no
# rule of operands that all meet can say.
UNSTATED = {("tensorflow", "robust_loss")}
LIBRARIES: dict[str, Callable[[], Any]] = {
    "numpy": of_numpy, "jax": of_jax, "torch": of_torch, "array-api": of_strict, "dask": of_dask,
    "ndonnx": of_ndonnx, "mlx": of_mlx, "tensorflow": of_tensorflow, "keras": of_keras,
    "tinygrad": of_tinygrad,
}  # fmt: skip


def really(name: str, function: str, dtypes: tuple[str, ...]) -> str:
    """What a function gives in a library: the dtype, with a star if it is weak, or `refused`."""
    xp, array = LIBRARIES[name]()
    source = FILE.read_text(encoding="utf-8")
    first = {"attention": "query"}.get(function, "x")
    scope: dict[str, Any] = {}
    # The namespace is the library's own, which some arrays do not tell.
    for argument in (first, "x"):
        source = source.replace(f"{argument}.__array_namespace__()", "XP")
    exec(source, scope)
    scope["XP"] = xp
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = scope[function](*map(array, dtypes))
    except (TypeError, RuntimeError, NotImplementedError, ValueError):
        return "refused"
    except Exception as e:
        assert type(e).__name__ == "InvalidArgumentError", e  # TensorFlow's, which derives from none of these
        return "refused"
    found = str(tl.operand(made).dtype)
    return f"{found}{'*' if getattr(made, 'weak_type', False) else ''}"


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("function", CALLS)
def test_functions_as_people_write_them_give_what_the_library_gives(name: str, function: str) -> None:
    if name == "dask" and importlib.util.find_spec("dask") is None:
        pytest.skip("no dask")
    wrong = []
    lacks = {"array-api": {"float16"}, "mlx": {"float64"}}.get(name, set())
    for dtypes in (d for d in CALLS[function] if not lacks & {*d}):
        p = tl.program(getattr(what_if, function), *(f"{d}[4,4]" for d in dtypes))
        replayed = p.under(system_of(name))
        result = replayed.result
        said = str(result) if result.operand else "refused"
        real = really(name, function, dtypes)
        if said != real:
            wrong.append(f"{function}{dtypes}: said {said}, {name} gives {real}\n{replayed}")
    if (name, function) in UNSTATED:
        assert wrong, "the rule is stated now: take it off the list"
    else:
        assert not wrong, "\n\n".join(wrong[:3])


@pytest.mark.parametrize("function", CALLS)
def test_a_file_is_read_as_its_functions_are_called(function: str) -> None:
    names = {"attention": ("query", "key", "value"), "layer_norm": ("x", "gain"), "robust_loss": ("x", "y")}
    bound = dict.fromkeys(names.get(function, ("x",)), "float16[4,4]")
    read = tl.program(f"{FILE}:{function}", **bound)
    assert str(read) == str(tl.program(getattr(what_if, function), *bound.values()))


# -- graphs


def ones(p: Program) -> dict[str, Any]:
    shapes = {step.text: step.shape or () for step in p.steps if step.text in p.inputs}
    return {name: np.full(shapes[name], 2, str(given).partition(":")[0]) for name, given in p.inputs.items()}


@pytest.mark.parametrize("system", ["numpy", "jax", "torch"])
@pytest.mark.parametrize("function", CALLS)
def test_an_onnx_model_runs_and_gives_the_values_of_the_namespace(function: str, system: str) -> None:
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    pytest.importorskip("ndonnx")
    count = len(CALLS[function][0])
    p = tl.program(getattr(what_if, function), *["float32[4,4]", "float64[4,4]", "float32[4,4]"][:count])
    if any(o.is_refused for o in p.under(system)):
        with pytest.raises(tl.ProgramError, match="is refused"):
            p.to_onnx(system)
        return
    model = p.to_onnx(system)
    onnx.checker.check_model(model, full_check=True)
    given = ones(p)
    (got,) = runtime.InferenceSession(model.SerializeToString()).run(None, given)
    expected = p.run(tl.namespace(system, np), **given)
    assert str(got.dtype) == str(p.under(system).dtype)
    np.testing.assert_allclose(got, np.asarray(expected.bare), rtol=1e-5)  # type: ignore[attr-defined]


@pytest.mark.parametrize("system", ["numpy", "jax", "torch"])
def test_stablehlo_is_of_the_dtypes_that_the_system_says(system: str) -> None:
    pytest.importorskip("jax")
    p = tl.program("sum(x * 2.5 + y) / 3 + where(y > 0, x, 1)", x="int32[3]", y="float16[3]")
    text = p.to_stablehlo(system)
    assert "stablehlo.convert" in text
    result = {"float16": "f16", "float32": "f32", "float64": "f64"}[str(p.under(system).dtype)]
    assert f"-> (tensor<3x{result}>" in text


WIDE = """
name = "wide"
order = "i32 -> bf16, f16 -> f32"
[ops]
sum = { computes = { "bf16, f16" = "f32" }, gives = { f32 = "joined" } }
"""


def test_a_graph_adds_in_the_dtype_that_the_system_computes_in() -> None:
    """Added one by one in float16, 4,096 ones are 2,048."""
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("ndonnx")
    pytest.importorskip("jax")
    wide = parse(WIDE)
    model = tl.program("sum(x)", x="float16[4096]").to_onnx(wide)
    given = {"x": np.ones(4096, "float16")}
    (found,) = runtime.InferenceSession(model.SerializeToString()).run(None, given)
    assert (found, found.dtype) == (4096, np.float16)
    assert [node.op_type for node in model.graph.node][:3] == ["Cast", "ReduceSum", "Cast"]
    text = tl.program("sum(x)", x="bfloat16[4096]").to_stablehlo(wide)
    assert "stablehlo.add across dimensions = [0] : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>" in text
    assert "-> (tensor<bf16>" in text


def test_what_a_target_lacks_is_refused_by_name() -> None:
    pytest.importorskip("ndonnx")
    with pytest.raises(tl.ProgramError, match="ONNX has no tensor_float32, which the input x has; cast it"):
        tl.program("x + x", x="tensor_float32[3]").to_onnx("max-2024")
    with pytest.raises(tl.ProgramError, match=r"the input x has no shape; give one, e.g. int8\[3,4\]"):
        tl.program("x + 1", x="int8").to_onnx("jax")
    with pytest.raises(tl.ProgramError, match="the input s is a Python float that is not known"):
        tl.program("x + s", x="int8[3]", s="float").to_onnx("jax")
    with pytest.raises(tl.ProgramError, match=r"the shape of the input x is not known; give one"):
        tl.program("x + 1", x="int8[?]").to_stablehlo("jax")


def test_what_a_target_cannot_compute_is_named_by_its_step() -> None:
    pytest.importorskip("ndonnx")
    call = r"ndonnx cannot build nextafter 'xp.nextafter\(x, x\)': .*nextafter"
    with pytest.raises(tl.ProgramError, match=call):
        tl.program("xp.nextafter(x, x)", x="float32[3]").to_onnx("numpy")
    with pytest.raises(tl.ProgramError, match=r"ndonnx cannot build .*complex128"):
        tl.program("x * 1j", x="float64[3]").to_onnx("numpy")


def test_a_python_number_among_the_results_is_an_array_of_the_graph() -> None:
    pytest.importorskip("ndonnx")
    model = tl.program("x + 1, 2", x="float32[3]").to_onnx("numpy")
    assert [x.type.tensor_type.elem_type for x in model.graph.output] == [1, 7]
