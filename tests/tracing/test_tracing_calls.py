"""Calls in a run: what a library's functions and methods are, and that reading one never ends the program."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import typelattice as tl
from typelattice.tracing.steps.observed_calls import CallReader

X = np.ones((3, 3), np.float32)


def rooted(x: Any) -> Any:
    return np.sqrt(x) + 1


def summed(x: Any) -> Any:
    return np.sum(x, dtype=np.float64) + np.zeros_like(x, dtype=np.float64) + np.ones(3, np.float64)


def diverging(x: Any, y: Any, out: Any) -> Any:
    return np.divmod(x, y, out)


def widened(x: Any) -> Any:
    return x * np.ones(3, np.float64)


def crossed(x: Any) -> Any:
    _, y = np.meshgrid(x[0], x[0])
    return y


def inverse(x: Any) -> Any:
    return x**-1


def test_what_a_library_is_known_to_do_against_its_rule_is_no_mismatch_and_is_told() -> None:
    traced = tl.trace(inverse, np.ones(0, np.int32))
    assert not traced.run.mismatches
    (departure,) = traced.run.departures
    why = "the loop raises at a negative exponent, so an empty array is not an error"
    assert departure.reason == why
    told = " ".join(str(traced).split())
    assert "1 step came out as the library is known to, and not as its rule says" in told
    assert f"gave int32, by the rule refused: {why}" in told
    assert "every other dtype is the one that its library's rules predict" in told
    data = json.loads(traced.to_json())
    assert data["mismatches"] == [] and [each["reason"] for each in data["departures"]] == [why]


def test_the_program_goes_on_where_our_reading_of_a_call_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> Any:
        raise KeyError("of ours")

    monkeypatch.setattr(CallReader, "read_step", failing)
    traced = tl.trace(rooted, X)
    assert (np.asarray(traced.result) == 2).all()
    assert [step.op for step, _ in traced.run if step.op] == ["sqrt", "add"]
    assert traced.run.opaque == 1
    (left,) = traced.run.unfollowed_code
    assert left.name.startswith("np.sqrt(x) (") and "test_tracing_calls.py" in left.name
    assert left.reason == "our reading of it failed (KeyError: 'of ours'); please report it"


def test_indices_that_are_no_integers_under_another_system_are_refused_there() -> None:
    program = tl.program("take(x, i // 2)", x="float32", i="int64")
    assert str(program.under("numpy").result) == "float32"
    program = tl.program("take(x, i / 2)", x="float32", i="int64")
    (*_, outcome) = program.under("numpy")
    assert outcome.is_refused
    assert outcome.reason == "take takes integers for indices, not float64; cast them first, e.g. to int64"


def test_what_gives_a_dtype_that_the_code_asks_for_is_said_to() -> None:
    told = " ".join(str(tl.trace(summed, X)).split())
    assert "sum of float32 gives float64:0d, as the code asks" in told
    assert "zeros_like of float32 gives float64, as the code asks" in told
    told = " ".join(str(tl.trace(widened, X)).split())
    assert "makes float64, as the code asks" in told


def test_of_several_results_one_that_is_no_out_has_its_own_dtype() -> None:
    run = tl.trace(diverging, np.arange(3), np.ones(3), np.zeros(3, np.complex128)).run
    (seen,) = [seen for step, seen in run if step.op == "divmod" and seen.count]
    assert str(seen.operand.dtype) == "float64" and not run.mismatches


@pytest.mark.parametrize("name", ["numpy", "torch", "tensorflow", "keras"])
def test_a_run_knows_an_array_of_a_grid_without_the_others(name: str) -> None:
    assert str(tl.trace(crossed, X).run.under(name).outcomes[-1].operand) == "float32"
