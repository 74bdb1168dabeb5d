"""Powers: exponents that are ignored, constants, and integers on the right."""

from __future__ import annotations

import pytest
from small_systems import CHAIN, JAXLIKE, NUMPYLIKE, make, said

import typelattice as tl
from typelattice.core.evidence.recorded_answer import find_recorded_answer
from typelattice.core.explanations.promotion_in_english import explain_in_sections

CONSTANT = {"any then 0d integer, py.int, py.bool": "left, as a product"}


def test_an_exponent_may_have_to_lie_within_a_dtype() -> None:
    s = make(CHAIN, **NUMPYLIKE, ops={"pow": {"kernels": "all", "limits": {"right": "u8"}}})
    assert said(s, "int32", 255, op="pow") == "int32"
    assert said(s, "int32", 256, op="pow") == "- pow of integers takes no integer beyond uint8 on the right"
    assert said(s, "int32", -1, op="pow") == "- pow of integers takes no negative integer on the right"
    assert said(s, "float32", 256, op="pow") == "float32"


def test_a_negative_integer_on_the_right_may_be_refused() -> None:
    s = make(CHAIN, **NUMPYLIKE, ops={"pow": {"kernels": "all", "limits": {"right": "not negative"}}})
    assert said(s, "int8", -1, op="pow") == "- pow of integers takes no negative integer on the right"
    assert said(s, "int8", 1, op="pow") == said(s, -1, "int8", op="pow") == "int8"
    assert said(s, "int8", 0, op="pow") == "int8"
    assert said(s, "float32", -1, op="pow") == "float32"
    assert said(s, "int8", "int8:0d=-1", op="pow") == "int8"
    power = {"kernels": "all", "limits": {"right": "not negative, also 0d"}}
    both = make(CHAIN, **NUMPYLIKE, ops={"pow": power})
    assert said(both, "int8", "int8:0d=-1", op="pow") == said(s, "int8", -1, op="pow")
    assert said(s, "int8", "int", op="pow") == "int8"  # of a value that is unknown nothing is said


def test_an_integer_on_the_right_may_leave_the_left_its_dtype() -> None:
    power = {"kernels": "all", "joins": CONSTANT}
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
    joins = CONSTANT | {"i16 then integer": "left"}
    s = make(CHAIN, **NUMPYLIKE, ops={"power": {"kernels": "all"}, "pow": {"joins": joins}})
    assert said(s, "int16", "int32", op="pow") == "int16"
    assert said(s, "int8", "int32", op="pow") == "int32"
    assert said(s, "int8", "int32:0d", op="pow") == "int8"
    for other, ignored in (("int32:0d", True), ("int32", False)):
        told = [
            line for _, lines in explain_in_sections(s.explain("int8", other, op="pow")) for line in lines
        ]
        assert (f"the integer {other} on the right is ignored" in told) == ignored


def test_a_python_bool_is_the_integer_that_it_is_in_a_constant_exponent_alone() -> None:
    order = f"b -> i*\n{JAXLIKE}"
    keys = {"weak-join": "width", "defaults": {"int": "i32", "float": "f32"}}
    constant = make(order, **keys, ops={"power": {"kernels": "all", "joins": CONSTANT}})
    assert said(constant, "int8:weak", True, op="pow") == "int8*"
    assert said(constant, "int8:weak", "bool:0d", op="pow") == "int32*"
    ignoring = {"kernels": "all", "joins": {"any then integer, py.int": "left"}}
    plain = make(order, **keys, ops={"power": ignoring})
    assert said(plain, "int8:weak", True, op="pow") == "int32*"


def test_the_value_of_the_base_does_not_count_beside_a_constant_exponent() -> None:
    power = {"kernels": "all", "joins": CONSTANT}
    s = make(CHAIN, **NUMPYLIKE, ops={"power": power}, fit={"int": "raise"})
    assert said(s, 2**31, "int8:0d", op="pow") == "int32"
    assert said(s, 2**31, "int8", op="pow") == "- 2147483648 is out of range for int8"


def test_an_exponent_that_wraps_may_be_negative() -> None:
    s = make(
        CHAIN,
        **NUMPYLIKE,
        fit={"int": "wrap"},
        ops={"power": {"kernels": "all", "limits": {"right": "not negative"}}},
    )
    assert said(s, "int8", 127, op="pow") == "int8"
    refused = "- pow of integers takes no negative integer on the right"
    assert said(s, "int8", 255, op="pow") == f"{refused}: 255 wraps to -1"
    assert said(s, "int8", -1, op="pow") == refused
    assert said(s, "int8", -129, op="pow") == "int8"  # 127
    assert said(s, 255, "int8", op="pow") == "int8"
    power = {"kernels": "all", "limits": {"right": "not negative, also 0d"}}
    of_0d = make(CHAIN, **NUMPYLIKE, fit={"int": "wrap"}, ops={"power": power})
    assert said(of_0d, 255, "int8:0d", op="pow") == "int8"  # it is the base that wraps
    assert said(of_0d, "int8", "int8:0d=-1", op="pow") == refused


@pytest.mark.parametrize(
    ("system", "operands", "expected"),
    [
        ("numpy", ("bool", 2), "int8"),
        ("numpy", ("bool", 3), "int64"),
        ("numpy", ("bool", 2.0), "float64"),
        ("numpy@2.0", ("bool", 2.0), "int8"),
        ("numpy1", ("bool", 2.0), "int8"),
        ("numpy1", ("int16", 2.0), "float64"),
        ("dask", ("bool", 2), "int8"),
    ],
)
def test_a_square_is_another_function_than_a_power(
    system: str, operands: tuple[object, ...], expected: str
) -> None:
    """NumPy calls np.square for `x ** 2`; the recordings were asked of 2 itself."""
    asked = tl.system(system).explain(*operands, op="**")
    found = find_recorded_answer(asked)
    assert str(asked.dtype) == expected
    assert found is not None
    assert not found.departs


def test_an_override_may_name_the_value_of_a_python_number() -> None:
    power = {"kernels": "all", "joins": {"bool then 2": "u8"}}
    s = make(CHAIN, **NUMPYLIKE, ops={"pow": power})
    given = [said(s, "bool", n, op="pow") for n in (2, 3, 2.0, "int")]
    assert given == ["uint8", "int32", "float64", "int32"]
