"""What an answer holds, and what a system does besides answering."""
from __future__ import annotations

import pickle

import pytest
from small_systems import CHAIN, DIAMOND, JAXLIKE, VALUES, make

import typelattice as tl
from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.engine.decisions import DTypeByOperation, NodesJoined
from typelattice.core.engine.promotion import DecidingLines


def test_none_is_no_operand() -> None:
    s = make(CHAIN)
    for asked in (("int8", None), (None, "int8"), (None,), ("int8", "int8", None)):
        with pytest.raises(tl.OperandError, match="an object of type NoneType takes no part"):
            s.result_type(*asked)
    assert s.result_type("int8") is tl.dtype("int8")


def test_what_cannot_be_read_raises() -> None:
    s = make(CHAIN)
    with pytest.raises(tl.DTypeError):
        s.explain("int9")
    with pytest.raises(tl.OperandError, match="an object of type object takes no part in promotion"):
        s.explain(object())
    with pytest.raises(tl.OpError, match=r"unknown operation 'ad' [(]did you mean add or pad"):
        s.explain("int8", op="ad")
    with pytest.raises(tl.OperandError, match="nothing to promote under mine: give at least one operand"):
        s.explain(op="add")


def test_systems_are_equal_to_themselves_alone() -> None:
    s, twin = make(CHAIN), make(CHAIN)
    assert s == s
    assert s != twin
    assert repr(s) == "<system mine>"
    assert {s: 1}[s] == 1


def test_an_answer_shows_what_was_asked_and_what_came_of_it() -> None:
    s = make(CHAIN, **VALUES)
    assert repr(s.explain("int8", "uint8")) == "<int16: int8 with uint8 under mine>"
    assert repr(s.explain("int8", "uint8", op="add")) == "<int16: int8 with uint8 in add under mine>"
    assert repr(s.explain("int8", "int8")) == "<int8: int8 under mine>"  # each operand once
    assert repr(s.explain("int8", "float16")) == "<refused: int8 with float16 under mine>"
    weak = make(JAXLIKE, defaults={"int": "i32", "float": "f32"})
    assert repr(weak.explain("int8", 2.5)) == "<float32*: int8 with 2.5 under mine>"
    assert str(s.explain("int8", "uint8")).startswith("int8 with uint8 under mine: int16\n")
    assert str(DecidingLines("a.toml", "order", (3,))) == "a.toml, line 3"
    assert str(DecidingLines("a.toml", "order", (3, 5))) == "a.toml, lines 3, 5"
    assert str(DecidingLines("a.toml", "order", ())) == "a.toml, order"


def test_the_result_of_a_refusal_is_an_error_that_holds_it() -> None:
    p = make(CHAIN).explain("int8", "float16")
    with pytest.raises(tl.PromotionError, match=r"^mine refuses int8 with float16\n  mine has no") as e:
        _ = p.result
    assert e.value.promotion is p
    assert e.value.args == (p,)
    assert make(CHAIN).explain("int8").result is tl.dtype("int8")


def test_the_decision_is_the_last_step_that_had_something_to_decide() -> None:
    s = make(CHAIN, **VALUES)
    assert s.explain("int8").decision == NodesJoined((tl.dtype("int8"),), tl.dtype("int8"))
    p = s.explain("uint8", "int8", op="divide")  # a refusal is a step of one node
    assert (type(p.decision), p.decision.nodes, p.decision.node) == (
        DTypeByOperation,
        (tl.dtype("int16"),),
        None,
    )
    p = s.explain("uint8", "int8", op="equal")  # that the result is bool decides nothing
    assert (p.decision, type(p.decisions[-1])) == (p.decisions[0], DTypeByOperation)
    p = make(CHAIN, ops={"positive": {"kernels": "all", "gives": "f32"}}).explain("int8", op="positive")
    assert (
        p.decision
        == p.decisions[-1]
        == DTypeByOperation((tl.dtype("int8"),), tl.dtype("float32"), "positive")
    )


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


def test_a_system_that_was_pickled_answers_as_before() -> None:
    s = make(CHAIN, **VALUES)
    again = pickle.loads(pickle.dumps(s))
    assert (again.name, again.result_type("int8", "uint8")) == ("mine", tl.dtype("int16"))
    assert pickle.loads(pickle.dumps(tl.system("jax"))) is not None
