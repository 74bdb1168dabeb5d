"""Searches for patches whose programs run in forked processes."""
from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from forked import run_forked

from typelattice.fixing import child, patch_search, plain_run, workspace
from typelattice.fixing.workspace import Workspace


@pytest.fixture(autouse=True)
def forked_runs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork each run from a process that has imported all: a new one takes ten times as long as the run.

    Time and memory are measured once. Tests of the processes of a search take the fixture `new_processes`.
    """
    monkeypatch.setattr(patch_search, "PLAIN_RUNS", 1)
    if "new_processes" in request.fixturenames:
        return
    run_in_process = Workspace.run_in_process
    mains = {"child": child.main, "plain_run": plain_run.main}

    def run(self: Workspace, files: Sequence[Path], module: str = "child") -> int:
        if not self.asserts:  # which an option of Python leaves out
            return run_in_process(self, files, module)
        todo, out, printed, errors = files
        main = partial(mains[module], str(todo), str(out))
        variables = workspace._make_environment()
        return run_forked(main, ("-c", str(todo), str(out)), self.inside, variables, printed, errors)

    monkeypatch.setattr(Workspace, "run_in_process", run)
    monkeypatch.setattr(Workspace, "run_in_fork", run)


@pytest.fixture
def new_processes() -> None:
    """Run programs in the processes in which users' programs run."""
