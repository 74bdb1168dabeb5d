"""NumPy 1, whose scalars and 0-d arrays count by value."""

from __future__ import annotations

from itertools import pairwise

import pytest

import typelattice as tl
from typelattice.core.engine.numpy1 import ASSUMED_VALUE
from typelattice.core.explanations.promotion_in_english import explain_in_sections
from typelattice.core.explanations.results_by_value import list_intervals

NUMPY1 = tl.system("numpy1")
INTEGERS = [d for d in NUMPY1.order.nodes if isinstance(d, tl.DType) and d.kind.category == 1]


def test_a_value_decides() -> None:
    answers = [str(NUMPY1.result_type("int8", v)) for v in (1, 127, 128, 300, -129)]
    assert answers == ["int8", "int8", "int16", "int16", "int16"]
    assert NUMPY1.result_type("int8", "int16:0d=300") is NUMPY1.result_type("int8", 300)


def test_a_scalar_of_a_higher_sort_counts_with_its_own_dtype() -> None:
    assert str(NUMPY1.result_type("int8", 1.0)) == "float64"
    assert str(NUMPY1.result_type("float32", 2**40)) == "float64" != str(NUMPY1.result_type("float32", 1.0))


def test_the_order_of_the_operands_matters() -> None:
    assert NUMPY1.result_type("int8", 200, 300) is not NUMPY1.result_type(200, 300, "int8")


def test_an_operation_searches_its_loops_by_value() -> None:
    assert str(NUMPY1.promote("uint8", "uint16:0d=256", op="bitwise_and").dtype) == "int16"
    assert str(NUMPY1.promote("uint8", "uint16:0d=256", op="add").dtype) == "uint16"


@pytest.mark.parametrize("array", ["bool", *map(str, INTEGERS), "float16", "complex64"])
@pytest.mark.parametrize("other", ["int", *(f"{d}:0d" for d in INTEGERS)])
def test_intervals_cover_every_value_once(array: str, other: str) -> None:
    found = list_intervals(NUMPY1.explain(array, other))
    assert all(before[1] + 1 == after[0] and before[2] is not after[2] for before, after in pairwise(found))
    for low, high, d in found:
        for v in {low, high, (low + high) // 2}:
            assert NUMPY1.explain(array, v if other == "int" else f"{other}={v}").dtype is d
    unknown = next(d for low, high, d in found if low <= ASSUMED_VALUE <= high)
    assert NUMPY1.explain(array, other).dtype is unknown


def test_an_unknown_value_is_said_to_be_so() -> None:
    told = dict(explain_in_sections(NUMPY1.explain("int8", "int")))
    assert told["on entry"] == ["a Python int counts as uint8, as its value is unknown and taken to be 1"]
    assert "-128 to 127: int8" in told["by value"]


def test_intervals_are_of_one_operand() -> None:
    assert list_intervals(NUMPY1.explain("int8", "int", "int")) == []


def test_beyond_uint64_is_an_object() -> None:
    with pytest.raises(tl.PromotionError, match="beyond uint64 it is an object"):
        NUMPY1.result_type("int8", 2**64)


def test_a_further_default_is_told_as_such() -> None:
    told = dict(explain_in_sections(tl.system("c").explain("int32", 2**40)))
    said = "a Python int counts as int64, its first default dtype that holds its value"
    assert told["on entry"] == [said]
    assert (
        dict(explain_in_sections(tl.system("c").explain("int8", 3)))["on entry"][0] == "int8 counts as int32"
    )


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("array", "scalar", "answer"),
    [
        ("float16", 64999.0, "float16"),
        ("float16", -64999.0, "float16"),
        ("float16", 65000.0, "float32"),  # NumPy's own bound, below the 65504 that a float16 holds
        ("float16", -65000.0, "float32"),
        ("float16", 3.3e38, "float32"),
        ("float16", 3.4e38, "float64"),
        ("float16", NAN, "float16"),
        ("float16", -INF, "float16"),
        ("complex64", complex(1, 3.3e38), "complex64"),
        ("complex64", complex(3.3e38, 1), "complex64"),
        ("complex64", complex(1, 3.4e38), "complex128"),
        ("complex64", complex(3.4e38, 1), "complex128"),
        ("complex64", complex(NAN, 0), "complex128"),
        ("complex64", "complex128:0d=1j", "complex64"),
        ("float32", "float64:0d=1e39", "float64"),
        ("float32", "float64:0d=1.0", "float32"),
        ("int8", -129, "int16"),
        ("uint8", -1, "int16"),
        ("int8", 2**63, "float64"),
        ("int8", -(2**63), "int64"),
        ("bool", 5, "int64"),
        ("bool", 2.5, "float64"),
        ("int8:0d=1", "int16:0d=300", "int16"),  # without an array no value counts
    ],
)
def test_the_smallest_dtype_that_holds_a_value_is_numpy_1s(array: str, scalar: object, answer: str) -> None:
    """numpy.result_type of NumPy 1.26 gives these."""
    assert str(NUMPY1.result_type(array, scalar)) == answer


def test_what_an_operand_counts_as_is_a_step_but_not_of_an_array() -> None:
    found = NUMPY1.explain("int8", 1, "int16:0d=300").decisions
    assert [(type(step).__name__, *map(str, step.nodes), str(step.node)) for step in found] == [
        ("SizedByValue", "i*", "uint8"),
        ("SizedByValue", "int16", "uint16"),
        ("NodesJoined", "int8", "int8"),
        ("NodesJoined", "int8", "int16", "int16"),
    ]


def test_a_loop_is_the_first_to_which_all_operands_cast_by_value() -> None:
    """As the ufuncs of NumPy 1.26 do."""

    def computed(*operands: object, op: str) -> str:
        p = NUMPY1.explain(*operands, op=op)
        return f"- {p.reason}" if p.dtype is None else str(p.dtype)

    assert computed("uint8", 300, op="bitwise_and") == "int16"  # its loops go int8, uint8, int16, uint16
    assert computed("uint8", -1, op="bitwise_and") == "int16"
    assert computed("int8:0d=1", "int16:0d=300", op="bitwise_and") == "int16"
    assert computed("int8", 2.5, op="bitwise_and") == "- bitwise_and takes no float64"
    assert computed("float16", 1.0, op="hypot") == "float16"
    assert computed("float16", 1e5, op="hypot") == "float32"
    assert computed("int8", 300, op="hypot") == "float32"


def test_several_operands_count_as_in_numpy_1() -> None:
    """numpy.result_type of NumPy 1.26 gives these."""
    asked = {
        (1, 2, "int8"): "int8",  # each number may be signed or unsigned, and so may what they come to
        (200, 1, "int8"): "int16",
        ("int8", "float32", 1.0): "float32",  # the highest of the arrays counts,
        ("int8", 1, 2.5): "float64",  # and the highest of the numbers
        ("float32", 1, 2.5): "float32",
        ("float16", "float16:0d=65500"): "float16",  # a value is never given a wider dtype than its own
    }
    assert {x: str(NUMPY1.result_type(*x)) for x in asked} == asked


def test_a_dtype_that_numpy_1_lacks_is_a_refusal() -> None:
    assert NUMPY1.explain("int8", "bfloat16:weak").reason == "a Python scalar has no dtype here"
    assert NUMPY1.explain("int8", "bfloat16").reason == "numpy1 has no bfloat16"
    assert NUMPY1.explain("bfloat16", "int8", op="bitwise_and").reason == "numpy1 has no bfloat16"


def test_a_function_that_makes_arrays_of_its_operands_looks_at_no_value() -> None:
    """As the functions of NumPy 1.26 do."""
    asked: dict[tuple[object, ...], str] = {
        ("append", "int8", 1): "int64",
        ("append", "uint8", 2**63): "uint64",
        ("append", True, "int8"): "int8",
        ("dot", "float32", "float64:0d=0.5"): "float64",
        ("outer", 1.0, "float32"): "float64",
        ("kron", "int8", 1): "int8",  # which makes an array of what stands at its left alone
        ("kron", 1, "int8"): "int64",
        ("select", "int8", 1): "int8",  # of its default no array, but of its choices
        ("select", 1, "int8"): "int64",
        ("einsum", "float32", "float64:0d=0.5"): "float32",
        ("gcd", "uint8", 300): "uint16",  # it asks where they meet, and has no loop for bools
    }
    assert {x: str(NUMPY1.explain(*x[1:], op=str(x[0])).dtype) for x in asked} == asked
    assert NUMPY1.explain("int8", 2**64, op="append").reason == "beyond uint64 it is an object"
    assert NUMPY1.explain("bool", True, op="gcd").dtype is None
