"""A typed graph before and after a pass of a compiler: changed dtypes and accumulators are found."""

from __future__ import annotations

import pytest

import typelattice as tl
from typelattice.core.system_files.reader import parse

SYSTEM = """
name = "npu"
tiers = ["array", "scalar"]
defaults = { int = "i32", float = "f32" }
order = "i8 -> i32 -> f32; bf16 -> f32"
[ops]
products.accumulates = { i8 = "i32", bf16 = "f32" }
products.gives = { bf16 = "joined" }
scaled = { like = "matmul", parameters = "scale" }
"""
SOURCE = "matmul(x, y).astype(float32) * 2.0 + scaled(x, y, scale=1.0) + sum(x @ y)"


def typed(source: str = SOURCE, dtype: str = "int8") -> tl.Program:
    return tl.program(source, parse(SYSTEM), x=f"{dtype}[2,2]", y=f"{dtype}[2,2]").explicit(parse(SYSTEM))


def after(graph: tl.Program, old: str, new: str) -> tl.Program:
    """The graph after a pass, which changed one line of its text."""
    assert old in str(graph)
    return tl.program(str(graph).replace(old, new), parse(SYSTEM))


def test_a_graph_that_a_pass_left_alone_passes() -> None:
    graph = typed()
    graph.check(before=graph)
    tl.Program.from_json(graph.to_json()).check(before=graph)
    tl.program(str(graph), parse(SYSTEM)).check(before=graph)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (
            't2: "int32" = xp.matmul', 't2: "int8" = xp.matmul',
            r"'xp.matmul\(x, y\)'.*: \(int8, int8\) -> int32 before, \(int8, int8\) -> int8 after",
        ),
        (
            "accumulator=int32", "accumulator=float32",
            "adding up in int32 -> int32 before, .* adding up in float32",
        ),
    ],
)  # fmt: skip
def test_a_dropped_dtype_or_accumulator_is_named(old: str, new: str, why: str) -> None:
    graph = typed()
    with pytest.raises(tl.ProgramError, match=why):
        after(graph, old, new).check(before=graph)


def test_a_product_that_lost_its_out_dtype_is_found_though_its_result_is_the_same() -> None:
    """The pass folded the cast after a product in float32 into a product in bfloat16."""
    graph = typed("x @ y", "bfloat16")
    folded = after(graph, 't2: "float32" = x @ y\n    t3 = astype(t2, bfloat16)', 't3: "bfloat16" = x @ y')
    assert folded.under(parse(SYSTEM)).dtype is graph.under(parse(SYSTEM)).dtype
    with pytest.raises(tl.ProgramError, match=r"-> float32 before, .* -> bfloat16 after"):
        folded.check(before=graph)


def test_removed_casts_and_new_calls_are_no_difference() -> None:
    graph = tl.program("abs(x.astype(int32).astype(float32))", x="int8[2]").explicit("jax")
    fewer = tl.program("abs(x.astype(float32))", x="int8[2]").explicit("jax")
    fewer.check(before=graph)
    tl.program("exp(abs(x.astype(float32)))", x="int8[2]").explicit("jax").check(before=graph)


def test_other_results_are_found() -> None:
    graph = tl.program("abs(x), x", x="int8[2]").explicit("jax")
    with pytest.raises(tl.ProgramError, match="2 results before, 1 after"):
        tl.program("abs(x)", x="int8[2]").explicit("jax").check(before=graph)
    with pytest.raises(tl.ProgramError, match="result 1: int8 before, int32 after"):
        tl.program("abs(x), x.astype(int32)", x="int8[2]").explicit("jax").check(before=graph)
