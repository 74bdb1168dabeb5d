"""Functions called with symbols: the same programs as those that are read."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import typelattice as tl

np = pytest.importorskip("numpy")


def softmax(x: Any, axis: int = -1) -> Any:
    xp = x.__array_namespace__()
    m = xp.max(x, axis=axis, keepdims=True)
    e = xp.exp(x - m)
    return e / xp.sum(e, axis=axis, keepdims=True)


def of_numpy(x: Any, y: Any) -> Any:
    z = np.exp(x) * 2.0
    z += y
    z[0] = 1
    return np.concatenate([z, y]), 3 + z.sum(axis=0)


def test_a_function_that_is_called_and_one_that_is_read_are_the_same_program() -> None:
    called = tl.program(softmax, "int32[3,4]")
    file = Path(__file__).name
    read = tl.program(f"{__file__}:softmax", x="int32[3,4]")
    assert str(called) == str(read)
    assert [step.location.line for step in called.steps if step.location] == [
        step.location.line for step in read.steps if step.location
    ]
    assert {step.location.file for step in called.steps if step.location} == {file}


def test_functions_of_numpy_take_symbols() -> None:
    p = tl.program(of_numpy, "float16[3]", "float32[3]")
    x, y = np.ones(3, "float16"), np.ones(3, "float32")
    joined, total = of_numpy(x, y)
    assert [str(p.under("numpy")[i]) for i in p.results] == [str(joined.dtype), str(total.dtype)]
    made: Any = p.run(np, x=x, y=y)
    for given, expected in zip(made, (joined, total), strict=True):
        np.testing.assert_array_equal(given, expected)
    assert x[0] == 1  # what is given is left as it is


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x: x if x > 0 else -x, "'x > 0': it needs the value of <symbol x > 0>, which a program"),
        (lambda x: float(x), "asks <symbol x> for a float, which is not known; use functions of arrays"),
        (lambda x: [1, 2][x], "asks <symbol x> for an index"),
        (lambda x: [*x], r"the shape of x is not known; give its operand a shape"),
        (lambda x: (x + 1).dtype == 3, "compares a dtype that is another under each system"),
        (lambda x: np.hypot.reduce(x, dtype=float), "hypot.reduce is read without dtype and out"),
        (lambda x: x.sum(axis=x), "axis is given a value that is not known; give a number"),
        (lambda x: x + tl.Symbols().input("y", "int8"), "unsupported operand"),
        (lambda x: None, "returns nothing; end it with return"),
    ],
)  # fmt: skip
def test_what_depends_on_the_value_of_a_symbol_is_refused_at_its_place(function: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said) as refused:
        tl.program(function, "int8")
    here = Path(__file__).name
    assert str(refused.value).startswith(f"{here}, line ") or "nothing" in said or "unsupported" in said


def test_attributes_and_pythons_functions_of_a_symbol_are_steps() -> None:
    def f(x: Any) -> Any:
        quotient, rest = divmod(x, 2)
        return x.mT, x[0, ...].T, round(x, 1), quotient + rest, divmod(7, x)[1], x.real

    p = tl.program(f, "float32[3,4,5]")
    x = np.ones((3, 4, 5), "float32")
    made = (x.mT, x[0].T, np.round(x, 1), x, x, x.real)
    assert [p.steps[i].shape for i in p.results] == [each.shape for each in made]
    assert {str(p.under("numpy")[i]) for i in p.results} == {"float32"}
    assert str(tl.program(lambda x: x.imag, "complex64").under("numpy").dtype) == "float32"
    with pytest.raises(tl.ProgramError, match=r"T of an array of 3 axes; write permute_dims\(x, axes\)"):
        tl.program(lambda x: x.T, "float32[3,4,5]")


def test_the_dtype_of_an_input_is_known_and_may_be_asked_for() -> None:
    def f(x: Any) -> Any:
        xp = x.__array_namespace__()
        return x / 2 if xp.isdtype(x.dtype, "real floating") else xp.astype(x, xp.float32) / 2

    assert tl.program(f, "int32").under("numpy").dtype is tl.dtype("float32")
    assert tl.program(f, "float16").under("numpy").dtype is tl.dtype("float16")


def test_the_graph_of_the_documents_of_max() -> None:
    """`g.output(x + y)  # what dtype does this have?!`, of an int16 and a float32 scalar."""
    g = tl.Symbols()
    x = g.asarray(1, dtype="int16")
    y = g.asarray(1.0, dtype="float32")
    p = g.output(x + y)
    assert p.under("max-2024").dtype is tl.implicit_cast_type("max-2024", "int16", "float32")
    assert str(p.under("max-2024").dtype) == "float32"
    lhs, rhs = tl.implicit_cast("max-2024", x, y)
    assert [str(g.output(s).under("max-2024").dtype) for s in (lhs, rhs)] == ["float32", "float32"]
    with pytest.raises(tl.PromotionError, match="max refuses"):
        tl.implicit_cast_type("max", "uint64", "int8")


def test_an_array_that_a_function_makes_itself_becomes_an_input() -> None:
    p = tl.program(lambda x: x + np.ones(3, "float64"), "float32[3]")
    assert (
        str(p)
        == 'def program(x: "float32[3]", constant1: "float64[3]"):\n    t2 = x + constant1\n    return t2'
    )
    assert str(p.under("numpy").dtype) == "float64"
