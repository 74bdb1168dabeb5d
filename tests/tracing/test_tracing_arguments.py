"""Arguments beside the operands of a call: each step comes out as NumPy has it, or is opaque."""

from __future__ import annotations

from dataclasses import replace

import pytest
from followed import followed

import typelattice as tl
from typelattice.programs.calls.steps import Opaque
from typelattice.tracing.findings.predicted_run import predict_run

ARRAYS = """
import numpy as np
x, d, c = np.ones(6, "f4"), np.ones(6), np.ones(6, "c8")
i, b = np.arange(6, dtype="i1"), np.ones(6, bool)
m, C = np.eye(3, dtype="f4"), np.eye(3, dtype="c8")
s = np.float64(0.5)
trapezoid = np.trapezoid if hasattr(np, "trapezoid") else np.trapz
"""
KNOWN = [  # calls whose further arguments are read
    "np.diff(x, prepend=0.0)", "np.diff(x, append=d[:1])", "np.diff(x, prepend=s)", "np.diff(i, prepend=0)",
    "np.diff(x, 1, -1, 0.0)", "np.diff(x, prepend=x[:1])", "np.compress(b, x)", "np.extract(b, x)",
    "x.compress(b)", "np.cov(m, dtype='f4')", "np.corrcoef(m, dtype='f4')", "np.sum(x, 0, 'f8')",
    "x.sum(None, np.float64)", "np.mean(x, 0, 'f8')", "x.std(0, 'f8')", "np.cumsum(x, 0, 'f8')",
    "np.trace(m, 0, 0, 1, 'f8')", "np.add.reduce(x, 0, 'f8')", "np.eye(3, 3, 0, 'f4')",
    "np.linspace(0, 1, 5, True, False, 'f4')", "np.dot(x, 2.0)", "np.convolve(x, 1.0)", "np.kron(x, 2.0)",
    "np.identity(3, 'f4')", "np.ediff1d(x, to_end=d)", "np.nan_to_num(x, nan=s)", "np.full(3, x[0])",
    "np.select([b], [x], s)",
    "np.clip(x, a_min=d, a_max=None)", "np.pad(x, 1, constant_values=s)", "np.delete(x, i)",
    "np.sum(x, where=b)", "np.linalg.norm(x, s)", "np.std(x, ddof=s)", "trapezoid(x, dx=0.1)",
    "trapezoid(x, dx=s)", "trapezoid(x, d)", "trapezoid(x, dx=2j)", "np.cov(x, c)", "np.gradient(x, s)",
    "np.sum(i, initial=1.5)", "np.std(x, mean=d[:1])",
]  # fmt: skip
OPAQUE = [  # calls whose result has a dtype that no operation of ours gives
    "np.interp(x, x, c)", "np.quantile(i, 1)", "np.cov(x, aweights=d)",
    "np.average(x, None, d)", "np.bincount(i, x)", "np.histogram(x, 3, None, None, d)[0]",
    "np.quantile(i, 0.5, method='lower')", "np.linalg.svd(C, True, False)", "np.emath.sqrt(-x)",
    "np.require(x, 'f8')", "np.add(x, x, signature='dd->d')",
]  # fmt: skip


@pytest.mark.parametrize("code", KNOWN)
def test_a_further_argument_that_promotes_is_read(code: str) -> None:
    y, run = followed(code, ARRAYS)
    assert not run.opaque and not run.mismatches
    assert str(run.under("numpy")[-1].operand.dtype) == str(y.dtype)


@pytest.mark.parametrize("code", OPAQUE)
def test_a_call_is_opaque_where_no_rule_says_what_a_further_argument_does(code: str) -> None:
    _, run = followed(code, ARRAYS)
    assert not run.mismatches
    assert any(isinstance(step, Opaque) for step in run.program.steps)


@pytest.mark.parametrize("code", ["np.sum(x, 0, np.float64)", "x.mean(0, np.float64)"])
def test_a_program_knows_a_dtype_that_is_given_by_position(code: str) -> None:
    assert str(tl.program(code, x="float32").under("numpy")[-1]) == "float64"


@pytest.mark.parametrize(
    ("code", "gave"),
    [
        ("np.ones(3, 'u1') + np.int64(300)", "uint16"),  # a scalar whose value the source says
        ("np.ones(3, 'f2') * np.float64(1e10)", "float32"),
        ("np.ones(3, 'u1') + np.arange(1000).sum()", "uint32"),  # one that was computed
    ],
)
def test_the_values_of_scalars_count_by_the_rules_of_numpy_1(code: str, gave: str) -> None:
    _, run = followed(code, ARRAYS)
    last = replace(run.observations[-1], operand=tl.operand(gave))
    one = replace(run, observations=(*run.observations[:-1], last), systems={"numpy": "numpy1"})
    assert run.under("numpy")[-1].operand != last.operand
    assert (one.mismatches, predict_run(one).mismatches) == ((), ())


def test_what_numpy_1_does_not_say_is_a_mismatch() -> None:
    _, run = followed("np.ones(3, 'u1') + np.int64(300)", ARRAYS)
    one = replace(run, systems={"numpy": "numpy1"})  # which gives uint16, and not int64
    assert (
        [each.step_number for each in one.mismatches]
        == [*predict_run(one).mismatches]
        == [len(run.observations) - 1]
    )
