"""Searches for patches whose programs run in forked processes."""
from __future__ import annotations

import pytest
from forked import fork_searches

from typelattice.repair.patch import patch_search


@pytest.fixture(autouse=True)
def forked_runs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork each run, and measure time and memory once.

    Tests of the processes of a search take the fixture `new_processes`.
    """
    monkeypatch.setattr(patch_search, "MEASURED_RUNS", 1)
    if "new_processes" not in request.fixturenames:
        fork_searches(monkeypatch)


@pytest.fixture
def new_processes() -> None:
    """Run programs in the processes in which users' programs run."""
