"""What an operation computes in, and what it gives."""
from __future__ import annotations

import numpy as np
import pytest
from small_systems import CHAIN, NUMPYLIKE, make, said, steps

import typelattice as tl


def test_one_of_several_dtypes_may_have_to_hold_what_becomes_another() -> None:
    where = {"limits": {"u8, i8": "i32, u32"}, "fit": {"int": "wrap"}}
    s = make("u8, i8 -> i32; u32", tiers=["array", "scalar"], defaults={"int": "i32"}, ops={"where": where})
    assert [said(s, "uint8", x, op="where") for x in (-(2**31), 2**32 - 1)] == ["uint8", "uint8"]
    for value in (2**32, -(2**31) - 1):
        assert said(s, "int8", value, op="where") == f"- {value} is out of range for uint32"


def test_operands_may_stay_apart_where_the_result_has_a_dtype_of_its_own() -> None:
    s = make("b; u8; i8; c64", ops={"equal": {"joins": "if possible"}, "less": {"joins": "if possible"}})
    assert said(s, "uint8", "int8", op="equal") == "bool"
    assert said(s, "uint8", "int8") == "- nothing lies above both"
    assert said(s, "uint8", "complex64", op="less") == "- less takes no complex"
    assert steps(s, "uint8", "complex64", op="less")[-1] == ("ops", "ordering", ("complex64",), None)
    assert steps(s, "uint8", 1j, op="less")[-1] == ("ops", "ordering", ("c*",), None)
    assert said(s, "uint8", "float32", op="equal") == "- mine has no float32"
    assert s.explain("uint8", "int8", op="equal").node is None
    xp = tl.namespace(s, np)
    with pytest.raises(tl.NamespaceError, match="uint8 and int8 have no dtype in common to compute equal in"):
        xp.equal(xp.ones(2, dtype="uint8"), xp.ones(2, dtype="int8"))


def test_a_pair_that_never_joins_is_compared_as_it_is() -> None:
    s = make("u64, i64 -> f64", ops={"ordering": {"joins": {"u64 + signed": "never"}}})
    apart, together = s.explain("uint64", "int64", op="less"), s.explain("uint64", "uint64", op="less")
    assert (apart.compute, str(apart.dtype), apart.casts) == (None, "bool", ())
    assert str(together.compute) == "uint64"
    assert str(s.explain("uint64", "int64", op="equal").compute) == "float64"


def test_a_table_of_pairs_replaces_the_join_of_the_class_and_says_how_the_rest_joins() -> None:
    ops: dict[str, object] = {"arithmetic": {"joins": "same dtype"}, "add": {"joins": {"u8 + i8": "i32"}}}
    ops["multiply"] = {"joins": {"u8 + i8": "i32", "rest": "same dtype"}}
    s = make("u8, i8 -> i16 -> i32", ops=ops)
    assert [said(s, "uint8", "int8", op=op) for op in ("add", "multiply")] == ["int32", "int32"]
    assert said(s, "int8", "int16", op="add") == "int16"
    assert said(s, "int8", "int16", op="multiply").startswith("- multiply does not promote")


def test_an_array_of_a_dtype_that_absorbs_decides_alone() -> None:
    ops = {"*": {"kernels": "all", "joins": {"bool + any": "b"}}, "*=": {"gives": "new array"}}
    s = make("b -> u8; f32", tiers=["array", "scalar"], ops=ops)
    for operands in (("bool", "float32"), ("uint8", "bool:0d"), ("bool", 1.5), ("bool", "bool")):
        assert said(s, *operands, op="*") == "bool"
    assert said(s, "float32", "bool", op="*=") == "bool"
    assert said(s, True, "uint8", op="*") == "uint8"
    assert said(s, "bool", "int8", op="*") == "- mine has no int8"
    assert said(s, "uint8", "float32", op="*").startswith("- ")
    assert steps(s, "uint8", "bool", op="*") == [("ops", "*", ("uint8", "bool"), "bool")]


def test_an_operation_computes_in_what_to_says() -> None:
    to = {"b, u8": "f32", "i16": "default float", "i8": "i16"}
    s = make(CHAIN, defaults={"float": "f64"}, ops={"divide": {"kernels": "float", "computes": to}})
    assert said(s, "uint8", "bool", op="divide") == "float32"
    assert said(s, "uint8", "int16", op="divide") == "float64"
    assert said(s, "float32", "int16", op="divide") == "float32"
    assert said(s, "int32", "int32", op="divide") == "- divide takes no signed integers"
    assert said(s, "int8", "int8", op="divide") == "- divide takes no signed integers"  # nor int16
    p = s.explain("uint8", "uint8", op="divide")
    assert (p.node, p.compute, p.dtype) == (tl.dtype("uint8"), tl.dtype("float32"), tl.dtype("float32"))
    assert steps(s, "uint8", "bool", op="divide")[-1] == ("ops", "divide", ("uint8",), "float32")
    by_kind = make(CHAIN, ops={"divide": {"kernels": "all", "computes": {"integer": "f32", "u8": "f64"}}})
    assert said(by_kind, "uint8", "uint8", op="divide") == "float64"
    assert said(by_kind, "int8", "int8", op="divide") == "float32"


def test_an_operation_gives_the_dtype_at_which_operands_joined() -> None:
    softly = {"computes": {"i8, u8": "f32"}, "gives": "joined", "kernels": "all"}
    s = make(CHAIN, ops={"mean": softly})
    p = s.explain("int8", op="mean")
    assert (p.node, p.compute, p.dtype) == (tl.dtype("int8"), tl.dtype("float32"), tl.dtype("int8"))
    assert said(s, "int16", op="mean") == "int16"


def test_an_operation_gives_single_dtypes_another_result() -> None:
    s = make(CHAIN, defaults={"int": "i32"}, ops={"truth": {"gives": {"u8": "u8", "complex": "real"}},
                                                  "any": {"gives": "default int"}})  # fmt: skip
    assert said(s, "uint8", op="all") == "uint8"
    assert said(s, "complex64", op="all") == "float32"
    assert said(s, "int8", op="all") == "bool"
    assert said(s, "uint8", op="any") == "int32"  # what is said of an operation counts more


def test_an_operation_gives_another_dtype_than_it_computes_in() -> None:
    s = make(CHAIN, defaults={"int": "i32"}, ops={"arg-extreme": {"kernels": "all"}, "sum": {"gives": "f64"}})
    p = s.explain("int8", "int16", op="equal")
    assert (p.compute, p.dtype) == (tl.dtype("int16"), tl.dtype("bool"))
    assert steps(s, "int8", "int16", op="equal")[-1] == ("ops", "comparison", ("int16",), "bool")
    assert said(s, "complex64", op="abs") == "float32"
    assert said(s, "complex128", op="abs") == "float64"
    assert said(s, "int8", op="abs") == "int8"
    assert said(s, "float32", op="argmax") == "int32"
    assert said(s, "int8", op="sum") == "float64"
    assert said(make(CHAIN), "float32", op="argmax") == "- mine has no default dtype for signed"


def test_an_int_is_made_another_dtype_before_it_becomes_one() -> None:
    keys = {**NUMPYLIKE, "fit": {"int": "wrap"}, "limits": {"i8, i16": "i32"}}
    s = make(CHAIN, **keys, ops={"multiply": {"limits": {}}, "subtract": {"limits": {"int": "i16"}}})
    assert said(s, "int8", 300, op="add") == "int8"
    assert said(s, "int8", 2**40, op="add") == "- 1099511627776 is out of range for int32"
    assert said(s, "float32", 2**40, op="add") == "float32"
    assert said(s, "int8", 2**40, op="multiply") == "int8"
    assert said(s, "int8", 300, op="subtract") == "int8"
    assert "has to lie within int16, and 1099511627776 does not" in said(s, "float32", 2**40, op="subtract")
    assert said(s, "int8", 2**40) == "int8"  # no value counts in promotion alone


def test_the_steps_of_an_operation_that_changes_nothing_are_those_of_promotion() -> None:
    s = make(CHAIN, ops={"in-place": {"kernels": "all", "gives": "left, no higher category"}})
    assert steps(s, "int16", "uint8", op="+=") == [("order", None, ("int16", "uint8"), "int16")]
    assert steps(s, "uint8", "int8", op="+=") == [
        ("order", None, ("uint8", "int8"), "int16"),
        ("ops", "in-place", ("int16", "uint8"), "uint8"),
    ]
    alike = make(CHAIN, ops={"arithmetic": {"joins": "same dtype"}})
    assert steps(alike, "int8", "int16", op="add")[-1] == ("ops", "arithmetic", ("int8", "int16"), None)


def test_an_operation_may_give_the_complex_dtype_of_what_it_computes_in() -> None:
    s = make(CHAIN, ops={"maths": {"kernels": "all", "gives": "complex"}})
    given = [said(s, name, op="sqrt") for name in ("float32", "float64", "complex64", "int8")]
    assert given == ["complex64", "complex128", "complex64", "int8"]
