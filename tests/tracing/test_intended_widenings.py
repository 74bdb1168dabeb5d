"""Wide floats that a program intends: a comment covers its line, and what is cast back is no finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from typelattice.tracing.entry_points.script import run_script
from typelattice.tracing.findings.findings import Findings, collect_findings
from typelattice.tracing.report.text_report import write_report
from typelattice.tracing.run_data.run import Run

SETUP = """import numpy as np
x, w = np.ones((2, 4), np.float16), np.ones(4, np.float16)
"""
LEAKS = {
    "h = x.astype(np.float32)  # typelattice: meant\ny = h * w": "h * w",
    "h = x.astype(np.float32)  # typelattice: meant\nh = h * 2\ny = h + w": "h + w",
    "h = x.astype(np.float32)  # typelattice: meant\nz = (h * w).astype(x.dtype)\ny = h - w": "h - w",
}
ISLANDS = [
    "h = x.astype(np.float32)\nh = h / np.sqrt(np.mean(h * h, axis=-1))[:, None]\ny = w * h.astype(x.dtype)",
    "y = (x.astype(np.float32) * w).astype(x.dtype)",
    "loss = np.sum(x.astype(np.float32))",
    "y = np.argmax(x.astype(np.float32), axis=-1)",
    "out = np.empty_like(x)\nout[...] = x.astype(np.float32) * w",
]
LEAVING = ["h = x.astype(np.float32)\ny = h * w", "y = x.astype(np.float32)", "y = x * np.ones(4)"]


def traced(code: str, path: Path) -> Run:
    path.write_text(SETUP + code + "\n")
    ended = run_script(str(path), [], [])
    assert ended.status == 0
    return ended.run


def found_in(code: str, path: Path) -> Findings:
    return collect_findings(traced(code, path))


@pytest.mark.parametrize("code", LEAKS)
def test_what_leaks_from_a_line_that_is_meant_is_a_finding(code: str, tmp_path: Path) -> None:
    run = traced(code, tmp_path / "s.py")
    (cause,) = collect_findings(run).causes
    assert run.program.steps[cause.step].text == LEAKS[code]
    text = "\n".join(write_report(run, (), 1_000))
    assert f"x.astype(np.float32) is meant at {tmp_path}/s.py:3; it leaks here" in text
    # the cast is written where the wide float leaves, not where it begins
    assert f"y = {LEAKS[code].replace('h', 'h.astype(w.dtype)', 1)}" in text


@pytest.mark.parametrize(
    "code",
    [
        "h = x.astype(np.float32)  # typelattice: meant\ny = h * w  # typelattice: meant",
        "h = x.astype(np.float32)  # typelattice: meant\ny = h * 2",
        "h = x.astype(np.float32)  # typelattice: meant\ny = (h * w).astype(x.dtype)",
        "y = x * np.ones(4)  # typelattice: meant",
    ],
)
def test_a_line_that_is_meant_is_no_finding_if_nothing_leaks(code: str, tmp_path: Path) -> None:
    found = found_in(code, tmp_path / "s.py")
    assert not found.causes and found.excused_count == 1


@pytest.mark.parametrize("code", ISLANDS)
def test_an_explicit_cast_whose_results_are_cast_back_is_one_line(code: str, tmp_path: Path) -> None:
    run = traced(code, tmp_path / "s.py")
    assert not collect_findings(run).causes
    text = "\n".join(write_report(run, (), 1_000))
    assert "x.astype(np.float32) computes in float32 on purpose, and nothing of it leaves" in text
    assert "remedy" not in text


@pytest.mark.parametrize("code", LEAVING)
def test_a_wide_array_that_leaves_is_still_a_finding(code: str, tmp_path: Path) -> None:
    assert found_in(code, tmp_path / "s.py").causes


@pytest.mark.live
def test_a_float_of_8_bits_only_stores_numbers(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    path = tmp_path / "s.py"
    path.write_text(
        "import torch\nstored = torch.ones(4, dtype=torch.float8_e4m3fn)\n"
        "y = torch.ones(4, dtype=torch.bfloat16) * stored.to(torch.bfloat16)\n"
    )
    found = collect_findings(run_script(str(path), [], []).run)
    assert not found.causes and not found.islands
