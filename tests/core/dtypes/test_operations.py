"""Operations: one row each, asked by any of their names, of as many operands as they take."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

import typelattice as tl
from typelattice.core.engine.operation_rules import STANDARD_RULES_BY_CLASS
from typelattice.core.operations.operation_forms import MEANING_BY_CALL_FORM
from typelattice.core.operations.operations import (
    OPERATION_BY_NAME,
    OPERATIONS,
    OPERATORS,
    Operation,
    find_operation,
)

NUMPY = tl.system("numpy")


def test_every_name_stands_for_one_operation() -> None:
    every = (*OPERATIONS.values(), *OPERATORS.values())
    names = Counter(name for op in every for name in (op.name, *op.other_names))
    assert [name for name, n in names.items() if n > 1] == []
    assert {*names} == {*OPERATION_BY_NAME}


@pytest.mark.parametrize("op", OPERATIONS.values(), ids=lambda op: op.name)
def test_a_row_has_a_class_of_the_standard_a_form_and_operands(op: Operation) -> None:
    assert op.operation_class in STANDARD_RULES_BY_CLASS
    assert op.call_form in MEANING_BY_CALL_FORM
    assert 1 <= op.min_operands <= (op.max_operands or op.min_operands)


def test_every_class_has_an_operation() -> None:
    every = (*OPERATIONS.values(), *OPERATORS.values())
    assert {op.operation_class for op in every} == {*STANDARD_RULES_BY_CLASS}


def test_a_class_has_the_name_of_an_operation_only_if_it_is_its_only_member() -> None:
    """Otherwise a line of a system file for one operation could not be told from one for its class."""
    of_one_name = [name for name in STANDARD_RULES_BY_CLASS if name in OPERATION_BY_NAME]
    assert "clip" in of_one_name
    for name in of_one_name:
        members = [op for op in OPERATIONS.values() if op.operation_class == name]
        assert members == [OPERATION_BY_NAME[name]]


@pytest.mark.parametrize("name", [name for name in OPERATION_BY_NAME if name not in OPERATIONS])
def test_an_operation_is_asked_by_any_of_its_names(name: str) -> None:
    op = OPERATION_BY_NAME[name]
    operands = ["complex64"] * op.min_operands
    assert NUMPY.explain(*operands, op=name) == NUMPY.explain(*operands, op=op.name)
    assert NUMPY.explain(*operands, op=name).op == op.name


def test_what_python_and_libraries_call_it() -> None:
    add = find_operation("add")
    assert (add.operator, add.special_method, add.function_names) == ("+", "__add__", ("add",))
    assert find_operation("sub").function_names == ("subtract", "sub")
    assert (find_operation("sqrt").operator, find_operation("sqrt").special_method) == (None, None)
    assert (find_operation("abs").operator, find_operation("__abs__").name) == (None, "abs")


def test_an_operator_is_an_operation_of_its_own_which_knows_its_function() -> None:
    assert [find_operation(name).function for name in ("+", "__add__", "-x", "+=", "isub")] == [
        "add", "add", "negative", "add", "subtract",
    ]  # fmt: skip
    assert find_operation("__iadd__").name == "+="
    assert not any(op.name in OPERATIONS for op in OPERATORS.values())
    assert not {"===", "<=="} & {*OPERATORS}, "comparisons write into nothing"
    assert [op.name for op in OPERATORS.values() if op.max_operands == 1] == ["+x", "-x", "~"]


@pytest.mark.parametrize("op", OPERATORS)
def test_an_operator_does_what_its_function_does_where_a_file_says_nothing(op: str) -> None:
    known, system = OPERATORS[op], tl.system("array-api")
    for dtype in ("bool", "int8", "float32", "complex64"):
        operands = [dtype] * known.min_operands
        own, of_function = (system.explain(*operands, op=name).dtype for name in (op, known.function))
        assert own is of_function, dtype


def test_a_file_speaks_of_an_operator_and_of_what_writes_in_place() -> None:
    system = tl.system("array-api").replace(
        ops={
            "+": {"kernels": "integer"},
            "in-place": {"gives": "left, same-kind cast"},
            "-=": {"gives": "new array"},
        }
    )
    asked = ("add", "+", "+=", "-", "-=", "*=")
    said = {op: system.explain("float32", "float64", op=op).dtype for op in asked}
    f32, f64 = tl.dtype("float32"), tl.dtype("float64")
    assert said == {"add": f64, "+": None, "+=": None, "-": f64, "-=": f64, "*=": f32}


def test_what_an_operator_gives_is_written_where_it_says_so_itself() -> None:
    """The bool of `a & b` takes the place of a, and cannot be written into an integer."""
    ops = {
        "&": {"kernels": "all", "gives": "b"},
        "&=": {"gives": "new array"},
        "|": {"kernels": "all", "gives": "b"},
    }
    system = tl.system("array-api").replace(ops=ops)
    assert system.explain("int8", "int8", op="&=").dtype is tl.dtype("bool")
    p = system.explain("int8", "int8", op="|=")
    assert (p.dtype, p.reason) == (None, "bool cannot be written into int8")


@pytest.mark.parametrize(
    ("operands", "op", "message"),
    [
        (3, "add", "add takes 2 operands, not 3; ask it of 2 at a time"),
        (1, "+", "+ takes 2 operands, not 1; give 1 more"),
        (2, "sqrt", "sqrt takes 1 operand, not 2; give one operand at a time"),
        (4, "where", "where takes 2 or 3 operands, not 4; ask it of 3 at a time"),
        (1, "where", "where takes 2 or 3 operands, not 1; give 1 more"),
        (4, "clamp", "clip takes 1 to 3 operands, not 4; ask it of 3 at a time"),
        (3, "take", "take takes 1 or 2 operands, not 3; ask it of 2 at a time"),
        (3, "promote_types", "promote_types takes 2 operands, not 3; ask it of 2 at a time"),
    ],
)
def test_another_number_of_operands_is_refused(operands: int, op: str, message: str) -> None:
    with pytest.raises(tl.OpError) as e:
        NUMPY.explain(*["int8"] * operands, op=op)
    assert str(e.value) == message


def test_as_many_as_there_are_where_there_is_no_limit() -> None:
    operands = ("int8", "uint8", "float16", "int16")
    assert NUMPY.explain(*operands, op="cat").dtype is NUMPY.result_type(*operands)
    for least, told in ((2, "at least 2 operands"), (1, "at least 1 operand")):
        assert (
            Operation("f", "merge", "list", least, None, (0,), (), None, None, "f").operand_count_text == told
        )


def test_an_unknown_operation_names_the_nearest() -> None:
    with pytest.raises(tl.OpError, match=r"unknown operation 'cumsun' [(]did you mean cumsum"):
        NUMPY.explain("int8", op="cumsun")
    listed = "`typelattice explain --list-ops` lists those known"
    with pytest.raises(tl.OpError, match=f"^unknown operation 'zzz'; {listed}$"):
        NUMPY.explain("int8", op="zzz")


def test_where_chooses_by_a_condition_that_does_not_promote() -> None:
    for system, condition in product(map(tl.system, tl.systems()), ("bool", "True")):
        whole = system.explain(condition, "int8", "int16", op="where")
        alone = system.explain("int8", "int16", op="where")
        assert (whole.dtype, whole.weak, whole.reason) == (alone.dtype, alone.weak, alone.reason)
        assert whole.promoting_operands == alone.operands
    p = NUMPY.explain("bool", "int8", "float16", op="where")
    assert (len(p.operands), [str(c.operand) for c in p.casts], p.dtype) == (3, ["int8"], tl.dtype("float16"))


def test_indices_do_not_promote_and_are_integers() -> None:
    p = NUMPY.explain("int8", "int64", op="take")
    assert (p.dtype, p.casts) == (tl.dtype("int8"), ())
    with pytest.raises(tl.OpError, match=r"take takes integers for indices, not float32; cast them first"):
        NUMPY.explain("int8", "float32", op="take")


def test_clip_promotes_with_both_bounds() -> None:
    assert NUMPY.explain("int8", "int16", "float32", op="clip").dtype is tl.dtype("float32")
    assert NUMPY.explain("int8", op="clip").dtype is tl.dtype("int8")
