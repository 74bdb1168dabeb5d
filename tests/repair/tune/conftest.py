"""Tunes a script in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from forked import fork_searches

from typelattice.repair.tune.tune_options import TuneOptions
from typelattice.repair.tune.tune_program import make_script_tuner
from typelattice.repair.tune.tuning_result import Tuning

Tune = Callable[..., Tuning]


@pytest.fixture(autouse=True)
def forked_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork each run. The tests of the command line run programs in the processes in which users' run."""
    fork_searches(monkeypatch)


@pytest.fixture
def tune_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tune:
    """Return a function that writes a script and tunes it. The options are those of `TuneOptions`."""
    monkeypatch.chdir(tmp_path)

    def tune(text: str, tolerance: float, *argv: str, inputs: str = "", **options: Any) -> Tuning:
        (tmp_path / "script.py").write_text(text, encoding="utf-8")
        return make_script_tuner("script.py", argv, TuneOptions(tolerance, **options), inputs).run()

    return tune
