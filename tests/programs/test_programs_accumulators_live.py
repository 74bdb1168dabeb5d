"""Accumulators, operations and casts of a file in StableHLO and ONNX, whose values runtimes compute."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import typelattice as tl
from typelattice.core.system_files.reader import parse

pytestmark = pytest.mark.live

NPU = """
name = "npu"
tiers = ["array", "scalar"]
defaults = { int = "i32", float = "f32" }
order = "u8, i8 -> i32 -> f32; f8_e4m3fn, f8_e5m2 -> bf16 -> f32; f16 -> f32"
[sets]
f8 = "f8_e4m3fn, f8_e5m2"
[ops]
accumulate = { accumulates = { i8 = "i32" } }
scaled_matmul = { like = "matmul", parameters = "scale, offset" }
quantize = { like = "positive", parameters = "scale", kernels = "float", gives = "i8" }
conv = { like = "convolve", operands = "x, w", parameters = "strides" }
[ops.products.accumulates]
"i8, u8" = "i32"
"f8, bf16, f16" = "f32"
"u8 + i8" = "i32"
"f8_e4m3fn + f8_e5m2" = "f32"
[ops.products.gives]
"f8, bf16" = "bf16"
f16 = "joined"
"f8_e4m3fn + f8_e5m2" = "bf16"
[casts]
"f32 -> i8" = "clamp, nearest even"
"f32 -> f8" = "clamp"
"""
PAIRS = [
    ("int8", "int8"), ("uint8", "uint8"), ("uint8", "int8"), ("int8", "uint8"),
    ("float8_e4m3fn", "float8_e5m2"), ("float8_e5m2", "float8_e5m2"), ("bfloat16", "bfloat16"),
    ("float16", "float16"),
]  # fmt: skip
IN_HLO = {
    "int8": "i8", "uint8": "ui8", "int32": "i32", "float32": "f32", "bfloat16": "bf16", "float16": "f16",
    "float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2",
}  # fmt: skip
NPU_SYSTEM = parse(NPU)


def run_stablehlo(text: str, *arrays: Any) -> Any:
    """The one result of a module on XLA's CPU; the arrays are in the order of the inputs' names."""
    import jax
    from jax.extend.backend import get_backend
    from jaxlib.xla_client import CompileOptions, DeviceList

    cpu = get_backend("cpu")
    devices = cpu.local_devices()[:1]
    made = cpu.compile_and_load(text, DeviceList(tuple(devices)), CompileOptions())
    (found,) = made.execute_sharded(
        [jax.device_put(x, devices[0]) for x in arrays]
    ).disassemble_into_single_device_arrays()
    return np.asarray(found[0])


def run_onnx(model: Any, **arrays: Any) -> Any:
    import onnxruntime

    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, arrays)[0]


def drawn(dtype: str, *shape: int) -> Any:
    import ml_dtypes

    dice, native = np.random.default_rng(9407), np.dtype(getattr(ml_dtypes, dtype, dtype))
    if native.kind in "iu":
        limits = np.iinfo(native)
        return dice.integers(limits.min, limits.max + 1, shape).astype(native)
    return dice.normal(size=shape).astype(native)


@pytest.mark.parametrize("source", ["matmul(x, y)", "x @ y"])
@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_stablehlo_keeps_the_operands_and_adds_up_in_the_accumulator(a: str, b: str, source: str) -> None:
    program = tl.program(source, x=f"{a}[2,40]", y=f"{b}[40,3]")
    p = NPU_SYSTEM.explain(a, b, op="matmul")
    text = program.to_stablehlo(NPU_SYSTEM)
    dot = re.findall(r"dot_general.*", text)
    assert len(dot) == 1 and "convert" not in text.partition("dot_general")[0]
    left, right, sums = IN_HLO[a], IN_HLO[b], IN_HLO[str(p.accumulator)]
    assert f"(tensor<2x40x{left}>, tensor<40x3x{right}>) -> tensor<2x3x{sums}>" in dot[0]
    assert ("accumulation_type = f32" in dot[0]) == (a not in ("int8", "uint8"))
    x, y = drawn(a, 2, 40), drawn(b, 40, 3)
    found = run_stablehlo(text, x, y)
    assert str(found.dtype) == str(p.dtype)
    exact = x.astype(np.float64) @ y.astype(np.float64)
    is_whole = found.dtype == np.int32
    assert np.allclose(found.astype(np.float64), exact, rtol=0 if is_whole else 2**-8, atol=2**-6)
    assert np.abs(exact).max() > (2**8 if is_whole else 2)


@pytest.mark.parametrize(("a", "b"), PAIRS[:4])
def test_onnx_has_integer_products_whose_values_onnxruntime_computes(a: str, b: str) -> None:
    model = tl.program("matmul(x, y)", x=f"{a}[4,2,40]", y=f"{b}[4,40,3]").to_onnx(NPU_SYSTEM)
    assert [node.op_type for node in model.graph.node if node.op_type != "Identity"] == ["MatMulInteger"]
    x, y = drawn(a, 4, 2, 40), drawn(b, 4, 40, 3)
    if (a, b) == ("uint8", "int8"):  # without VNNI, onnxruntime adds pairs of products in int16
        x //= 2
    found = run_onnx(model, x=x, y=y)
    assert found.dtype == np.int32 and (found == x.astype(np.int32) @ y.astype(np.int32)).all()


@pytest.mark.parametrize(
    ("source", "given", "why"),
    [
        ("matmul(x, y)", "float16", "ONNX has no matmul of float16 that accumulates in float32"),
        ("vecdot(x, y)", "int8", "ONNX has no vecdot of int8 that accumulates in int32"),
        ("matmul(x, y)", "float8_e5m2", "ONNX has no matmul of float8_e5m2"),
    ],
)
def test_onnx_refuses_an_accumulator_that_it_cannot_state(source: str, given: str, why: str) -> None:
    with pytest.raises(tl.ProgramError, match=why):
        tl.program(source, x=f"{given}[3,3]", y=f"{given}[3,3]").to_onnx(NPU_SYSTEM)


@pytest.mark.parametrize("given", ["float16", "int16", "float8_e5m2"])
def test_onnx_casts_the_operands_of_a_product_only_if_asked(given: str) -> None:
    accumulates = {"f16": "f32", "i16": "i32", "f8_e5m2": "f32"}
    system = tl.system("numpy-ml-dtypes").replace(ops={"products": {"accumulates": accumulates}})
    program = tl.program("matmul(x, y)", x=f"{given}[2,40]", y=f"{given}[40,3]")
    with pytest.raises(tl.ProgramError, match=r"to_onnx\(..., cast_products=True\) casts the operands"):
        program.to_onnx(system)
    model = program.to_onnx(system, cast_products=True)
    assert [node.op_type for node in model.graph.node] == ["Cast", "Cast", "MatMul"]


def test_a_sum_adds_up_in_its_accumulator() -> None:
    program = tl.program("sum(x)", x="int8[300]")
    x = np.full(300, 127, np.int8)
    assert run_stablehlo(program.to_stablehlo(NPU_SYSTEM), x) == 38_100
    assert run_onnx(program.to_onnx(NPU_SYSTEM), x=x) == 38_100


def test_graphs_without_accumulators_are_lowered_as_before() -> None:
    import jax
    import jax.numpy as jnp

    shape = jax.ShapeDtypeStruct((3, 3), np.dtype("float32"))
    plain = jax.jit(lambda x: (jnp.linalg.cholesky(x),)).lower(shape).as_text()
    text = tl.program("cholesky(x)", x="float32[3,3]").to_stablehlo("jax")
    assert re.findall("custom_call @[a-z_]+", text) == re.findall("custom_call @[a-z_]+", plain) != []


def test_own_operations_are_custom_calls() -> None:
    program = tl.program(
        "scaled_matmul(quantize(x, 0.5), y, scale=2, offset=s)", NPU_SYSTEM,
        x="float32[2,3]", y="int8[3,2]", s="float32:0d",
    )  # fmt: skip
    text = program.to_stablehlo(NPU_SYSTEM)
    calls = re.findall(r"custom_call (@\w+)(\(.*?\)).*mhlo.backend_config = (\{.*?\})", text)
    assert calls == [
        ("@quantize", "(%arg1)", "{scale = 5.000000e-01 : f64}"),
        ("@scaled_matmul", "(%0, %arg2, %arg0)", '{accumulator = "int32", scale = 2 : i64}'),
    ]
    nodes = [node for node in program.to_onnx(NPU_SYSTEM).graph.node if node.domain == "npu"]
    assert [(node.op_type, len(node.input)) for node in nodes] == [("quantize", 1), ("scaled_matmul", 3)]
    assert {a.name for a in nodes[1].attribute} == {"accumulator", "scale"}


def test_a_custom_call_needs_a_shape_and_plain_parameters() -> None:
    for to in ("to_stablehlo", "to_onnx"):
        unknown = tl.program("conv(x, w)", NPU_SYSTEM, x="int8[8]", w="int8[3]")
        with pytest.raises(tl.ProgramError, match="the shape of its result is not known; state it in the"):
            getattr(unknown, to)(NPU_SYSTEM)
        source = "conv(x, w, strides=(1, 2), shape=(6,))"
        stated = tl.program(source, NPU_SYSTEM, x="int8[8]", w="int8[3]")
        assert getattr(stated, to)(NPU_SYSTEM)
        source = "conv(x, w, strides=((1,), 2), shape=(6,))"
        nested = tl.program(source, NPU_SYSTEM, x="int8[8]", w="int8[3]")
        with pytest.raises(tl.ProgramError, match="give an array, a number, a text, or a list of ints"):
            getattr(nested, to)(NPU_SYSTEM)


def test_casts_of_the_file_have_the_same_values_in_every_runtime() -> None:
    x = np.float32([0.5, 1.5, -2.5, 126.5, 127.5, 1e9, -1e9, np.inf, -np.inf, np.nan])
    program = tl.program("x.astype(int8)", x="float32[10]")
    expected = [0, 2, -2, 126, 127, 127, -128, 127, -128, 0]
    assert run_stablehlo(program.to_stablehlo(NPU_SYSTEM), x).tolist() == expected
    assert run_onnx(program.to_onnx(NPU_SYSTEM), x=x).tolist() == expected
    clamped = tl.program("x.astype(float8_e4m3fn)", x="float32[10]").to_stablehlo(NPU_SYSTEM)
    found = run_stablehlo(clamped, x).astype(np.float32)
    assert found[5:9].tolist() == [448, -448, 448, -448] and np.isnan(found[9])
