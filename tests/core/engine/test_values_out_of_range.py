"""What becomes of a Python number that its dtype does not hold."""

from __future__ import annotations

import math

import pytest
from small_systems import CHAIN, NUMPYLIKE, VALUES, fate, make, said

import typelattice as tl
from typelattice.core.engine.decisions import OutOfTargetRange


def test_a_value_may_have_to_fit_where_operands_join() -> None:
    fit = {"int": "raise", "float": "inf"}
    here, joined = (
        make(
            CHAIN,
            **NUMPYLIKE,
            fit=fit,
            ops={"divide": {"kernels": "all", "computes": {"integer": "f32", **more}}},
        )
        for more in ({}, {"scalars": "joined"})
    )
    assert said(here, "int8", 300, op="divide") == said(joined, "int8", 3, op="divide") == "float32"
    assert said(joined, "int8", 300, op="divide") == "- 300 is out of range for int8"


def test_integers_may_have_to_be_counted_by_a_float() -> None:
    s = make(CHAIN, **NUMPYLIKE, fit={"int": "raise, raise if inexact", "float": "inf"})
    assert said(s, "float32", 2**24, op="add") == "float32"
    beyond = f"- {2**24 + 1} lies beyond the range in which float32 holds every integer"
    assert said(s, "float32", 2**24 + 1, op="add") == beyond
    assert said(s, "float32", 1e39, op="add") == "float32"
    assert said(s, "int16", 7, op="add") == "int16"
    alone = make(CHAIN, **NUMPYLIKE, fit={"int": "wrap, raise beyond default dtype, raise if inexact"})
    assert said(alone, "float32", 2**24 + 1, op="add") == beyond
    small = make(
        "i32; f8_e4m3fn", tiers=["array", "scalar"], fit={"int": "raise, raise if inexact", "float": "inf"}
    )
    assert said(small, "float8_e4m3fn", 300, op="add") == "float8_e4m3fn"
    assert said(small, "float8_e4m3fn", 500, op="add") == "- 500 is out of range for float8_e4m3fn"


def test_a_fraction_may_have_to_be_none_beside_an_integer() -> None:
    fit = {"int": "raise", "float": "raise, raise if inexact"}
    keys = {"tiers": ["array", "scalar"], "fit": fit, "overrides": {"i8 + f*": "i8"}}
    s = make("i8; f32; i* -> f*", **keys)
    assert said(s, "int8", 2.0, op="add") == "int8"
    assert said(s, "int8", 1.5, op="add") == "- 1.5 has a fraction, which int8 cannot hold"
    assert said(s, "int8", 300.0, op="add") == "- 300.0 is out of range for int8"
    assert said(s, "int8", float("nan"), op="add") == "- nan is out of range for int8"
    assert said(s, "float32", 0.1, op="add") == "float32"
    truncating = make("i8; f32; i* -> f*", **keys | {"fit": {"float": "raise"}})
    assert said(truncating, "int8", 1.5, op="add") == "int8"


def test_an_int_may_default_to_a_float() -> None:
    s = make("f64 -> i8", defaults={"int": "f64", "float": "f64"})
    assert said(s, 1) == said(s, 1, 2.5) == "float64"
    assert said(s, "int8", 300, op="add") == "int8"


def test_a_number_may_have_to_fit_the_default_dtype_that_it_takes() -> None:
    exact = "exact, raise beyond default dtype beside bools"
    s = make(CHAIN, **NUMPYLIKE, ops={"equal": {"fit": {"int": exact}}})
    beyond = 2**70
    assert said(s, "int8", beyond, op="equal") == said(s, beyond, beyond, op="equal") == "bool"
    for operands in (("bool", beyond), (beyond, "bool"), (True, beyond)):
        assert said(s, *operands, op="equal").startswith(f"- {beyond} is out of range for ")
    assert said(s, "bool", 2, op="equal") == "bool"


def test_a_scalar_beyond_what_the_system_holds_is_refused_whatever_it_meets() -> None:
    s = make(CHAIN, **NUMPYLIKE, limits={"int": "i32"})
    for beside in ("int8", "float32", "bool:0d", 1.5, True):
        refused = "- a Python int has to lie within int32, and 2147483648 does not"
        assert said(s, beside, 2**31) == said(s, 2**31, beside, op="add") == refused
    assert said(s, "int8", 2**31 - 1) == "int8"
    p = s.explain("int8", 2**31)
    assert (p.decision.key, p.decision.entry, p.rule.key) == ("limits", "int", "limits")


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
    assert p.decision == OutOfTargetRange((tl.dtype("int8"),), None, "int")
    assert said(s, "int8", 30, op="add") == "int8"
    assert said(s, "float32", 1e300, op="add") == "float32"
    assert s.explain("float32", 1e300, op="add").fits[0].becomes == float("inf")
    assert said(s, "int8", 300, op="equal") == "bool"
    assert said(make(CHAIN, **NUMPYLIKE, fit={"int": "wrap"}), "int8", 300, op="add") == "int8"
    assert make(CHAIN, **NUMPYLIKE).explain("int8", 300, op="add").fits[0].outcome == "unsaid"


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
    s = make(CHAIN, **VALUES, fit={"int": "wrap, raise beyond default dtype"})
    assert [fate(s, "int8", v) for v in (30, 300)] == [[("fits", None, "int8")], [("wrap", 44, "int8")]]
    assert fate(s, "int8", 40_000) == fate(s, "float32", 40_000) == [("raise", None, "int16")]
    assert fate(s, "float32", 1e300) == [("unsaid", None, "float32")]


def test_an_int_that_is_no_float_of_pythons_raises_among_floats() -> None:
    """float(2**1024 - 1) rounds to 2**1024 and is an OverflowError; smaller integers become infinite."""
    s = make(CHAIN, **VALUES, fit={"int": "wrap", "float": "inf"})
    largest = 2**1024 - 2**970 - 1
    assert float(largest) < math.inf
    with pytest.raises(OverflowError):
        float(largest + 1)
    assert fate(s, "float32", largest) == [("inf", math.inf, "float32")]
    assert fate(s, "float32", largest + 1) == [("raise", None, "float32")]
    assert fate(s, "float32", 2**1024) == fate(s, "float32", -(2**1024)) == [("raise", None, "float32")]
    assert fate(s, "int8", 2**1024) == [("wrap", 0, "int8")]


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
    s = make(CHAIN, **keys, first_is_array=True)
    assert fate(s, 2**40, 1) == [("raise", None, "int32"), ("fits", None, "int32")]
    assert fate(s, 1, 2**40) == [("fits", None, "int32"), ("wrap", 0, "int32")]
    assert fate(s, 2**40, "int8") == [("wrap", 0, "int8")]  # beside an array it is a scalar
    assert fate(make(CHAIN, **keys), 2**40, 1) == [("wrap", 0, "int32"), ("fits", None, "int32")]
    for_add = make(CHAIN, **keys, ops={"add": {"counts-as": "array if first"}})
    assert said(for_add, 2**40, "int8", op="add") == "- 1099511627776 is out of range for int32"
    assert fate(for_add, "int8", 2**40, op="add") == fate(for_add, 2**40, "int8") == [("wrap", 0, "int8")]


def test_what_becomes_of_a_value_may_be_said_of_single_dtypes() -> None:
    """As PyTorch's `where` does: a half float takes -1e9, and -1 is the greatest unsigned number."""
    fit = {"int": "raise", "float": "raise", "f16": "inf", "u8": "wrap negatives"}
    s = make("u8 -> i16; f16 -> f32", **VALUES, ops={"where": {"fit": fit}})
    assert said(s, "float16", -1e9, op="where") == "float16"
    assert said(s, "float32", 1e39, op="where") == "- 1e+39 is out of range for float32"
    assert fate(s, "uint8", -255, op="where") == [("wrap", 1, "uint8")]
    assert said(s, "uint8", -256, op="where") == "- -256 is out of range for uint8"
    assert said(s, "uint8", 256, op="where") == "- 256 is out of range for uint8"
    assert said(s, "int16", -(2**15) - 1, op="where") == "- -32769 is out of range for int16"


def test_numpys_clip_takes_bounds_beyond_the_dtype() -> None:
    for system in ("numpy", "numpy@2.4", "dask"):
        p = tl.system(system).promote("uint8", -1, 300, op="clip")
        assert (str(p.dtype), [f.becomes for f in p.fits]) == ("uint8", [0, 255])
    earlier = tl.system("numpy@2.0").explain("uint8", -1, 300, op="clip")
    assert earlier.reason == "-1 is out of range for uint8"


def test_torch_assigns_no_int_beyond_int64() -> None:
    torch = tl.system("torch")
    assert "has to lie within int64" in str(torch.explain("float32", 2**63, op="setitem").reason)
    assert str(torch.promote("uint64", 2**63, op="where").dtype) == "uint64"
