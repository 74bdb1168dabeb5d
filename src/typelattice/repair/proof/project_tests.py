"""The tests of a project, run by the user's command in the copy of its folder."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from typelattice.base.errors.error_texts import clip_text
from typelattice.base.own_folders import IMPORT_FOLDER
from typelattice.repair.copies.program_to_run import ProgramToRun
from typelattice.repair.copies.source import FixError

MAX_TEST_SECONDS = 1800.0
OUTCOME_PATTERN = re.compile(r"(?m)^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (\S+)")  # of `pytest -rA`
HOOK = """import sys
sys.path.append({own!r})
from typelattice.repair.copies.measured_run import ReplacedFinder
sys.path.remove({own!r})
sys.meta_path.insert(0, ReplacedFinder({contents!r}))
"""
"""The start of each Python process of the tests, if a patch changes files outside of the copy."""


@dataclass(frozen=True, slots=True)
class ProjectTests:
    """The outcome of a run of tests: the exit status, and the outcome of each test if pytest named it."""

    status: int
    outcomes: Mapping[str, str] = field(default_factory=dict)
    last_line: str = ""


def run_project_tests(
    command: str,
    program: ProgramToRun,
    folder: Path,
    outside_contents: Mapping[str, bytes],
    environment: Mapping[str, str],
) -> ProjectTests:
    """Run a command in a folder of the copy. Raises FixError if it cannot be started or never ends.

    Python finds the modules of the copy first, and outside of it the modules with `outside_contents`.
    `environment` has the guard of the runs as the first entry of PYTHONPATH.
    """
    words = shlex.split(command)
    if not words:
        raise FixError("--tests has no command; give one such as --tests 'pytest tests'")
    words = [sys.executable, *words[1:]] if words[0] in ("python", "python3") else words
    words = [sys.executable, "-m", *words] if words[0] == "pytest" else words
    root, original = program.copy_folder, program.original_folder
    hooks = root.parent / "test_hooks"
    hooks.mkdir(exist_ok=True)
    own = IMPORT_FOLDER
    hook = HOOK.format(own=own, contents=dict(outside_contents)) if outside_contents else ""
    (hooks / "sitecustomize.py").write_text(hook, encoding="utf-8")
    guard, *entries = [Path(entry) for entry in environment["PYTHONPATH"].split(os.pathsep) if entry]
    moved = [root / x.relative_to(original) if x.is_relative_to(original) else x for x in entries]
    path = os.pathsep.join(map(str, [guard, hooks, root / "src", root, *moved]))
    options = f"{os.environ.get('PYTEST_ADDOPTS', '')} -rA -p no:cacheprovider".strip()
    variables = {**environment, "PYTHONPATH": path, "PYTEST_ADDOPTS": options}
    try:
        ended = subprocess.run(
            words, cwd=folder, env=variables, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=MAX_TEST_SECONDS, check=False,
        )  # fmt: skip
    except OSError as e:
        what = f"--tests {clip_text(command, 80)!r} cannot be started ({e.strerror})"
        raise FixError(f"{what}; give a program that runs tests, and its arguments") from None
    except subprocess.TimeoutExpired:
        what = f"--tests {clip_text(command, 80)!r} ran for more than {MAX_TEST_SECONDS:.0f} s"
        raise FixError(f"{what}; name fewer tests") from None
    text = ended.stdout.decode("utf-8", errors="replace")
    outcomes = {name: outcome for outcome, name in OUTCOME_PATTERN.findall(text)}
    return ProjectTests(ended.returncode, outcomes, (text.strip().splitlines() or [""])[-1])


def find_broken_test(before: ProjectTests, after: ProjectTests) -> str:
    """Name the first test that passed before and does not pass now, or return ""."""
    for name, outcome in before.outcomes.items():
        if outcome == "PASSED" and after.outcomes.get(name) != "PASSED":
            return f"{name} passed before, and now: {after.outcomes.get(name, 'GONE').lower()}"
    if not before.outcomes and after.status != before.status:
        return f"it ended with status {before.status} before, and now with {after.status}: {after.last_line}"
    return ""
