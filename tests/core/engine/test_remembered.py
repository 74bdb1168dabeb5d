"""What `result_type` remembers, and what it must not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import pytest
from small_systems import CHAIN, make

import typelattice as tl
from typelattice.core.engine.system import MAX_REMEMBERED_CALLS
from typelattice.core.operands.operand import operand_of_dtype
from typelattice.core.operands.read_objects import (
    PLAIN_ARRAY_CLASSES,
    READER_FINDERS,
    ObjectReader,
    clear_reader_cache,
)


@dataclass(frozen=True)
class Plain:
    """An array of which dtype and ndim say all."""

    dtype: tl.DType
    ndim: int = 1


@contextmanager
def plain_arrays() -> Iterator[None]:
    module = Plain.__module__.partition(".")[0]
    PLAIN_ARRAY_CLASSES.add(Plain)
    reader = ObjectReader(
        lambda x: operand_of_dtype(x.dtype, tier="array" if x.ndim else "0d"),
        lambda cls: attrgetter("dtype", "ndim"),
    )
    READER_FINDERS.append(lambda root: reader if root == module else None)
    clear_reader_cache()
    try:
        yield
    finally:
        PLAIN_ARRAY_CLASSES.discard(Plain)
        READER_FINDERS.pop()
        clear_reader_cache()


def test_result_type_is_remembered_by_dtypes_and_by_plain_arrays() -> None:
    s = make(CHAIN, tiers=["array", "0d"])
    a, b, c = tl.dtype("int8"), tl.dtype("uint8"), tl.dtype("int16")
    assert [str(s.result_type(a, b)) for _ in range(3)] == ["int16"] * 3
    assert [str(s.result_type(b, a)) for _ in range(2)] == ["int16"] * 2
    assert s.result_type(a, a) is a
    with plain_arrays():
        assert [str(s.result_type(Plain(a), Plain(c))) for _ in range(3)] == ["int16"] * 3
        assert s.result_type(Plain(a), Plain(c, 0)) is a  # 0-d arrays are looked at
        assert s.result_type(Plain(a, 0), Plain(c)) is c
        assert s.result_type(Plain(a, 0), Plain(c, 0)) is c
        assert s.result_type(Plain(a), c) is c
        assert s.result_type(Plain(a), Plain(b), Plain(a)) is c
    assert make("i8 -> i32; u8 -> i32").result_type(a, b) is tl.dtype("int32")


def test_what_is_remembered_is_kept_to_its_like() -> None:
    s = make(CHAIN, tiers=["array", "0d"])
    a, c = tl.dtype("int8"), tl.dtype("int16")
    assert s.result_type(a, c) is c
    with plain_arrays():
        s.result_type(Plain(a), Plain(c))
        kept = deepcopy((s._pairs, s._arrays[Plain]))
        assert kept == ({a: {c: c}}, {a: {c: c}})
        s.result_type(Plain(a), Plain(c, 0))
        s.result_type(Plain(a, 0), Plain(c))
        s.result_type(Plain(c, 0), Plain(c, 0))
        s.result_type("int8", "int16")
        s.result_type(a, c, a)
        s.result_type(a)
        s.result_type(Plain(a), c)
        assert (s._pairs, s._arrays[Plain]) == kept


@pytest.mark.parametrize("dims", [(1, 1), (1, 0), (0, 1), (0, 0)])
@pytest.mark.parametrize("tiers", [["array"], ["array", "0d"]])
def test_plain_arrays_are_explained_once_whatever_their_dimensions(
    monkeypatch: pytest.MonkeyPatch, tiers: list[str], dims: tuple[int, int]
) -> None:
    s = make(CHAIN, tiers=tiers)
    a, c = tl.dtype("int8"), tl.dtype("int16")
    asked = []
    explain = tl.System.explain
    monkeypatch.setattr(tl.System, "explain", lambda *of, op=None: asked.append(of) or explain(*of, op=op))
    with plain_arrays():
        for _ in range(2):  # the class is known from the first on
            s.result_type(Plain(a, dims[0]), Plain(a, dims[1]))
        asked.clear()
        found = [s.result_type(Plain(a, dims[0]), Plain(c, dims[1])) for _ in range(3)]
    assert len(asked) == 1
    assert {*found} == {a if dims == (1, 0) and "0d" in tiers else c}


def test_where_values_decide_the_value_of_a_0d_array_is_asked_for_each_time() -> None:
    s = tl.system("numpy1")
    small, large = (np.array(value, "int16") for value in (3, 300))
    for _ in range(2):
        found = [s.result_type(np.ones(1, "int8"), zero) for zero in (small, large)]
        assert [str(d) for d in found] == ["int8", "int16"]


def test_numbers_that_are_equal_are_remembered_apart() -> None:
    s = make("b -> i8 -> f16", tiers=["array", "scalar"], defaults={"int": "i8", "float": "f16"})
    for _ in range(2):
        assert [str(s.result_type("int8", x)) for x in (True, 1, 1.0)] == ["int8", "int8", "float16"]
        assert [str(s.result_type("bool", x)) for x in (1.0, 1, True)] == ["float16", "int8", "bool"]


def test_result_type_of_a_refusal_is_not_remembered() -> None:
    s = make("i8; u8")
    for _ in range(2):
        with pytest.raises(tl.PromotionError, match="mine refuses int8 with uint8"):
            s.result_type(tl.dtype("int8"), tl.dtype("uint8"))
    assert s._pairs == {} == s._remembered


def test_no_more_answers_are_remembered_than_promised() -> None:
    s, sizes = make("i8", tiers=["array", "scalar"]), []
    tl.operand("int8")  # from here on strings are known to be their own marks
    for i in range(MAX_REMEMBERED_CALLS + 3):
        assert s.result_type("int8", str(i)) is tl.dtype("int8")
        sizes.append(len(s._remembered))
    assert max(sizes) == MAX_REMEMBERED_CALLS
    assert sizes[-1] == 3


def test_what_a_value_decides_is_not_remembered() -> None:
    s = tl.system("numpy1")
    assert [str(s.result_type("int8", v)) for v in (1, 300, 1)] == ["int8", "int16", "int8"]
    assert not s._remembered


@pytest.mark.parametrize("name", ["torch", "mlx", "polars", "tensorflow-legacy"])
def test_a_number_is_remembered_by_its_value_where_that_may_decide(name: str) -> None:
    """Each of these is asked twice: of a fresh system, and of one that has met other numbers before."""
    numbers = (1, 300, 2**40, True, 1.0, 2**63, -1, 2**64, 1, 300, 2**64)
    fresh, met = tl.system(name).replace, tl.system(name).replace(title="met")

    def answer(s: tl.System, *operands: object) -> str:
        try:
            return str(s.result_type(*operands))
        except tl.PromotionError as e:
            return str(e)

    for operands in ((d, n) for n in numbers for d in ("uint8", "float32")):
        for pair in (operands, operands[::-1]):
            assert answer(met, *pair) == answer(fresh(title="met"), *pair)
    assert len(met._remembered) > len(numbers)  # those that are refused are not
