"""ONNX models that others wrote, read as programs: typed, checked for casts, and nothing in them run."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import typelattice as tl
from typelattice.disk.read import FileError

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
        "    t2 = xp.asarray(2.5, dtype=float32)",
        "    t3 = astype(x, float32)",
        "    t4 = xp.multiply(t3, t2)  # float32",
        "    t5 = xp.add(t4, y)  # float32",
        "    t6 = opaque('float32[2,?]', t5)",
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
    expected, made = (q.run(tl.namespace(name, np), **given) for q, name in ((p, "jax"), (again, "numpy")))
    np.testing.assert_array_equal(np.asarray(made.bare), np.asarray(expected.bare))  # type: ignore[attr-defined]


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
