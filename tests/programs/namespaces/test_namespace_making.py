"""What arrays of a namespace are made of, and what they are turned into."""
from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from samples import one_in
from spaces import space

import typelattice as tl
from typelattice.conformance.agreement.random_programs import CREATED


def test_conversions() -> None:
    xp = space("jax")
    x = xp.asarray(3, dtype="int8")
    assert (int(x), float(x), complex(x), bool(x), [10, 20, 30, 40][x]) == (3, 3.0, 3 + 0j, True, 40)
    y = xp.asarray([1, 2, 3], dtype="float32")
    open_to_numpy = tl.namespace("jax", np, to_numpy=True)
    assert np.asarray(open_to_numpy.asarray(y.bare)).tolist() == y.bare.tolist() == [1, 2, 3]
    assert np.from_dlpack(y).dtype == np.float32
    assert xp.from_dlpack(np.ones(2, "int16")).dtype is tl.dtype("int16")
    assert (len(y), y.ndim, y.size, y.shape, 2 in y, 5 in y) == (3, 1, 3, (3,), True, False)
    assert [float(v) for v in y] == [1, 2, 3]
    with pytest.raises(TypeError, match="nothing to go through"):
        iter(x)
    assert xp.asarray([[1, 2]]).T.shape == xp.asarray([[1, 2]]).mT.shape == (2, 1)
    with pytest.raises(tl.NamespaceError, match="two axes"):
        _ = y.T


def test_a_dtype_is_ours_its_name_or_the_librarys_own() -> None:
    xp = tl.namespace("numpy", np)
    assert {xp.zeros(1, dtype=d).dtype for d in (xp.bool, "bool", np.bool_, np.dtype(bool), bool)} == {
        tl.dtype("bool")
    }
    for nonsense in ([1], True, float, 3, np.ones(2), xp.ones(1), "int9", object()):
        for ask in (
            lambda d: xp.zeros(1, dtype=d),
            lambda d: xp.sum(xp.ones(2), dtype=d),
            lambda d: xp.astype(xp.ones(2), d),
        ):
            with pytest.raises((tl.DTypeError, tl.OperandError)):
                ask(nonsense)


@pytest.mark.parametrize("numbers", [[-1], [3, 300], [[0], [-1]], 2**70, -1, [70000.0], [True, 256]])
def test_numbers_out_of_range_make_no_array(numbers: Any) -> None:
    refused = r"is out of range for uint8; use a value within it, or make a wider array and cast it"
    with pytest.raises(tl.NamespaceError, match=refused):
        tl.namespace("jax", np).asarray(numbers, dtype="uint8")


def test_numbers_out_of_range_of_the_default_dtype_make_no_array() -> None:
    with pytest.raises(tl.NamespaceError, match="2147483648 is out of range for int32"):
        tl.namespace("keras", np).asarray([1, 2**31])


@pytest.mark.parametrize("odd", [[[1, 2], [3]], [[1], 2]])
def test_nested_lists_of_different_lengths_make_no_array(odd: Any) -> None:
    with pytest.raises(tl.NamespaceError, match=r"numpy makes no array of this list: .*; give numbers"):
        tl.namespace("jax", np).asarray(odd)


@pytest.mark.parametrize("number", [1e39, 70000.0, math.inf, math.nan, 1j])
def test_what_fills_integers_is_a_number_that_they_have(number: complex) -> None:
    """A cast of another one gives what the machine happens to give."""
    xp = tl.namespace("jax", np)
    ones = xp.ones(2, dtype="uint8")
    for fill in (lambda: xp.full(2, number, dtype="uint8"), lambda: xp.full_like(ones, number)):
        with pytest.raises(tl.NamespaceError, match=r"is out of range for uint8"):
            fill()
    assert xp.full(2, -1.5, dtype="int8").bare.tolist() == [-1, -1]  # a fraction is cut off, as by astype


def test_masked_arrays_are_refused() -> None:
    masked = np.ma.masked_array([1, 2], [False, True])
    for call in (
        lambda xp: xp.asarray(masked), lambda xp: xp.asarray([masked, masked]),
        lambda xp: xp.asarray(masked, dtype="int8"),
        lambda xp: tl.implicit_cast("jax", masked, np.ones(2)),
    ):  # fmt: skip
        with pytest.raises(tl.NamespaceError, match="hides elements, which an array of a namespace cannot"):
            call(space("jax"))


def test_the_byte_order_is_the_machines() -> None:
    x = space("jax").asarray(np.array([1.5, 2.5], ">f4"))
    assert (x.dtype, x.bare.dtype, (x + 1).bare.tolist()) == (
        tl.dtype("float32"),
        np.float32,
        [2.5, 3.5],
    )


CREATED_BESIDES = (
    "xp.asarray([])", "xp.asarray([[], []])", "xp.asarray(True)", "xp.asarray(1j)", "xp.asarray(2**63)",
    "xp.asarray([-(2**31) - 1])", "xp.asarray([1, 2**63])", "xp.asarray([2**63, 1.5])", "xp.full((3,), True)",
    "xp.full((3,), 1j)", "xp.full((3,), 2**40)", "xp.zeros((2,))", "xp.eye(3)", "xp.arange(2.5)",
    "xp.arange(2**40, 2**40 + 3)", "xp.arange(2**63, 2**63 + 3)", "xp.linspace(0, 1j, 3)",
)  # fmt: skip


@pytest.mark.parametrize("name", one_in(9, tl.systems(), tl.systems().index("max") % 9))
def test_a_new_array_has_the_dtype_that_programs_give_it(name: str) -> None:
    """A value out of range of that dtype makes no array. What the rules refuse is refused here, too."""
    system = tl.system(name)
    xp = tl.namespace(system, np)
    for text in (*CREATED, *CREATED_BESIDES):
        (*_, said) = tl.program(text, system).under(system)
        try:
            made = eval(text, {"xp": xp})
        except tl.PromotionError:
            assert said.operand is None, text
        except tl.NamespaceError as e:
            assert re.search("out of (range|bounds)|too large|cannot hold|no array of", str(e)), text
        else:
            assert str(said) == f"{made.dtype}{'*' * made.weak}", text
