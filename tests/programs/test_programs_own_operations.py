"""Programs under a file that defines operations, accumulators and casts: read, typed, written, read back."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import refused, said

import typelattice as tl
from typelattice.core.system_files.reader import parse

NPU = """
name = "npu"
tiers = ["array", "scalar"]
defaults = { int = "i32", float = "f32" }
order = "u8, i8 -> i32 -> f32; f8_e4m3fn, f8_e5m2 -> bf16 -> f32"
[ops]
products.accumulates = { "i8, u8" = "i32", "f8_e4m3fn + f8_e5m2" = "f32", bf16 = "f32" }
products.gives = { "f8_e4m3fn + f8_e5m2" = "bf16", bf16 = "joined" }
scaled_matmul = { like = "matmul", operands = "x, y", parameters = "scale, axis" }
quantize = { like = "positive", parameters = "scale", kernels = "float", gives = "i8" }
conv = { like = "convolve", operands = "x, w", parameters = "strides" }
[casts]
"f32 -> i8" = "clamp, nearest even"
"f32 -> u8" = "needs quantize"
"bf16 -> i8" = "refused: go by float32"
"f32 -> bf16" = "stochastic"
"""


def npu() -> tl.System:
    return parse(NPU)


def text(source: str, **given: object) -> str:
    program = tl.program(source, npu(), **given).explicit(npu())
    program.check()
    return str(program).partition("\n")[2]


def test_a_typed_graph_states_the_accumulator_and_casts_the_result_only() -> None:
    assert text("matmul(x, y)", x="int8[2,3]", y="int8[3,2]") == (
        '    t2: "int32" = xp.matmul(x, y)\n    return t2'
    )
    assert text("x @ y", x="float8_e4m3fn[2,3]", y="float8_e5m2[3,2]") == (
        '    t2: "float32" = x @ y\n    t3 = astype(t2, bfloat16)\n    return t3'
    )


def test_the_line_that_defines_an_operation_is_its_rule_though_a_cast_names_it() -> None:
    assert npu().explain("float32", op="quantize").rule.lines == (10,)


def test_a_typed_graph_of_accumulators_is_the_same_under_every_system_and_after_reading() -> None:
    graph = tl.program("matmul(x, y)", x="bfloat16[2,3]", y="bfloat16[3,2]").explicit(npu())
    for name in ("numpy-ml-dtypes", "jax", "torch"):
        assert str(graph.under(name).dtype) == "bfloat16"
        assert str(graph.explicit(name)) == str(graph)
    assert str(tl.program(str(graph))) == str(graph)
    assert str(tl.Program.from_json(graph.to_json())) == str(graph)


def test_a_product_adds_up_in_its_accumulator_over_any_namespace() -> None:
    x = np.full((1, 4), 100, np.int8)
    for source in ("matmul(x, y)", "x @ y"):
        graph = tl.program(source, x="int8[1,4]", y="int8[4,1]").explicit(npu())
        for xp in (np, tl.namespace(npu(), np)):
            found = graph.run(xp, x=x, y=x.T)
            assert int(np.asarray(getattr(found, "bare", found))[0, 0]) == 40_000
    xp = tl.namespace(npu(), np)
    made = xp.matmul(xp.asarray(x), xp.asarray(x.T))
    assert str(made.dtype) == "int32" and int(made[0, 0]) == 40_000


def test_two_dtypes_in_an_operation_that_adds_up_nothing_are_an_implicit_cast() -> None:
    source = 'def f(x: "int8[2]", y: "uint8[2]"):\n    t: "int32" = xp.add(x, y)\n    return t'
    with pytest.raises(tl.ProgramError, match="casts implicitly, of int8 and uint8"):
        tl.program(source).check()


def test_own_operations_are_read_typed_written_and_read_back() -> None:
    program = tl.program(
        "scaled_matmul(quantize(x, 0.5), y, scale=s, axis=(0, 1))", npu(),
        x="float32[2,3]", y="int8[3,2]", s="float32:0d",
    )  # fmt: skip
    graph = program.explicit(npu())
    graph.check()
    assert str(graph).splitlines()[1:] == [
        '    t3: "int8" = xp.quantize(x, scale=0.5)',
        '    t4: "int32" = xp.scaled_matmul(t3, y, scale=s, axis=(0, 1), accumulator=int32)',
        "    return t4",
    ]
    assert str(tl.program(str(graph), npu())) == str(graph)
    assert str(tl.Program.from_json(graph.to_json())) == str(graph) == str(graph.explicit(npu()))
    assert tl.Program.from_json(program.to_json()).under(npu()).dtype is tl.dtype("int32")


def test_own_operations_run_over_an_object_that_has_them() -> None:
    def quantize(x, scale):  # type: ignore[no-untyped-def]
        return np.clip(np.round(x / scale), -128, 127).astype(np.int8)

    graph = tl.program("quantize(x, 0.5) + y", npu(), x="float32[3]", y="int8[3]").explicit(npu())
    x = np.float32([1, 2, 300])
    found = graph.run(SimpleNamespace(**vars(np), quantize=quantize), x=x, y=np.int8([1, 1, 0]))
    assert found.dtype == np.int8 and found.tolist() == [3, 5, 127]
    with pytest.raises(tl.NamespaceError, match="npu says no values of quantize, only its dtypes"):
        graph.run(tl.namespace(npu(), np), x=x, y=np.int8([1, 1, 0]))


def test_symbols_call_own_operations() -> None:
    def layer(x, y):  # type: ignore[no-untyped-def]
        return x.__array_namespace__().scaled_matmul(x, y, scale=2.0)

    program = tl.program(layer, npu(), "int8[2,3]", "int8[3,4]")
    assert str(program.under(npu()).dtype) == "int32" and program.steps[-1].shape == (2, 4)
    xp = tl.Symbols(npu().custom_operations)
    assert str(xp.output(xp.quantize(xp.input("x", "float32[3]"))).under(npu()).dtype) == "int8"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("quantise(x)", "unknown function 'quantise' (did you mean quantize"),
        ("quantize()", "quantize is given no x; it takes x, scale"),
        ("quantize(x, 1, 2)", "quantize is given 3 arguments; it takes x, scale"),
        ("quantize(x, scal=1)", "quantize has no 'scal' (did you mean scale?)"),
        ("quantize(x, x=x)", "quantize is given x twice"),
        ("quantize(x, shape=(2, 2))", "its shape is (3, 3), not (2, 2); leave out the wrong one"),
    ],
)
def test_a_wrong_call_of_an_own_operation_is_refused(source: str, why: str) -> None:
    with pytest.raises(tl.ProgramError) as error:
        tl.program(source, npu(), **({"x": "float32[3,3]"} if "x" in source.partition("(")[2] else {}))
    assert why in str(error.value)


def test_an_own_operation_may_be_like_an_earlier_one_of_the_file() -> None:
    ops = 'f = { like = "positive", kernels = "integer", gives = "f32" }'
    head = f'{NPU.partition("[ops]")[0]}[ops]\n'
    found = parse(f'{head}{ops}\ng.like = "f"\nh = {{ like = "g", gives = "i32" }}')
    assert [str(found.explain("int8", op=op).dtype) for op in "fgh"] == ["float32", "float32", "int32"]
    assert [found.explain("float32", op=op).dtype for op in "fgh"] == [None, None, None]
    with pytest.raises(tl.FormatError, match="no operation can be like 'g'"):
        parse(f'{head}h.like = "g"\n{ops}\ng.like = "f"')


def test_an_operation_of_another_system_is_refused_there() -> None:
    program = tl.program("quantize(x)", npu(), x="float32")
    reason = program.under("numpy")[-1].reason
    assert reason == "unknown operation 'quantize' (did you mean quantile?)"
    other = parse(NPU.replace('parameters = "scale"', 'parameters = "step"').replace('"npu"', '"tpu"'))
    with pytest.raises(tl.ProgramError, match="quantize is called otherwise in tpu"):
        tl.program("quantize(x)", npu(), other, x="float32")


def test_a_shape_that_does_not_follow_is_stated() -> None:
    program = tl.program("conv(x, w, shape=(1, 8))", npu(), x="int8[3]", w="int8[3]")
    assert program.steps[-1].shape == (1, 8)
    assert tl.program("conv(x, w)", npu(), x="int8[3]", w="int8[3]").steps[-1].shape is None


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("like", "matmull", "steps[1].own: no operation can be like 'matmull' (did you mean matmul?)"),
        ("operands", ["x", "x"], "'x' is no name for an argument of quantize"),
        ("operands", "x", "steps[1].own.operands: no list"),
    ],
)
def test_damaged_json_of_an_own_operation_is_refused(key: str, value: object, why: str) -> None:
    import json

    data = json.loads(tl.program("quantize(x)", npu(), x="float32").to_json())
    data["steps"][1]["own"][key] = value
    with pytest.raises(tl.ProgramError) as error:
        tl.Program.from_json(json.dumps(data))
    assert why in str(error.value)


def test_explicit_casts_follow_the_file() -> None:
    def outcome(source: str, x: str) -> object:
        return tl.program(source, x=x).under(npu())[-1]

    assert outcome("x.astype(uint8)", "float32").reason == "float32 is not cast to uint8: it needs quantize"
    assert outcome("x.astype(int8)", "bfloat16").reason == "bfloat16 is not cast to int8: go by float32"
    assert str(outcome("x.astype(int8)", "float32")) == "int8"
    assert outcome("x.astype(int8)", "float32").cast.rule.lines == (13,)
    assert outcome("x.astype(int32)", "float32").cast is None
    assert outcome("x + x.astype(int8)", "int8").cast is None


def test_a_typed_graph_writes_out_what_a_cast_does() -> None:
    graph = tl.program("x.astype(int8)", x="float32[6]").explicit(npu())
    graph.check()
    x = np.float32([0.5, 1.5, -2.5, 1e9, -np.inf, np.nan])
    assert graph.run(np, x=x).tolist() == [0, 2, -2, 127, -128, 0]
    with pytest.raises(tl.ProgramError, match="a cast of float32 to bfloat16 that rounds stochastic"):
        tl.program("x.astype(bfloat16)", x="float32[6]").explicit(npu())
    with pytest.raises(tl.ProgramError, match=r"float32 is not cast to uint8: it needs quantize$"):
        tl.program("x.astype(uint8)", x="float32[6]").explicit(npu())


def test_the_command_explains_own_operations_and_casts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "npu.toml"
    file.write_text(NPU, encoding="utf-8")
    shown = said(capsys, "explain", "quantize(x).astype(float32)", "x=float32", "--system", str(file))
    assert "quantize(x): int8" in shown
    shown = said(capsys, "explain", "x.astype(int8)", "x=float32", "--system", str(file))
    words = " ".join(shown.split())
    assert "float32 to int8: rounds to nearest, ties to even; values beyond the range become" in words
    assert "rule: npu.toml, line 13" in words
    why = refused(capsys, "explain", "quantise(x)", "x=float32", "--system", str(file))
    assert "did you mean quantize" in why


def test_a_file_may_say_what_a_function_gives_that_another_operation_stands_for() -> None:
    """Polars computes a window of float16 in float64, and NumPy 1 multiplies the bounds by 1.0."""
    rolling = tl.program('pl.col("x").rolling_mean(2)', x="float16").under("polars")
    assert (str(rolling.dtype), rolling.departures) == ("float64", ())
    assert str(tl.program('pl.col("x").ewm_mean(2)', x="float16").under("polars").dtype) == "float16"
    spaced = tl.program("np.linspace(x, y)", x="int8[3]", y="float16[3]")
    assert [str(spaced.under(name).dtype) for name in ("numpy1", "numpy")] == ["float64", "float16"]
    with pytest.raises(tl.ProgramError, match=r"'_linspace_bounds' [(]did you mean linspace"):
        tl.program("np._linspace_bounds(x, y)", x="int8[3]", y="float16[3]")


@pytest.mark.parametrize("shape", ["[1,3,3,3]", "[1,3,32,32]"])
def test_a_stated_shape_counts_for_what_is_like_a_product(shape: str) -> None:
    """Both where a product of these shapes would have another shape, and where there is none."""
    system = parse(NPU.replace('like = "convolve"', 'like = "matmul"'))
    program = tl.program("conv(x, w, shape=(1, 8))", system, x=f"int8{shape}", w="int8[8,3,3,3]")
    assert program.steps[-1].shape == (1, 8)
    assert str(program.under(system).dtype) == "int32"
    with pytest.raises(tl.ProgramError, match=r"its shape is \(3,\), not \(4,\)"):
        tl.program("quantize(x, shape=(4,))", system, x="float32[3]")
