"""Python scalars alone and beside arrays, and how many operands there may be."""
from __future__ import annotations

import pytest

import typelattice as tl


def test_one_operand_many_and_none() -> None:
    s = tl.system("numpy")
    assert s.result_type("int8") is tl.dtype("int8")
    assert s.result_type(*["int8"] * 200, "uint8") is tl.dtype("int16")
    with pytest.raises(tl.OperandError, match="nothing to promote under numpy: give at least one operand"):
        s.result_type()
    with pytest.raises(tl.OperandError, match="nothing to promote"):
        s.explain()


@pytest.mark.parametrize(
    ("name", "operands", "dtype"),
    [
        ("numpy", (int, int), "int64"),
        ("numpy", (int, float), "float64"),
        ("numpy", (True, True), "bool"),
        ("numpy", (1, 2.5, 3j), "complex128"),
        ("jax", (int, float), "float64"),
        ("jax-x32", (int, float), "float32"),
        ("torch", (1, 2.5), "float32"),
        ("python", (True, 1), "int64"),
    ],
)
def test_python_scalars_alone(name: str, operands: tuple[object, ...], dtype: str) -> None:
    assert str(tl.system(name).explain(*operands).dtype) == dtype


def test_a_scalar_alone_has_no_dtype_where_the_file_gives_none() -> None:
    s = tl.system("array-api")
    assert s.explain(1).reason == "a Python int alone has no dtype here"
    assert s.explain(1, 2.5).reason == "a Python float alone has no dtype here"
    assert s.explain("int8", 1).dtype is tl.dtype("int8")


def test_a_value_that_is_not_known_is_not_judged() -> None:
    s = tl.system("numpy")
    assert s.promote("uint8", int, op="add").fits == ()
    assert s.explain("uint8", 300, op="add").dtype is None
    assert s.promote("uint8", 30, op="add").fits[0].outcome == "fits"
