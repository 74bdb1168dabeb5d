"""MAX's dtypes, types and graph values as operands, and implicit casts as nodes of its graphs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import typelattice as tl

pytestmark = pytest.mark.live
max_dtype = pytest.importorskip("max.dtype")
np = pytest.importorskip("numpy")

from max.driver import Buffer  # noqa: E402
from max.engine import InferenceSession  # noqa: E402
from max.graph import BufferType, DeviceRef, Graph, TensorType, Weight, ops  # noqa: E402

DType = max_dtype.DType
CPU = DeviceRef.CPU()
ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tools"))
import pages  # noqa: E402


@pytest.fixture
def graph() -> Iterator[Any]:
    """An open graph with one input of each dtype that MAX has: an array, and one without dimensions."""
    types = [TensorType(d, shape, device=CPU) for shape in ((2,), ()) for d in DType]
    with Graph("inputs", input_types=types) as made:
        yield made


def test_every_dtype_of_max_is_read_and_given_back() -> None:
    for own in DType:
        assert tl.operand(own).dtype is tl.dtype(own.name)
        assert tl.native(own.name, "max") is tl.native(own.name, max_dtype) is own
    with pytest.raises(tl.DTypeError, match=r"^MAX has no dtype int4; cast to one that it has$"):
        tl.native("int4", "max")


def test_types_values_weights_and_buffers_are_operands(graph: Any) -> None:
    objects = {
        "int16": TensorType(DType.int16, (3,), device=CPU),
        "int16:0d": BufferType(DType.int16, (), device=CPU),
        "bfloat16": graph.inputs[[*DType].index(DType.bfloat16)],
        "bool:0d": graph.inputs[len(DType) + [*DType].index(DType.bool)],
        "float32": Weight("w", DType.float32, (2,), device=CPU),
        "int8:weak": Buffer.from_numpy(np.ones(2, "int8")),
    }
    assert {str(tl.operand(x)) for x in objects.values()} == {*objects}
    for other in (TensorType, DType, CPU, graph):
        with pytest.raises(tl.OperandError, match="takes no part in promotion"):
            tl.operand(other)


@pytest.mark.parametrize("system", ["max", "max-2024", "jax"])
def test_each_pair_of_dtypes_of_max_gives_a_dtype_of_max(system: str) -> None:
    asked = {d.name: d for d in DType if tl.dtype(d.name) in tl.system(system).order}
    for a in asked:
        for b in asked:
            p = tl.system(system).explain(a, b)
            if p.dtype is None:
                with pytest.raises(tl.PromotionError):
                    tl.implicit_cast_type(system, asked[a], asked[b])
            elif p.dtype.name in DType.__members__:
                assert tl.implicit_cast_type(system, asked[a], asked[b]) is DType[p.dtype.name]
            else:
                with pytest.raises(tl.DTypeError, match=f"^MAX has no dtype {p.dtype}; cast to one"):
                    tl.implicit_cast_type(system, asked[a], asked[b])


def test_casts_of_each_pair_have_the_dtype_of_their_sum_in_max(graph: Any) -> None:
    """The graph casts one operand, as its own operator does, or both refuse."""
    for x in graph.inputs:
        for y in graph.inputs[: len(DType)]:
            try:
                added = ops.add(x, y).dtype
            except ValueError:
                with pytest.raises(tl.PromotionError):
                    tl.implicit_cast("max", x, y)
            else:
                found = tl.implicit_cast("max", x, y)
                assert [z.dtype for z in found] == [added, added]
                assert [z is own for z, own in zip(found, (x, y), strict=True)] == [
                    x.dtype == added,
                    y.dtype == added,
                ]


def test_numbers_arrays_of_numpy_and_buffers_become_constants(graph: Any) -> None:
    x = graph.inputs[[*DType].index(DType.int8)]
    for other in (1, True, np.ones(2, "int64"), np.int16(3), Buffer.from_numpy(np.ones(2, "int16"))):
        assert ops.add(x, other).dtype == DType.int8
        assert [z.dtype for z in tl.implicit_cast("max", x, other)] == [DType.int8, DType.int8]
    assert [z.dtype for z in tl.implicit_cast("jax", x, 1.5)] == [DType.float64, DType.float64]


def test_what_a_graph_cannot_cast_is_refused() -> None:
    with Graph("g", input_types=[BufferType(DType.int8, (2,), device=CPU)]) as g:
        (memory,) = g.inputs
        x = ops.constant(1, DType.int16, device=CPU)
        with pytest.raises(tl.NamespaceError, match=r"load its value with max.graph.ops.buffer_load\(x\)$"):
            tl.implicit_cast("max", memory, x)
        assert tl.implicit_cast("max", ops.buffer_load(memory), x)[0].dtype == DType.int16
        with pytest.raises(tl.NamespaceError, match="takes this for no value of a graph"):
            tl.implicit_cast("max", TensorType(DType.int8, (), device=CPU), x)
        with pytest.raises(tl.NamespaceError, match="300 is out of range for int8"):
            tl.implicit_cast("max", ops.constant(1, DType.int8, device=CPU), 300)
        g.output(x)
    with pytest.raises(tl.NamespaceError, match=r"no graph of MAX is open; cast inside of `with Graph"):
        tl.implicit_cast("jax", x, 1.5)


def test_a_cast_graph_runs_and_computes_in_the_common_dtype() -> None:
    types = [TensorType(DType.int16, (3,), device=CPU), TensorType(DType.float32, (), device=CPU)]
    with Graph("cast", input_types=types) as g:
        x, y = tl.implicit_cast("max-2024", *g.inputs)
        g.output(ops.mul(x, y))
    (found,) = InferenceSession().load(g).execute(np.arange(3, dtype="int16"), np.float32(0.5))
    assert found.to_numpy().tolist() == [0.0, 0.5, 1.0]


def test_the_example_of_the_page_runs() -> None:
    text = (ROOT / "docs" / "programs.md").read_text(encoding="utf-8")
    (block,) = [text for info, text in pages.blocks(text) if info == "python live max"]
    exec(block, {})
