"""Operand order: TensorFlow's add and divide take the first operand's dtype, other operations the array's."""

from __future__ import annotations

import pytest

import typelattice as tl

TENSORFLOW = tl.system("tensorflow")


@pytest.mark.parametrize(
    ("op", "refuses"), [("add", True), ("divide", True), ("multiply", False), ("subtract", False)]
)
def test_a_scalar_that_comes_first(op: str, refuses: bool) -> None:
    assert TENSORFLOW.explain("int64", 1, op=op).dtype
    assert (TENSORFLOW.explain(1, "int64", op=op).dtype is None) is refuses


def test_of_scalars_alone_the_first_decides() -> None:
    assert str(TENSORFLOW.result_type(1.0, 1)) == "float32"
    with pytest.raises(tl.PromotionError):
        TENSORFLOW.result_type(1, 1.0)
