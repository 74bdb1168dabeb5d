"""Floats that float16 holds count alike in every operation but powers, in the libraries themselves."""

from __future__ import annotations

import pytest

from typelattice import TypelatticeError
from typelattice.conformance.recording.load_library import load_library

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
OPERATIONS = ("add", "-", "*", "divide", "floor_divide", "%", "maximum", "equal", "where", "atan2")


@pytest.mark.parametrize("name", ["numpy", "torch", "tensorflow", "jax", "mlx", "dask"])
def test_ordinary_floats_count_alike(name: str) -> None:
    asked = load_library(name)
    has = asked.operations()
    compared = 0

    def result(op: str, dtype: str, number: str) -> str:
        try:
            return asked.read(has[op](asked.make(dtype), asked.make(number)))
        except TypelatticeError:
            raise
        except Exception as error:  # a refusal is an answer
            return type(error).__name__

    for op in filter(has.__contains__, OPERATIONS):
        for dtype in asked.dtypes():
            of_one = result(op, dtype, "float")
            for number in ("2.5", "0.1", "-0.5", "255.0", "-60000.0", "0.0001", "0.0"):
                assert result(op, dtype, number) == of_one, (op, dtype, number)
                compared += 1
    assert compared > 500
