"""Operations that a library does not have, and assignment to the elements of arrays that do not change."""

from __future__ import annotations

import pytest

import typelattice as tl

IMMUTABLE = ("tensorflow", "tensorflow-all", "tensorflow-safe", "tensorflow-legacy", "keras", "polars")


@pytest.mark.parametrize("system", ["dask", "tinygrad", "ndonnx", "polars", "polars-series", "triton"])
def test_an_operation_that_a_library_lacks_is_refused_by_name(system: str) -> None:
    p = tl.system(system).explain("float32", op="eigh")
    assert p.dtype is None
    assert p.reason == f"{system} has no eigh"
    assert tl.program("eigh(x)[0]", x="float32[2,2]").under(system).dtype is None


@pytest.mark.parametrize("system", IMMUTABLE)
def test_elements_of_arrays_that_do_not_change_are_not_assigned(system: str) -> None:
    assert tl.system(system).explain("float32", "float32", op="setitem").reason == f"{system} has no setitem"
    assert tl.program("x[0] = 5\nx", x="int8[2]").under(system).dtype is None


def test_jax_replaces_elements_in_a_copy_only() -> None:
    for system in ("jax", "jax-x32", "jax-strict"):
        refused = tl.program("x[0] = 5\nx", x="int8[2]").under(system)
        ((_, outcome),) = refused.refusals
        assert outcome.reason and outcome.reason.endswith("write x = x.at[key].set(value)")
        copied = tl.program("x.at[0].set(5) + y", x="int8[2]", y="int8[2]")
        assert str(copied.under(system).dtype) == "int8"
        again = tl.program(str(copied).partition("\n")[2].replace("return ", ""), x="int8[2]", y="int8[2]")
        assert str(again.under(system).dtype) == "int8"


@pytest.mark.parametrize(("system", "value"), [("mlx", "float32"), ("mlx", "1.5"), ("polars-series", "1.5")])
def test_mlx_and_series_cast_what_is_assigned(system: str, value: str) -> None:
    assert str(tl.system(system).explain("int8", value, op="setitem").dtype) == "int8"


def test_mlx_refuses_an_int_that_the_array_does_not_hold() -> None:
    assert tl.system("mlx").explain("int8", 300, op="setitem").reason == "300 is out of range for int8"
