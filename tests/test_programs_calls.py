"""What a call in a program takes: names of functions, operands, and what does not promote."""
from __future__ import annotations

import pytest
from expressions import whole

import typelattice as tl


def test_a_function_goes_by_any_of_its_names() -> None:
    f = tl.program("np.absolute(torch.arcsin(x))", x="float16")
    assert [part.op for part in f.steps] == [None, "asin", "abs"]
    with pytest.raises(tl.ProgramError, match="unknown function '__add__'"):
        tl.program("__add__(x, x)", x="int8")


def test_operands_of_a_call_come_first() -> None:
    """What else a function of whole arrays is given, a shape or an axis, says nothing of dtypes."""
    assert whole("np.reshape(x, (2, -1)) + y", x="int8", y="int16") == "int16"
    assert whole("sum(x, 0)*y", "torch", x="float64", y="float32") == "float64"  # an axis: not all of them go
    assert whole("tensordot(x, y, 1)", x="int8", y="int16") == "int16"
    with pytest.raises(tl.ProgramError, match="reshape takes 1 operand, not 2; ask it of each"):
        tl.program("reshape(x, y)", x="int8", y="int8")


def test_a_condition_and_indices_do_not_promote() -> None:
    assert whole("where(c, x, y)", c="bool", x="int8", y="int16") == "int16"
    branches = {"x": "float64:0d", "y": "float64:0d"}
    assert whole("where(c, x, y)*z", "torch", c="bool", z="float32", **branches) == "float64"
    assert whole("take(x, i)", x="int8", i="int64") == "int8"
    for text, what in (("where(x, x)", "where takes 3"), ("take(x)", "take takes 2")):
        with pytest.raises(tl.ProgramError, match=f"{what} operands in an expression"):
            tl.program(text, x="int8")
    with pytest.raises(tl.ProgramError, match="clip takes 1 to 3 operands, not 4"):
        tl.program("clip(x, 1, 2, 3)", x="int8")
    outcome = tl.program("take(x, x)", x="float32").under("numpy").result
    assert outcome.refused and "take takes integers for indices, not float32" in str(outcome.reason)


def test_a_default_that_is_named_changes_nothing() -> None:
    torch = tl.system("torch")
    for text in ("sum(a)*b", "sum(a, axis=None)*b", "prod(a, keepdims=False)*b"):
        assert str(tl.program(text, a="float64", b="float32").under(torch)[-1]) == "float32"
    assert str(tl.program("sum(a, axis=0)*b", a="float64", b="float32").under(torch)[-1]) == "float64"


def test_a_method_that_libraries_order_otherwise_goes_by_the_library_or_is_refused() -> None:
    with pytest.raises(tl.ProgramError, match=r"of a method where libraries take the operands in different"):
        tl.program("x.where(c, y)", x="int8", y="int16", c="bool")
    source = "import torch\ndef f(x, c, y):\n    return torch.abs(x).where(c, y)\n"
    assert str(tl.program(source, x="int8", y="int16", c="bool").under("torch").dtype) == "int16"
