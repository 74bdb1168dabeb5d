"""A patch for a policy changes lines that depart from it, and no others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.repair.copies.source import FixError
from typelattice.repair.patch.goals import KeepsToPolicy
from typelattice.repair.patch.patch_search import fix_script, make_goal
from typelattice.tracing.entry_points.script import run_script
from typelattice.tracing.remedies.remedy import parse_sources
from typelattice.tracing.run_data.model_run import ModelRun
from typelattice.tracing.run_data.operation_log import OperationLog
from typelattice.tracing.run_data.policy import read_policy

PROGRAM = """
import numpy as np

def shifted(x, p):
    return x + p

x = np.ones(3, np.float16)
p = np.linspace(0, 1, 3, dtype=np.float32)
y = shifted(x, p)
z = x * p
"""
MODEL = """
import torch

torch.manual_seed(0)
layer = torch.nn.Linear(4, 4).bfloat16()


schedule = torch.linspace(0, 1, 4)


def forward(x):
    h = x.float()
    h = (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True))).to(x.dtype)
    return layer(h) * schedule


y = forward(torch.randn(2, 4, dtype=torch.bfloat16))
"""


def test_only_a_line_that_departs_is_forbidden_and_is_changed_where_arrays_meet(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text(PROGRAM)
    run, goal = run_script(str(script), [], []).run, KeepsToPolicy(DTYPES["float16"])
    for lines, count in ((None, 1), (frozenset[tuple[str, int]](), 0), (frozenset({(str(script), 5)}), 1)):
        model = ModelRun(OperationLog(), departing_lines=lines)
        findings = goal.read_findings(replace(run, model=model))
        forbidden = goal.list_forbidden_findings(findings)
        assert len(forbidden) == count
        changes = [c for _, cause in forbidden for c in goal.propose_changes(
            findings, cause, parse_sources(run))]  # fmt: skip
        assert {change.line for change in changes} <= {5, 10}  # and not where `p` is made
        assert bool(changes) == bool(count)


def test_a_policy_without_a_dtype_to_compute_in_is_refused() -> None:
    with pytest.raises(FixError, match="add compute=DTYPE, or give --to"):
        make_goal(read_policy("params=float32"), None)


@pytest.mark.live
def test_a_schedule_is_cast_where_it_meets_the_narrow_array(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = tmp_path / "s.py"
    script.write_text(MODEL)
    patch = fix_script(str(script), to=read_policy("compute=bfloat16"))
    (change,) = patch.kept_changes
    assert change.after.startswith("return layer(h) * schedule.to(")
