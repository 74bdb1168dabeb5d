"""A pytest run in this process that is followed, with the outcome of each test."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from warnings import WarningMessage

import pytest

from typelattice.tracing.record.trace_imports import Tracing
from typelattice.tracing.run_data.run import Run

PYTEST_OPTIONS = ("-p", "no:cacheprovider", "-p", "no:randomly", "--color=no")


@dataclass(slots=True)
class PytestOutcomes:
    """A plug-in that keeps the outcome of each test, and the warnings.

    `failures` has the message of each test that failed.
    """

    outcomes: dict[str, str] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the worst outcome of a test's three phases."""
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.nodeid] = report.outcome
        if report.outcome == "failed":
            crash = getattr(report.longrepr, "reprcrash", None)
            lines = str(getattr(crash, "message", report.longrepr)).splitlines() or [""]
            self.failures[report.nodeid] = lines[0][:200]

    def pytest_warning_recorded(self, warning_message: WarningMessage) -> None:
        """Keep a warning."""
        self.warnings.append(f"{warning_message.category.__name__}: {warning_message.message}")


def run_tests(
    argv: Sequence[str],
    packages: Sequence[str],
    cache: Path | None,
    replaced_contents: Mapping[str, bytes],
) -> tuple[Run, PytestOutcomes]:
    """Run pytest and follow some packages. As in `python -m pytest`, the current folder comes first."""
    sys.path.insert(0, "")
    loaded = "PYTEST_DISABLE_PLUGIN_AUTOLOAD" not in os.environ
    alone = ("-n", "0") if loaded and find_spec("xdist") else ()
    found = PytestOutcomes()
    tracing = Tracing(packages, cache, replaced_contents)
    tracing.start()
    try:
        pytest.main([*argv, *PYTEST_OPTIONS, *alone], plugins=[found])
    finally:
        run = tracing.stop()
    return run, found
