"""What a system makes of operands, on systems small enough to be reckoned by hand."""
from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import pytest

import typelattice as tl
from typelattice.engine.answer import Rule
from typelattice.engine.steps import Incomparable, Joined, Lowered, Misfit, Operated, Rejected
from typelattice.engine.system import MOST_REMEMBERED
from typelattice.explain.english import sections
from typelattice.facts.dtypes import Kind
from typelattice.facts.operations import NAMES
from typelattice.files.reader import parse
from typelattice.operands.objects import FINDERS, PLAIN, ObjectReader, forget
from typelattice.operands.operand import of

DIAMOND = "u8, i8 -> i16, f16\ni16, f16 -> f32 -> f64, c64 -> c128"  # u8 and i8 have two minimal bounds
CHAIN = "b -> u8 -> i16 -> i32 -> f32 -> f64\ni8 -> i16\nf32 -> c64 -> c128\nf64 -> c128"
JAXLIKE = "i* -> u8, i8\nu8, i8 -> i16 -> i32 -> f*\nf* -> f16, bf16 -> f32 -> f64"


def make(order: str, **keys: object) -> tl.System:
    """A system of this order."""
    lines = [f"{key.replace('_', '-')} = {toml(value)}" for key, value in keys.items()]
    return parse("\n".join(['name = "mine"', 'order = """', order, '"""', *lines]))


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f'"{key}" = {toml(x)}' for key, x in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, int):  # a bool too
        return str(value).lower()
    return f"'{value}'"


def said(s: tl.System, *operands: object, op: str | None = None) -> str:
    """The answer in a word: the dtype, * if weak; of a refusal the reason."""
    p = s.explain(*operands, op=op)
    return f"- {p.reason}" if p.dtype is None else f"{p.dtype}{'*' * p.weak}"


def steps(s: tl.System, *operands: object, op: str | None = None) -> list[tuple[object, ...]]:
    """The steps, in words."""
    return [
        (x.key, x.entry, tuple(map(str, x.nodes)), x.node and str(x.node))
        for x in s.explain(*operands, op=op).steps
    ]


# -- join


@pytest.mark.parametrize(
    ("operands", "answer"),
    [
        (("int8",), "int8"),
        (("int8", "int8"), "int8"),
        (("int8", "uint8"), "int16"),
        (("uint8", "int8"), "int16"),
        (("bool", "int8", "float32"), "float32"),
        (("float64", "complex64"), "complex128"),
        (("int8", "uint8", "int32", "bool"), "int32"),
    ],
)
def test_operands_meet_at_their_join(operands: tuple[str, ...], answer: str) -> None:
    s = make(CHAIN)
    assert said(s, *operands) == said(s, *reversed(operands)) == answer
    p = s.explain(*operands)
    assert (str(p.node), p.compute, p.weak, p.op, p.reason, p.remedy, p.fits) == (
        answer,
        p.dtype,
        False,
        None,
        None,
        None,
        (),
    )
    assert p.decision == Joined(tuple(dict.fromkeys(o.dtype for o in p.operands if o.dtype)), p.dtype)
    assert p.bounds == (p.dtype,)
    assert s.promote(*operands).dtype is s.result_type(*operands) is p.dtype


def test_a_join_is_of_the_set_where_pairs_would_refuse() -> None:
    s = make("b, u8 -> i16, f16 -> f32\ni8 -> f32")
    assert said(s, "bool", "uint8") == "- int16 and float16 both lie above, and no tie is recorded"
    assert said(s, "bool", "uint8", "int8") == "float32"
    fold = make("b, u8 -> i16, f16 -> f32\ni8 -> f32", combine="fold")
    assert said(fold, "bool", "uint8", "int8") == said(fold, "bool", "uint8")
    assert said(fold, "bool", "int8", "uint8") == "float32"


def test_two_minimal_bounds_and_no_tie_are_a_refusal() -> None:
    p = make(DIAMOND).explain("uint8", "int8")
    assert (p.dtype, p.node, p.compute, p.weak) == (None, None, None, False)
    assert p.reason == "int16 and float16 both lie above, and no tie is recorded"
    assert p.remedy == "cast one operand, e.g. to int16"
    assert [str(n) for n in p.bounds] == ["int16", "float16"]
    assert p.decision.node is None
    assert p.casts == ()


def test_three_minimal_bounds_all_lie_above() -> None:
    s = make("u8, i8 -> i16, f16, bf16")
    assert (
        said(s, "uint8", "int8") == "- int16 and float16 and bfloat16 all lie above, and no tie is recorded"
    )


def test_no_bound_is_a_refusal() -> None:
    s = make("b; i8; u8")
    p = s.explain("bool", "int8")
    assert (p.reason, p.remedy, p.bounds) == (
        "nothing lies above both",
        "cast one operand to the other's dtype",
        (),
    )
    assert said(s, "bool", "int8", "uint8") == "- nothing lies above all"
    assert said(s, "bool", "int8", "int8") == "- nothing lies above both"


def test_a_dtype_that_is_not_in_the_order_is_a_refusal() -> None:
    p = make(CHAIN).explain("int8", "bfloat16")
    assert (p.reason, p.remedy) == ("mine has no bfloat16", "cast it to a dtype that it has")
    assert p.decision == Joined((tl.dtype("bfloat16"),), None)


def test_a_tie_is_chosen() -> None:
    s = make(DIAMOND, ties={"i16, f16": "f16"})
    assert said(s, "uint8", "int8") == said(s, "int8", "uint8") == "float16"
    assert steps(s, "uint8", "int8") == [("ties", "i16, f16", ("uint8", "int8"), "float16")]
    assert steps(s, "uint8", "int16") == [("order", None, ("uint8", "int16"), "int16")]
    assert [str(n) for n in s.explain("uint8", "int8").bounds] == ["int16", "float16"]
    assert said(s, "float64", "complex64") == "complex128"


def test_a_tie_may_go_above_its_bounds() -> None:
    assert said(make(DIAMOND, ties={"i16, f16": "f32"}), "uint8", "int8") == "float32"


def test_a_tie_and_a_refusal_of_the_same_two_are_kept_apart() -> None:
    s = make("u8, i8 -> bf16, f16 -> f32", ties={"bf16, f16": "f16"}, refusals={"f16 + bf16": "not these"})
    assert steps(s, "uint8", "int8") == [("ties", "bf16, f16", ("uint8", "int8"), "float16")]
    assert steps(s, "float16", "bfloat16") == [("refusals", "f16 + bf16", ("float16", "bfloat16"), None)]


def test_a_tie_is_of_exactly_these_bounds() -> None:
    s = make("u8, i8 -> i16, f16, bf16\nb, u1 -> i4, u4", ties={"i16, f16, bf16": "i16"})
    assert said(s, "uint8", "int8") == "int16"
    assert said(s, "bool", "uint1") == "- int4 and uint4 both lie above, and no tie is recorded"


# -- fold and comparable


def test_pairs_are_folded_from_the_left() -> None:
    s = make(DIAMOND, combine="fold", ties={"i16, f16": "i16"})
    assert said(s, "uint8", "int8", "float16") == "float32"
    assert said(s, "uint8", "float16", "int8") == "float16"
    assert said(make(DIAMOND, ties={"i16, f16": "i16"}), "uint8", "int8", "float16") == "float16"
    assert [x[2] for x in steps(s, "uint8", "int8", "float16")] == [
        ("uint8",),
        ("uint8", "int8"),
        ("int16", "float16"),
    ]


def test_a_fold_of_one_and_of_the_same() -> None:
    s = make(DIAMOND, combine="fold")
    assert said(s, "uint8") == said(s, "uint8", "uint8", "uint8") == "uint8"
    assert said(s, "int64") == "- mine has no int64"


def test_an_override_goes_before_the_order() -> None:
    s = make(DIAMOND, combine="fold", overrides={"u8 + i8": "c64", "i16 + f32": "c128"})
    assert said(s, "uint8", "int8") == said(s, "int8", "uint8") == "complex64"
    assert said(s, "uint8", "int8", "float64") == "complex128"
    assert said(s, "uint8", "float16") == "float16"
    assert steps(s, "uint8", "int8")[-1] == ("overrides", "u8 + i8", ("uint8", "int8"), "complex64")


def test_a_refusal_gives_its_reason() -> None:
    s = make(CHAIN, refusals={"u8 + i8": "not these", "i32, f32, c64": "too much"})
    p = s.explain("uint8", "int8")
    assert (p.reason, p.remedy) == ("not these", "cast one operand")
    assert p.decision == Rejected((tl.dtype("uint8"), tl.dtype("int8")), None, "u8 + i8")
    assert said(s, "complex64", "int32") == "- too much"
    assert said(s, "uint8", "int16") == "int16"
    assert said(s, "bool", "uint8", "int16", "int8") == "- not these"  # of a set, every two
    with pytest.raises(tl.PromotionError) as caught:
        s.result_type("uint8", "int8")
    assert str(caught.value) == "mine refuses uint8 with int8\n  not these (text, line 8): cast one operand"
    assert caught.value.promotion.reason == "not these"
    with pytest.raises(tl.PromotionError, match="not these"):
        s.promote("uint8", "int8")


def test_a_fold_meets_a_refusal_only_on_its_way() -> None:
    s = make(CHAIN, combine="fold", refusals={"u8 + i8": "not these"})
    assert said(s, "uint8", "int8") == said(s, "bool", "uint8", "int8") == "- not these"
    assert said(s, "uint8", "int16", "int8") == "int16"


def test_comparable_must_be_one_of_the_operands() -> None:
    s = make(CHAIN, combine="comparable")
    assert said(s, "int8", "int16") == said(s, "int16", "int8") == "int16"
    assert said(s, "int8") == "int8"
    p = s.explain("uint8", "int8")
    assert (p.reason, p.remedy) == ("neither represents all values of the other", "cast both, e.g. to int16")
    assert p.decision == Incomparable((tl.dtype("uint8"), tl.dtype("int8")), None)
    assert said(make("b; i8", combine="comparable"), "bool", "int8") == "- nothing lies above both"


def test_comparable_is_asked_pair_by_pair_as_tensorflow_asks() -> None:
    """In its safe mode tnp.result_type(uint8, int8, int16) raises, (int16, uint8, int8) gives int16."""
    for s in (make(CHAIN, combine="comparable"), tl.system("tensorflow-safe")):
        assert said(s, "uint8", "int8", "int16") == "- neither represents all values of the other"
        assert said(s, "int16", "uint8", "int8") == "int16"


# -- tiers

NUMPYLIKE = {"tiers": ["array", "scalar"], "defaults": {"int": "i32", "float": "f64", "complex": "c128"}}


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
    assert (p.reason, p.remedy) == ("no rule takes int8 to a Python float", "cast the array to a float dtype")
    assert p.decision == Lowered((tl.dtype("int8"), s.explain(float).decision.nodes[0]), None)
    assert s.explain(int).remedy == "give an array or a dtype too"


def test_a_0d_array_of_a_higher_kind_that_no_rule_raises_to_is_named_by_its_dtype() -> None:
    s = make("u8; f32", tiers=["array", "0d", "scalar"])
    p = s.explain("uint8", "float32:0d")
    assert (p.reason, p.remedy) == (
        "no rule takes uint8 to a 0-d array of float32",
        "cast the array to a float dtype",
    )
    p = make("b; u8", tiers=["array", "0d", "scalar"]).explain("bool", "uint8:0d")
    assert (p.reason, p.remedy) == (
        "no rule takes bool to a 0-d array of uint8",
        "cast the array to an unsigned dtype",
    )


def test_without_a_scalar_tier_a_scalar_needs_a_node() -> None:
    s = make(CHAIN)
    p = s.explain("int8", int)
    assert (p.reason, p.remedy) == ("nothing is said of a Python int", "cast it to a dtype")
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


def test_a_further_default_is_a_step() -> None:
    assert steps(tl.system("c"), "int32", 2**40)[0] == ("defaults", "int", ("i*",), "int64")


def test_pairs_that_an_operation_refuses_are_of_arrays_and_of_scalars_apart() -> None:
    said_of_add = {"takes": "all", "refuses": ["bool + signed, i*", "unsigned + i16"]}
    s = make(CHAIN, **NUMPYLIKE, ops={"add": said_of_add})
    reason = s.explain("int8", "bool", op="add").reason
    assert reason == "add does not let int8 meet bool"
    assert s.explain("bool", 1, op="add").reason == "add does not let bool meet 1"
    assert steps(s, "bool", 1, op="add")[-1] == ("ops", "add", ("bool", "i*"), None)
    assert said(s, "int8", True, op="add") == "int16"  # which is no array
    assert said(s, "uint8", 1, op="add") == "uint8"
    assert said(s, "uint8", "int16:0d", op="add") == "- add does not let uint8 meet int16:0d"
    assert said(s, "uint8", "int8", op="add") == "int16"
    assert said(s, "bool", "int8", op="subtract") == "int16"
    cleared = make(CHAIN, **NUMPYLIKE, ops={"arithmetic": said_of_add, "add": {"refuses": []}})
    assert said(cleared, "bool", "int8", op="add") == "int16"
    assert said(cleared, "bool", "int8", op="multiply") == "- multiply does not let bool meet int8"


def test_a_pair_may_be_refused_in_one_order_alone() -> None:
    s = make(CHAIN, **NUMPYLIKE, ops={"add": {"refuses": ["signed then float, f*"]}})
    assert said(s, "int8", "float32", op="add") == "- add does not let int8 stand before float32"
    assert said(s, "int8", 1.5, op="add") == "- add does not let int8 stand before 1.5"
    assert said(s, "float32", "int8", op="add") == "float32"
    assert s.explain("int8", "float32", op="add").rule.quoted == s.explain("int8", 1.5, op="add").rule.quoted


def test_a_dtype_may_meet_itself_alone() -> None:
    s = make(CHAIN, **NUMPYLIKE, ops={"where": {"refuses": ["u8 + other, i*"]}})
    assert said(s, "uint8", "uint8", op="where") == "uint8"
    assert said(s, "uint8", "uint8:0d", op="where") == "uint8"
    for x, y in (("uint8", "int8"), ("int8", "uint8")):
        assert said(s, x, y, op="where") == f"- where does not let {x} meet {y}"
    assert said(s, "uint8", 1, op="where") == "- where does not let uint8 meet 1"
    assert said(s, "int8", "int16", op="where") == "int16"


def test_an_operand_may_count_as_another_before_it_meets_the_rest() -> None:
    solve = {"solve": {"takes": "all", "before": {"bool, int": "f64"}}}
    s = make(CHAIN, **NUMPYLIKE, ops=solve)
    assert said(s, "int8", "float32", op="add") == "float32"
    assert said(s, "int8", "float32", op="solve") == said(s, "int8", "int8", op="solve") == "float64"
    assert said(s, "float32", "complex64", op="solve") == "complex64"
    p = s.explain("int8", "float32", op="solve")
    assert "before" in p.rule.quoted[0]
    assert "int8 counts as float64 before its operands meet" in str(p)
    assert [str(cast.source) for cast in p.casts] == ["int8", "float32"]


def test_a_python_scalar_counts_so_too_where_it_is_told_apart_nowhere() -> None:
    ops = {"atan2": {"before": {"int": "f64"}, "takes": "all"}}
    alike = make(CHAIN, defaults={"int": "i32", "float": "f64"}, ops=ops)
    apart = make(CHAIN, **NUMPYLIKE, ops=ops)
    assert [said(s, 1, "float32", op="atan2") for s in (alike, apart)] == ["float64", "float32"]


def test_what_an_operand_counts_as_is_told_and_leaves_it_its_tier() -> None:
    ops = {"atan2": {"before": {"int": "f64"}, "takes": "all"}}
    s = make(CHAIN, tiers=["array", "0d"], defaults={"int": "i32", "float": "f64"}, ops=ops)
    assert said(s, "int8:0d", "float32", op="atan2") == "float32"
    assert said(s, "int8", "float32:0d", op="atan2") == said(s, 1, "float32", op="atan2") == "float64"
    assert steps(s, "int8", "float32", op="atan2")[0] == ("ops", "atan2", ("int8",), "float64")
    assert steps(s, 1, "float32", op="atan2")[0] == ("ops", "atan2", ("i*",), "float64")


def test_a_weak_operand_that_counts_as_its_own_dtype_is_weak_no_longer() -> None:
    keys = {"weak": "width", "defaults": {"int": "i32", "float": "f32"}}
    s = make(JAXLIKE, **keys, ops={"add": {"before": {"int": "i32"}}})
    assert said(s, "int32:weak", "int32:weak", op="subtract") == "int32*"
    assert said(s, "int32:weak", "int32:weak", op="add") == "int32"
    told = ("ops", "add", ("int32",), "int32")
    assert steps(s, "int32:weak", "int32", op="add").count(told) == 1  # and of what is not weak nothing
    assert said(s, "float16:weak", "float16:weak", op="add") == "float16*"


def test_an_order_of_its_own_is_all_that_counts_there() -> None:
    order = "u8, i8 -> i16, f16 -> f32"
    own = {"takes": "all", "order": order}
    pairs = {"overrides": {"u8 + f16, f*": "f32"}, "refusals": {"i8 + i16": "they do not meet"}}
    keys = {"tiers": ["array", "scalar"], "defaults": {"float": "f16"}, "combine": "fold"}
    s = make(order, **keys, ties={"i16, f16": "i16"}, **pairs, ops={"multiply": own})
    asked = [("uint8", "int8"), ("uint8", "float16"), ("uint8", 1.5), ("int8", "int16")]
    elsewhere = [said(s, *pair, op="add") for pair in asked]
    assert elsewhere == ["int16", "float32", "float32", "- they do not meet"]
    both = "- int16 and float16 both lie above, and no tie is recorded"
    assert [said(s, *pair, op="multiply") for pair in asked] == [both, "float16", "float16", "int16"]
    alike = make("u8, i8 -> i16", combine="comparable", ops={"multiply": {**own, "order": "u8, i8 -> i16"}})
    assert said(alike, "uint8", "int8", op="add").startswith("- neither represents all values of the other")
    assert said(alike, "uint8", "int8", op="multiply") == "int16"
    chain = "u8 -> i16 -> i32"
    wider = make(chain, after={"i16": "i32"}, ops={"multiply": {"takes": "all", "order": chain}})
    p = wider.explain("uint8", "int16", op="multiply")
    assert (str(p.steps[0].node), str(p.dtype)) == ("int16", "int32")  # at which they meet, what comes out


def test_what_operands_and_answers_count_as_is_told_of_an_order_of_its_own_too() -> None:
    keys = {"tiers": ["array", "scalar"], "defaults": {"int": "i32, i64"}, "before": {"u8": "i16"}}
    ops = {"multiply": {"takes": "all", "order": "i16 -> i32 -> i64 -> f32"}}
    s = make("i16 -> i32 -> i64 -> f32", **keys, after={"i64": "f32"}, ops=ops)
    assert steps(s, "uint8", "int64", op="multiply") == [
        ("before", "uint8", ("uint8",), "int16"),
        ("ops", "multiply", ("uint8", "int64"), "int64"),
        ("after", "int64", ("int64",), "float32"),
    ]
    told = str(s.explain("uint8", "int64", op="multiply"))
    assert "on entry      uint8 counts as int16\n" in told
    assert "on the answer int64 becomes float32\n" in told
    assert steps(s, 2**40, 1, op="multiply")[0] == ("defaults", "int", ("i*",), "int64")
    refused = make("u8; i8", before={"u4": "u8"}, ops={"multiply": {"takes": "all", "order": "u8; i8"}})
    assert [x[0] for x in steps(refused, "uint4", "int8", op="multiply")] == ["before", "ops"]


def test_an_operation_may_have_an_order_of_its_own() -> None:
    ops = {"matmul": {"takes": "all", "order": "u8 -> i8 -> f16"}}
    s = make("u8; i8; f16; f32", ops=ops)
    assert said(s, "uint8", "int8", op="matmul") == "int8"
    assert said(s, "uint8", "int8", op="where").startswith("- nothing lies above both")
    assert said(s, "uint8", "float32", op="matmul") == "- mine has no float32"
    p = s.explain("float16", "uint8", op="matmul")
    assert p.dtype is tl.dtype("float16")
    assert steps(s, "float16", "uint8", op="matmul")[0] == ("ops", "matmul", ("float16", "uint8"), "float16")
    assert "order" in p.rule.quoted[0]
    assert "its operands meet in an order of its own" in str(p)


def test_a_weak_result_may_have_to_be_of_the_default_dtype() -> None:
    divides = {"takes": "all", "weak": {"float": "refuse"}}
    s = make(JAXLIKE, weak="width", defaults={"int": "i32", "float": "f32"}, ops={"floor_divide": divides})
    refused = "- floor_divide gives no weak float16, but a weak float32 alone"
    assert said(s, "float16:weak", "float16:weak", op="floor_divide") == refused
    assert said(s, "float32:weak", "float16:weak", op="floor_divide") == "float32*"
    assert said(s, "float16:weak", "float16", op="floor_divide") == "float16"
    assert "refuse" in s.explain("float16:weak", "float16:weak", op="floor_divide").rule.quoted[0]


def test_loops_of_a_class_may_be_taken_away() -> None:
    looped = {"takes": "all", "loops": "f32"}
    s = make(CHAIN, ops={"matmul": looped, "vecdot": {"loops": ""}})
    assert [said(s, "int8", "int8", op=op) for op in ("tensordot", "vecdot")] == ["float32", "int8"]


def test_one_of_several_dtypes_may_have_to_hold_what_becomes_another() -> None:
    where = {"holds": {"u8, i8": "i32, u32"}, "fit": {"int": "wrap"}}
    s = make("u8, i8 -> i32; u32", tiers=["array", "scalar"], defaults={"int": "i32"}, ops={"where": where})
    assert [said(s, "uint8", x, op="where") for x in (-(2**31), 2**32 - 1)] == ["uint8", "uint8"]
    for value in (2**32, -(2**31) - 1):
        assert said(s, "int8", value, op="where") == f"- {value} is out of range for uint32"


def test_of_literals_alone_the_first_has_the_dtype() -> None:
    keys = {"tiers": ["array", "scalar"], "defaults": {"int": "i32, i64"}, "fit": {"int": "join"}}
    s = make("i8 -> i32 -> i64", first=True, **keys)
    assert said(s, 1, 2**40, op="where") == "int32"
    assert said(s, 2**40, 1, op="where") == said(s, "int8", 2**40, op="where") == "int64"


def test_an_operation_may_need_dimensions_in_one_system_alone() -> None:
    s = make(CHAIN, **NUMPYLIKE, ops={"index": {"dimensions": 1}})
    p = s.explain("int8:0d", op="argmax")
    assert p.reason == "argmax takes no 0-d array: every operand has at least 1 dimension"
    assert (p.decision.key, p.decision.entry) == ("ops", "index")
    assert said(s, "int8", op="argmax") == "int32"
    assert said(make(CHAIN, **NUMPYLIKE), "int8:0d", op="argmax") == "int32"


def test_a_value_may_have_to_fit_where_operands_join() -> None:
    divides = {"takes": "all", "computes": {"int": "f32"}}
    fit = {"int": "raise", "float": "inf"}
    here, joined = (
        make(CHAIN, **NUMPYLIKE, fit=fit, ops={"divide": {**divides, **more}})
        for more in ({}, {"adopts": "joined"})
    )
    assert said(here, "int8", 300, op="divide") == said(joined, "int8", 3, op="divide") == "float32"
    assert said(joined, "int8", 300, op="divide") == "- 300 is out of range for int8"


def test_integers_may_have_to_be_counted_by_a_float() -> None:
    s = make(CHAIN, **NUMPYLIKE, fit={"int": "counted raise", "float": "inf"})
    assert said(s, "float32", 2**24, op="add") == "float32"
    assert said(s, "float32", 2**24 + 1, op="add") == f"- {2**24 + 1} is out of range for float32"
    assert said(s, "float32", 1e39, op="add") == "float32"
    small = make("i32; f8_e4m3fn", tiers=["array", "scalar"], fit={"int": "counted raise", "float": "inf"})
    assert said(small, "float8_e4m3fn", 300, op="add") == "float8_e4m3fn"
    assert said(small, "float8_e4m3fn", 500, op="add") == "- 500 is out of range for float8_e4m3fn"


def test_a_weak_result_may_be_kept_where_nothing_else_is_computed_in() -> None:
    divides = {"takes": "all", "computes": {"int": "f32"}, "weak": "same"}
    s = make(JAXLIKE, defaults={"int": "i32", "float": "f32"}, ops={"divide": divides})
    assert [said(s, x, x, op="divide") for x in (int, float)] == ["float32", "float32*"]


def test_weak_arrays_may_stand_beside_strong_ones_only() -> None:
    refused = "- add takes a Python scalar, and a weak array,"
    for scalars, answer in (("beside", "int32*"), ("strong", refused)):
        s = make(JAXLIKE, defaults={"int": "i32", "float": "f32"}, ops={"add": {"scalars": scalars}})
        assert said(s, "int8:weak", 1, op="add").startswith(answer)
        assert said(s, "int8:weak", "int16", op="add") == "int16"
    assert steps(s, "int8:weak", "int8:weak", op="add") == [("ops", "add", ("int8",), None)]
    s = make(CHAIN, ops={"subtract": {"scalars": "none"}})
    assert steps(s, "int8", 1, op="subtract") == [("ops", "subtract", ("i*",), None)]


def test_what_has_no_dimensions_is_refused_by_its_dtype_or_its_kind() -> None:
    s = make(CHAIN)
    assert steps(s, "float32:0d", "float32", op="matmul") == [("ops", "matmul", ("float32",), None)]
    assert steps(s, "float32", 1, op="matmul") == [("ops", "matmul", ("i*",), None)]


def test_of_values_a_float_is_as_wide_as_numpy_1_counted_it() -> None:
    numpy1 = tl.system("numpy1")  # NumPy 1.26 says the same: the limits are 65000 and 3.4e38, not the largest
    found = [said(numpy1, "float16", value) for value in (64999.0, 65000.0, 3.39e38, 3.4e38)]
    assert found == ["float16", "float32", "float32", "float64"]


def test_an_int_beyond_its_array_may_join_it_by_its_value() -> None:
    order = "b -> u8 -> u16 -> u32 -> i64; b -> i8 -> i16 -> i32 -> i64 -> f64; u8 -> i16; u16 -> i32"
    s = make(order, tiers=["array", "scalar"], defaults={"int": "i32, i64"}, fit={"int": "join"})
    found = [said(s, "uint8", value) for value in (255, 300, -1, 2**31, 2**70)]
    assert found == ["uint8", "uint16", "int16", "uint32", "uint8"]
    assert [said(s, 128, x, op="add") for x in ("int8", "float64")] == ["int16", "float64"]
    assert steps(s, "uint8", 300)[2] == ("fit", "int", ("i*",), "uint16")
    assert [s.result_type("uint8", x) for x in (1, 300)] == [tl.dtype("uint8"), tl.dtype("uint16")]


def test_an_exponent_may_have_to_lie_within_a_dtype() -> None:
    s = make(CHAIN, **NUMPYLIKE, ops={"pow": {"takes": "all", "natural": "u8"}})
    assert said(s, "int32", 255, op="pow") == "int32"
    assert said(s, "int32", 256, op="pow") == "- pow of integers takes no integer beyond uint8 on the right"
    assert said(s, "int32", -1, op="pow") == "- pow of integers takes no negative integer on the right"
    assert said(s, "float32", 256, op="pow") == "float32"


def test_operands_may_stay_apart_where_the_result_has_a_dtype_of_its_own() -> None:
    s = make("b; u8; i8; c64", ops={"equal": {"meet": "apart"}, "less": {"meet": "apart"}})
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


def test_what_operands_give_that_stay_apart_is_written_into_the_left_one() -> None:
    s = make("b; u8; i8; f64", ops={"+=": {"meet": "apart", "gives": "f64", "takes": "all"}})
    assert said(s, "float64", "int8", op="+=") == "float64"
    assert said(s, "int8", "float64", op="+=") == "- float64 cannot be written into int8"
    assert steps(s, "float64", "int8", op="+=") == [("ops", "+=", ("float64", "int8"), "float64")]


def test_what_has_dimensions_is_written_into_no_array_without() -> None:
    """NumPy and PyTorch raise; in JAX the result is a new array."""
    s = make(CHAIN)
    assert said(s, "int16:0d", "int8", op="+=") == (
        "- += would write what has dimensions into an array that has none"
    )
    assert said(s, "int16:0d", "int8:0d", op="+=") == "int16"
    assert said(s, "int16", "int8:0d", op="+=") == said(s, "int16", "int8", op="+=") == "int16"
    rebinding = make(CHAIN, ops={"in-place": {"into": "rebind"}})
    assert said(rebinding, "int16:0d", "int8", op="+=") == "int16"


@pytest.mark.parametrize(
    ("ops", "entry"),
    [({}, "in-place"), ({"in-place": {"into": "kind"}}, "in-place"), ({"+=": {"into": "kind"}}, "+=")],
)
def test_what_may_be_written_in_place_is_said_by_the_operation_or_by_the_class(
    ops: dict[str, object], entry: str
) -> None:
    s = make(CHAIN, ops=ops) if ops else make(CHAIN)
    decision = s.explain("int16", "float32", op="+=").decision
    assert isinstance(decision, Operated)
    assert decision.entry == entry
    assert steps(s, "float32", "float32", op="&=")[-1] == ("ops", "bitwise", ("float32",), None)


def test_an_assignment_that_casts_may_compute_in_another_dtype() -> None:
    said_of_clip = {"takes": "all", "gives": "left", "into": "cast", "computes": {"bool": "i8"}}
    s = make("b; i8; f32", ops={"clip": said_of_clip})
    assert said(s, "bool", "float32", op="clip") == "int8"
    assert said(s, "float32", "bool", op="clip") == "float32"


def test_the_left_operand_may_be_written_into_where_single_dtypes_are_computed_in() -> None:
    some = {"takes": "all", "gives": {"float": "left"}, "into": "kind"}
    s = make(CHAIN, ops={"maximum": some})
    assert said(s, "uint8", "int8", op="maximum") == "int16"
    assert said(s, "float32", "float64", op="maximum") == "float32"
    assert said(s, "int8", "float32", op="maximum") == "- float32 cannot be written into int8"
    s = make(CHAIN, ops={"extreme": {"gives": "left"}, "maximum": {"takes": "all", "gives": {"int": "f64"}}})
    assert said(s, "int16", "uint8", op="maximum") == "float64"
    assert said(s, "float64", "float32", op="maximum") == "float64"
    assert said(s, "float32", "float64", op="maximum") == "- float64 cannot be written into float32"
    with pytest.raises(tl.FormatError, match='gives says nothing of single dtypes beside into = "cast"'):
        make(CHAIN, ops={"maximum": {**some, "into": "cast"}})


def test_of_an_operation_in_two_entries_both_hold() -> None:
    s = parse("""
name = "mine"
order = "b -> i8 -> f32"
[ops]
"add, multiply" = { takes = "all" }
"add, divide" = { scalars = "none" }
""")
    assert said(s, "bool", "bool", op="add") == said(s, "bool", "bool", op="multiply") == "bool"
    assert said(s, "int8", True, op="add") == "- add takes no Python scalar"
    assert s.explain("int8", True, op="add").rule.lines == (6,)


# -- first


def test_a_scalar_that_comes_first_counts_as_an_array() -> None:
    order, keys = "i32; f32; c64", {"tiers": ["array", "scalar"], "defaults": {"int": "i32", "float": "f32"}}
    assert said(make(order, **keys, first=True), int, float) == "- no rule takes int32 to a Python float"
    assert said(make(order, **keys), int, float) == "- nothing lies above both"
    assert said(make(order, **keys, first=True), float, int) == "float32"
    assert said(make(order, **keys, first=True), int, "float32") == "float32"  # among scalars alone
    assert said(make(order, **keys, first=True), 2**31, int) == "int32"
    p = make(order, **keys, first=True).explain(2**31, int, op="add")
    assert p.reason == "2147483648 is out of range for int32"
    for_add = make(order, **keys, ops={"add": {"first": True}})
    assert said(for_add, 1.5, "int32", op="add") == "- nothing lies above both"
    assert said(for_add, "float32", 1, op="add") == "float32"
    assert said(for_add, 1, "float32", op="add") == "- nothing lies above both"
    assert said(for_add, 1, "float32", op="subtract") == "float32"


# -- operations that do not promote


def test_alike_operands_meet_at_the_dtype_of_each() -> None:
    s = make(JAXLIKE, defaults={"int": "i32", "float": "f32"}, ops={"ordering": {"meet": "alike"}})
    assert (
        said(s, "int8", "int8", op="less")
        == said(s, "int8", 1, op="less")
        == said(s, 1, "int8", op="less")
        == "bool"
    )
    assert said(s, "int8", "int16", op="less") == "- less does not promote: operands have to be of one dtype"
    assert said(s, "int16", "int8", op="less").startswith("- less does not promote")
    assert said(s, "int8", 1.5, op="less").startswith("- less does not promote")  # a float is no int8
    assert said(s, "int8", "int16", op="add") == "int16"
    assert s.explain("int8", "int16", op="less").remedy == "cast all, e.g. to int16"


# -- which operands an operation takes


def test_a_dtype_may_be_left_out_of_what_an_operation_computes_in() -> None:
    s = make(CHAIN, ops={"add": {"takes": "bool, real but u8"}, "sqrt": {"takes": "f32"}})
    assert said(s, "int8", "uint8", op="add") == "int16"
    assert said(s, "uint8", "bool", op="add") == "- add takes no uint8"
    assert said(s, "complex64", "uint8", op="add") == "- add takes no complex"
    assert said(s, "float32", op="sqrt") == "float32"
    assert said(s, "complex64", op="sqrt") == "- sqrt takes no complex"


def test_an_operand_may_be_refused_by_itself_whatever_it_meets() -> None:
    s = make(CHAIN, ops={"subtract": {"takes": "all", "each": "numeric but u8"}})
    assert said(s, "int8", "int16", op="subtract") == "int16"
    assert said(s, "bool", "int16", op="subtract") == "- subtract takes no bool"
    assert said(s, "int16", True, op="subtract") == "- subtract takes no bool"
    assert said(s, "uint8", "int16", op="subtract") == "- subtract takes no uint8"
    assert said(s, "uint8", "int16", op="add") == "int16"
    assert steps(s, "int16", "uint8", op="subtract") == [("ops", "subtract", ("uint8",), None)]
    integers = make(CHAIN, ops={"subtract": {"takes": "all", "each": "int"}})
    assert said(integers, "int16", "float32", op="subtract") == "- subtract takes no float"


def test_a_group_of_operations_is_said_once_and_its_classes_and_operations_count_more() -> None:
    storage = {"computing": {"each": "all but u8"}, "comparison": {"each": "all"}, "sum": {"each": "all"}}
    s = make(CHAIN, ops=storage)
    for op in ("add", "prod", "less", "sort"):
        assert said(s, *["uint8"] * NAMES[op].least, op=op) == f"- {op} takes no uint8"
    for op in ("equal", "sum", "reshape", "result_type", "where", "setitem"):
        assert said(s, *["uint8"] * NAMES[op].least, op=op) in ("uint8", "bool")
    assert s.explain("uint8", "uint8", op="add").decision.entry == "computing"


@pytest.mark.parametrize(
    ("scalars", "alone", "left", "right"),
    [
        ("any", "int32", "int8", "int8"),
        ("beside", "- add takes a Python scalar only beside an array", "int8", "int8"),
        (
            "right",
            "- add takes a Python scalar only on the right of an array",
            "- add takes a Python scalar only on the right of an array",
            "int8",
        ),
        ("none", *["- add takes no Python scalar"] * 3),
    ],
)
def test_python_scalars_may_stand_where_the_file_says(
    scalars: str, alone: str, left: str, right: str
) -> None:
    said_of_add = {"takes": "all", **({"scalars": scalars} if scalars != "any" else {})}
    s = make(CHAIN, **NUMPYLIKE, ops={"add": said_of_add})
    assert said(s, 1, 2, op="add") == alone
    assert said(s, 1, "int8", op="add") == left
    assert said(s, "int8", 1, op="add") == right
    assert said(s, "int8:0d", "int8", op="add") == "int8"


def test_an_operation_of_one_operand_beside_an_array_takes_no_python_scalar() -> None:
    s = make(CHAIN, **NUMPYLIKE, ops={"computing": {"scalars": "beside"}})
    assert said(s, 1.5, op="sqrt") == "- sqrt takes a Python scalar only beside an array"


def test_a_negative_integer_on_the_right_may_be_refused() -> None:
    s = make(CHAIN, **NUMPYLIKE, ops={"pow": {"takes": "all", "natural": "scalar"}})
    assert said(s, "int8", -1, op="pow") == "- pow of integers takes no negative integer on the right"
    assert said(s, "int8", 1, op="pow") == said(s, -1, "int8", op="pow") == "int8"
    assert said(s, "float32", -1, op="pow") == "float32"
    assert said(s, "int8", "int8:0d=-1", op="pow") == "int8"
    both = make(CHAIN, **NUMPYLIKE, ops={"pow": {"takes": "all", "natural": "0d, scalar"}})
    assert said(both, "int8", "int8:0d=-1", op="pow") == said(s, "int8", -1, op="pow")
    assert said(s, "int8", "int", op="pow") == "int8"  # of a value that is unknown nothing is said


@pytest.mark.parametrize("system", tl.systems())
def test_no_library_multiplies_matrices_or_concatenates_without_dimensions(system: str) -> None:
    s = tl.system(system)
    for op, least in (("matmul", "1 dimension"), ("concat", "1 dimension"), ("solve", "1 dimension")):
        p = s.explain("float32:0d", "float32", op=op)
        assert p.reason == f"{op} takes no 0-d array: every operand has at least {least}"
        assert (p.rule.file, p.rule.quoted[0].split()[0]) == ("operations.txt", op)
        assert "takes no Python float" in str(s.explain("float32", 2.0, op=op).reason)
    assert "at least 2 dimensions" in str(s.explain("float32:0d", op="det").reason)


# -- values that Python scalars may have


def test_a_scalar_beyond_what_the_system_holds_is_refused_whatever_it_meets() -> None:
    s = make(CHAIN, **NUMPYLIKE, holds={"int": "i32"})
    for beside in ("int8", "float32", "bool:0d", 1.5, True):
        refused = "- a Python int has to lie within int32, and 2147483648 does not"
        assert said(s, beside, 2**31) == said(s, 2**31, beside, op="add") == refused
    assert said(s, "int8", 2**31 - 1) == "int8"
    p = s.explain("int8", 2**31)
    assert (p.decision.key, p.decision.entry, p.rule.key) == ("holds", "int", "holds")


# -- weak nodes


def test_weak_nodes_of_a_kind() -> None:
    s = make(JAXLIKE, defaults={"int": "i32", "float": "f32"})
    assert said(s, "uint8", int) == said(s, int, "uint8") == "uint8"
    assert said(s, "int16", float) == "float32*"
    assert said(s, "float16", float) == "float16"
    assert said(s, "float16", int) == "float16"
    assert said(s, int) == said(s, int, int) == "int32*"
    assert said(s, int, float) == "float32*"
    assert said(s, "int8:weak", "uint8") == "uint8"
    assert said(s, "uint8:weak", "int8") == "int8"  # an unsigned kind has no node: it counts as the signed
    assert steps(s, "int16", float) == [
        ("order", None, ("int16", "f*"), "f*"),
        ("defaults", "float", ("f*",), "float32"),
    ]
    assert said(s, "int8", complex) == "- nothing is said of a Python complex"


def test_what_met_a_python_number_inside_is_weak() -> None:
    keys = {"tiers": ["array", "scalar"], "defaults": {"int": "i32", "float": "f32"}}
    sine = {"takes": "all", "computes": {"int": "f32"}, "weak": "made"}
    s = make(JAXLIKE, **keys, ops={"sin": sine})
    answers = [said(s, x, op="sin") for x in ("int8", "int32:weak", "float32", "float32:weak")]
    assert answers == ["float32*", "float32*", "float32", "float32*"]


def test_weakness_that_only_operands_without_dimensions_keep() -> None:
    s = make(JAXLIKE, defaults={"int": "i32", "float": "f32"}, ops={"gcd": {"weak": "0d"}})
    assert s.explain(1, 2, op="gcd").weak
    assert not s.explain(1, "int32:weak", op="gcd").weak
    assert not s.explain("int8:0d", 2, op="gcd").weak


def test_an_array_of_a_dtype_that_absorbs_decides_alone() -> None:
    ops = {"*": {"takes": "all", "absorbs": "bool"}, "*=": {"into": "rebind"}}
    s = make("b -> u8; f32", tiers=["array", "scalar"], ops=ops)
    for operands in (("bool", "float32"), ("uint8", "bool:0d"), ("bool", 1.5), ("bool", "bool")):
        assert said(s, *operands, op="*") == "bool"
    assert said(s, "float32", "bool", op="*=") == "bool"
    assert said(s, True, "uint8", op="*") == "uint8"
    assert said(s, "uint8", "float32", op="*").startswith("- ")
    assert steps(s, "uint8", "bool", op="*") == [("ops", "*", ("uint8", "bool"), "bool")]


def test_one_weak_operand_keeps_its_width() -> None:
    s = make(JAXLIKE, defaults={"int": "i32", "float": "f32"})
    assert said(s, "int8:weak") == "int8*"
    assert said(s, "int8:weak", "int8:weak") == "int32*"
    assert said(s, "float64:weak") == "float64*"
    assert said(s, "complex64:weak") == "- nothing is said of a Python complex"


def test_weak_operands_among_themselves_by_width() -> None:
    s = make(f"b -> i*\n{JAXLIKE}", weak="width", defaults={"int": "i32", "float": "f32"})
    assert said(s, "int8:weak", "int16:weak") == "int16*"
    assert said(s, "int8:weak", int) == "int32*"
    assert said(s, "int8:weak", "uint8:weak") == "int16*"
    assert said(s, "float16:weak", "bfloat16:weak") == "float32*"
    assert said(s, "int8:weak", "int8") == "int8"
    assert said(s, "float16:weak", "int32") == "float32*"
    assert said(s, "bool:weak") == "bool*"
    assert said(s, "bool:weak", "bool:weak") == "bool"
    assert said(s, int) == "int32*"
    assert [x[2] for x in steps(s, "int8:weak", "int16:weak")] == [("int8", "int16")]
    without = make(f"b -> i*\n{JAXLIKE}", weak="width", defaults={"int": "i32"})
    assert said(without, "int8:weak", float) == "- a Python float alone has no dtype here"


def test_values_count_where_the_file_says_so() -> None:
    numpy = tl.system("numpy")
    s = numpy.replace(combine="value", tiers=["array", "0d", "scalar"])
    assert said(s, "int8", "int16:0d=3") == "int8"
    assert said(s, "int8", 300) == "int16"
    assert said(numpy, "int8", "int16:0d=3") == "int16"


def test_weak_nodes_of_a_width_and_defaults_as_nodes() -> None:
    s = make("i8* -> i16* -> i32*\ni8 -> i32", defaults={"int": "i16"})
    assert said(s, int) == "int16*"
    assert said(s, "int8:weak", int) == "int16*"
    assert steps(s, "int8:weak", int)[-1] == ("defaults", "int", ("i16*",), "int16")
    plain = make("i8 -> i16 -> i32", defaults={"int": "i16"})
    assert said(plain, "int8", int) == "int16"
    assert said(plain, "int8:weak", "int16") == "int16"


# -- before and after


def test_what_comes_in_and_what_goes_out_may_be_mapped() -> None:
    s = make("i32 -> i64 -> f32 -> f64", before={"i8": "i32", "b": "i32"}, after={"f64": "f32", "i64": "i32"})
    assert said(s, "int8", "bool") == "int32"
    assert said(s, "int8", "int64") == "int32"
    assert said(s, "float64") == "float32"
    assert said(s, True, "float32") == "float32"
    assert steps(s, "int8", "int64") == [
        ("before", "int8", ("int8",), "int32"),
        ("order", None, ("int32", "int64"), "int64"),
        ("after", "int64", ("int64",), "int32"),
    ]
    assert s.explain("int8", "int64").node is tl.dtype("int64")
    assert said(s, "uint8") == "- mine has no uint8"


def test_a_dtype_may_come_in_as_a_kind_and_a_kind_go_out_as_a_dtype() -> None:
    s = make(
        "i* -> f* -> c*", before={"b": "i*"}, after={"f*": "f16"}, defaults={"int": "i64", "float": "f64"}
    )
    assert said(s, True, int) == "int64*"
    assert said(s, True, float) == "float16"
    assert said(s, complex) == "- a Python complex alone has no dtype here"
    assert steps(s, True, float)[-1] == ("after", "f*", ("f*",), "float16")


# -- operations


def test_an_operation_takes_kinds() -> None:
    s = make(CHAIN)
    p = s.explain("bool", "bool", op="add")
    assert (p.reason, p.remedy, p.op) == ("add takes no bool", "cast the operands first", "add")
    assert p.decision == Operated((tl.dtype("bool"),), None, "arithmetic")
    assert said(s, "bool", "uint8", op="add") == "uint8"
    own = make(CHAIN, ops={"arithmetic": {"takes": "bool"}, "multiply": {"takes": "all"}})
    assert said(own, "bool", "bool", op="add") == "bool"
    assert said(own, "uint8", "bool", op="add") == "- add takes no unsigned"
    assert said(own, "uint8", "bool", op="multiply") == "uint8"
    assert own.explain("int8", "int8", op="add").decision.entry == "arithmetic"
    assert own.explain("bool", op="positive").dtype is tl.dtype("bool")


def test_an_operation_computes_in_what_to_says() -> None:
    to = {"b, u8": "f32", "i16": "f*", "i8": "i16"}
    s = make(CHAIN, defaults={"float": "f64"}, ops={"divide": {"takes": "float", "computes": to}})
    assert said(s, "uint8", "bool", op="divide") == "float32"
    assert said(s, "uint8", "int16", op="divide") == "float64"
    assert said(s, "float32", "int16", op="divide") == "float32"
    assert said(s, "int32", "int32", op="divide") == "- divide takes no signed"
    assert said(s, "int8", "int8", op="divide") == "- divide takes no signed"  # int16 is none that it takes
    p = s.explain("uint8", "uint8", op="divide")
    assert (p.node, p.compute, p.dtype) == (tl.dtype("uint8"), tl.dtype("float32"), tl.dtype("float32"))
    assert steps(s, "uint8", "bool", op="divide")[-1] == ("ops", "divide", ("uint8",), "float32")
    by_kind = make(CHAIN, ops={"divide": {"takes": "all", "computes": {"int": "f32", "u8": "f64"}}})
    assert said(by_kind, "uint8", "uint8", op="divide") == "float64"
    assert said(by_kind, "int8", "int8", op="divide") == "float32"


def test_an_operation_gives_the_dtype_at_which_operands_joined() -> None:
    softly = {"computes": {"i8, u8": "f32"}, "gives": "joined", "takes": "all"}
    s = make(CHAIN, ops={"mean": softly})
    p = s.explain("int8", op="mean")
    assert (p.node, p.compute, p.dtype) == (tl.dtype("int8"), tl.dtype("float32"), tl.dtype("int8"))
    assert said(s, "int16", op="mean") == "int16"


def test_an_operation_gives_single_dtypes_another_result() -> None:
    s = make(CHAIN, defaults={"int": "i32"}, ops={"truth": {"gives": {"u8": "u8", "complex": "real"}},
                                                  "any": {"gives": "i*"}})  # fmt: skip
    assert said(s, "uint8", op="all") == "uint8"
    assert said(s, "complex64", op="all") == "float32"
    assert said(s, "int8", op="all") == "bool"
    assert said(s, "uint8", op="any") == "int32"  # what is said of an operation counts more


def test_an_operation_gives_another_dtype_than_it_computes_in() -> None:
    s = make(CHAIN, defaults={"int": "i32"}, ops={"index": {"takes": "all"}, "sum": {"gives": "f64"}})
    p = s.explain("int8", "int16", op="equal")
    assert (p.compute, p.dtype) == (tl.dtype("int16"), tl.dtype("bool"))
    assert steps(s, "int8", "int16", op="equal")[-1] == ("ops", "comparison", ("int16",), "bool")
    assert said(s, "complex64", op="abs") == "float32"
    assert said(s, "complex128", op="abs") == "float64"
    assert said(s, "int8", op="abs") == "int8"
    assert said(s, "float32", op="argmax") == "int32"
    assert said(s, "int8", op="sum") == "float64"
    assert said(make(CHAIN), "float32", op="argmax") == "- mine has no default dtype for signed"


LOOPS = {"add": {"takes": "all", "loops": "i16, f32", "own": "u8"}}


def test_an_operation_with_loops_takes_the_first_to_which_every_operand_casts() -> None:
    s = make(f"{CHAIN}\nu1; bf16", ops=LOOPS, both_ways=["u1 + i16", "bf16, f32"], refusals={"b + f32": "no"})
    assert said(s, "int8", "uint8", op="add") == "int16"
    assert said(s, "uint8", "uint8", op="add") == "uint8"  # its own loop, before all
    assert said(s, "int8", "int8", op="add") == "int16"
    assert said(s, "int32", "int8", op="add") == "float32"
    assert said(s, "uint1", "int8", op="add") == "int16"
    assert said(s, "uint1", "uint1", op="add") == "int16"
    assert said(s, "bfloat16", "int32", op="add") == "float32"
    assert said(s, "bfloat16", "bool", op="add") == "- add takes no bfloat16 with bool"
    assert said(s, "float64", "int8", op="add") == "- add takes no float64 with int8"
    assert said(s, "bool", "bool", op="add") == "int16"
    assert s.explain("int8", "uint8", op="add").node is None
    assert steps(s, "int8", "uint8", op="add") == [("ops", "add", ("int8", "uint8"), "int16")]
    assert said(s, "int8", "bfloat16") == "- nothing lies above both"


def test_an_operation_with_loops_takes_kinds_of_operands() -> None:
    s = make(CHAIN, ops={"add": {"takes": "numeric", "loops": "i16, f32"}})
    assert said(s, "bool", "bool", op="add") == "- add takes no bool"
    assert said(s, "bool", "int8", op="add") == "int16"


def test_scalars_meet_the_arrays_before_a_search_or_stand_in() -> None:
    s = make(
        f"{CHAIN}\nu1",
        **NUMPYLIKE,
        ops=LOOPS,
        both_ways=["u1 + i8, i16"],
        stand_in={"beside": "u1", "int": "i8"},
    )
    assert said(s, "int8", 1, op="add") == "int16"
    assert said(s, "uint8", 1, op="add") == "uint8"
    assert said(s, "uint1", 1, op="add") == "int16"
    assert s.explain("uint1", 1, op="add").node is None
    assert said(s, "uint1", 1.5, op="add") == "- no rule takes uint1 to a Python float"


def test_a_weak_result_may_lose_its_weakness_in_an_operation() -> None:
    order = f"b -> i*\n{JAXLIKE}"
    keys = {"weak": "width", "defaults": {"int": "i32", "float": "f32"}}
    assert said(make(order, **keys), "int8:weak", op="negative") == "int8*"
    assert (
        said(make(order, **keys, ops={"negative": {"weak": "strip"}}), "int8:weak", op="negative") == "int8"
    )
    assert (
        said(make(order, **keys, ops={"negative": {"weak": "default"}}), "int8:weak", op="negative")
        == "int32*"
    )
    assert said(make(order, **keys, ops={"negative": {"weak": "default"}}), "int8", op="negative") == "int8"
    assert said(make(order, **keys), "int16", 2.5, op="add") == "float32*"


def test_an_integer_on_the_right_may_leave_the_left_its_dtype() -> None:
    power = {"takes": "all", "ignores": "0d, scalar"}
    s = make(CHAIN, **NUMPYLIKE, ops={"power": power}, fit={"int": "raise"})
    assert said(s, "int8", "int16:0d", op="power") == "int8"
    assert said(s, "int8", "int16", op="power") == "int16"
    assert said(s, "bool", 2, op="power") == "bool"
    assert said(s, "int8", "float64:0d", op="power") == "float64"
    assert said(s, "bool", 2, op="add") == "int32"
    assert said(s, "int16:0d", "int8", op="power") == "int16"
    assert said(s, "int8", 300, op="power") == "int8"  # its value counts for nothing
    assert said(s, "int8", 300, op="add") == "- 300 is out of range for int8"


def test_integers_of_one_tier_may_be_ignored_beside_some_dtypes_alone() -> None:
    power = {"takes": "all", "ignores": "0d, scalar"}
    s = make(CHAIN, **NUMPYLIKE, ops={"power": power, "pow": {"ignores": {"i16": "array"}}})
    assert said(s, "int16", "int32", op="pow") == "int16"
    assert said(s, "int8", "int32", op="pow") == "int32"
    assert said(s, "int8", "int32:0d", op="pow") == "int8"
    for other, ignored in (("int32:0d", True), ("int32", False)):
        told = [line for _, lines in sections(s.explain("int8", other, op="pow")) for line in lines]
        no_part = f"{other} on its right is an integer, which takes no part in the promotion"
        assert (no_part in told) == ignored


def test_a_python_bool_is_the_integer_that_it_is_in_a_constant_exponent_alone() -> None:
    order = f"b -> i*\n{JAXLIKE}"
    keys = {"weak": "width", "defaults": {"int": "i32", "float": "f32"}}
    constant = make(order, **keys, ops={"power": {"takes": "all", "ignores": "0d, scalar"}})
    assert said(constant, "int8:weak", True, op="pow") == "int8*"
    assert said(constant, "int8:weak", "bool:0d", op="pow") == "int32*"
    plain = make(order, **keys, ops={"power": {"takes": "all", "ignores": "array, 0d, scalar"}})
    assert said(plain, "int8:weak", True, op="pow") == "int32*"


def test_the_value_of_the_base_does_not_count_beside_a_constant_exponent() -> None:
    power = {"takes": "all", "ignores": "0d, scalar"}
    s = make(CHAIN, **NUMPYLIKE, ops={"power": power}, fit={"int": "raise"})
    assert said(s, 2**31, "int8:0d", op="pow") == "int32"
    assert said(s, 2**31, "int8", op="pow") == "- 2147483648 is out of range for int8"


def test_an_int_is_made_another_dtype_before_it_becomes_one() -> None:
    keys = {**NUMPYLIKE, "fit": {"int": "wrap"}, "holds": {"i8, i16": "i32"}}
    s = make(CHAIN, **keys, ops={"multiply": {"holds": {}}, "subtract": {"holds": {"int": "i16"}}})
    assert said(s, "int8", 300, op="add") == "int8"
    assert said(s, "int8", 2**40, op="add") == "- 1099511627776 is out of range for int32"
    assert said(s, "float32", 2**40, op="add") == "float32"
    assert said(s, "int8", 2**40, op="multiply") == "int8"
    assert said(s, "int8", 300, op="subtract") == "int8"
    assert "has to lie within int16, and 1099511627776 does not" in said(s, "float32", 2**40, op="subtract")
    assert said(s, "int8", 2**40) == "int8"  # no value counts in promotion alone


def test_a_python_int_widens_integers_to_64_bits_at_most() -> None:
    polars = tl.system("polars")
    widened = [said(polars, d, -1, op="add") for d in ("uint8", "uint32", "uint64")]
    assert widened == ["int16", "int64", "int64"]
    assert said(polars, "uint64", "int8", op="add") == "int128"
    assert said(polars, "int8", 2**64, op="add") == "int8"
    assert said(polars, 2**64, op="positive") == "int128"


def test_series_of_polars_go_by_other_rules_than_expressions() -> None:
    expressions, series = tl.system("polars"), tl.system("polars-series")
    asked: dict[tuple[object, str, object], tuple[str, str]] = {
        ("uint8", "+", "int16"): ("int16", "int16"),
        ("uint8", "+", 300): ("uint16", "- 300 is out of range for uint8"),
        (2, "/", "float32"): ("float32", "float64"),
        ("int8", "&", 300): ("int16", "int8"),
        ("int8", "**", "float16"): ("float16", "float16"),
    }
    for (x, op, y), expected in asked.items():
        assert (said(expressions, x, y, op=op), said(series, x, y, op=op)) == expected
    assert said(series, "int8", "int16", op="concat").startswith("- concat does not promote")


def test_an_unsigned_dtype_counts_as_a_signed_one_beside_a_negative_int() -> None:
    polars = tl.system("polars")
    told = [line for _, lines in sections(polars.explain("uint8", -1)) for line in lines]
    assert "uint8 counts as int16, beside a negative int" in told
    assert polars.explain("uint32", -(2**40)).rule.key == "fit"


def test_an_unsigned_dtype_without_a_signed_one_of_twice_its_bits_counts_as_itself() -> None:
    order = "b -> u8 -> i32 -> f32"
    s = make(order, tiers=["array", "scalar"], defaults={"int": "i32"}, fit={"int": "join"})
    assert said(s, "uint8", -1, op="add") == said(s, "uint8", 300, op="add") == "int32"


def test_an_exponent_that_wraps_may_be_negative() -> None:
    s = make(CHAIN, **NUMPYLIKE, fit={"int": "wrap"}, ops={"power": {"takes": "all", "natural": "scalar"}})
    assert said(s, "int8", 127, op="pow") == "int8"
    refused = "- pow of integers takes no negative integer on the right"
    assert said(s, "int8", 255, op="pow") == f"{refused}: 255 wraps to -1"
    assert said(s, "int8", -1, op="pow") == refused
    assert said(s, "int8", -129, op="pow") == "int8"  # 127
    assert said(s, 255, "int8", op="pow") == "int8"
    power = {"takes": "all", "natural": "0d, scalar"}
    of_0d = make(CHAIN, **NUMPYLIKE, fit={"int": "wrap"}, ops={"power": power})
    assert said(of_0d, 255, "int8:0d", op="pow") == "int8"  # it is the base that wraps
    assert said(of_0d, "int8", "int8:0d=-1", op="pow") == refused


def test_weakness_may_be_lost_by_what_is_computed_in() -> None:
    order = f"b -> i*\n{JAXLIKE}"
    keys = {"weak": "width", "defaults": {"int": "i32", "float": "f32"}}
    power = {"takes": "all", "ignores": "0d, scalar", "weak": {"signed": "strip", "f16": "default"}}
    s = make(order, **keys, ops={"power": power})
    assert said(s, "int8:weak", "int8:weak", op="pow") == "int8"
    assert said(s, "int8:weak", 2, op="pow") == "int8*"  # a product
    assert said(s, "float16:weak", "float16:weak", op="pow") == "float32*"
    assert said(s, "float64:weak", "float64:weak", op="pow") == "float64*"
    negated = make(order, **keys, ops={"arithmetic": {"weak": {"int": "strip"}}, "add": {"weak": "keep"}})
    assert said(negated, "int8:weak", "int8:weak", op="add") == "int8*"  # what is nearer says it of all


# -- fit


def test_a_value_out_of_range_is_a_refusal_in_an_operation_only() -> None:
    s = make(
        CHAIN, **NUMPYLIKE, fit={"int": "raise", "float": "inf"}, ops={"equal": {"fit": {"int": "exact"}}}
    )
    p = s.explain("int8", 300)
    assert (p.dtype, p.fits[0].outcome, p.fits[0].value) == (tl.dtype("int8"), "raise", 300)
    p = s.explain("int8", 300, op="add")
    assert (p.dtype, p.reason, p.remedy) == (
        None,
        "300 is out of range for int8",
        "use a value within it, or a wider dtype",
    )
    assert p.decision == Misfit((tl.dtype("int8"),), None, "int")
    assert said(s, "int8", 30, op="add") == "int8"
    assert said(s, "float32", 1e300, op="add") == "float32"
    assert s.explain("float32", 1e300, op="add").fits[0].becomes == float("inf")
    assert said(s, "int8", 300, op="equal") == "bool"
    assert said(make(CHAIN, **NUMPYLIKE, fit={"int": "wrap"}), "int8", 300, op="add") == "int8"
    assert make(CHAIN, **NUMPYLIKE).explain("int8", 300, op="add").fits[0].outcome == "unsaid"


# -- result_type remembers


@dataclass(frozen=True)
class Plain:
    """An array of which dtype and ndim say all."""

    dtype: tl.DType
    ndim: int = 1


@contextmanager
def plain_arrays() -> Iterator[None]:
    module = Plain.__module__.partition(".")[0]
    PLAIN.add(Plain)
    reader = ObjectReader(
        lambda x: of(x.dtype, tier="array" if x.ndim else "0d"), lambda cls: attrgetter("dtype", "ndim")
    )
    FINDERS.append(lambda root: reader if root == module else None)
    forget()
    try:
        yield
    finally:
        PLAIN.discard(Plain)
        FINDERS.pop()
        forget()


def test_result_type_is_remembered_by_dtypes_and_by_plain_arrays() -> None:
    s = make(CHAIN, tiers=["array", "0d"])
    a, b, c = tl.dtype("int8"), tl.dtype("uint8"), tl.dtype("int16")
    assert [str(s.result_type(a, b)) for _ in range(3)] == ["int16"] * 3
    assert [str(s.result_type(b, a)) for _ in range(2)] == ["int16"] * 2
    assert s.result_type(a, a) is a
    with plain_arrays():
        assert [str(s.result_type(Plain(a), Plain(c))) for _ in range(3)] == ["int16"] * 3
        assert s.result_type(Plain(a), Plain(c, 0)) is a  # 0-d arrays are looked at
        assert s.result_type(Plain(a, 0), Plain(c)) is c
        assert s.result_type(Plain(a, 0), Plain(c, 0)) is c
        assert s.result_type(Plain(a), c) is c
        assert s.result_type(Plain(a), Plain(b), Plain(a)) is c
    assert make("i8 -> i32; u8 -> i32").result_type(a, b) is tl.dtype("int32")


def test_what_is_remembered_is_kept_to_its_like() -> None:
    s = make(CHAIN, tiers=["array", "0d"])
    a, c = tl.dtype("int8"), tl.dtype("int16")
    assert s.result_type(a, c) is c
    with plain_arrays():
        s.result_type(Plain(a), Plain(c))
        kept = deepcopy((s._pairs, s._arrays[Plain]))
        assert kept == ({a: {c: c}}, {a: {c: c}})
        s.result_type(Plain(a), Plain(c, 0))
        s.result_type(Plain(a, 0), Plain(c))
        s.result_type(Plain(c, 0), Plain(c, 0))
        s.result_type("int8", "int16")
        s.result_type(a, c, a)
        s.result_type(a)
        s.result_type(Plain(a), c)
        assert (s._pairs, s._arrays[Plain]) == kept


@pytest.mark.parametrize("dims", [(1, 1), (1, 0), (0, 1), (0, 0)])
@pytest.mark.parametrize("tiers", [["array"], ["array", "0d"]])
def test_plain_arrays_are_explained_once_whatever_their_dimensions(
    monkeypatch: pytest.MonkeyPatch, tiers: list[str], dims: tuple[int, int]
) -> None:
    s = make(CHAIN, tiers=tiers)
    a, c = tl.dtype("int8"), tl.dtype("int16")
    asked = []
    explain = tl.System.explain
    monkeypatch.setattr(tl.System, "explain", lambda *of, op=None: asked.append(of) or explain(*of, op=op))
    with plain_arrays():
        for _ in range(2):  # the class is known from the first on
            s.result_type(Plain(a, dims[0]), Plain(a, dims[1]))
        asked.clear()
        found = [s.result_type(Plain(a, dims[0]), Plain(c, dims[1])) for _ in range(3)]
    assert len(asked) == 1
    assert {*found} == {a if dims == (1, 0) and "0d" in tiers else c}


def test_where_values_decide_the_value_of_a_0d_array_is_asked_for_each_time() -> None:
    s = tl.system("numpy1")
    small, large = (np.array(value, "int16") for value in (3, 300))
    for _ in range(2):
        found = [s.result_type(np.ones(1, "int8"), zero) for zero in (small, large)]
        assert [str(d) for d in found] == ["int8", "int16"]


def test_numbers_that_are_equal_are_remembered_apart() -> None:
    s = make("b -> i8 -> f16", tiers=["array", "scalar"], defaults={"int": "i8", "float": "f16"})
    for _ in range(2):
        assert [str(s.result_type("int8", x)) for x in (True, 1, 1.0)] == ["int8", "int8", "float16"]
        assert [str(s.result_type("bool", x)) for x in (1.0, 1, True)] == ["float16", "int8", "bool"]


def test_result_type_of_a_refusal_is_not_remembered() -> None:
    s = make("i8; u8")
    for _ in range(2):
        with pytest.raises(tl.PromotionError, match="mine refuses int8 with uint8"):
            s.result_type(tl.dtype("int8"), tl.dtype("uint8"))
    assert s._pairs == {} == s._remembered


def test_none_is_no_operand() -> None:
    s = make(CHAIN)
    for asked in (("int8", None), (None, "int8"), (None,), ("int8", "int8", None)):
        with pytest.raises(tl.OperandError, match="a NoneType takes no part"):
            s.result_type(*asked)
    assert s.result_type("int8") is tl.dtype("int8")


def test_what_cannot_be_read_raises() -> None:
    s = make(CHAIN)
    with pytest.raises(tl.DTypeError):
        s.explain("int9")
    with pytest.raises(tl.OperandError, match="a object takes no part in promotion"):
        s.explain(object())
    with pytest.raises(tl.OpError, match="unknown operation 'ad'; did you mean pad or add"):
        s.explain("int8", op="ad")
    with pytest.raises(tl.OperandError, match="nothing to promote under mine: give at least one operand"):
        s.explain(op="add")


def test_systems_are_equal_to_themselves_alone() -> None:
    s, twin = make(CHAIN), make(CHAIN)
    assert s == s
    assert s != twin
    assert repr(s) == "<system mine>"
    assert {s: 1}[s] == 1


@pytest.mark.parametrize("into", ["same", "kind", "category", "rebind", "round"])
def test_what_an_operator_in_place_may_write_into_the_left_operand(into: str) -> None:
    """uint8 += uint8, int16 += uint8 join at the left dtype, uint8 += int8, int8 += float32 above it."""
    s = make("u8 -> i16 -> f32; i8 -> i16", ops={"in-place": {"into": into}})
    pairs = (("uint8", "uint8"), ("int16", "uint8"), ("uint8", "int8"), ("int8", "float32"))
    found = [s.explain(*pair, op="+=") for pair in pairs]
    assert [p.compute and str(p.dtype) for p in found] == {
        "same": ["uint8", "int16", None, None],
        "kind": ["uint8", "int16", None, None],
        "category": ["uint8", "int16", "uint8", None],
        "rebind": ["uint8", "int16", "int16", "float32"],
        "round": ["uint8", "int16", "int16", "int8"],
    }[into]
    assert found[0].compute is tl.dtype("uint8")
    if into == "category":
        assert found[2].compute is tl.dtype("int16")
    if into not in ("rebind", "round"):
        assert found[3].reason == "float32 cannot be written into int8"


def test_what_a_list_of_operations_says_holds_for_each() -> None:
    s = parse('name = "mine"\norder = "i8 -> f32"\n[ops]\n"add, sum , mean" = { takes = "float" }\n')
    assert {*s.ops} == {"add", "sum", "mean"}
    assert s.explain("int8", op="sum").rule.lines == s.explain("int8", "int8", op="add").rule.lines == (4,)


# -- what becomes of a value, and what is written

VALUES = {"tiers": ["array", "scalar"], "defaults": {"int": "i16", "float": "f32"}}


def fate(s: tl.System, *operands: object, op: str | None = None) -> list[tuple[str, object, str]]:
    """(outcome, what the value becomes, the dtype that it had to fit) of each Python scalar."""
    return [(f.outcome, f.becomes, str(f.target)) for f in s.explain(*operands, op=op).fits]


def test_a_value_becomes_what_the_policy_says() -> None:
    saturating = make(CHAIN, **VALUES, fit={"int": "saturate", "float": "saturate"})
    assert fate(saturating, "int8", 300) == [("saturate", 127, "int8")]
    assert fate(saturating, "int8", -300) == [("saturate", -128, "int8")]
    assert fate(saturating, "int8", 3) == [("fits", None, "int8")]
    assert fate(saturating, "int8", "int") == []  # a value that is not known
    assert fate(saturating, "float32", 1e300) == [("saturate", math.inf, "float32")]
    assert fate(make(CHAIN, **VALUES, fit={"int": "raise"}), "int8", 300) == [("raise", None, "int8")]
    assert fate(make(CHAIN, **VALUES), "int8", 300, -1000) == [("unsaid", None, "int8")] * 2


def test_a_value_beyond_the_default_dtype_raises_first_where_the_policy_says_so() -> None:
    s = make(CHAIN, **VALUES, fit={"int": "default wrap"})
    assert [fate(s, "int8", v) for v in (30, 300)] == [[("fits", None, "int8")], [("wrap", 44, "int8")]]
    assert fate(s, "int8", 40_000) == fate(s, "float32", 40_000) == [("raise", None, "int16")]
    assert fate(s, "float32", 1e300) == [("unsaid", None, "float32")]


def test_an_int_that_is_no_float_of_pythons_raises_among_floats() -> None:
    """float(2**1024) is an OverflowError, and of the integers below an infinity is made."""
    s = make(CHAIN, **VALUES, fit={"int": "wrap", "float": "inf"})
    assert fate(s, "float32", 2**1024 - 1) == [("inf", math.inf, "float32")]
    assert fate(s, "float32", 2**1024) == fate(s, "float32", -(2**1024)) == [("raise", None, "float32")]
    assert fate(s, "int8", 2**1024) == [("wrap", 0, "int8")]


def test_an_assignment_casts_to_the_dtype_of_what_is_written_into() -> None:
    """It asks for no dtype that holds both, so it takes what promotion refuses."""
    keys = {**VALUES, "defaults": {"int": "i16"}, "fit": {"int": "wrap"}}
    s = make("b; i8 -> i16 -> f16; u8", **keys, ops={"assignment": {"into": "cast", "takes": "bool, int"}})
    p = s.explain("int8", "uint8", op="setitem")
    assert (p.node, str(p.compute), str(p.dtype), p.weak) == (None, "int8", "int8", False)
    assert said(s, "int8", "uint8").startswith("- nothing lies above")
    for given in ("float16", "int16", "uint8", "bool"):
        assert steps(s, "int8", given, op="setitem") == [("ops", "assignment", ("int8", given), "int8")]
    assert steps(s, "int8", 300, op="setitem") == [("ops", "assignment", ("int8",), "int8")]
    assert fate(s, "int8", 300, op="setitem") == [("wrap", 44, "int8")]
    assert said(s, "float16", "int8", op="setitem") == "- setitem takes no float"
    assert steps(s, "float16", "int8", op="setitem") == [("ops", "assignment", ("float16", "int8"), None)]
    assert said(s, "int8", "float32", op="setitem") == "- mine has no float32"
    assert said(s, 3, "int8", op="setitem") == "int8"  # a number has no dtype to be written into


def test_a_value_that_an_assignment_does_not_take_is_a_refusal_but_a_bool_holds_the_truth_of_all() -> None:
    keys = {**VALUES, "defaults": {"int": "i8"}, "fit": {"int": "raise"}}
    s = make("b; i8", **keys, ops={"assignment": {"into": "cast"}})
    assert said(s, "int8", 300, op="setitem") == "- 300 is out of range for int8"
    assert (said(s, "bool", 300, op="setitem"), fate(s, "bool", 300, op="setitem")) == ("bool", [])


def test_a_refusal_of_a_pair_that_does_not_compare_leaves_no_join_behind() -> None:
    s = make("u8, i8 -> i16", combine="comparable")
    assert steps(s, "uint8", "int8") == [
        ("order", None, ("uint8",), "uint8"),
        ("combine", None, ("uint8", "int8"), None),
    ]


def test_a_scalar_that_stands_for_a_dtype_has_to_fit_its_own_default() -> None:
    """Only if the operation computes in a dtype beside which scalars stand for others, and one takes part."""
    keys = {**NUMPYLIKE, "both_ways": ["u1 + i8, i16"], "stand_in": {"beside": "u1", "int": "i8"}}
    keys["fit"] = {"int": "wrap"}
    order = f"{CHAIN}\nu1"
    narrow = make(order, **keys, ops={"arithmetic": {"loops": "u1, i16", "fit": {}}})
    assert fate(narrow, "uint1", 300, op="add") == [("wrap", 0, "uint1")]  # what the system says, not add
    assert said(narrow, "uint1", 2**40, op="add") == "- 1099511627776 is out of range for int32"
    assert fate(narrow, "int16", 2**40, op="add") == [("unsaid", None, "uint1")]  # what add says
    own = make(order, **keys, ops={"arithmetic": {"loops": "u1, i16", "fit": {"int": "saturate"}}})
    assert fate(own, "uint1", 300, op="add") == [("saturate", 1, "uint1")]
    wide = make(order, **keys, ops={"arithmetic": {"loops": "i16"}})
    assert fate(wide, "uint1", 2**40, op="add") == [("wrap", 0, "int16")]


def test_a_scalar_that_comes_first_has_to_fit_its_default_and_no_other_does() -> None:
    keys = {**NUMPYLIKE, "fit": {"int": "wrap"}}
    s = make(CHAIN, **keys, first=True)
    assert fate(s, 2**40, 1) == [("raise", None, "int32"), ("fits", None, "int32")]
    assert fate(s, 1, 2**40) == [("fits", None, "int32"), ("wrap", 0, "int32")]
    assert fate(s, 2**40, "int8") == [("wrap", 0, "int8")]  # beside an array it is a scalar
    assert fate(make(CHAIN, **keys), 2**40, 1) == [("wrap", 0, "int32"), ("fits", None, "int32")]
    for_add = make(CHAIN, **keys, ops={"add": {"first": True}})
    assert said(for_add, 2**40, "int8", op="add") == "- 1099511627776 is out of range for int32"
    assert fate(for_add, "int8", 2**40, op="add") == fate(for_add, 2**40, "int8") == [("wrap", 0, "int8")]


def test_a_weak_base_stays_weak_beside_a_weak_exponent_alone() -> None:
    s = make(f"b -> i*\n{JAXLIKE}", weak="width", ops={"power": {"takes": "all", "ignores": "array, scalar"}})
    assert said(s, "float32:weak", "int8", op="power") == "float32"
    assert said(s, "float32:weak", "int8:weak", op="power") == "float32*"
    assert said(s, "float32:weak", 2, op="power") == "float32*"


def test_the_steps_of_an_operation_that_changes_nothing_are_those_of_promotion() -> None:
    s = make(CHAIN, ops={"in-place": {"takes": "all", "into": "category"}})
    assert steps(s, "int16", "uint8", op="+=") == [("order", None, ("int16", "uint8"), "int16")]
    assert steps(s, "uint8", "int8", op="+=") == [
        ("order", None, ("uint8", "int8"), "int16"),
        ("ops", "in-place", ("int16", "uint8"), "uint8"),
    ]
    alike = make(CHAIN, ops={"arithmetic": {"meet": "alike"}})
    assert steps(alike, "int8", "int16", op="add")[-1] == ("ops", "arithmetic", ("int8", "int16"), None)


def test_a_dtype_of_the_same_kind_is_written_into_a_narrower_one() -> None:
    s = make(CHAIN, ops={"in-place": {"takes": "all", "into": "kind"}})
    assert said(s, "int8", "int16", op="+=") == "int8"
    assert said(s, "uint8", "int8", op="+=") == "- int16 cannot be written into uint8"


def test_an_operation_may_give_the_complex_dtype_of_what_it_computes_in() -> None:
    s = make(CHAIN, ops={"fourier": {"takes": "all", "gives": "complex"}})
    given = [said(s, name, op="fft") for name in ("float32", "float64", "complex64", "int8")]
    assert given == ["complex64", "complex128", "complex64", "int8"]


def test_an_operation_takes_so_many_operands_and_integers_for_indices() -> None:
    s = make(CHAIN, ops={"view": {"takes": "all"}})
    with pytest.raises(tl.OpError, match=r"^add takes 2 operands, not 1; give 1 more$"):
        s.explain("int8", op="add")
    assert [said(s, "float32", index, op="take") for index in ("int8", "uint8", "bool", 1)] == ["float32"] * 4
    for index in ("float32", "complex64", 1.5):
        with pytest.raises(tl.OpError, match=f"take takes integers for indices, not {index}; cast them"):
            s.explain("float32", index, op="take")


# -- an answer


def test_an_answer_shows_what_was_asked_and_what_came_of_it() -> None:
    s = make(CHAIN, **VALUES)
    assert repr(s.explain("int8", "uint8")) == "<int16: int8 with uint8 under mine>"
    assert repr(s.explain("int8", "uint8", op="add")) == "<int16: int8 with uint8 in add under mine>"
    assert repr(s.explain("int8", "int8")) == "<int8: int8 under mine>"  # each operand once
    assert repr(s.explain("int8", "float16")) == "<refused: int8 with float16 under mine>"
    weak = make(JAXLIKE, defaults={"int": "i32", "float": "f32"})
    assert repr(weak.explain("int8", 2.5)) == "<float32*: int8 with 2.5 under mine>"
    assert str(s.explain("int8", "uint8")).startswith("int8 with uint8 under mine: int16\n")
    assert str(Rule("a.toml", "order", (3,))) == "a.toml, line 3"
    assert str(Rule("a.toml", "order", (3, 5))) == "a.toml, lines 3, 5"
    assert str(Rule("a.toml", "order", ())) == "a.toml, order"


def test_the_result_of_a_refusal_is_an_error_that_holds_it() -> None:
    p = make(CHAIN).explain("int8", "float16")
    with pytest.raises(tl.PromotionError, match=r"^mine refuses int8 with float16\n  mine has no") as e:
        _ = p.result
    assert e.value.promotion is p
    assert e.value.args == (p,)
    assert make(CHAIN).explain("int8").result is tl.dtype("int8")


def test_the_decision_is_the_last_step_that_had_something_to_decide() -> None:
    s = make(CHAIN, **VALUES)
    assert s.explain("int8").decision == Joined((tl.dtype("int8"),), tl.dtype("int8"))
    p = s.explain("uint8", "int8", op="divide")  # a refusal is a step of one node
    assert (type(p.decision), p.decision.nodes, p.decision.node) == (Operated, (tl.dtype("int16"),), None)
    p = s.explain("uint8", "int8", op="equal")  # that the result is bool decides nothing
    assert (p.decision, type(p.steps[-1])) == (p.steps[0], Operated)
    p = make(CHAIN, ops={"positive": {"takes": "all", "gives": "f32"}}).explain("int8", op="positive")
    assert p.decision == p.steps[-1] == Operated((tl.dtype("int8"),), tl.dtype("float32"), "positive")


def test_the_bounds_are_of_the_nodes_that_the_order_has() -> None:
    p = make(CHAIN, tiers=["array", "scalar"]).explain("int16", 1)  # decided beside i*, which is no node here
    assert p.bounds == (tl.dtype("int16"),)
    assert make(CHAIN).explain("int8", "float16").bounds == ()
    assert make(DIAMOND).explain("int8", "uint8").bounds == (tl.dtype("int16"), tl.dtype("float16"))


def test_casts_are_of_the_operands_that_change_their_dtype() -> None:
    s = make(CHAIN, **VALUES)
    (cast,) = s.explain("int8", "int16").casts
    assert (str(cast.operand), cast.source, cast.target) == ("int8", tl.dtype("int8"), tl.dtype("int16"))
    assert cast.loss == tl.loss(cast.source, cast.target)
    (cast,) = s.explain("int16", 1).casts
    assert (cast.source, cast.target, cast.loss) == (Kind.SIGNED, tl.dtype("int16"), None)
    assert s.explain("int8", "int8").casts == s.explain("int8", "float16").casts == ()


def test_the_dtypes_of_a_system_are_no_weak_nodes() -> None:
    listed = make(JAXLIKE).dtypes
    assert len(listed) == 8
    assert all(isinstance(d, tl.DType) for d in listed)


def test_no_more_answers_are_remembered_than_promised() -> None:
    s, sizes = make("i8", tiers=["array", "scalar"]), []
    tl.operand("int8")  # from here on strings are known to be their own marks
    for i in range(MOST_REMEMBERED + 3):
        assert s.result_type("int8", str(i)) is tl.dtype("int8")
        sizes.append(len(s._remembered))
    assert max(sizes) == MOST_REMEMBERED
    assert sizes[-1] == 3


def test_what_a_value_decides_is_not_remembered() -> None:
    s = tl.system("numpy1")
    assert [str(s.result_type("int8", v)) for v in (1, 300, 1)] == ["int8", "int16", "int8"]
    assert not s._remembered


@pytest.mark.parametrize("name", ["torch", "mlx", "polars", "tensorflow-legacy"])
def test_a_number_is_remembered_by_its_value_where_that_may_decide(name: str) -> None:
    """Each of these is asked twice: of a fresh system, and of one that has met other numbers before."""
    numbers = (1, 300, 2**40, True, 1.0, 2**63, -1, 2**64, 1, 300, 2**64)
    fresh, met = tl.system(name).replace, tl.system(name).replace(title="met")

    def answer(s: tl.System, *operands: object) -> str:
        try:
            return str(s.result_type(*operands))
        except tl.PromotionError as e:
            return str(e)

    for operands in ((d, n) for n in numbers for d in ("uint8", "float32")):
        for pair in (operands, operands[::-1]):
            assert answer(met, *pair) == answer(fresh(title="met"), *pair)
    assert len(met._remembered) > len(numbers)  # those that are refused are not


def test_a_system_that_was_pickled_answers_as_before() -> None:
    s = make(CHAIN, **VALUES)
    again = pickle.loads(pickle.dumps(s))
    assert (again.name, again.result_type("int8", "uint8")) == ("mine", tl.dtype("int16"))
    assert pickle.loads(pickle.dumps(tl.system("jax"))) is not None
