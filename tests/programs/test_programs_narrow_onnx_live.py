"""ONNX models of dtypes that few operators take: plain nodes compute in a wider dtype and cast back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import typelattice as tl

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("ndonnx")
ml_dtypes = pytest.importorskip("ml_dtypes")

COMPILER = tl.system(Path(tl.__file__).parents[2] / "examples/systems/compiler.toml")
SOURCES = {
    "x + y": "x y",
    "x * y": "x y",
    "x < y": "x y",
    "-x": "x",
    "abs(x)": "x",
    "maximum(x, y)": "x y",
    "where(x == y, x, y)": "x y",
    "argmax(x)": "x",
    "sort(x)": "x",
    "sum(x)": "x",
    "x[1:]": "x",
    "x[0] + y": "x y",
    "take(x, asarray([2, 0]), axis=0)": "x",
    "concat([x, y])": "x y",
    "flip(x, axis=0)": "x",
    "tile(x, (2,))": "x",
    "full_like(x, 2)": "x",
    "zeros_like(x, dtype=int4)": "x",
    "sum(x, dtype=int8)": "x",
    "astype(x, bfloat16)": "x",
    "astype(x, float8_e4m3fn)": "x",
}
NUMBERS = [-7.0, 3.0, 6.0, 0.0]


def run(model: Any, given: dict[str, Any]) -> tuple[str, Any]:
    """Run a model, and return the dtype of its result and the values as float32."""
    result = model.graph.output[0]
    number = result.type.tensor_type.elem_type
    model.graph.node.append(onnx.helper.make_node("Cast", [result.name], ["wide"], to=1))
    model.graph.output.append(onnx.helper.make_tensor_value_info("wide", 1, None))
    del model.graph.output[0]
    inputs = {x.name: x for x in model.graph.input}
    for name in inputs:
        model.graph.node.insert(0, onnx.helper.make_node(
            "Cast", [f"{name}_wide"], [name], to=inputs[name].type.tensor_type.elem_type
        ))  # fmt: skip
        inputs[name].name = f"{name}_wide"
        inputs[f"{name}"].type.tensor_type.elem_type = 1
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (found,) = session.run(None, {f"{name}_wide": np.float32(given[name]) for name in inputs})
    return onnx.helper.tensor_dtype_to_np_dtype(number).name, found


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("dtype", ["int4", "float8_e4m3fn", "float8_e5m2"])
def test_values_of_narrow_dtypes_are_those_of_the_namespace(dtype: str, source: str) -> None:
    names = SOURCES[source].split()
    program = tl.program(source, COMPILER, **dict.fromkeys(names, f"{dtype}[4]"))
    model = program.to_onnx(COMPILER)
    onnx.checker.check_model(model, full_check=True)
    given = {name: np.roll(NUMBERS, i) for i, name in enumerate(names)}
    xp = tl.namespace(COMPILER, np)
    own = {name: xp.asarray(x.astype(getattr(ml_dtypes, dtype))) for name, x in given.items()}
    expected: Any = program.run(xp, **own)
    found_dtype, found = run(model, given)
    assert found_dtype == str(expected.dtype)
    np.testing.assert_array_equal(found, np.asarray(expected.bare).astype("float32"))


def test_results_are_named_without_a_further_operator() -> None:
    model = tl.program("x * y", x="int8[3]", y="float32[3]").to_onnx("jax")
    assert [node.op_type for node in model.graph.node] == ["Cast", "Mul"]
    whole = tl.Program.from_onnx(tl.program("x", x="int8[3]").to_onnx("jax"))
    assert str(whole.under("numpy").dtype) == "int8"


def test_a_product_of_arrays_with_elements_is_one_node() -> None:
    known = tl.program("x @ y", x="float32[2,3]", y="float32[3,2]").to_onnx("jax")
    assert [node.op_type for node in known.graph.node] == ["MatMul"]
    empty = tl.program("x @ y", x="float32[2,0]", y="float32[0,2]").to_onnx("jax")
    session = onnxruntime.InferenceSession(empty.SerializeToString())
    (found,) = session.run(None, {"x": np.ones((2, 0), "f4"), "y": np.ones((0, 2), "f4")})
    assert (found == 0).all() and found.shape == (2, 2)


def test_bools_are_chosen_by_plain_nodes() -> None:
    model = tl.program("where(c, x, y)", c="bool[3]", x="bool[3]", y="bool:0d").to_onnx("jax")
    session = onnxruntime.InferenceSession(model.SerializeToString())
    numbers = {"c": [True, False, True], "x": [True, True, False], "y": False}
    given = {name: np.asarray(x) for name, x in numbers.items()}
    assert session.run(None, given)[0].tolist() == [True, False, False]


def test_what_onnx_lacks_for_complex_numbers_is_named() -> None:
    for source, lacks in (("x + x", "Add of complex64"), ("astype(x, int8)", "Cast of complex64")):
        with pytest.raises(tl.ProgramError, match=f"ONNX has no {lacks}"):
            tl.program(source, x="complex64[3]").to_onnx(COMPILER)
