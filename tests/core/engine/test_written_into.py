"""What an operator in place or an assignment writes into its left operand."""

from __future__ import annotations

import pytest
from small_systems import CHAIN, VALUES, fate, make, said, steps

import typelattice as tl
from typelattice.core.engine.decisions import DTypeByOperation
from typelattice.core.engine.rule_enums import InPlaceRule

KIND = {"gives": "left, same-kind cast"}


def test_what_operands_give_that_stay_apart_is_written_into_the_left_one() -> None:
    s = make("b; u8; i8; f64", ops={"+=": {"joins": "if possible", "gives": "f64", "kernels": "all"}})
    assert said(s, "float64", "int8", op="+=") == "float64"
    assert said(s, "int8", "float64", op="+=") == "- float64 cannot be written into int8"
    assert steps(s, "float64", "int8", op="+=") == [("ops", "+=", ("float64", "int8"), "float64")]


def test_what_has_dimensions_is_written_into_no_array_without() -> None:
    """NumPy and PyTorch raise; in JAX the result is a new array."""
    s = make(CHAIN)
    assert said(s, "int16:0d", "int8", op="+=") == (
        "- += would write what has dimensions into an array that has none"
    )
    assert steps(s, "int16:0d", "int8", op="+=")[-1] == ("ops", "in-place", ("int16", "int8"), None)
    assert said(s, "int16:0d", "int8:0d", op="+=") == "int16"
    assert said(s, "int16", "int8:0d", op="+=") == said(s, "int16", "int8", op="+=") == "int16"
    rebinding = make(CHAIN, ops={"in-place": {"gives": "new array"}})
    assert said(rebinding, "int16:0d", "int8", op="+=") == "int16"


@pytest.mark.parametrize(
    ("ops", "entry"),
    [({}, "in-place"), ({"in-place": KIND}, "in-place"), ({"+=": KIND}, "+=")],
)
def test_what_may_be_written_in_place_is_said_by_the_operation_or_by_the_class(
    ops: dict[str, object], entry: str
) -> None:
    s = make(CHAIN, ops=ops) if ops else make(CHAIN)
    decision = s.explain("int16", "float32", op="+=").decision
    assert isinstance(decision, DTypeByOperation)
    assert decision.entry == entry
    assert steps(s, "float32", "float32", op="&=")[-1] == ("ops", "bitwise", ("float32",), None)


def test_an_operator_may_compute_in_another_dtype_and_cast_to_the_left_operand() -> None:
    s = make(CHAIN, ops={"in-place": {"gives": "left, any cast"}})
    p = s.explain("int8", "float32", op="+=")
    assert (str(p.compute), str(p.dtype)) == ("float32", "int8")
    assert said(s, "float32", "int8", op="*=") == "float32"


def test_an_assignment_that_casts_may_compute_in_another_dtype() -> None:
    said_of_clip = {"kernels": "all", "gives": "left, any cast", "computes": {"bool": "i8"}}
    s = make("b; i8; f32", ops={"clip": said_of_clip})
    assert said(s, "bool", "float32", op="clip") == "int8"
    assert said(s, "float32", "bool", op="clip") == "float32"


def test_the_left_operand_may_be_written_into_where_single_dtypes_are_computed_in() -> None:
    some = {"kernels": "all", "gives": {"float": "left, same-kind cast"}}
    s = make(CHAIN, ops={"maximum": some})
    assert said(s, "uint8", "int8", op="maximum") == "int16"
    assert said(s, "float32", "float64", op="maximum") == "float32"
    assert said(s, "int8", "float32", op="maximum") == "- float32 cannot be written into int8"
    gives = {"kernels": "all", "gives": {"integer": "f64"}}
    s = make(CHAIN, ops={"extreme": {"gives": "left"}, "maximum": gives})
    assert said(s, "int16", "uint8", op="maximum") == "float64"
    assert said(s, "float64", "float32", op="maximum") == "float64"
    assert said(s, "float32", "float64", op="maximum") == "- float64 cannot be written into float32"
    with pytest.raises(tl.FormatError, match='gives has no effect for single dtypes: with "left, any cast"'):
        make(CHAIN, ops={"maximum": {"kernels": "all", "gives": {"float": "left, any cast"}}})


@pytest.mark.parametrize("into", [word for word in InPlaceRule if not word.casts_any])
def test_what_an_operator_in_place_may_write_into_the_left_operand(into: str) -> None:
    """uint8 += uint8, int16 += uint8 join at the left dtype, uint8 += int8, int8 += float32 above it."""
    s = make("u8 -> i16 -> f32; i8 -> i16", ops={"in-place": {"gives": into}})
    pairs = (("uint8", "uint8"), ("int16", "uint8"), ("uint8", "int8"), ("int8", "float32"))
    found = [s.explain(*pair, op="+=") for pair in pairs]
    assert [p.compute and str(p.dtype) for p in found] == {
        "left": ["uint8", "int16", None, None],
        "left, same-kind cast": ["uint8", "int16", None, None],
        "left, no higher category": ["uint8", "int16", "uint8", None],
        "new array": ["uint8", "int16", "int16", "float32"],
        "new array, rounded": ["uint8", "int16", "int16", "int8"],
    }[into]
    assert found[0].compute is tl.dtype("uint8")
    if into == "left, no higher category":
        assert found[2].compute is tl.dtype("int16")
    if not into.makes_new_array:
        assert found[3].reason == "float32 cannot be written into int8"


def test_an_assignment_casts_to_the_dtype_of_what_is_written_into() -> None:
    """It asks for no dtype that holds both, so it takes what promotion refuses."""
    keys = {**VALUES, "defaults": {"int": "i16"}, "fit": {"int": "wrap"}}
    s = make(
        "b; i8 -> i16 -> f16; u8",
        **keys,
        ops={"assignment": {"gives": "left, any cast", "kernels": "bool, integer"}},
    )
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
    s = make("b; i8", **keys, ops={"assignment": {"gives": "left, any cast"}})
    assert said(s, "int8", 300, op="setitem") == "- 300 is out of range for int8"
    assert (said(s, "bool", 300, op="setitem"), fate(s, "bool", 300, op="setitem")) == ("bool", [])


def test_a_dtype_of_the_same_kind_is_written_into_a_narrower_one() -> None:
    s = make(CHAIN, ops={"in-place": {"kernels": "all", "gives": "left, same-kind cast"}})
    assert said(s, "int8", "int16", op="+=") == "int8"
    assert said(s, "uint8", "int8", op="+=") == "- int16 cannot be written into uint8"
