"""The GitHub Action and the pre-commit hook: what they call runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import typelattice as tl

ROOT = Path(__file__).parents[2]
ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
HOOKS = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
SCRIPT = "import numpy as np\ny = np.ones(3, np.float32) * np.ones(3)\n"


def test_the_hook_has_the_keys_that_pre_commit_needs() -> None:
    assert {"id", "name", "entry", "language"} <= {*re.findall(r"(?m)^[- ] (\w+): \S", HOOKS)}
    assert re.search(r"(?m)^  verbose: true\b", HOOKS)  # else it hides the report of a script that succeeds


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "s.py").write_text(SCRIPT)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(Path(tl.__file__).parents[1])}


def test_the_step_of_the_action_annotates_a_line(tmp_path: Path, environment: dict[str, str]) -> None:
    step = re.findall(r"(?m)^      run: (.*)$", ACTION)[-1]
    given = {"SCRIPT": "s.py", "ARGUMENTS": "--values"}
    done = subprocess.run(
        ["bash", "-e", "-c", step], cwd=tmp_path, env={**environment, **given}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "::warning file=s.py,line=2,title=TL001::" in done.stderr


def test_the_entry_of_the_hook_reports_a_script(tmp_path: Path, environment: dict[str, str]) -> None:
    (entry,) = re.findall(r"(?m)^  entry: typelattice (.*)$", HOOKS)
    done = subprocess.run(
        [sys.executable, "-m", "typelattice", *entry.split(), "s.py"],
        cwd=tmp_path, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0 and "floats were widened from 1 place" in done.stderr
