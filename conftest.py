"""What pytest is told beside the tests: a page left out, an option, and lines to show at the end."""
from __future__ import annotations

import gc
import sys
from collections import defaultdict
from collections.abc import Generator

import pytest

collect_ignore = ["docs/findings.md"]  # shows what frameworks do; the live tests run it


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without the garbage collector, which would look through all of them again and again.

    All are kept, and its rounds take half of the time. They are not frozen: the tracer finds functions among
    the objects that the collector knows.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    """How many random programs, random systems and parameters of a test are tried."""
    parser.addoption("--programs", type=int, default=14, help="random programs to try on each real library")
    parser.addoption("--systems", type=int, default=3, help="random systems to emit in each language")
    about = "try one in several parameters, about N of each test"
    parser.addoption("--parameters", type=int, metavar="N", help=about)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep about N sets of parameters of each test; another Python tries others."""
    most = config.getoption("--parameters")
    if not most:
        return
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    left = {
        item
        for among in tests.values()
        for i, item in enumerate(among)
        if (i + sys.version_info.minor) % max(len(among) // most, 1)
    }
    config.hook.pytest_deselected(items=[*left])
    items[:] = [item for item in items if item not in left]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what tests counted: a test says it by `record_property("shown", line)`, in any process."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, line in getattr(report, "user_properties", ()):
                if name == "shown" and report.when == "call":
                    terminalreporter.write_line(line)
