"""The pytest plug-in: `pytest --dtype-trace=PKG` runs tests under the tracer, and says what widened a float.

    pytest --dtype-trace=mypackage --dtype-system=torch --dtype-baseline=dtypes.toml

    @pytest.mark.dtype_budget("float32")
    def test_stays_in_float32(): ...

pytest imports this module in every session, so it imports the rest of typelattice only for its options. Tests
run in parallel (pytest-xdist) are traced in each process, and the findings are combined.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from typelattice.tracing.entry_points.baseline import Baseline
    from typelattice.tracing.entry_points.pyproject_settings import Settings
    from typelattice.tracing.entry_points.session_verdict import SessionFindings
    from typelattice.tracing.entry_points.width_budget import WidthBudget

WORKER_OUTPUT_KEY = "typelattice"  # key of the data that a process sends to the one that started it
# the plug-in that traces, or that combines the findings of others
TRACING_PLUGIN_NAME = "typelattice-tracing"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("typelattice", "dtypes of array code (typelattice)")
    group.addoption(
        "--dtype-trace", action="append", metavar="PKG", default=[],
        help="trace the dtypes that a package computes with, and say what widened a float; may be repeated",
    )  # fmt: skip
    group.addoption(
        "--dtype-system", action="append", metavar="SYSTEM", default=[],
        help="say where the code would have other dtypes under a system, such as torch; may be repeated",
    )  # fmt: skip
    group.addoption(
        "--dtype-baseline", metavar="FILE",
        help="fail for a finding that this file lacks, and for an entry that no longer occurs",
    )  # fmt: skip
    group.addoption(
        "--dtype-write-baseline", action="store_true",
        help="write the file of --dtype-baseline: what is found; of a file that is there, only what still is",
    )  # fmt: skip
    group.addoption("--dtype-html", metavar="DIR", help="write annotated source pages into a folder")


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Start tracing before a conftest.py imports the package."""
    if getattr(early_config.known_args_namespace, "dtype_trace", None):
        early_config.pluginmanager.register(TracingPlugin(early_config), TRACING_PLUGIN_NAME)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark, and refuse options that need --dtype-trace."""
    config.addinivalue_line(
        "markers",
        "dtype_budget(dtype, floor=0, results=False): with --dtype-trace, fail if the test computes with "
        "wider floats of `floor` bytes or more; with results=True only arrays that are handed out count",
    )
    options = ("dtype_system", "dtype_baseline", "dtype_write_baseline", "dtype_html")
    given = [f"--{name.replace('_', '-')}" for name in options if config.getoption(name)]
    if given and not config.getoption("dtype_trace"):
        raise pytest.UsageError(f"{given[0]} needs --dtype-trace=PKG, which says what to trace")
    if config.getoption("dtype_write_baseline") and _find_baseline(config) is None:
        raise pytest.UsageError("--dtype-write-baseline needs --dtype-baseline=FILE, which says where")
    plugin = config.pluginmanager.get_plugin(TRACING_PLUGIN_NAME)
    if plugin is not None and _hands_out_tests(config):
        plugin.tracing.stop()
        config.pluginmanager.unregister(plugin)
        config.pluginmanager.register(CollectingPlugin(config), TRACING_PLUGIN_NAME)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test with a budget if nothing is traced, because it would check nothing."""
    if item.get_closest_marker("dtype_budget") and not item.config.pluginmanager.has_plugin(
        TRACING_PLUGIN_NAME
    ):
        why = "dtype_budget checks nothing unless code is traced: run pytest with --dtype-trace=PKG"
        pytest.fail(why, pytrace=False)


def _hands_out_tests(config: pytest.Config) -> bool:
    """Return True if this process leaves the tests to other processes (pytest-xdist)."""
    others = config.getoption("numprocesses", None) or config.getoption("tx", None)
    return bool(others) and not hasattr(config, "workerinput")


@contextmanager
def _refuse_usage() -> Iterator[None]:
    """Turn our errors in a block into UsageError, which pytest reports before any test runs."""
    from typelattice.base.errors.errors import TypelatticeError

    try:
        yield
    except TypelatticeError as e:
        raise pytest.UsageError(str(e)) from None


def _read_settings(config: pytest.Config) -> Settings:
    """Read the project's section of pyproject.toml. Raises UsageError if it cannot be read."""
    from typelattice.tracing.entry_points.pyproject_settings import read_settings

    with _refuse_usage():
        return read_settings(config.rootpath)


def _find_baseline(config: pytest.Config) -> Path | None:
    """Find the baseline: from the option, or else from the project."""
    given = config.known_args_namespace.dtype_baseline
    if given:
        return Path(config.invocation_params.dir, given)
    own = _read_settings(config).baseline
    return Path(config.rootpath, own) if own else None


def _read_budget(mark: pytest.Mark, default_floor: int) -> WidthBudget:
    """Read the budget of a mark. `default_floor` is its floor if it has none.

    Fails the test unless the mark has a float, a floor and a bool.
    """
    from typelattice.core.dtypes.dtypes import DTypeError, dtype
    from typelattice.tracing.entry_points.width_budget import WidthBudget
    from typelattice.tracing.run_data.float_widths import dtype_width

    options = dict(mark.kwargs)
    floor, results = options.pop("floor", default_floor), options.pop("results", False)
    given = [*mark.args, *options.values()]
    why = (
        'dtype_budget takes one float dtype, as in dtype_budget("float32"), and may take a floor in bytes, '
        "and results=True"
    )
    right = type(floor) is int and floor >= 0 and type(results) is bool
    if right and len(given) == 1 and {*options} <= {"dtype"}:
        try:
            found = dtype(given[0])
            if dtype_width(found) is not None:
                return WidthBudget(found, floor, results)
        except DTypeError as e:
            why = str(e)
        except (ValueError, TypeError):
            pass
    pytest.fail(why, pytrace=False)


def _check_options(packages: Sequence[str], systems: Sequence[str], folder: Path) -> None:
    """Raise UsageError before any test runs if a package or a system cannot be used, or is misspelt."""
    from typelattice.core.system_files.reader import system
    from typelattice.tracing.entry_points.named_places import check_packages_of_tests
    from typelattice.tracing.entry_points.script import check_package

    with _refuse_usage():
        for package in packages:
            check_package(package)
        check_packages_of_tests(packages, str(folder))
        for name in systems:
            system(name)


class BaselinePlugin:
    """The base of the reporting plug-ins: shows the findings and compares them with the baseline."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.baseline: Baseline | None = None
        self.lines: list[str] = []
        options = config.known_args_namespace
        _check_options(options.dtype_trace, options.dtype_system, config.rootpath)
        self.baseline_file = _find_baseline(config)
        if self.baseline_file is not None:
            self.baseline = self.read_baseline()

    def read_baseline(self) -> Baseline:
        """Read the baseline. Return no findings if it is about to be written for the first time."""
        from typelattice.tracing.entry_points.baseline import open_baseline

        assert self.baseline_file is not None
        with _refuse_usage():
            is_written = self.config.known_args_namespace.dtype_write_baseline
            return open_baseline(self.baseline_file, is_written, "--dtype-write-baseline")

    def judge_session(self, session: pytest.Session, session_findings: SessionFindings) -> None:
        """Fail the session for new findings and stale entries, or write the baseline."""
        from typelattice.tracing.entry_points.session_verdict import (
            compare_with_baseline,
            describe_unseen_packages,
            verdict_lines,
            write_shrunk_baseline,
        )

        self.lines += session_findings.report
        if session_findings.packages_without_modules:
            self.lines += ["", *describe_unseen_packages(session_findings)]
            self.fail_session(session)
            return
        if self.baseline_file is None or self.baseline is None:
            return
        made = compare_with_baseline(session_findings, self.baseline, self.config.rootpath)
        if self.config.getoption("dtype_write_baseline"):
            self.lines += ["", write_shrunk_baseline(self.baseline_file, self.baseline, made)]
            return
        self.lines += ["", *verdict_lines(made, self.baseline_file.name)]
        if made.is_failure:
            self.fail_session(session)

    def fail_session(self, session: pytest.Session) -> None:
        """Fail a session even if its tests passed."""
        if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the findings."""
        if self.lines:
            terminalreporter.write_sep("=", "dtypes")
            for line in self.lines:
                terminalreporter.write_line(line)


class TracingPlugin(BaselinePlugin):
    """Traces the tests of this process."""

    def __init__(self, config: pytest.Config) -> None:
        from typelattice.base.disk.write import check_folder
        from typelattice.tracing.record.trace_imports import Tracing

        super().__init__(config)
        html = config.known_args_namespace.dtype_html
        self.html = html is not None and Path(config.invocation_params.dir, html)
        if self.html:
            with _refuse_usage():
                check_folder(self.html)
        self.tracing = Tracing(packages=tuple(config.known_args_namespace.dtype_trace))
        self.tracing.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Run a test, and fail it if it exceeds its budget."""
        mark = item.get_closest_marker("dtype_budget")
        if mark is None:
            return (yield)
        from typelattice.tracing.entry_points.width_budget import budget_message

        budget = _read_budget(mark, _read_settings(self.config).floor)
        before = self.tracing.run()
        done = yield
        said = budget_message(self.tracing.run(), before, budget)
        if said:
            pytest.fail(said, pytrace=False)
        return done

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """End tracing. Report the findings, or send them to the process that started this one."""
        from typelattice.tracing.entry_points.baseline import Baseline
        from typelattice.tracing.entry_points.session_verdict import collect_session_findings
        from typelattice.tracing.findings.findings import collect_findings
        from typelattice.tracing.report.text_report import write_findings

        run = self.tracing.stop()
        options = self.config.option
        width = (
            session.config.get_terminal_writer().fullwidth if not hasattr(self.config, "workeroutput") else 80
        )
        findings = collect_findings(run, options.dtype_system)
        found = collect_session_findings(
            findings,
            self.baseline or Baseline(),
            self.config.rootpath,
            write_findings(findings, width),
            self.tracing.finder.packages_without_modules,
        )
        if self.html and not hasattr(self.config, "workeroutput"):
            from typelattice.tracing.report.html_report import write_pages

            write_pages(run, options.dtype_system, self.html)
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput[WORKER_OUTPUT_KEY] = found.data()
        else:
            self.judge_session(session, found)


class CollectingPlugin(BaselinePlugin):
    """Combines the findings of the processes that run the tests."""

    def __init__(self, config: pytest.Config) -> None:
        super().__init__(config)
        if config.getoption("dtype_html"):
            raise pytest.UsageError("--dtype-html shows one process: leave out -n")
        self.findings: list[SessionFindings] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Collect the findings of a pytest-xdist worker when it ends."""
        from typelattice.tracing.entry_points.session_verdict import session_findings_from_data

        data = getattr(node, "workeroutput", {}).get(WORKER_OUTPUT_KEY)
        if data:
            self.findings.append(session_findings_from_data(data))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Report the findings of all processes."""
        from typelattice.tracing.entry_points.session_verdict import merge_session_findings

        if self.findings:
            self.judge_session(session, merge_session_findings(self.findings))
