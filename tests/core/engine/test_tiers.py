"""What counts by its kind only: Python scalars and arrays without dimensions beside arrays."""

from __future__ import annotations

import pytest
from small_systems import CHAIN, NUMPYLIKE, make, said, steps

import typelattice as tl
from typelattice.core.engine.decisions import TiersJoined


@pytest.mark.parametrize(
    ("operands", "answer"),
    [
        (("int8", int), "int8"),  # no higher kind: the array stays
        (("int8", 5), "int8"),
        (("uint8", int), "uint8"),
        (("float32", int), "float32"),
        (("float32", float), "float32"),
        (("complex64", float), "complex64"),
        (("bool", int), "int32"),  # a higher kind: the join with its default
        (("int8", float), "float64"),
        (("int8", complex), "complex128"),
        (("float32", complex), "complex64"),  # the least complex above the float
        (("float64", complex), "complex128"),
        (("int8", int, float), "float64"),  # the scalars meet first
        (("bool", "int32", True), "int32"),
        (("uint8", True), "uint8"),
        (("bool", True), "bool"),
        ((int,), "int32*"),
        ((int, float), "float64"),
        ((True,), "bool"),
        ((True, int), "int32"),
        (("int8:0d", "int16"), "int16"),  # a tier that is not listed counts as the highest
        (("int8:0d", int), "int8"),
    ],
)
def test_a_scalar_counts_by_its_kind(operands: tuple[object, ...], answer: str) -> None:
    s = make(CHAIN, **NUMPYLIKE)
    assert said(s, *operands).rstrip("*") == said(s, *reversed(operands)).rstrip("*") == answer.rstrip("*")


def test_the_steps_of_tiers_name_both_sides() -> None:
    s = make(CHAIN, **NUMPYLIKE)
    assert steps(s, "int8", int) == [
        ("order", None, ("int32",), "int32"),
        ("order", None, ("int8",), "int8"),
        ("tiers", None, ("int8", "int32"), "int8"),
    ]
    assert steps(s, "int8", float)[-1] == ("tiers", None, ("int8", "float64"), "float64")
    assert steps(s, "float32", complex)[-1] == ("tiers", None, ("float32", "complex128"), "complex64")


def test_three_tiers_count_from_the_lowest_up() -> None:
    s = make(CHAIN, tiers=["array", "0d", "scalar"], defaults={"int": "i32", "float": "f32"})
    assert said(s, "int8", "int16:0d") == "int8"
    assert said(s, "bool", "int16:0d") == "int16"
    assert said(s, "int8", "float64:0d") == "float64"
    assert said(s, "int8:0d", float) == "float32"
    assert said(s, "int8:0d", "int16:0d", int) == "int16"
    assert said(s, "uint8", "int16:0d", float) == "float32"
    assert said(s, "int8", "int16:0d", 3, "uint8") == "int16"


def test_two_tiers_without_scalars() -> None:
    s = make(CHAIN, tiers=["array", "0d"])
    assert said(s, "int8", "int16:0d") == "int8"
    assert said(s, "int8", int) == "- nothing is said of a Python int"
    assert said(s, int) == "- nothing is said of a Python int"


def test_a_scalar_without_a_default_adopts_and_that_is_all() -> None:
    s = make(CHAIN, tiers=["array", "scalar"])
    assert said(s, "int8", int) == said(s, "int8", int, int) == "int8"
    assert said(s, "float32", complex) == "complex64"
    assert said(s, int) == said(s, int, int) == "- a Python int alone has no dtype here"
    assert said(s, int, float) == said(s, float, int) == "- a Python float alone has no dtype here"
    p = s.explain("int8", float)
    assert p.reason == "no rule takes int8 to a Python float"
    assert p.remedy == "cast the array to a float dtype, e.g. float32"
    assert p.decision == TiersJoined((tl.dtype("int8"), s.explain(float).decision.nodes[0]), None)
    assert s.explain(int).remedy == "give an array or a dtype too"


def test_a_0d_array_of_a_higher_kind_that_no_rule_raises_to_is_named_by_its_dtype() -> None:
    s = make("u8; f32", tiers=["array", "0d", "scalar"])
    p = s.explain("uint8", "float32:0d")
    assert (p.reason, p.remedy) == (
        "no rule takes uint8 to a 0-d array of float32",
        "cast the array to a float dtype, e.g. float32",
    )
    p = make("b; u8", tiers=["array", "0d", "scalar"]).explain("bool", "uint8:0d")
    assert (p.reason, p.remedy) == (
        "no rule takes bool to a 0-d array of uint8",
        "cast the array to an unsigned dtype, e.g. uint8",
    )


def test_without_a_scalar_tier_a_scalar_needs_a_node() -> None:
    s = make(CHAIN)
    p = s.explain("int8", int)
    assert (p.reason, p.remedy) == ("nothing is said of a Python int", "cast it to a dtype, e.g. int8")
    assert [str(n) for n in p.decision.nodes] == ["int8", "i*"]
    assert said(s, "int8", True) == "int16"
    assert said(make(CHAIN, defaults={"int": "i32"}), "int8", int) == "int32"


def test_the_least_complex_above_a_float_is_the_narrowest() -> None:
    s = make(
        "f16 -> c128; f16 -> c64; b -> f32 -> c128", tiers=["array", "scalar"], defaults={"complex": "c128"}
    )
    assert said(s, "float16", complex) == "complex64"
    assert said(s, "float32", complex) == "complex128"
    lonely = make("f16; c64", tiers=["array", "scalar"], defaults={"complex": "c64"})
    assert said(lonely, "float16", complex) == "- no rule takes float16 to a Python complex"


def test_a_tie_settles_a_higher_kind_too() -> None:
    keys = {"tiers": ["array", "scalar"], "defaults": {"float": "f16"}}
    order = "i8, f16 -> f32, f64 -> c128\nb -> f16"
    assert said(make(order, **keys), "int8", float) == "- no rule takes int8 to a Python float"
    assert said(make(order, ties={"f32, f64": "f64"}, **keys), "int8", float) == "float64"


def test_what_the_file_says_of_a_scalar_goes_first() -> None:
    refusals = {"u8 + f*": "no fractions", "b + i*": "no truth"}
    s = make(CHAIN, **NUMPYLIKE, overrides={"i8 + f*": "f32", "f32 + i*": "f64"}, refusals=refusals)
    assert said(s, "int8", float) == "float32"
    assert said(s, "int16", float) == "float64"
    assert said(s, "float32", int) == "float64"
    assert said(s, "uint8", 2.5) == "- no fractions"
    assert said(s, "bool", int) == "- no truth"
    assert steps(s, "int8", float)[-1] == ("overrides", "i8 + f*", ("int8", "f*"), "float32")


def test_a_bool_scalar_is_an_array_where_no_default_says_otherwise() -> None:
    order = "b -> u8 -> i16\nb -> i8 -> i16"
    plain, own = (
        make(order, tiers=["array", "scalar"], **keys) for keys in ({}, {"defaults": {"bool": "b"}})
    )
    assert [x[0] for x in steps(plain, "int8", True)] == ["order"]
    assert [x[0] for x in steps(own, "int8", True)] == ["order", "order", "tiers"]
    assert said(plain, True) == said(own, True) == said(own, True, True) == "bool"


@pytest.mark.parametrize(
    ("operands", "answer"),
    [
        ((int,), "int32"),
        ((2**31 - 1,), "int32"),
        ((2**31,), "int64"),
        ((2**63,), "int64"),  # the last, where none holds it
        ((1, 2**31), "int64"),
        (("bool", 2**31), "int64"),
        (("int8", 2**31), "int8"),  # of no higher kind: the array stays
        (("int8", 1e300), "float64"),
        (("int8", 1.5), "float32"),
    ],
)
def test_of_several_defaults_the_first_that_holds_the_value_counts(
    operands: tuple[object, ...], answer: str
) -> None:
    keys = {"tiers": ["array", "scalar"], "defaults": {"int": "i32, i64", "float": "f32, f64"}}
    s = make("b -> i8 -> i32 -> i64 -> f32 -> f64", **keys)
    assert said(s, *operands) == answer
    if all(isinstance(x, int) for x in operands):
        assert (s.result_type(0), s.result_type(2**31)) == (tl.dtype("int32"), tl.dtype("int64"))


@pytest.mark.parametrize(
    ("operands", "answer"),
    [((2**31,), "int64"), ((1,), "int32"), (("bool", 2**31), "int32"), ((1, 2**31), "int32")],
)
def test_a_wider_default_of_a_lone_number_counts_beside_no_other(
    operands: tuple[object, ...], answer: str
) -> None:
    s = make("b -> i8 -> i32 -> i64", tiers=["array", "scalar"], defaults={"int": "i32, i64 if alone"})
    assert said(s, *operands) == answer


def test_a_further_default_is_a_step() -> None:
    assert steps(tl.system("c"), "int32", 2**40)[0] == ("defaults", "int", ("i*",), "int64")


def test_of_literals_alone_the_first_has_the_dtype() -> None:
    keys = {"tiers": ["array", "scalar"], "defaults": {"int": "i32, i64"}, "fit": {"int": "least dtype"}}
    s = make("i8 -> i32 -> i64", first_is_array=True, **keys)
    assert said(s, 1, 2**40, op="where") == "int32"
    assert said(s, 2**40, 1, op="where") == said(s, "int8", 2**40, op="where") == "int64"


def test_a_scalar_that_comes_first_counts_as_an_array() -> None:
    order, keys = "i32; f32; c64", {"tiers": ["array", "scalar"], "defaults": {"int": "i32", "float": "f32"}}
    assert (
        said(make(order, **keys, first_is_array=True), int, float)
        == "- no rule takes int32 to a Python float"
    )
    assert said(make(order, **keys), int, float) == "- nothing lies above both"
    assert said(make(order, **keys, first_is_array=True), float, int) == "float32"
    assert said(make(order, **keys, first_is_array=True), int, "float32") == "float32"  # among scalars alone
    assert said(make(order, **keys, first_is_array=True), 2**31, int) == "int32"
    p = make(order, **keys, first_is_array=True).explain(2**31, int, op="add")
    assert p.reason == "2147483648 is out of range for int32"
    for_add = make(order, **keys, ops={"add": {"counts-as": "array if first"}})
    assert said(for_add, 1.5, "int32", op="add") == "- nothing lies above both"
    assert said(for_add, "float32", 1, op="add") == "float32"
    assert said(for_add, 1, "float32", op="add") == "- nothing lies above both"
    assert said(for_add, 1, "float32", op="subtract") == "float32"
