"""How operands of one tier join: at their least upper bound, by a recorded tie, pair by pair."""
from __future__ import annotations

import pytest
from small_systems import CHAIN, DIAMOND, make, said, steps

import typelattice as tl
from typelattice.core.engine.decisions import NodesJoined, RefusedJoin, RefusedPair


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
    assert p.decision == NodesJoined(tuple(dict.fromkeys(o.dtype for o in p.operands if o.dtype)), p.dtype)
    assert p.bounds == (p.dtype,)
    assert s.promote(*operands).dtype is s.result_type(*operands) is p.dtype


def test_a_join_is_of_the_set_where_pairs_would_refuse() -> None:
    s = make("b, u8 -> i16, f16 -> f32\ni8 -> f32")
    assert said(s, "bool", "uint8") == "- both can become int16 or float16, and no tie says which one"
    assert said(s, "bool", "uint8", "int8") == "float32"
    fold = make("b, u8 -> i16, f16 -> f32\ni8 -> f32", combine="fold")
    assert said(fold, "bool", "uint8", "int8") == said(fold, "bool", "uint8")
    assert said(fold, "bool", "int8", "uint8") == "float32"


def test_two_minimal_bounds_and_no_tie_are_a_refusal() -> None:
    p = make(DIAMOND).explain("uint8", "int8")
    assert (p.dtype, p.node, p.compute, p.weak) == (None, None, None, False)
    assert p.reason == "both can become int16 or float16, and no tie says which one"
    assert p.remedy == "cast one operand, e.g. to int16"
    assert [str(n) for n in p.bounds] == ["int16", "float16"]
    assert p.decision.node is None
    assert p.casts == ()


def test_three_minimal_bounds_all_lie_above() -> None:
    s = make("u8, i8 -> i16, f16, bf16")
    every = "- both can become int16 or float16 or bfloat16, and no tie says which one"
    assert said(s, "uint8", "int8") == every


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
    assert p.decision == NodesJoined((tl.dtype("bfloat16"),), None)


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
    assert said(s, "bool", "uint1") == "- both can become int4 or uint4, and no tie says which one"


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
    assert (p.reason, p.remedy) == ("not these", "cast one operand, e.g. to int8")
    assert p.decision == RefusedPair((tl.dtype("uint8"), tl.dtype("int8")), None, "u8 + i8")
    assert said(s, "complex64", "int32") == "- too much"
    assert said(s, "uint8", "int16") == "int16"
    assert said(s, "bool", "uint8", "int16", "int8") == "- not these"  # of a set, every two
    with pytest.raises(tl.PromotionError) as caught:
        s.result_type("uint8", "int8")
    told = "mine refuses uint8 with int8\n  not these (text, line 8): cast one operand, e.g. to int8"
    assert str(caught.value) == told
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
    assert p.decision == RefusedJoin((tl.dtype("uint8"), tl.dtype("int8")), None)
    assert said(make("b; i8", combine="comparable"), "bool", "int8") == "- nothing lies above both"


def test_comparable_is_asked_pair_by_pair_as_tensorflow_asks() -> None:
    """In its safe mode tnp.result_type(uint8, int8, int16) raises, (int16, uint8, int8) gives int16."""
    for s in (make(CHAIN, combine="comparable"), tl.system("tensorflow-safe")):
        assert said(s, "uint8", "int8", "int16") == "- neither represents all values of the other"
        assert said(s, "int16", "uint8", "int8") == "int16"


def test_a_refusal_of_a_pair_that_does_not_compare_leaves_no_join_behind() -> None:
    s = make("u8, i8 -> i16", combine="comparable")
    assert steps(s, "uint8", "int8") == [
        ("order", None, ("uint8",), "uint8"),
        ("combine", None, ("uint8", "int8"), None),
    ]
