"""Python processes that start with their libraries loaded: forked from one that has imported them.

Most of what a short process takes is imports. A test whose subject is what a process imports, how it starts
or how it ends needs a process of its own (`subprocess`).
"""
from __future__ import annotations

import atexit
import gc
import importlib.util
import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from types import SimpleNamespace

import pytest

from typelattice.conformance.recording import library_process
from typelattice.repair.copies import measured_run
from typelattice.repair.patch import traced_run
from typelattice.repair.patch.workspace import MEASURED_RUN, TRACED_RUN, Workspace

LOADED = [
    "pytest", "numpy", "typelattice.tracing.findings.findings", "typelattice.tracing.report.text_report",
    "typelattice.repair.patch.traced_run", "typelattice.repair.copies.measured_run",
    "typelattice.tracing.rewrite.syntax_tree",
    "typelattice.tracing.entry_points.session_verdict", "typelattice.tracing.entry_points.pyproject_settings",
    "typelattice.tracing.library_traits.numpy", "typelattice.core.operands.adapters.numpy",
    "typelattice.conformance.recording.library_process",
    "pdb", "unittest", "xml.etree.ElementTree",  # which pytest imports as it starts
]  # fmt: skip


def run_python(
    module: str, *words: str, folder: Path, variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a module in a folder, as `python -m` does, in a forked process."""
    run = partial(runpy.run_module, module, run_name="__main__", alter_sys=True)
    with tempfile.TemporaryDirectory() as outputs:
        out, err = Path(outputs, "out"), Path(outputs, "err")
        status = run_forked(run, (module, *words), folder, variables, out, err)
        return subprocess.CompletedProcess(words, status, out.read_text(), err.read_text())


def run_forked(
    run: Callable[[], object],
    argv: Sequence[str],
    folder: Path,
    variables: Mapping[str, str],
    out: Path,
    err: Path,
) -> int:
    """Call what can be pickled, in a folder and a forked process; return its exit status."""
    process = _server().Process(target=_run, args=(run, argv, folder, variables, out, err))
    process.start()
    process.join(timeout=120)
    if process.exitcode is None:
        process.kill()
        raise subprocess.TimeoutExpired([*argv], 120)
    return process.exitcode


def fork_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork each run of a search for patches: a new process takes ten times as long as the run."""
    run_in_process = Workspace.run_in_process
    mains = {TRACED_RUN: traced_run.main, MEASURED_RUN: measured_run.main}

    def run(self: Workspace, files: Sequence[Path], module: str = TRACED_RUN) -> int:
        if not self.runs_assertions:  # which an option of Python leaves out
            return run_in_process(self, files, module)
        todo, out, printed, errors = files
        main = partial(mains.get(module) or importlib.import_module(module).main, str(todo), str(out))
        return run_forked(
            main, ("-c", str(todo), str(out)), self.current_folder_in_copy, self.environment, printed, errors
        )

    monkeypatch.setattr(Workspace, "run_in_process", run)
    monkeypatch.setattr(Workspace, "run_in_fork", run)


def fork_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the processes in which libraries are asked: a new process takes longer than most questions."""

    def process(target: Callable[..., object], args: tuple[object, ...], daemon: bool) -> ForkServerProcess:
        given = (target, args, dict(os.environ))
        return _server().Process(target=_call, args=given, daemon=daemon)

    context = SimpleNamespace(Pipe=multiprocessing.Pipe, Process=process)
    monkeypatch.setattr(library_process, "multiprocessing", SimpleNamespace(get_context=lambda _: context))


def _call(function: Callable[..., object], args: tuple[object, ...], variables: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)
    function(*args)


@cache
def _server() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LOADED)
    return context


def _run(
    run: Callable[[], object],
    argv: Sequence[str],
    folder: Path,
    variables: Mapping[str, str],
    out: Path,
    err: Path,
) -> None:
    """Make this process what `python` would have started there, and run."""
    gc.freeze()  # pytest collects garbage twice as it ends: not what was loaded before
    for path, stream in ((out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    sys.path[:0] = [str(folder), *variables.get("PYTHONPATH", "").split(os.pathsep)]
    sys.argv = [*argv]
    tempfile.tempdir = None
    if (custom := importlib.util.find_spec("sitecustomize")) is not None and custom.origin:
        runpy.run_path(custom.origin)  # as each Python does when it starts
    atexit._clear()
    try:
        run()
    finally:
        atexit._run_exitfuncs()  # multiprocessing ends a process without them
