"""The GitHub Action and the pre-commit hook run on a small repository, as their files say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from textwrap import dedent

import pytest

import typelattice as tl

ROOT = Path(__file__).parents[2]
ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
HOOKS = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
BEFORE = """
import numpy as np
OLD = np.ones(3)
MEAN = np.zeros(3, np.float32)
x = np.ones((9, 3), np.float32)
kept = x * OLD
moved = x - MEAN
again = x + MEAN
"""
AFTER = BEFORE.replace("zeros(3, np.float32)", "zeros(3)").replace("x + MEAN", "(x +\n         MEAN)")
GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org")


def run(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {"PATH": path, "PYTHONPATH": str(Path(tl.__file__).parents[1])}
    return subprocess.run(
        words, cwd=folder, env={**os.environ, **own, **variables}, capture_output=True, text=True
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose second commit widens a float, and has a line that was wide before."""
    folder = tmp_path / "project"
    folder.mkdir()
    run(folder, "git", "init", "-q", "-b", "main")
    for text, message in (BEFORE, "before"), (AFTER, "after"):
        (folder / "s.py").write_text(text)
        run(folder, "git", "add", "s.py")
        assert run(folder, *GIT, "commit", "-qm", message).returncode == 0
    return folder


def action_inputs() -> dict[str, str]:
    """The inputs of the action with their defaults."""
    inputs = ACTION.partition("inputs:")[2].partition("runs:")[0]
    return dict.fromkeys(re.findall(r"(?m)^  (\w+):$", inputs), "")


def run_action(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the last step of the action, as a runner does."""
    given = action_inputs()
    assert {*inputs} <= {*given}
    step = ACTION.rpartition("- name:")[2]
    variables = {
        name: (given | inputs)[input] for name, input in re.findall(r"(\w+): \$\{\{ inputs\.(\w+) \}\}", step)
    }
    code = dedent(step.partition("run: |\n")[2])
    summary = folder.parent / "summary.md"
    summary.touch()
    variables |= {"GITHUB_STEP_SUMMARY": str(summary)}
    return run(folder, "bash", "-e", "-o", "pipefail", "-c", code, **variables)


def test_the_action_annotates_what_a_pull_request_widens(repository: Path) -> None:
    done = run_action(repository, script="s.py", since="HEAD~1", fail="true")
    assert done.returncode == 3, done.stderr
    warnings = re.findall(r"(?m)^::warning file=(.*?),line=(\d+),title=TL001::(.*)", done.stderr)
    assert [(file, line) for file, line, _ in warnings] == [("s.py", "7")]
    assert "%0Aremedy: cast 24 bytes" in warnings[0][2]
    assert "::notice file=s.py,line=4,title=TL001::the float64 comes from here" in done.stderr
    assert "::notice file=s.py,line=8,title=TL001::the float64 also widens a float here" in done.stderr
    assert "::error title=dtypes::the check fails: 1 new finding" in done.stderr


def test_the_action_posts_one_summary_with_the_patch(repository: Path) -> None:
    run_action(repository, script="s.py", since="HEAD~1")
    summary = unescape((repository.parent / "summary.md").read_text())
    assert summary.count("## dtypes") == 1
    assert "1 finding not shown: no line of them was changed since HEAD~1" in summary
    assert "```suggestion\nMEAN = np.zeros(3, dtype=np.float32)\n```" in summary
    assert "| s.py:7 | <code>x - MEAN</code> |" in summary and "kept" not in summary


@pytest.mark.parametrize(("inputs", "status"), [
    ({"since": "HEAD~1", "fail": "false"}, 0), ({"since": "HEAD", "fail": "true"}, 0), ({}, 3),
    ({"arguments": "--baseline known.toml"}, 0), ({"since": "nothing"}, 2),
])  # fmt: skip
def test_the_action_fails_by_choice(repository: Path, inputs: dict[str, str], status: int) -> None:
    write = ("--baseline", "known.toml", "--write-baseline", "s.py")
    assert run(repository, sys.executable, "-m", "typelattice", "trace", *write).returncode == 0
    assert run_action(repository, script="s.py", **inputs).returncode == status


def test_the_hook_has_the_keys_that_pre_commit_needs() -> None:
    assert {"id", "name", "entry", "language"} <= {*re.findall(r"(?m)^[- ] (\w+): \S", HOOKS)}
    assert re.search(r"(?m)^  verbose: true\b", HOOKS)  # else it hides the report of a script that succeeds


@pytest.mark.parametrize(("words", "status"), [((), 3), (("--since", "HEAD"), 0)])
def test_the_entry_of_the_hook_fails_for_a_widening(
    repository: Path, words: tuple[str, ...], status: int
) -> None:
    (entry,) = re.findall(r"(?m)^  entry: typelattice (.*)$", HOOKS)
    done = run(repository, sys.executable, "-m", "typelattice", *entry.split(), *words, "s.py")
    assert done.returncode == status
    assert ("floats were widened from 2 places" in done.stderr) == (status == 3)


def test_gitlab_gets_findings_with_fingerprints_that_do_not_depend_on_lines(repository: Path) -> None:
    def findings() -> list[dict[str, object]]:
        done = run(repository, sys.executable, "-m", "typelattice", "trace", "--format", "gitlab", "s.py")
        return json.loads(done.stderr)

    before = findings()
    (repository / "s.py").write_text(f"# a line\n{AFTER}")
    after = findings()
    assert [each["fingerprint"] for each in before] == [each["fingerprint"] for each in after]
    assert len({each["fingerprint"] for each in after}) == len(after) == 5
    assert {*before[0]} == {"check_name", "description", "fingerprint", "severity", "location"}
    assert before[0]["location"] != after[0]["location"]
