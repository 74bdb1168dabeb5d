"""Accumulators: operands keep their dtypes, sums have another, and the result may have a third."""

from __future__ import annotations

import pytest

import typelattice as tl
from typelattice.core.system_files.reader import parse

CHIP = """
name = "chip"
order = '''
b -> u8, i8 -> i32 -> f32
f8_e4m3fn, f8_e5m2 -> bf16 -> f32
'''
[sets]
f8 = "f8_e4m3fn, f8_e5m2"
[ops]
products.accumulates = {"i8, u8" = "i32", "f8, bf16" = "f32", "u8 + i8" = "i32", "f8_e4m3fn + f8_e5m2"="f32"}
products.gives = { f8 = "bf16", bf16 = "joined", "f8_e4m3fn + f8_e5m2" = "bf16" }
sum = { accumulates = { "i8, u8" = "i32" } }
"""


@pytest.mark.parametrize(
    ("operands", "compute", "accumulator", "result"),
    [
        (("int8", "int8"), "int8", "int32", "int32"),
        (("uint8", "int8"), None, "int32", "int32"),
        (("int8", "uint8"), None, "int32", "int32"),
        (("float8_e5m2", "float8_e5m2"), "float8_e5m2", "float32", "bfloat16"),
        (("float8_e4m3fn", "float8_e5m2"), None, "float32", "bfloat16"),
        (("float8_e4m3fn", "bfloat16"), "bfloat16", "float32", "bfloat16"),
        (("int8", "int32"), "int32", None, "int32"),
        (("float32", "int8"), "float32", None, "float32"),
    ],
)
def test_operands_choose_the_accumulator_and_the_result(
    operands: tuple[str, str], compute: str | None, accumulator: str | None, result: str
) -> None:
    for op in ("matmul", "@", "vecdot"):
        p = parse(CHIP).explain(*operands, op=op)
        assert [d and str(d) for d in (p.compute, p.accumulator, p.dtype)] == [compute, accumulator, result]
        assert {str(c.target) for c in p.casts} <= {compute}
        assert p.arithmetic_dtype is tl.dtype(accumulator or compute or "")


def test_an_explanation_names_the_accumulator_and_the_line() -> None:
    p = parse(CHIP).explain("int8", "int8", op="matmul")
    assert "it takes int8, accumulates in int32 and gives int32" in str(p)
    assert p.rule.lines == (10,)
    mixed = parse(CHIP).explain("uint8", "int8", op="matmul")
    assert "it casts no operand, accumulates in int32 and gives int32" in str(mixed)
    assert mixed.rule.lines == (10,) and mixed.casts == ()


def test_a_word_of_an_operation_counts_before_the_pairs_of_its_class() -> None:
    text = CHIP + 'accumulate = { accumulates = { i8 = "i32" } }\nprod = { gives = "f32" }\n'
    assert str(parse(text).explain("int8", op="prod").dtype) == "float32"
    both = parse(CHIP.replace("sum = {", '"vecdot" = { gives = "f32" }\nsum = {'))
    assert str(both.explain("uint8", "int8", op="vecdot").dtype) != "bfloat16"


def test_operations_that_add_up_nothing_have_no_accumulator() -> None:
    system = parse(CHIP + 'computing = { accumulates = { i8 = "i32" } }\n')
    assert system.explain("int8", "int8", op="add").accumulator is None
    assert system.explain("int8", "int8", op="outer").accumulator is None
    assert str(system.explain("int8", op="prod").accumulator) == "int32"


def test_an_accumulator_outside_the_dtypes_is_refused() -> None:
    with pytest.raises(tl.FormatError, match="float64 is not in the order"):
        parse(CHIP.replace('"i8, u8" = "i32" } }', 'i8 = "f64" } }'))
