"""A dtype that a helper takes from a name is explained by what gave the name its value."""

from __future__ import annotations

import pytest
from followed import followed_module

from typelattice.tracing.findings.findings import collect_findings
from typelattice.tracing.findings.predicted_run import predict_run
from typelattice.tracing.remedies.remedy import parse_sources
from typelattice.tracing.report.sentences import cause_sections
from typelattice.tracing.source.dtype_decisions import find_dtype_decisions

HEAD = "import numpy as np\nx = np.ones(3, np.float32)\n"
DEFAULT = """
def helper(a, dtype=np.float64):
    return np.asarray(a, dtype)
y = x + helper(x)
"""
PASSED = """
def helper(a, *, dtype):
    return a.astype(dtype)
y = x + helper(x, dtype=np.float64)
"""
POSITIONAL = """
def helper(a, dtype=None):
    return np.asarray(a, dtype=dtype)
y = x + helper(x, np.float64)
"""
PROMOTED = """
def helper(a):
    dtype = None
    dtype = np.result_type(a, np.float64)
    return np.asarray(a, dtype=dtype)
y = x + helper(x)
"""
JOINED = """
def arrays(*xs, dtype=None):
    joined = dtype or np.result_type(*xs)
    return [np.asarray(a, joined) for a in xs]
def product(a, b):
    a, b = arrays(a, b)
    return a * b
y = product(x, np.linspace(0, 1, 3))
"""
CONSTANT = """
WIDE = np.float64
y = x + np.asarray(x, WIDE)
"""
GLOBAL = """
def helper(a):
    return a.astype(WIDE)
WIDE = np.dtype("float64")
y = x + helper(x)
"""
PLAIN = """
y = x + x.astype(np.float64)
"""


@pytest.mark.parametrize(
    ("code", "decided"),
    [
        (DEFAULT, ["4: dtype=np.float64 is the default in helper"]),
        (PASSED, ["6: helper(x, dtype=np.float64)"]),
        (POSITIONAL, ["4: dtype=None is the default in helper", "6: helper(x, np.float64)"]),
        (PROMOTED, ["6: dtype = np.result_type(a, np.float64)"]),
        (JOINED, ["5: joined = dtype or np.result_type(*xs)", "8: arrays(a, b)"]),
        (CONSTANT, ["4: WIDE = np.float64"]),
        (GLOBAL, ["6: WIDE = np.dtype('float64')"]),
        (PLAIN, []),
    ],
)
def test_the_place_that_decides_a_dtype_is_named(code: str, decided: list[str]) -> None:
    _, run = followed_module(HEAD + code)
    (cause,) = collect_findings(run).causes
    checked = predict_run(run)
    found = find_dtype_decisions(checked.steps[cause.origin_steps[0]], parse_sources(run))
    assert [f"{each.location.line}: {each.text}" for each in found] == decided
    sections = dict(cause_sections(checked, cause))
    assert sections.get("decided", []) == [f"code.py:{line}" for line in decided]
