"""Dtypes with parameters: decimals, a scale and a zero point, blocks; joined, computed, refused, told."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import pytest

import typelattice as tl
from typelattice.core.system_files.reader import parse

DECIMALS = parse("""
name = "decimals"
combine = "fold"
order = "u8, i8 -> i32 -> decimal -> f32 -> f64"
overrides = { "u8 + i8" = "decimal" }
[dtypes.decimal]
kind = "float"
bits = 128
specials = "sz"
parameters = { p = "1 to 38", s = "0 to p" }
joins = { s = "min(max(s), 38 - max_member(p - s))", p = "min(max(p - s) + s, 38)" }
from = { i8 = "3, 0", u8 = "4, 0", i32 = "10, 0" }
[ops]
add.gives = { decimal = "decimal(min(p + 1, 38), s)" }
multiply.gives = { decimal = "decimal(min(sum(p), round_up(max(p), 18, 38)), sum(s))" }
divide.kernels = "numeric"
divide.gives = { decimal = "decimal(min(left(p) + right(s) + 4, 38), left(s) + 4)" }
rounding.gives = { decimal = "decimal(p, 0)" }
sum.gives = { i32 = "decimal(38, 0)" }
""")
BLOCKS = parse("""
name = "blocks"
tiers = ["array", "scalar"]
defaults = { float = "f32" }
order = "i8 -> f32; q8, block8 -> f32"
[dtypes]
q8 = { kind = "float", bits = 8, parameters = { scale = "number", zero = "-128 to 127" } }
block8 = { kind = "float", bits = 8, parameters = { n = "1 to 64" }, joins = { n = "min(n)" } }
[ops]
multiply.gives = { q8 = "q8(prod(scale), 0)" }
""")


@pytest.mark.parametrize(
    ("operands", "op", "expected"),
    [
        (["decimal(10,2)", "decimal(5,4)"], None, "decimal(12,4)"),
        (["decimal(10,2)", "decimal(10,2)"], None, "decimal(10,2)"),
        (["decimal(10,2)", "i32"], None, "decimal(12,2)"),
        (["decimal(10,2)", "f32"], None, "float32"),
        (["decimal(38,2)", "decimal(38,10)"], None, "decimal(38,2)"),  # digits after the point give way
        (["i32", "decimal(38,30)"], None, "decimal(38,30)"),  # to other decimals only
        (["u8", "i8"], None, "decimal(4,0)"),
        (["u8", "i8", "decimal(4,4)"], None, "decimal(8,4)"),
        (["decimal", "i8"], None, "decimal"),  # of unknown parameters
        (["decimal(10,2)", "decimal(5,4)"], "add", "decimal(13,4)"),
        (["decimal(10,2)", "decimal(5,4)"], "multiply", "decimal(15,6)"),
        (["decimal(10,2)", "decimal(18,4)"], "multiply", "decimal(18,6)"),
        (["decimal(10,2)", "decimal(19,4)"], "multiply", "decimal(29,6)"),
        (["i8", "u8"], "multiply", "decimal(8,0)"),  # both are cast to decimal(4,0) first
        (["i8", "decimal(4,1)"], "multiply", "decimal(7,1)"),
        (["decimal(10,2)", "decimal(5,4)"], "divide", "decimal(18,6)"),
        (["decimal(10,2)"], "floor", "decimal(10,0)"),
        (["decimal", "decimal(5,4)"], "multiply", "decimal"),
        (["i32"], "sum", "decimal(38,0)"),  # by numbers alone
        (["decimal(10,2)", "decimal(5,4)"], "where", "decimal(12,4)"),
        (["decimal(10,2)", "decimal(5,4)"], "equal", "bool"),
        (["decimal(10,2)", "decimal(5,4)"], "+=", "decimal(10,2)"),  # the left operand keeps its own
    ],
)
def test_parameters_are_computed(operands: Sequence[str], op: str | None, expected: str) -> None:
    given = ["bool", *operands] if op == "where" else operands
    assert str(DECIMALS.explain(*given, op=op).dtype) == expected
    if op is None:
        assert str(DECIMALS.result_type(*operands)) == expected


def test_what_has_to_be_the_same_is_refused() -> None:
    p = BLOCKS.explain("q8(0.5,3)", "q8(0.25,3)")
    assert (p.dtype, p.reason) == (None, "scale differs: 0.5 and 0.25")
    assert p.rule.lines == (7,)
    assert str(BLOCKS.result_type("q8(0.5,3)", "q8(0.5,3)")) == "q8(0.5,3)"
    assert str(BLOCKS.explain("q8(0.5,3)", "q8(0.25,3)", op="multiply").dtype) == "q8(0.125,0)"
    assert str(BLOCKS.result_type("block8(32)", "block8(16)", "block8(64)")) == "block8(16)"
    assert str(BLOCKS.result_type("block8(32)", 1.5)) == "block8(32)"  # a lower tier adds nothing


def test_a_result_that_is_no_member_is_refused() -> None:
    p = DECIMALS.explain("decimal(38,30)", "decimal(38,30)", op="multiply")
    assert (p.dtype, p.reason) == (None, "s of decimal(38,60) should be at most 38")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("decimal(39,0)", "p of decimal(39,0) should be at most 38"),
        ("decimal(3,4)", "s of decimal(3,4) should be at most 3"),
        ("decimal(0,0)", "p of decimal(0,0) should be at least 1"),
        ("decimal(1.5,0)", "p of decimal(1.5,0) should be a whole number"),
        ("decimal(3)", "decimal has 2 parameters; write decimal(p,s)"),
        ("decimal(3,x)", "'x' is no number; write decimal(p,s)"),
        ("decimal(1e999,0)", "'1e999' is no number; write decimal(p,s)"),
        ("decimal(3,1", "cannot read 'decimal(3,1'; write decimal(p,s)"),
        ("decimla(3,1)", "no dtype 'decimla' with parameters is known (did you mean decimal?)"),
        ("int8(3)", "no dtype 'int8' with parameters is known"),
    ],
)
def test_members_that_cannot_be(text: str, reason: str) -> None:
    with pytest.raises(tl.DTypeError) as caught:
        DECIMALS.explain(text, "i8")
    assert str(caught.value) == reason


def test_members_are_values() -> None:
    a, b = DECIMALS.result_type("decimal(10,2)"), DECIMALS.operand("decimal(10, 2)").dtype
    assert a is b and a.family is DECIMALS.custom_dtypes["decimal"] and a.arguments == (10, 2)
    assert pickle.loads(pickle.dumps(a)) is a


def test_many_members_are_not_remembered() -> None:
    before = len(DECIMALS._pairs)
    for p in range(5, 38):
        DECIMALS.result_type(DECIMALS.result_type(f"decimal({p},1)"), DECIMALS.result_type("decimal(5,4)"))
    assert len(DECIMALS._pairs) == before


def test_explanations_say_how() -> None:
    said = str(DECIMALS.explain("decimal(10,2)", "i32", op="add"))
    assert "int32 counts as decimal(10,0)" in said and "p = min(p + 1, 38) = 13" in said
    assert "casts         int32 to decimal(10,0): " in said and "line 14" in said


def test_programs_print_and_read_back() -> None:
    made = tl.program("x * y + y", x="decimal(10,2)[4]", y="int32[4]").explicit(DECIMALS)
    assert str(tl.program(str(made))) == str(made)
    assert [str(step.dtype) for step in tl.program(str(made)).under(DECIMALS)][-1] == "decimal(19,2)"
    cast = tl.program('x.astype("decimal(38,10)")', x="decimal(10,2)").under(DECIMALS)
    assert str(cast.dtype) == "decimal(38,10)"
