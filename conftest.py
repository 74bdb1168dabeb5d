"""What pytest is told beside the tests: a page left out, an option, and lines to show at the end."""
from __future__ import annotations

import pytest

collect_ignore = ["docs/findings.md"]  # shows what frameworks do; the live tests run it


def pytest_addoption(parser: pytest.Parser) -> None:
    """How many random programs are tried on each real library, and how many random systems are emitted."""
    parser.addoption("--programs", type=int, default=14, help="random programs to try on each real library")
    parser.addoption("--systems", type=int, default=3, help="random systems to emit in each language")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what tests counted: a test says it by `record_property("shown", line)`, in any process."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, line in getattr(report, "user_properties", ()):
                if name == "shown" and report.when == "call":
                    terminalreporter.write_line(line)
