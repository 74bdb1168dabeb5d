"""Tracing in a process that multiprocessing started as new: packages and the main script."""

from __future__ import annotations

import pickle
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from typelattice.tracing.record.child_runs import ChildSettings
from typelattice.tracing.record.trace_imports import Tracing


def follow(settings: bytes) -> None:
    """Follow this process until its end, as its parent was followed."""
    given: ChildSettings = pickle.loads(settings)
    tracing = Tracing(
        given.packages, given.cache, given.replaced_contents, given.checks_values, given.folder, given.main,
        given.project,
    )  # fmt: skip
    tracing.start()
    tracing.child_runs.write_run_when_multiprocessing_ends()
    if given.script:
        _follow_script(tracing, given.script)


def _follow_script(tracing: Tracing, script: str) -> None:
    """Rewrite the parent's script where multiprocessing runs it again, under another name."""
    inner: Callable[..., Any] = runpy._get_code_from_file  # type: ignore[attr-defined]

    def code_from_file(*given: Any) -> Any:
        found = inner(*given)
        if given[-1] != script:
            return found
        code = tracing.compiler.compile_module("__main__", script, Path(script).read_bytes())
        if code is None:
            return found
        return (code, *found[1:]) if isinstance(found, tuple) else code

    runpy._get_code_from_file = code_from_file  # type: ignore[attr-defined]

