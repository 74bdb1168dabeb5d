"""Casts that change nothing under the traced library are steps of the run, which replays carry out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import typelattice as tl

X = np.arange(3)


def by_asarray(x: Any) -> Any:
    h = x / 2
    y = np.asarray(h, dtype=np.float64)
    return y * 2


def by_astype(x: Any) -> Any:
    h = x / 2
    h = h.astype(np.float64, copy=False)
    return h * 2


def by_another_name(x: Any) -> Any:
    h = x / 2
    h = np.ascontiguousarray(h, "float64")
    return h * 2


def in_a_loop(x: Any) -> Any:
    h = x / 2
    for _ in range(5):
        h = np.asarray(h, dtype=np.float64)
    return h * 2


def of_a_name_that_stays(x: Any) -> Any:
    h = x / 2
    y = np.asarray(h, dtype=np.float64)
    return h * 2, y * 2


def to_the_dtype_of_another(x: Any) -> Any:
    h = x / 2
    k = h.astype((h + 1).dtype, copy=False)
    return k * 2


def without_a_dtype(x: Any) -> Any:
    h = x / 2
    return np.asarray(h) * 2


def outcomes(f: Callable[..., Any]) -> list[tuple[str, int, str]]:
    """Each operation of a run, how often it ran, and its dtype under PyTorch's rules."""
    run = tl.trace(f, X).run
    assert not run.mismatches
    replayed = run.under("torch")
    return [(s.op, n.count, str(o)) for (s, n), o in zip(run, replayed, strict=True) if s.op]


@pytest.mark.parametrize("f", [by_asarray, by_astype, by_another_name, in_a_loop])
def test_a_cast_that_changed_nothing_is_a_step(f: Callable[..., Any]) -> None:
    steps = outcomes(f)
    assert [dtype for _, _, dtype in steps] == ["float32", "float64", "float64"]
    assert [op for op, _, _ in steps] == ["divide", "astype", "multiply"]


def test_the_variable_that_was_cast_keeps_its_dtype() -> None:
    assert [dtype for _, _, dtype in outcomes(of_a_name_that_stays)] == [
        "float32",
        "float64",
        "float32",
        "float64",
    ]


@pytest.mark.parametrize("f", [to_the_dtype_of_another, without_a_dtype])
def test_an_array_is_handed_through_where_no_dtype_is_named(f: Callable[..., Any]) -> None:
    assert {dtype for op, _, dtype in outcomes(f) if op != "add"} == {"float32"}
    assert "astype" not in [op for op, _, _ in outcomes(f)]
