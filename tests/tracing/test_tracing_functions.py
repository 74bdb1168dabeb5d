"""One function is followed: `typelattice.trace`."""
from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import typelattice as tl


def scaled(x: Any) -> Any:
    return halved(x) * np.float64(3)


def halved(x: Any) -> Any:
    return x / 2


def each_halved(x: Any) -> Iterator[Any]:
    yield from x / 2


async def halved_later(x: Any) -> Any:
    return x / 2


def test_one_function_is_followed_with_those_that_it_calls_and_is_then_as_before() -> None:
    before = scaled.__code__
    traced = tl.trace(scaled, np.ones(2, np.float32), systems=["torch"])
    assert traced.result.dtype == np.float64
    assert [step.op for step in traced.run.program.steps if step.op] == ["divide", "astype", "multiply"]
    assert scaled.__code__ is before
    assert "multiply of float32 and float64:0d gives float32; the run gave" in str(traced)
    data = json.loads(traced.to_json())
    assert data["steps"][-1]["systems"] == {"torch": "float32"} and data["mismatches"] == []


def test_one_system_may_be_named_alone() -> None:
    assert tl.trace(halved, np.ones(2), systems="torch").systems == ("torch",)


def test_a_lambda_is_followed_among_several_on_its_line() -> None:
    several = (lambda x: x + 1), (lambda x: x * 2.5), (lambda x: np.sqrt(x))  # fmt: skip
    for function in several:
        traced = tl.trace(function, np.int8(4))
        assert traced.result == function(np.int8(4))
        assert traced.run.observations[-1].operand.dtype == tl.dtype(traced.result.dtype.name)


@pytest.mark.parametrize(
    ("what", "why"),
    [
        (each_halved, "each_halved is a generator, which runs after it was called; "
         "give a function that makes a list of it"),
        (halved_later, "halved_later is a coroutine, which runs after it was called; "
         "give a function that runs it with asyncio.run"),
        (np.add, "an object of type ufunc is no Python function; "
         "give one that calls it, such as lambda x: f(x)"),
        (eval("lambda: 1"), "the source of <lambda> is not there; define it in a file"),
    ],
)
def test_what_cannot_be_followed_is_refused(what: Any, why: str) -> None:
    with pytest.raises(tl.TraceError) as e:
        tl.trace(what)
    assert str(e.value) == why
