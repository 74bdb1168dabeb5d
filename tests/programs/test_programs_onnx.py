"""ONNX models that others wrote, read as programs: typed, checked for casts, and nothing in them run."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import typelattice as tl
from typelattice.base.disk.read import FileError

pytestmark = pytest.mark.live
np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")


def model(
    nodes: list[Any], dtypes: dict[str, int], results: dict[str, int], constants: list[Any] | None = None
) -> Any:
    def stated(types: dict[str, int]) -> list[Any]:
        return [onnx.helper.make_tensor_value_info(name, d, [2, "n"]) for name, d in types.items()]

    graph = onnx.helper.make_graph(nodes, "graph", stated(dtypes), stated(results), constants or [])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)])


def node(op: str, inputs: list[str], output: str, **named: Any) -> Any:
    return onnx.helper.make_node(op, inputs, [output], **named)


FLOAT, HALF, INT = 1, 10, 7  # as onnx.TensorProto numbers dtypes
GIVEN = [
    node("Cast", ["x"], "wide", to=FLOAT),
    node("Mul", ["wide", "scale"], "scaled"),
    node("Add", ["scaled", "y"], "sum"),
    node("Softmax", ["sum"], "out", axis=-1),
]


def scale(values: list[float], shape: list[int], of: int = FLOAT) -> Any:
    return onnx.helper.make_tensor("scale", of, shape, values)


def test_a_model_is_read_as_a_typed_program() -> None:
    p = tl.Program.from_onnx(model(GIVEN, {"x": HALF, "y": FLOAT}, {"out": FLOAT}, [scale([2.5], [])]))
    p.check()
    assert str(p) == "\n".join([
        'def program(x: "float16[2,?]", y: "float32[2,?]"):',
        "    t2 = astype(x, float32)",
        "    t3 = xp.asarray(2.5, dtype=float32)",
        '    t4: "float32" = xp.multiply(t2, t3)',
        '    t5: "float32" = xp.add(t4, y)',
        '    t6: "float32" = xp.softmax(t5, axis=(-1))',
        "    return t6",
    ])  # fmt: skip
    assert [str(o) for o in p.under("jax")] == ["float16", *["float32"] * 6]


def test_a_file_and_its_bytes_are_read_as_the_model(tmp_path: Path) -> None:
    made = model(GIVEN, {"x": HALF, "y": FLOAT}, {"out": FLOAT}, [scale([2.5], [])])
    file = tmp_path / "m.onnx"
    file.write_bytes(made.SerializeToString())
    assert str(tl.Program.from_onnx(file)) == str(tl.Program.from_onnx(made.SerializeToString()))
    assert tl.Program.from_onnx(str(file)).source == "m.onnx"


def test_a_program_that_became_a_model_has_the_same_dtypes_and_values_again() -> None:
    pytest.importorskip("ndonnx")
    p = tl.program("where(y > 0, x * 2.5 + y, 1)", x="int32[3]", y="float16[3]")
    again = tl.Program.from_onnx(p.to_onnx("jax"))
    again.check()
    assert again.under("numpy").dtype is p.under("jax").dtype
    given = {"x": np.asarray([1, 2, 3], "int32"), "y": np.asarray([1, -1, 2], "float16")}
    made: list[Any] = [q.run(tl.namespace(s, np), **given) for q, s in ((p, "jax"), (again, "numpy"))]
    np.testing.assert_array_equal(*[np.asarray(each.bare) for each in made])


def test_a_large_constant_is_an_input() -> None:
    p = tl.Program.from_onnx(model(GIVEN, {"x": HALF, "y": FLOAT}, {"out": FLOAT}, [scale([0.0] * 40, [40])]))
    assert {name: str(given) for name, given in p.inputs.items()} == {
        "x": "float16", "y": "float32", "scale": "float32",
    }  # fmt: skip


@pytest.mark.parametrize("op", ["Add", "Gemm", "Concat"])
def test_an_implicit_cast_is_named_by_its_node(op: str) -> None:
    named = {"axis": 0} if op == "Concat" else {}
    nodes = [node("Neg", ["x"], "z"), node(op, ["z", "y"], "out", **named)]
    why = rf"node 1 \({op} 'out'\) casts implicitly, of float32 and int64, which ONNX does not; put a Cast"
    with pytest.raises(tl.ProgramError, match=why):
        tl.Program.from_onnx(model(nodes, {"x": FLOAT, "y": INT}, {"out": FLOAT}))


def test_what_is_damaged_is_refused_by_its_place() -> None:
    def refused(why: str, nodes: list[Any], constants: list[Any] | None = None) -> None:
        with pytest.raises(tl.ProgramError, match=why):
            tl.Program.from_onnx(model(nodes, {"x": FLOAT}, {"out": FLOAT}, constants))

    refused(r"node 0 \(Add 'out'\): 'gone' is made by no node before it", [node("Add", ["x", "gone"], "out")])
    refused(r"node 0 \(Adds 'out'\): ONNX has no such operator", [node("Adds", ["x", "x"], "out")])
    refused(r"node 1 \(Neg 'out'\): 'out' is made twice", [node("Neg", ["x"], "out")] * 2)
    refused(r"node 0 \(Add 'out'\): 1 operands; Add takes 2", [node("Add", ["x"], "out")])
    short = onnx.TensorProto(name="scale", data_type=FLOAT, dims=[3], raw_data=b"\0\0")
    refused(r"initializer 0: ", [node("Add", ["x", "scale"], "out")], [short])
    words = onnx.TensorProto(name="scale", data_type=8, dims=[1], string_data=[b"a"])
    refused("initializer 0: string is no dtype of numbers", [node("Neg", ["x"], "out")], [words])
    with pytest.raises(tl.ProgramError, match="it is no ONNX model"):
        tl.Program.from_onnx(b"\x08\x07no model")
    with pytest.raises(FileError, match="cannot read"):
        tl.Program.from_onnx("there/is/no.onnx")


def test_damaged_bytes_are_a_program_or_one_clear_error() -> None:
    whole = model(GIVEN, {"x": HALF, "y": FLOAT}, {"out": FLOAT}, [scale([2.5], [])]).SerializeToString()
    dice, refused = random.Random(9407), 0
    for _ in range(1_000):
        data = bytearray(whole)
        for _ in range(dice.randint(1, 4)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        try:
            tl.Program.from_onnx(bytes(data[: dice.choice([len(data), dice.randrange(len(data))])]))
        except tl.ProgramError as e:
            refused += 1
            assert "\n" not in str(e) and len(str(e)) < 700
    assert refused > 50


# Operators with attributes and settings: what they are called, their operands (a dtype and a shape; numbers
# are constants), their attributes, the version of ONNX's operators, and the operations that they become.
F, L = "float32", "int64"
READ: list[tuple[str, list[Any], dict[str, Any], int, list[str]]] = [
    ("Concat", [(F, 2, 3), (F, 1, 3)], {"axis": 0}, 20, ["concat"]),
    ("ReduceSum", [(F, 2, 3), [1]], {"keepdims": 0}, 20, ["sum"]),
    ("ReduceSum", [(F, 2, 3)], {}, 20, ["sum"]),
    ("ReduceSum", [(F, 2, 3)], {"axes": [0]}, 11, ["sum"]),
    ("ReduceMean", [(F, 2, 3), [-1]], {}, 20, ["mean"]),
    ("ReduceMax", [(F, 2, 3), [0, 1]], {"keepdims": 1}, 20, ["max"]),
    ("ReduceMin", [(F, 2, 3)], {"axes": [1], "keepdims": 0}, 13, ["min"]),
    ("ReduceProd", [(F, 2, 3), [0]], {}, 20, ["prod"]),
    ("ArgMax", [(F, 2, 3)], {"axis": 1, "keepdims": 0}, 20, ["argmax"]),
    ("ArgMin", [(F, 2, 3)], {}, 20, ["argmin"]),
    ("Gemm", [(F, 2, 3), (F, 3, 4)], {}, 20, ["matmul"]),
    ("Gemm", [(F, 3, 2), (F, 4, 3), (F, 4)], {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0}, 20, [
        "matrix_transpose", "matrix_transpose", "matmul", "multiply", "multiply", "add",
    ]),
    ("Transpose", [(F, 2, 3, 4)], {"perm": [2, 0, 1]}, 20, ["permute_dims"]),
    ("Transpose", [(F, 2, 3)], {}, 20, ["permute_dims"]),
    ("Reshape", [(F, 2, 3), [3, -1]], {}, 20, ["reshape"]),
    ("Flatten", [(F, 2, 3, 4)], {"axis": 1}, 20, ["reshape"]),
    ("Squeeze", [(F, 1, 3), [0]], {}, 20, ["reshape"]),
    ("Unsqueeze", [(F, 2, 3), [0, -1]], {}, 20, ["reshape"]),
    ("Unsqueeze", [(F, 2, 3)], {"axes": [1]}, 11, ["reshape"]),
    ("Expand", [(F, 2, 1), [2, 3]], {}, 20, ["broadcast_to"]),
    ("Tile", [(F, 2, 3), [2, 1]], {}, 20, ["tile"]),
    ("Slice", [(F, 4, 3), [1], [2**62], [0], [2]], {}, 20, ["getitem"]),
    ("Slice", [(F, 4, 3)], {"starts": [0, -2], "ends": [2, 3]}, 9, ["getitem"]),
    ("Gather", [(F, 2, 3), [0, 1, 0]], {"axis": 1}, 20, ["take"]),
    ("GatherElements", [(F, 2, 3), (L, 2, 1)], {"axis": 1}, 20, ["take_along_axis"]),
    ("Clip", [(F, 2, 3), 1.0, 2.0], {}, 20, ["clip"]),
    ("Clip", [(F, 2, 3), None, 2.0], {}, 20, ["minimum"]),
    ("Clip", [(F, 2, 3)], {"min": 2.0}, 6, ["maximum"]),
    ("Max", [(F, 2, 3), (F, 3), (F, 1)], {}, 20, ["maximum", "maximum"]),
    ("Sum", [(F, 2, 3), (F, 3), (F, 1)], {}, 20, ["add", "add"]),
    ("Div", [(F, 2, 3), (F, 3)], {}, 20, ["divide"]),
    ("Mod", [(L, 2, 3), (L, 3)], {}, 20, ["remainder"]),
    ("CumSum", [(F, 2, 3), [1]], {}, 20, ["cumulative_sum"]),
    ("Einsum", [(F, 2, 3), (F, 3)], {"equation": "ij,j->i"}, 20, ["einsum"]),
    ("BitShift", [("uint8", 3), ("uint8", 3)], {"direction": "LEFT"}, 20, ["bitwise_left_shift"]),
    ("Trilu", [(F, 3, 3)], {"upper": 0}, 20, ["tril"]),
    ("CastLike", [(F, 2, 3), (L, 3)], {}, 20, ["astype"]),
    ("IsInf", [(F, 2, 3)], {}, 20, ["isinf"]),
]  # fmt: skip


def single(
    op: str, operands: list[Any], attributes: dict[str, Any], version: int
) -> tuple[Any, dict[str, Any]]:
    """A model of one node, and what it is given."""
    inputs, constants, names, given = [], [], [], {}
    for i, each in enumerate(operands):
        if isinstance(each, tuple):
            dtype, *shape = each
            of = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
            inputs.append(onnx.helper.make_tensor_value_info(f"x{i}", of, shape))
            given[f"x{i}"] = np.arange(1, 1 + int(np.prod(shape))).reshape(shape).astype(dtype)
            if dtype == L and i == 1:
                given["x1"] = given["x1"] % 2 + (op == "Mod")
        elif each is not None:
            of = FLOAT if isinstance(each, float) else INT
            shape = [len(each)] if isinstance(each, list) and op != "CumSum" else []
            values = each if isinstance(each, list) else [each]
            constants.append(onnx.helper.make_tensor(f"x{i}", of, shape, values))
        names.append("" if each is None else f"x{i}")
    nodes = [onnx.helper.make_node(op, names, ["out"], **attributes)]
    out = onnx.ValueInfoProto(name="out")
    made = onnx.helper.make_model(
        onnx.helper.make_graph(nodes, "graph", inputs, [out], constants),
        opset_imports=[onnx.helper.make_opsetid("", version)], ir_version=8,
    )  # fmt: skip
    return onnx.shape_inference.infer_shapes(made), given


@pytest.mark.parametrize(("op", "operands", "attributes", "version", "operations"), READ)
def test_operators_with_attributes_are_operations_of_the_same_values(
    op: str, operands: list[Any], attributes: dict[str, Any], version: int, operations: list[str]
) -> None:
    runtime, compat = pytest.importorskip("onnxruntime"), pytest.importorskip("array_api_compat.numpy")
    made, given = single(op, operands, attributes, version)
    onnx.checker.check_model(made, full_check=True)
    p = tl.Program.from_onnx(made)
    p.check()
    assert [step.op for step in p.steps if step.op not in (None, "asarray")] == operations
    (expected,) = runtime.InferenceSession(made.SerializeToString()).run(None, given)
    assert p.steps[p.results[0]].shape == expected.shape
    assert {str(p.under(s).dtype) for s in ("numpy", "jax", "torch")} == {str(expected.dtype)}
    got = p.run(compat, **given)
    assert str(got.dtype) == str(expected.dtype)  # type: ignore[attr-defined]
    np.testing.assert_allclose(got, expected, rtol=1e-6)
    assert tl.Program.from_json(p.to_json()).steps == p.steps
    assert tl.program(str(p)).under("numpy").dtype is p.under("numpy").dtype


OPAQUE: list[tuple[str, list[Any], dict[str, Any], int]] = [
    ("Conv", [(F, 1, 1, 3, 3), (F, 1, 1, 2, 2)], {}, 20),
    ("Softmax", [(F, 2, 3)], {}, 11),  # which made its operand a matrix first
    ("Div", [(L, 2, 3), (L, 3)], {}, 20),  # towards zero
    ("ReduceSum", [(F, 2, 3), (L, 1)], {}, 20),  # axes that are computed
    ("CumSum", [(F, 2, 3), [1]], {"reverse": 1}, 20),
    ("Slice", [(F, 4, 3), [3], [0], [0], [-1]], {}, 20),
    ("LeakyRelu", [(F, 2, 3)], {"alpha": 0.1}, 20),
    ("IsInf", [(F, 2, 3)], {"detect_negative": 0}, 20),
    ("ArgMax", [(F, 2, 3)], {"select_last_index": 1}, 20),
]


@pytest.mark.parametrize(("op", "operands", "attributes", "version"), OPAQUE)
def test_an_operator_that_no_operation_says_is_opaque_under_its_name(
    op: str, operands: list[Any], attributes: dict[str, Any], version: int
) -> None:
    p = tl.Program.from_onnx(single(op, operands, attributes, version)[0])
    assert [step.op for step in p.steps if step.op not in (None, "asarray")] == [op]
    assert p.under("numpy").dtype is not None
    with pytest.raises(tl.ProgramError, match=f"{op} .* is not known well enough to be carried out"):
        p.run(np, **{name: np.ones((2, 3)) for name in p.inputs})


def test_an_attribute_of_another_sort_is_refused_by_its_node() -> None:
    made, _ = single("ArgMax", [(F, 2, 3)], {"axis": 1}, 20)
    made.graph.node[0].attribute[0].type = onnx.AttributeProto.STRING
    with pytest.raises(tl.ProgramError, match=r"node 0 \(ArgMax 'out'\): the attribute axis is no INT"):
        tl.Program.from_onnx(made)
