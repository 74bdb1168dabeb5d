"""Exported graphs run: every operation of both targets has the same values in onnxruntime and in XLA."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from samples import one_in

import typelattice as tl
from typelattice.core.operations.operations import OPERATIONS, Operation
from typelattice.core.system_files.reader import parse

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
onnx = pytest.importorskip("onnx")
pytest.importorskip("ndonnx")
jax = pytest.importorskip("jax")
ml_dtypes = pytest.importorskip("ml_dtypes")

# ONNX has no complex casts, no decomposition of matrices, and neither of these operators.
NOT_IN_ONNX = {
    *("cholesky", "inv", "pinv", "solve", "svdvals", "eigvalsh", "eigvals", "matrix_rank"),
    *("fft", "ifft", "fftn", "ifftn", "rfft", "rfftn", "ihfft", "irfft", "irfftn", "hfft"),
    *("nextafter", "gcd", "lcm", "nanmedian", "qr", "svd", "slogdet", "eigh", "eig", "histogram"),
}
NOT_IN_STABLEHLO = {  # whose shape depends on values, but for meshgrid, of vectors
    *("unique_values", "unique_all", "unique_counts", "unique_inverse", "nonzero", "meshgrid"),
}
IN_NEITHER = {
    *("result_type", "promote_types", "setitem", "full_like", "matrix_power", "cond", "einsum", "correlate"),
    *("gradient", "interp", "quantile", "percentile", "select", "divmod", "arange", "linspace"),
}
SOURCES = {
    "reshape": "reshape(x, (9,))",
    "permute_dims": "permute_dims(x, (1, 0))",
    "expand_dims": "expand_dims(x, axis=0)",
    "squeeze": "squeeze(reshape(x, (1, 9)), axis=0)",
    "broadcast_to": "broadcast_to(x, (2, 3, 3))",
    "moveaxis": "moveaxis(x, 0, 1)",
    "swapaxes": "swapaxes(x, 0, 1)",
    "roll": "roll(x, 1)",
    "repeat": "repeat(x, 2)",
    "tile": "tile(x, (2, 1))",
    "pad": "pad(x, 1)",
    "split": "split(x, 3)[0]",
    "unstack": "unstack(x)[0]",
    "where": "where(x > 0, x, y)",
    "clip": "clip(x, 0.0, 1.0)",
    "searchsorted": "searchsorted(sort(x), y)",
    **{f"cumulative_{name}": f"cumulative_{name}(x, axis=0)" for name in ("sum", "prod", "max", "min")},
}
VECTORS = ("vecdot", "dot", "inner", "outer", "cross", "searchsorted", "convolve", "vdot")


def call_of(op: Operation) -> tuple[str, dict[str, str]]:
    """A call of an operation, with its inputs."""
    dtype, name = "float32", op.name
    if name.startswith("bitwise") or name in ("gcd", "lcm"):
        dtype = "int32"
    if name.startswith("logical") or name in ("all", "any"):
        dtype = "bool"
    count = op.max_operands or max(op.min_operands, 2)
    shape = "[3]" if name in VECTORS else "[3,3]"
    inputs = dict.fromkeys("xyz"[:count], f"{dtype}{shape}")
    if name in SOURCES:
        source = SOURCES[name]
    elif op.call_form == "indexed":
        source = f"{name}(x, i, axis=0)"
        inputs = {"x": f"{dtype}[3,3]", "i": f"int64{'[3,3]' if name == 'take_along_axis' else '[3]'}"}
    elif op.call_form == "list":
        source = f"{name}([x, y])"
    else:
        source = f"{name}({', '.join(inputs)})"
    inputs = {"y": f"{dtype}{shape}", **inputs}
    return source, {key: x for key, x in inputs.items() if re.search(rf"\b{key}\b", source)}


def program_of(name: str) -> tuple[tl.Program, str] | None:
    """A program of one operation, with the first system that answers it."""
    source, inputs = call_of(OPERATIONS[name])
    for system in ("array-api", "jax"):
        try:
            program = tl.program(source, **inputs)
            program.explicit(system)
        except Exception:
            continue
        return program, system
    return None


def drawn(described: str, special: bool) -> Any:
    name, _, shape = described.partition("[")
    draw = np.random.default_rng(len(described))
    lengths = tuple(map(int, shape.rstrip("]").split(",")))
    if name == "bool":
        return draw.integers(0, 2, lengths).astype(bool)
    if name.startswith("int"):
        return draw.integers(0, 3, lengths).astype(name)
    found = draw.normal(size=lengths)
    if special:
        flat = found.reshape(-1)
        flat[:3] = draw.permutation([math.nan, math.inf, -math.inf, -0.0, 0.0])[:3]
    return found.astype(tl.native(name, np))


def by_xla(text: str, arrays: list[Any]) -> list[Any]:
    """By XLA. JAX leaves inputs out whose values decide nothing."""
    from jax.extend.backend import get_backend
    from jaxlib.xla_client import CompileOptions, DeviceList

    cpu = get_backend("cpu")
    devices = cpu.local_devices()[:1]
    made = cpu.compile_and_load(text, DeviceList(tuple(devices)), CompileOptions())
    with jax.enable_x64(True):
        needed = arrays if "%arg0" in text else []
        found = made.execute_sharded([jax.device_put(x, devices[0]) for x in needed])
        return [np.asarray(x[0]) for x in found.disassemble_into_single_device_arrays()]


def by_onnx(model: Any, given: dict[str, Any]) -> list[Any]:
    """By onnxruntime, or by ONNX's reference where onnxruntime has no kernel."""
    import onnxruntime
    from onnx.reference import ReferenceEvaluator

    onnx.checker.check_model(model, full_check=True)
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString())
        return [np.asarray(x) for x in session.run(None, given)]
    except Exception:
        return [np.asarray(x) for x in ReferenceEvaluator(model).run(None, given)]


@pytest.mark.parametrize("name", one_in(4, [name for name in OPERATIONS if program_of(name)]))
def test_an_operation_exports_to_both_targets_with_the_same_values(name: str) -> None:
    program, system = program_of(name)  # type: ignore[misc]
    if name in IN_NEITHER | NOT_IN_ONNX:
        with pytest.raises(tl.ProgramError):
            program.to_onnx(system)
    if name in IN_NEITHER | NOT_IN_STABLEHLO:
        with pytest.raises(tl.ProgramError):
            program.to_stablehlo(system)
    if name in IN_NEITHER | NOT_IN_ONNX | NOT_IN_STABLEHLO:
        return
    model, text = program.to_onnx(system), program.to_stablehlo(system)
    _, inputs = call_of(OPERATIONS[name])
    elementwise = OPERATIONS[name].call_form == "elementwise" or name.startswith("nan")
    for special in (False, True) if elementwise else (False,):
        given = {key: drawn(x, special) for key, x in inputs.items()}
        ours, theirs = by_onnx(model, given), by_xla(text, [given[key] for key in sorted(given)])
        for a, b in zip(ours, theirs, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            assert np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True), (given, a, b)


def test_a_cumulative_product_of_negative_numbers_has_their_sign() -> None:
    model = tl.program("cumulative_prod(x, axis=1)", x="float32[2,3]").to_onnx("array-api")
    x = np.float32([[-2, 3, -1], [0, -1, 5]])
    assert by_onnx(model, {"x": x})[0].tolist() == np.cumprod(x, axis=1).tolist()


NARROW = """
name = "narrow"
order = "b; i4 -> i8 -> i32 -> f32; u4 -> i32; f8_e4m3fn, f8_e5m2 -> bf16 -> f32; f4_e2m1fn -> f32"
defaults = { bool = "b", int = "i32", float = "f32" }
tiers = ["array", "scalar"]
[casts]
"f32, bf16 -> f8_e4m3fn" = "clamp"
"float -> integer" = "clamp, nearest even"
"""


@pytest.mark.parametrize(
    "source",
    [
        "x.astype(bfloat16) + y",
        "(x.astype(bfloat16) * y).astype(float32) - x",
        "matmul(x.astype(bfloat16), permute_dims(y, (1, 0)))",
        "where(y > 0.5, y, x.astype(bfloat16) / 2.0)",
        "maximum(abs(y), sqrt(abs(y)))",
        "sum(y, axis=1) + max(y, axis=1, keepdims=False)",
        "concat([y, exp(y)], axis=0)",
        "x.astype(float8_e4m3fn).astype(float32)",
        "x.astype(float8_e5m2).astype(bfloat16) + y",
        "x.astype(int4).astype(float32)",
        "x.astype(uint4).astype(int32)",
        "x.astype(int32)",
        "clip(y, -0.5, 0.5)",
    ],
)
def test_narrow_dtypes_are_exported_to_onnx(source: str) -> None:
    """ONNX's reference gives the values of the typed graph that NumPy and ml_dtypes compute."""
    system = parse(NARROW)
    inputs = {"x": "float32[2,3]", "y": "bfloat16[2,3]"}
    used = {key: x for key, x in inputs.items() if re.search(rf"\b{key}\b", source)}
    program = tl.program(source, system, **used)
    graph = program.explicit(system)
    x = np.float32([[1.5, -2.25, 600], [-1e10, 0.1, 7.5]])
    arrays = {"x": x, "y": np.float32([[0.5, -1, 2], [3.25, 0, -7]]).astype(ml_dtypes.bfloat16)}
    arrays = {key: arrays[key] for key in used}
    from onnx.reference import ReferenceEvaluator

    model = program.to_onnx(system)
    onnx.checker.check_model(model, full_check=True)
    (found,) = ReferenceEvaluator(model).run(None, arrays)
    expected = graph.run(tl.namespace("numpy-ml-dtypes", np), **arrays).bare
    assert found.dtype == expected.dtype
    assert np.allclose(found.astype(float), expected.astype(float), rtol=2**-7, atol=1e-6, equal_nan=True)


def test_a_cast_to_an_8_bit_float_states_that_it_saturates_not() -> None:
    """A clamping cast has written its clip. Without one, a value beyond the range becomes NaN."""
    plain = parse(NARROW.replace('"f32, bf16 -> f8_e4m3fn" = "clamp"', ""))
    for system, beyond in ((parse(NARROW), 448.0), (plain, math.nan)):
        model = tl.program("x.astype(float8_e4m3fn)", x="float32[2]").to_onnx(system)
        casts = [node for node in model.graph.node if node.op_type == "Cast"]
        assert [a.i for a in casts[-1].attribute if a.name == "saturate"] == [0]
        from onnx.reference import ReferenceEvaluator

        (found,) = ReferenceEvaluator(model).run(None, {"x": np.float32([600, 3])})
        assert np.array_equal(found.astype(float), [beyond, 3.0], equal_nan=True)


def test_an_operator_that_onnx_has_not_of_a_dtype_is_named() -> None:
    system = parse(NARROW)
    with pytest.raises(tl.ProgramError, match="ONNX has no Cast to float4_e2m1fn in opset 21"):
        tl.program("x.astype(float4_e2m1fn)", x="float32[3]").to_onnx(system)
    with pytest.raises(tl.ProgramError, match="ONNX has no tensor_float32, which the input x has; cast it"):
        tl.program("x + x", x="tensor_float32[3]").to_onnx("max-2024")


@pytest.mark.parametrize("target", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_saturating_casts_are_exact_in_both_targets(target: str) -> None:
    """As Rust's `as` and LLVM's `fptosi.sat` do: NaN is 0, infinities are the bounds."""
    order = 'order = "b; u8; i8; u32; i32; u64; i64; f32; f64"'
    system = parse(f'name = "s"\n{order}\n[casts]\n"float -> integer" = "clamp"')
    limits = [float(tl.dtype(d).max or 0) for d in ("int8", "uint8", "int32", "uint32", "int64", "uint64")]
    edges = np.float32([*limits, *(-b for b in limits), 0.9, -0.9, 1e30, -1e30, np.inf, -np.inf, np.nan])
    near = [np.nextafter(edges, np.float32(end)) for end in (np.inf, -np.inf)]
    x = np.concatenate([edges, *near]).astype(np.float32)
    low, high = int(tl.dtype(target).min or 0), int(tl.dtype(target).max or 0)
    bounded = [0.0 if math.isnan(v) else min(max(v, -1e30), 1e30) for v in map(float, x)]
    expected = [min(max(int(v), low), high) for v in bounded]
    program = tl.program(f"x.astype({target})", x=f"float32[{len(x)}]")
    assert by_onnx(program.to_onnx(system), {"x": x})[0].tolist() == expected
    assert by_xla(program.to_stablehlo(system), [x])[0].tolist() == expected


def test_graphs_are_exported_without_the_rules_that_they_have_written_out() -> None:
    """`+=` gives another dtype than `+`; a chip without int64 saturates int32 by signs."""
    head = 'name = "s"\ntiers = ["array", "scalar"]\ndefaults = { int = "i32" }\norder = "i32 -> f16"\n'
    in_place = parse(f'{head}[ops]\n"+=".gives = "f16"\n"arithmetic".gives = "i32"')
    halves = np.float16([0.5, 1.25, -3])
    program = tl.program("y = x\ny += x\ny", in_place, x="float16[3]")
    assert by_onnx(program.to_onnx(in_place), {"x": halves})[0].tolist() == [1.0, 2.5, -6.0]
    assert by_xla(program.to_stablehlo(in_place), [halves])[0].tolist() == [1.0, 2.5, -6.0]
    saturating = parse(f'{head}[ops]\n"add, subtract, multiply".overflow = "saturate"')
    x, y = np.int32([2**31 - 1, -(2**31), 7]), np.int32([1, -2, 5])
    for source, expected in (
        ("x + y", [2**31 - 1, -(2**31), 12]),
        ("y - x", [2 - 2**31, 2**31 - 2, -2]),
        ("x * y", [2**31 - 1, 2**31 - 1, 35]),
    ):
        program = tl.program(source, x="int32[3]", y="int32[3]")
        assert ("int64" in str(program.explicit(saturating))) is (source == "x * y")
        assert by_onnx(program.to_onnx(saturating), {"x": x, "y": y})[0].tolist() == expected
        assert by_xla(program.to_stablehlo(saturating), [x, y])[0].tolist() == expected
