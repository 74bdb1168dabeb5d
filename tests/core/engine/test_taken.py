"""Which operands an operation takes: by dtype, by kind, by place, by dimensions, in pairs."""

from __future__ import annotations

import re

import pytest
from small_systems import CHAIN, JAXLIKE, NUMPYLIKE, make, said, steps

import typelattice as tl
from typelattice.core.engine.decisions import DTypeByOperation
from typelattice.core.operations.operations import OPERATION_BY_NAME, find_operation
from typelattice.core.system_files.reader import parse


def test_pairs_that_an_operation_refuses_are_of_arrays_and_of_scalars_apart() -> None:
    said_of_add = {
        "kernels": "all",
        "refusals": {"bool + signed, py.int": "not here", "unsigned + i16": "not here"},
    }
    s = make(CHAIN, **NUMPYLIKE, ops={"add": said_of_add})
    reason = s.explain("int8", "bool", op="add").reason
    assert reason == "add does not let int8 meet bool: not here"
    assert s.explain("bool", 1, op="add").reason == "add does not let bool meet 1: not here"
    assert steps(s, "bool", 1, op="add")[-1] == ("ops", "add", ("bool", "i*"), None)
    assert said(s, "int8", True, op="add") == "int16"  # which is no array
    assert said(s, "uint8", 1, op="add") == "uint8"
    assert said(s, "uint8", "int16:0d", op="add") == "- add does not let uint8 meet int16:0d: not here"
    assert said(s, "uint8", "int8", op="add") == "int16"
    assert said(s, "bool", "int8", op="subtract") == "int16"
    cleared = make(CHAIN, **NUMPYLIKE, ops={"arithmetic": said_of_add, "add": {"refusals": {}}})
    assert said(cleared, "bool", "int8", op="add") == "int16"
    assert said(cleared, "bool", "int8", op="multiply") == "- multiply does not let bool meet int8: not here"


def test_a_pair_may_be_refused_in_one_order_alone() -> None:
    s = make(CHAIN, **NUMPYLIKE, ops={"add": {"refusals": {"signed then float, py.float": "not here"}}})
    assert said(s, "int8", "float32", op="add") == "- add does not let int8 stand before float32: not here"
    assert said(s, "int8", 1.5, op="add") == "- add does not let int8 stand before 1.5: not here"
    assert said(s, "float32", "int8", op="add") == "float32"
    assert s.explain("int8", "float32", op="add").rule.quoted == s.explain("int8", 1.5, op="add").rule.quoted


def test_a_dtype_may_meet_itself_alone() -> None:
    s = make(CHAIN, **NUMPYLIKE, ops={"where": {"refusals": {"u8 + different, py.int": "not here"}}})
    assert said(s, "uint8", "uint8", op="where") == "uint8"
    assert said(s, "uint8", "uint8:0d", op="where") == "uint8"
    for x, y in (("uint8", "int8"), ("int8", "uint8")):
        assert said(s, x, y, op="where") == f"- where does not let {x} meet {y}: not here"
    assert said(s, "uint8", 1, op="where") == "- where does not let uint8 meet 1: not here"
    assert said(s, "int8", "int16", op="where") == "int16"


def test_an_operation_may_need_dimensions_in_one_system_alone() -> None:
    s = make(CHAIN, **NUMPYLIKE, ops={"arg-extreme": {"scalars": "none, nor 0d"}})
    p = s.explain("int8:0d", op="argmax")
    assert p.reason == "argmax takes no 0-d array: every operand has at least 1 dimension"
    assert (p.decision.key, p.decision.entry) == ("ops", "arg-extreme")
    assert said(s, "int8", op="argmax") == "int32"
    assert said(make(CHAIN, **NUMPYLIKE), "int8:0d", op="argmax") == "int32"


def test_what_has_no_dimensions_is_refused_by_its_dtype_or_its_kind() -> None:
    s = make(CHAIN)
    assert steps(s, "float32:0d", "float32", op="matmul") == [("ops", "matmul", ("float32",), None)]
    assert steps(s, "float32", 1, op="matmul") == [("ops", "matmul", ("i*",), None)]


def test_of_an_operation_in_two_entries_both_hold() -> None:
    s = parse("""
name = "mine"
order = "b -> i8 -> f32"
[ops]
"add, multiply" = { kernels = "all" }
"add, divide" = { scalars = "none" }
""")
    assert said(s, "bool", "bool", op="add") == said(s, "bool", "bool", op="multiply") == "bool"
    assert said(s, "int8", True, op="add") == "- add takes no Python scalar"
    assert s.explain("int8", True, op="add").rule.lines == (6,)


def test_alike_operands_meet_at_the_dtype_of_each() -> None:
    s = make(JAXLIKE, defaults={"int": "i32", "float": "f32"}, ops={"ordering": {"joins": "same dtype"}})
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


def test_a_dtype_may_be_left_out_of_what_an_operation_computes_in() -> None:
    s = make(CHAIN, ops={"add": {"kernels": "bool, real but u8"}, "sqrt": {"kernels": "f32"}})
    assert said(s, "int8", "uint8", op="add") == "int16"
    assert said(s, "uint8", "bool", op="add") == "- add takes no uint8"
    assert said(s, "complex64", "uint8", op="add") == "- add takes no complex"
    assert said(s, "float32", op="sqrt") == "float32"
    assert said(s, "complex64", op="sqrt") == "- sqrt takes no complex"


def test_an_operand_may_be_refused_by_itself_whatever_it_meets() -> None:
    s = make(CHAIN, ops={"subtract": {"accepts": "numeric but u8", "kernels": "all"}})
    assert said(s, "int8", "int16", op="subtract") == "int16"
    assert said(s, "bool", "int16", op="subtract") == "- subtract takes no bool"
    assert said(s, "int16", True, op="subtract") == "- subtract takes no bool"
    assert said(s, "uint8", "int16", op="subtract") == "- subtract takes no uint8"
    assert said(s, "uint8", "int16", op="add") == "int16"
    assert steps(s, "int16", "uint8", op="subtract") == [("ops", "subtract", ("uint8",), None)]
    integers = make(CHAIN, ops={"subtract": {"accepts": "integer", "kernels": "all"}})
    assert said(integers, "int16", "float32", op="subtract") == "- subtract takes no float"


def test_a_group_of_operations_is_said_once_and_its_classes_and_operations_count_more() -> None:
    storage = {
        "computing": {"accepts": "all but u8"},
        "comparison": {"accepts": "all"},
        "sum": {"accepts": "all"},
    }
    s = make(CHAIN, ops=storage)
    for op in ("add", "prod", "less", "sort"):
        assert said(s, *["uint8"] * OPERATION_BY_NAME[op].min_operands, op=op) == f"- {op} takes no uint8"
    for op in ("equal", "sum", "reshape", "result_type", "where", "setitem"):
        assert said(s, *["uint8"] * OPERATION_BY_NAME[op].min_operands, op=op) in ("uint8", "bool")
    assert s.explain("uint8", "uint8", op="add").decision.entry == "computing"


@pytest.mark.parametrize(
    ("scalars", "alone", "left", "right"),
    [
        ("any", "int32", "int8", "int8"),
        ("beside an array", "- add takes a Python scalar only beside an array", "int8", "int8"),
        (
            "on the right",
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
    said_of_add = {"kernels": "all", **({"scalars": scalars} if scalars != "any" else {})}
    s = make(CHAIN, **NUMPYLIKE, ops={"add": said_of_add})
    assert said(s, 1, 2, op="add") == alone
    assert said(s, 1, "int8", op="add") == left
    assert said(s, "int8", 1, op="add") == right
    assert said(s, "int8:0d", "int8", op="add") == "int8"


@pytest.mark.parametrize(
    ("operands", "answer"),
    [
        (("float32", "float32", 0.5), "float32"),
        (("float16", "float16", 100000), "float16"),
        (("complex64", "complex64", 2j), "complex64"),
        (("float64:0d", "float64", True), "float64"),
        (("float32", "float32", 2j), "- lerp does not promote: operands have to be of one dtype"),
        (("float32", "float64", 0.5), "- lerp does not promote: operands have to be of one dtype"),
        (("int32", "int32", 1), "- lerp takes no signed integers"),
        (("float32", 1.0, "float32"), "- lerp takes a Python scalar only as the last operand"),
        (("float32", 1.0, 0.5), "- lerp takes a Python scalar only as the last operand"),
    ],
)
def test_a_python_scalar_may_be_the_last_operand_only(operands: tuple[object, ...], answer: str) -> None:
    assert said(tl.system("torch"), *operands, op="lerp") == answer  # PyTorch says the same


def test_an_operation_of_one_operand_beside_an_array_takes_no_python_scalar() -> None:
    s = make(CHAIN, **NUMPYLIKE, ops={"computing": {"scalars": "beside an array"}})
    assert said(s, 1.5, op="sqrt") == "- sqrt takes a Python scalar only beside an array"


@pytest.mark.parametrize("system", tl.systems())
def test_no_library_multiplies_matrices_or_concatenates_without_dimensions(system: str) -> None:
    s = tl.system(system)
    for op, least in (("matmul", "1 dimension"), ("concat", "1 dimension"), ("solve", "1 dimension")):
        p = s.explain("float32:0d", "float32", op=op)
        assert p.reason == f"{op} takes no 0-d array: every operand has at least {least}"
        assert (p.rule.file, p.rule.quoted[0].split()[0]) == ("operations.txt", op)
        assert "takes no Python float" in str(s.explain("float32", 2.0, op=op).reason)
    assert "at least 2 dimensions" in str(s.explain("float32:0d", op="det").reason)


def test_an_operation_takes_kinds() -> None:
    s = make(CHAIN)
    p = s.explain("bool", "bool", op="add")
    assert (p.reason, p.remedy, p.op) == ("add takes no bool", "cast the operands, e.g. to uint8", "add")
    assert p.decision == DTypeByOperation((tl.dtype("bool"),), None, "arithmetic")
    assert said(s, "bool", "uint8", op="add") == "uint8"
    own = make(CHAIN, ops={"arithmetic": {"kernels": "bool"}, "multiply": {"kernels": "all"}})
    assert said(own, "bool", "bool", op="add") == "bool"
    assert said(own, "uint8", "bool", op="add") == "- add takes no unsigned integers"
    assert said(own, "uint8", "bool", op="multiply") == "uint8"
    assert own.explain("int8", "int8", op="add").decision.entry == "arithmetic"
    assert own.explain("bool", op="positive").dtype is tl.dtype("bool")


def test_what_a_list_of_operations_says_holds_for_each() -> None:
    s = parse('name = "mine"\norder = "i8 -> f32"\n[ops]\n"add, sum , mean" = { kernels = "float" }\n')
    assert {*s.ops} == {"add", "sum", "mean"}
    assert s.explain("int8", op="sum").rule.lines == s.explain("int8", "int8", op="add").rule.lines == (4,)


def test_an_operation_takes_so_many_operands_and_integers_for_indices() -> None:
    s = make(CHAIN, ops={"view": {"kernels": "all"}})
    with pytest.raises(tl.OpError, match=r"^add takes 2 operands, not 1; give 1 more$"):
        s.explain("int8", op="add")
    assert [said(s, "float32", index, op="take") for index in ("int8", "uint8", "bool", 1)] == ["float32"] * 4
    for index in ("float32", "complex64", 1.5):
        with pytest.raises(tl.OpError, match=f"take takes integers for indices, not {index}; cast them"):
            s.explain("float32", index, op="take")


@pytest.mark.parametrize("system", ["array-api", "numpy", "torch", "jax", "polars"])
@pytest.mark.parametrize("op", ["add", "bitwise_and", "<<", "sqrt", "less", "mean", "gcd", "heaviside"])
def test_the_dtype_that_a_refusal_names_is_taken(system: str, op: str) -> None:
    s = tl.system(system)
    count = find_operation(op).min_operands
    for d in s.dtypes:
        p = s.explain(*[d] * count, op=op)
        if p.dtype is None and p.reason and " takes no " in p.reason:
            named = re.search(r"e\.g\. to (\w+)$", p.remedy or "")
            assert named, (d, p.remedy)
            assert s.explain(*[named[1]] * count, op=op).dtype, (d, p.remedy)


def test_a_cast_is_not_advised_where_no_dtype_is_taken() -> None:
    s = make(CHAIN, ops={"bitwise_and": {"kernels": "bool"}})
    assert s.explain("int8", "uint8", op="bitwise_and").remedy == "cast the operands, e.g. to bool"
    s = make("i8 -> i16", ops={"sqrt": {"kernels": "float"}})
    assert s.explain("int8", op="sqrt").remedy == "write it with operations that it has"


def test_a_python_number_of_a_higher_kind_names_the_default_dtype() -> None:
    remedy = tl.system("array-api").explain("int8", 2.5, op="add").remedy
    assert remedy == "cast the array to a float dtype, e.g. float32"
    assert "float" not in str(tl.system("array-api").explain("int8", -1, op="bitwise_left_shift").remedy)
