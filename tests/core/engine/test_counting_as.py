"""What operands count as when they come in and answers when they go out, in a system or in one operation."""
from __future__ import annotations

from small_systems import CHAIN, JAXLIKE, NUMPYLIKE, make, said, steps

import typelattice as tl


def test_an_operand_may_count_as_another_before_it_meets_the_rest() -> None:
    solve = {"solve": {"kernels": "all", "counts-as": {"bool, integer": "f64"}}}
    s = make(CHAIN, **NUMPYLIKE, ops=solve)
    assert said(s, "int8", "float32", op="add") == "float32"
    assert said(s, "int8", "float32", op="solve") == said(s, "int8", "int8", op="solve") == "float64"
    assert said(s, "float32", "complex64", op="solve") == "complex64"
    p = s.explain("int8", "float32", op="solve")
    assert "counts-as" in p.rule.quoted[0]
    assert "int8 first becomes float64" in str(p)
    assert [str(cast.source) for cast in p.casts] == ["int8", "float32"]


def test_a_python_scalar_counts_so_too_where_it_is_told_apart_nowhere() -> None:
    ops = {"atan2": {"counts-as": {"integer": "f64"}, "kernels": "all"}}
    alike = make(CHAIN, defaults={"int": "i32", "float": "f64"}, ops=ops)
    apart = make(CHAIN, **NUMPYLIKE, ops=ops)
    assert [said(s, 1, "float32", op="atan2") for s in (alike, apart)] == ["float64", "float32"]


def test_what_an_operand_counts_as_is_told_and_leaves_it_its_tier() -> None:
    ops = {"atan2": {"counts-as": {"integer": "f64"}, "kernels": "all"}}
    s = make(CHAIN, tiers=["array", "0d"], defaults={"int": "i32", "float": "f64"}, ops=ops)
    assert said(s, "int8:0d", "float32", op="atan2") == "float32"
    assert said(s, "int8", "float32:0d", op="atan2") == said(s, 1, "float32", op="atan2") == "float64"
    assert steps(s, "int8", "float32", op="atan2")[0] == ("ops", "atan2", ("int8",), "float64")
    assert steps(s, 1, "float32", op="atan2")[0] == ("ops", "atan2", ("i*",), "float64")


def test_a_weak_operand_that_counts_as_its_own_dtype_is_weak_no_longer() -> None:
    keys = {"weak-join": "width", "defaults": {"int": "i32", "float": "f32"}}
    s = make(JAXLIKE, **keys, ops={"add": {"counts-as": {"integer": "i32"}}})
    assert said(s, "int32:weak", "int32:weak", op="subtract") == "int32*"
    assert said(s, "int32:weak", "int32:weak", op="add") == "int32"
    told = ("ops", "add", ("int32",), "int32")
    assert steps(s, "int32:weak", "int32", op="add").count(told) == 1  # and of what is not weak nothing
    assert said(s, "float16:weak", "float16:weak", op="add") == "float16*"


def test_an_order_of_its_own_is_all_that_counts_there() -> None:
    order = "u8, i8 -> i16, f16 -> f32"
    own = {"kernels": "all", "joins": order}
    pairs = {"overrides": {"u8 + f16, f*": "f32"}, "refusals": {"i8 + i16": "they do not meet"}}
    keys = {"tiers": ["array", "scalar"], "defaults": {"float": "f16"}, "combine": "fold"}
    s = make(order, **keys, ties={"i16, f16": "i16"}, **pairs, ops={"multiply": own})
    asked = [("uint8", "int8"), ("uint8", "float16"), ("uint8", 1.5), ("int8", "int16")]
    elsewhere = [said(s, *pair, op="add") for pair in asked]
    assert elsewhere == ["int16", "float32", "float32", "- they do not meet"]
    both = "- both can become int16 or float16, and no tie says which one"
    assert [said(s, *pair, op="multiply") for pair in asked] == [both, "float16", "float16", "int16"]
    alike = make("u8, i8 -> i16", combine="comparable", ops={"multiply": {**own, "joins": "u8, i8 -> i16"}})
    assert said(alike, "uint8", "int8", op="add").startswith("- neither represents all values of the other")
    assert said(alike, "uint8", "int8", op="multiply") == "int16"
    chain = "u8 -> i16 -> i32"
    wider = make(chain, after={"i16": "i32"}, ops={"multiply": {"kernels": "all", "joins": chain}})
    p = wider.explain("uint8", "int16", op="multiply")
    assert (str(p.decisions[0].node), str(p.dtype)) == (
        "int16",
        "int32",
    )  # at which they meet, what comes out


def test_what_operands_and_answers_count_as_is_told_of_an_order_of_its_own_too() -> None:
    keys = {"tiers": ["array", "scalar"], "defaults": {"int": "i32, i64"}, "before": {"u8": "i16"}}
    ops = {"multiply": {"kernels": "all", "joins": "i16 -> i32 -> i64 -> f32"}}
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
    refused = make("u8; i8", before={"u4": "u8"}, ops={"multiply": {"kernels": "all", "joins": "u8; i8"}})
    assert [x[0] for x in steps(refused, "uint4", "int8", op="multiply")] == ["before", "ops"]


def test_an_operation_may_have_an_order_of_its_own() -> None:
    ops = {"matmul": {"kernels": "all", "joins": "u8 -> i8 -> f16"}}
    s = make("u8; i8; f16; f32", ops=ops)
    assert said(s, "uint8", "int8", op="matmul") == "int8"
    assert said(s, "uint8", "int8", op="where").startswith("- nothing lies above both")
    assert said(s, "uint8", "float32", op="matmul") == "- mine has no float32"
    p = s.explain("float16", "uint8", op="matmul")
    assert p.dtype is tl.dtype("float16")
    assert steps(s, "float16", "uint8", op="matmul")[0] == ("ops", "matmul", ("float16", "uint8"), "float16")
    assert "joins" in p.rule.quoted[0]
    assert "its operands join in an order of the operation's own" in str(p)


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


MAKING_ARRAYS = {"append": {"counts-as": "array"}, "kron": {"kernels": "all", "counts-as": "array if first"}}
OF_THREE_TIERS = {"tiers": ["array", "0d", "scalar"], "defaults": {"int": "i32", "float": "f64"}}


def test_an_operation_may_make_arrays_of_what_has_no_dimensions_before_any_meets_another() -> None:
    s = make(CHAIN, **OF_THREE_TIERS, ops=MAKING_ARRAYS)
    asked = [("int8", 1), (1, "int8"), ("int8", "int16:0d"), ("int16:0d", "int8"), (1, 2.5), (True, "int8")]
    assert [said(s, *x, op="where") for x in asked[:4]] == ["int8"] * 4
    arrays = {
        "append": ["int32", "int32", "int16", "int16", "float64", "int16"],
        "kron": ["int8", "int32", "int8", "int16", "float64", "int16"],
    }
    for op, dtypes in arrays.items():
        assert [said(s, *x, op=op) for x in asked] == dtypes


def test_an_array_that_an_operation_makes_is_told_and_is_weak_no_longer() -> None:
    s = make(CHAIN, **OF_THREE_TIERS, ops=MAKING_ARRAYS)
    assert steps(s, "int8", 1, op="append")[0] == ("ops", "append", ("i*",), "int32")
    assert steps(s, "int8", "int16:0d", op="append")[0] == ("ops", "append", ("int16",), "int16")
    assert steps(s, "int8", "int16", op="append")[0][0] == "order"
    alike = make(CHAIN, **NUMPYLIKE, ops=MAKING_ARRAYS)  # which does not tell 0-d arrays apart
    assert steps(alike, "int8", "int16:0d", op="append")[0][0] == "order"
    p = s.explain("int8", 1, op="append")
    assert "1 first becomes an array of int32" in str(p)
    assert "made an array" not in str(s.explain("int8", 1, op="kron"))
    assert "append" in p.rule.quoted[0]
    weak = make(
        JAXLIKE, weak_join="width", defaults={"int": "i32"}, tiers=["array", "scalar"], ops=MAKING_ARRAYS
    )
    assert [said(weak, 1, 2, op=op) for op in ("where", "append")] == ["int32*", "int32"]


def test_the_dtype_of_an_array_that_an_operation_makes_has_to_hold_the_value() -> None:
    s = make(CHAIN, **OF_THREE_TIERS, fit={"int": "wrap"}, ops=MAKING_ARRAYS)
    assert said(s, "int8", 300, op="append") == "int32"
    assert said(s, "int8", 2**31, op="append") == "- 2147483648 is out of range for int32"
    assert said(s, "int8", 2**31, op="kron") == "int8"
    assert s.explain("int8", 300, op="append").fits == ()


def test_an_array_that_an_operation_makes_casts_to_loops_as_one() -> None:
    loops = {"kernels": "all", "loops": "i16, i32"}
    s = make(CHAIN, **OF_THREE_TIERS, ops={"outer": loops, "kron": {**loops, "counts-as": "array"}})
    assert [said(s, "int8", 1, op=op) for op in ("outer", "kron")] == ["int16", "int32"]


def test_a_scalar_of_a_kind_without_a_default_dtype_is_made_no_array() -> None:
    s = make(CHAIN, tiers=["array", "scalar"], ops={"append": {"counts-as": "array"}})
    assert said(s, "int8", 1, op="append") == "int8"


def test_arrays_of_python_numbers_have_a_default_dtype_where_numbers_have_none() -> None:
    standard = tl.system("array-api")
    assert standard.explain(1.5).dtype is None
    made = (
        *("zeros(3)", "eye(3)", "arange(5)", "arange(5.)", "asarray(2.5)", "asarray([1, 2])"),
        "linspace(0, 1, 5)",
    )
    found = [str(tl.program(text).under("array-api").dtype) for text in made]
    assert found == ["float64", "float64", "int64", "float64", "float64", "int64", "float64"]
    assert str(standard.promote(0, 0.5, op="arange").dtype) == "float64"


def test_a_pair_of_a_table_joins_though_the_rest_has_to_be_of_one_dtype() -> None:
    joins = {"u8 then i8": "left", "i8 + i16": "i16", "rest": "same dtype"}
    s = make("u8, i8 -> i16", ops={"multiply": {"kernels": "all", "joins": joins}})
    assert said(s, "uint8", "int8", op="multiply") == "uint8"
    assert said(s, "int16", "int8", op="multiply") == "int16"
    assert said(s, "int8", "int8", op="multiply") == "int8"
    for pair in (("int8", "uint8"), ("uint8", "int16")):
        assert "operands have to be of one dtype" in str(s.explain(*pair, op="multiply"))
