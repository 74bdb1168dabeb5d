"""Systems in which the value of a Python number decides the dtype."""
from __future__ import annotations

from small_systems import make, said, steps

import typelattice as tl
from typelattice.core.explanations.promotion_in_english import explain_in_sections


def test_of_values_a_float_is_as_wide_as_numpy_1_counted_it() -> None:
    numpy1 = tl.system("numpy1")  # NumPy 1.26 says the same: the limits are 65000 and 3.4e38, not the largest
    found = [said(numpy1, "float16", value) for value in (64999.0, 65000.0, 3.39e38, 3.4e38)]
    assert found == ["float16", "float32", "float32", "float64"]


def test_an_int_beyond_its_array_may_join_it_by_its_value() -> None:
    order = "b -> u8 -> u16 -> u32 -> i64; b -> i8 -> i16 -> i32 -> i64 -> f64; u8 -> i16; u16 -> i32"
    s = make(order, tiers=["array", "scalar"], defaults={"int": "i32, i64"}, fit={"int": "least dtype"})
    found = [said(s, "uint8", value) for value in (255, 300, -1, 2**31, 2**70)]
    assert found == ["uint8", "uint16", "int16", "uint32", "uint8"]
    assert [said(s, 128, x, op="add") for x in ("int8", "float64")] == ["int16", "float64"]
    assert steps(s, "uint8", 300)[2] == ("fit", "int", ("i*",), "uint16")
    assert [s.result_type("uint8", x) for x in (1, 300)] == [tl.dtype("uint8"), tl.dtype("uint16")]


def test_an_int_joins_the_arrays_and_no_lower_tier_and_a_float_takes_it_as_it_is() -> None:
    order = "i8 -> i16 -> i32 -> i64 -> f32 -> f64"
    tiers = ["array", "0d", "scalar"]
    s = make(order, tiers=tiers, defaults={"int": "i32, i64", "float": "f32"}, fit={"int": "least dtype"})
    assert said(s, "int8", "int8:0d", 300) == "int16"
    assert said(s, "float32", 2**24 + 1) == "float32"
    assert said(s, "float32", "int8:0d", 2**24 + 1) == "float32"


def test_values_count_where_the_file_says_so() -> None:
    numpy = tl.system("numpy")
    s = numpy.replace(combine="value", tiers=["array", "0d", "scalar"])
    assert said(s, "int8", "int16:0d=3") == "int8"
    assert said(s, "int8", 300) == "int16"
    assert said(numpy, "int8", "int16:0d=3") == "int16"


def test_a_python_int_widens_integers_to_64_bits_at_most() -> None:
    polars = tl.system("polars")
    widened = [said(polars, d, -1, op="add") for d in ("uint8", "uint32", "uint64")]
    assert widened == ["int16", "int64", "int64"]
    assert said(polars, "uint64", "int8", op="add") == "int128"
    assert said(polars, "int8", 2**64, op="add") == "int8"
    assert said(polars, 2**64, op="positive") == "int128"


def test_a_file_names_the_dtypes_that_a_python_int_makes_of_narrower_ones() -> None:
    order = "i8 -> i16 -> i32 -> i64; u8 -> u16 -> u32 -> i64; u8 -> i16; u16 -> i32"
    keys = {"tiers": ["array", "scalar"], "defaults": {"int": "i64"}}
    s = make(order, **keys, sets={"short": "u16, i16"}, fit={"int": "least dtype of short, i8, u8"})
    asked = [("int8", 300), ("int8", 2**15), ("int8", 2**16), ("int8", -(2**15) - 1), ("uint8", 300)]
    assert [said(s, *xs) for xs in asked] == ["int16", "int32", "int8", "int8", "uint16"]
    assert [said(s, d, -1) for d in ("uint8", "uint16", "uint32")] == ["int16", "int16", "int64"]
    found = make(order, **keys, fit={"int": "least dtype"})
    assert [said(found, *xs) for xs in asked] == ["int16", "int32", "int32", "int32", "uint16"]
    assert [said(found, d, -1) for d in ("uint8", "uint16", "uint32")] == ["int16", "int32", "int64"]


def test_a_variant_may_name_fewer_of_them() -> None:
    short = tl.system("polars").replace(fit={"int": "least dtype of u8, i8"})
    assert [said(short, "uint8", value) for value in (127, -1, 300)] == ["uint8", "int8", "uint8"]


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
    told = [line for _, lines in explain_in_sections(polars.explain("uint8", -1)) for line in lines]
    assert "uint8 counts as int16, beside a negative int" in told
    assert polars.explain("uint32", -(2**40)).rule.key == "fit"


def test_an_unsigned_dtype_without_a_signed_one_of_twice_its_bits_counts_as_itself() -> None:
    order = "b -> u8 -> i32 -> f32"
    s = make(order, tiers=["array", "scalar"], defaults={"int": "i32"}, fit={"int": "least dtype"})
    assert said(s, "uint8", -1, op="add") == said(s, "uint8", 300, op="add") == "int32"
