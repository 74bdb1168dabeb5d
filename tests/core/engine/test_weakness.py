"""Weak operands and weak results, and what ends weakness."""

from __future__ import annotations

from small_systems import CHAIN, JAXLIKE, make, said, steps


def test_a_weak_result_may_have_to_be_of_the_default_dtype() -> None:
    divides = {"kernels": "all", "weak-result": {"float": "default dtype or error"}}
    s = make(
        JAXLIKE, weak_join="width", defaults={"int": "i32", "float": "f32"}, ops={"floor_divide": divides}
    )
    refused = "- floor_divide gives a weak float only as float32, not as float16"
    assert said(s, "float16:weak", "float16:weak", op="floor_divide") == refused
    assert said(s, "float32:weak", "float16:weak", op="floor_divide") == "float32*"
    assert said(s, "float16:weak", "float16", op="floor_divide") == "float16"
    assert "or error" in s.explain("float16:weak", "float16:weak", op="floor_divide").rule.quoted[0]


def test_a_weak_result_may_be_kept_where_nothing_else_is_computed_in() -> None:
    divides = {"kernels": "all", "computes": {"integer": "f32"}, "weak-result": "weak if not cast"}
    s = make(JAXLIKE, defaults={"int": "i32", "float": "f32"}, ops={"divide": divides})
    assert [said(s, x, x, op="divide") for x in (int, float)] == ["float32", "float32*"]


def test_weak_arrays_may_stand_beside_strong_ones_only() -> None:
    refused = "- add takes a Python scalar, and a weak array,"
    for scalars, answer in (("beside an array", "int32*"), ("beside a strong array", refused)):
        s = make(JAXLIKE, defaults={"int": "i32", "float": "f32"}, ops={"add": {"scalars": scalars}})
        assert said(s, "int8:weak", 1, op="add").startswith(answer)
        assert said(s, "int8:weak", "int16", op="add") == "int16"
    assert steps(s, "int8:weak", "int8:weak", op="add") == [("ops", "add", ("int8",), None)]
    s = make(CHAIN, ops={"subtract": {"scalars": "none"}})
    assert steps(s, "int8", 1, op="subtract") == [("ops", "subtract", ("i*",), None)]


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
    sine = {"kernels": "all", "computes": {"integer": "f32"}, "weak-result": "weak even if cast"}
    s = make(JAXLIKE, **keys, ops={"sin": sine})
    answers = [said(s, x, op="sin") for x in ("int8", "int32:weak", "float32", "float32:weak")]
    assert answers == ["float32*", "float32*", "float32", "float32*"]


def test_weakness_that_only_operands_without_dimensions_keep() -> None:
    s = make(JAXLIKE, defaults={"int": "i32", "float": "f32"}, ops={"gcd": {"weak-result": "weak if 0d"}})
    assert s.explain(1, 2, op="gcd").weak
    assert not s.explain(1, "int32:weak", op="gcd").weak
    assert not s.explain("int8:0d", 2, op="gcd").weak


def test_one_weak_operand_keeps_its_width() -> None:
    s = make(JAXLIKE, defaults={"int": "i32", "float": "f32"})
    assert said(s, "int8:weak") == "int8*"
    assert said(s, "int8:weak", "int8:weak") == "int32*"
    assert said(s, "float64:weak") == "float64*"
    assert said(s, "complex64:weak") == "- nothing is said of a Python complex"


def test_weak_operands_among_themselves_by_width() -> None:
    s = make(f"b -> i*\n{JAXLIKE}", weak_join="width", defaults={"int": "i32", "float": "f32"})
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
    without = make(f"b -> i*\n{JAXLIKE}", weak_join="width", defaults={"int": "i32"})
    assert said(without, "int8:weak", float) == "- a Python float alone has no dtype here"


def test_weak_nodes_of_a_width_and_defaults_as_nodes() -> None:
    s = make("i8* -> i16* -> i32*\ni8 -> i32", defaults={"int": "i16"})
    assert said(s, int) == "int16*"
    assert said(s, "int8:weak", int) == "int16*"
    assert steps(s, "int8:weak", int)[-1] == ("defaults", "int", ("i16*",), "int16")
    plain = make("i8 -> i16 -> i32", defaults={"int": "i16"})
    assert said(plain, "int8", int) == "int16"
    assert said(plain, "int8:weak", "int16") == "int16"


def test_a_weak_result_may_lose_its_weakness_in_an_operation() -> None:
    order = f"b -> i*\n{JAXLIKE}"
    keys = {"weak-join": "width", "defaults": {"int": "i32", "float": "f32"}}
    assert said(make(order, **keys), "int8:weak", op="negative") == "int8*"
    assert (
        said(make(order, **keys, ops={"negative": {"weak-result": "strong"}}), "int8:weak", op="negative")
        == "int8"
    )
    assert (
        said(
            make(order, **keys, ops={"negative": {"weak-result": "default dtype"}}),
            "int8:weak",
            op="negative",
        )
        == "int32*"
    )
    assert (
        said(make(order, **keys, ops={"negative": {"weak-result": "default dtype"}}), "int8", op="negative")
        == "int8"
    )
    assert said(make(order, **keys), "int16", 2.5, op="add") == "float32*"


def test_weakness_may_be_lost_by_what_is_computed_in() -> None:
    order = f"b -> i*\n{JAXLIKE}"
    keys = {"weak-join": "width", "defaults": {"int": "i32", "float": "f32"}}
    power = {
        "kernels": "all",
        "joins": {"any then 0d integer, py.int, py.bool": "left, as a product"},
        "weak-result": {"signed": "strong", "f16": "default dtype"},
    }
    s = make(order, **keys, ops={"power": power})
    assert said(s, "int8:weak", "int8:weak", op="pow") == "int8"
    assert said(s, "int8:weak", 2, op="pow") == "int8*"  # a product
    assert said(s, "float16:weak", "float16:weak", op="pow") == "float32*"
    assert said(s, "float64:weak", "float64:weak", op="pow") == "float64*"
    negated = make(
        order,
        **keys,
        ops={"arithmetic": {"weak-result": {"integer": "strong"}}, "add": {"weak-result": "weak"}},
    )
    assert said(negated, "int8:weak", "int8:weak", op="add") == "int8*"  # what is nearer says it of all


def test_a_weak_base_stays_weak_beside_a_weak_exponent_alone() -> None:
    s = make(
        f"b -> i*\n{JAXLIKE}",
        weak_join="width",
        ops={"power": {"kernels": "all", "joins": {"any then integer, py.int": "left"}}},
    )
    assert said(s, "float32:weak", "int8", op="power") == "float32"
    assert said(s, "float32:weak", "int8:weak", op="power") == "float32*"
    assert said(s, "float32:weak", 2, op="power") == "float32*"
