"""What pytest is told beside the tests: a page left out, an option, and lines to show at the end."""
from __future__ import annotations

import gc
import sys
from collections.abc import Generator
from zlib import crc32

import pytest

collect_ignore_glob = ["docs/findings*.md"]  # they show what frameworks do; the live tests run it


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without the garbage collector, which would look through all of them again and again.

    All are kept, and its rounds take half of the time. They are not frozen: the tracer finds functions among
    the objects that the collector knows. Later rounds look through them, too, so that they are made rare.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.set_threshold(100_000, 20, 10)


def pytest_addoption(parser: pytest.Parser) -> None:
    """How many random programs, random systems and tests are tried."""
    parser.addoption("--programs", type=int, default=14, help="random programs to try on each real library")
    parser.addoption("--systems", type=int, default=3, help="random systems to emit in each language")
    parser.addoption("--one-in", type=int, default=1, metavar="N", help="run one in N tests")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep one in N of the tests that are left; each of N releases of Python in a row keeps others."""
    every = config.getoption("--one-in")
    left = {item for item in items if (crc32(item.nodeid.encode()) - sys.version_info.minor) % every}
    config.hook.pytest_deselected(items=[*left])
    items[:] = [item for item in items if item not in left]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what tests counted: a test says it by `record_property("shown", line)`, in any process."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, line in getattr(report, "user_properties", ()):
                if name == "shown" and report.when == "call":
                    terminalreporter.write_line(line)
