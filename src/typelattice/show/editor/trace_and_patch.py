"""Runs of the user's own file in a process of its own: traced, or patched until its floats stay narrow."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from typelattice.base.errors.error_texts import clip_text
from typelattice.base.errors.errors import TypelatticeError
from typelattice.repair.copies.progress import PROGRESS_PREFIX
from typelattice.tracing.report.run_files import read_run

MAX_RUN_SECONDS = 600  # longest time of a run


class CommandRunError(TypelatticeError, RuntimeError):
    """A run of the user's file that gave no result."""


def trace_file(path: Path) -> dict[str, Any]:
    """Return the run of a script, as `typelattice trace --json` does.

    Raises CommandRunError and RunFileError.
    """
    with TemporaryDirectory() as folder:
        document = Path(folder) / "run.json"
        said = _run_command(
            path, "trace", "--json", str(document), "--output", str(Path(folder) / "report.txt")
        )
        if not document.is_file():
            raise CommandRunError(f"{path.name} gave no run: {said}")
        return read_run(str(document))


def patch_file(path: Path) -> dict[str, Any]:
    """Run a script as `typelattice fix --format json` does, and return its patch. Raises CommandRunError."""
    said = _run_command(path, "fix", "--format", "json")
    try:
        found = json.loads(said)
        assert found["typelattice"] == "patch"
    except (ValueError, TypeError, LookupError, AssertionError):
        raise CommandRunError(f"{path.name} gave no patch: {said}") from None
    return dict(found)


def _run_command(path: Path, *words: str) -> str:
    """Run a command on a script in its folder. Return its output, or the end of its errors if it has none."""
    command = [sys.executable, "-m", "typelattice", *words, path.name]
    try:
        ended = subprocess.run(
            command, cwd=path.parent, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", timeout=MAX_RUN_SECONDS,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as e:
        raise CommandRunError(f"{path.name} could not be run: {e}") from None
    if words[0] == "fix" and ended.stdout:
        return ended.stdout
    errors = " ".join(line for line in ended.stderr.splitlines() if not line.startswith(PROGRESS_PREFIX))
    return clip_text(" ".join(errors.split()[-60:]) or f"it ended with {ended.returncode}", 400)
