"""Tracing in a process that multiprocessing started anew: packages, the main script, pickled functions."""

from __future__ import annotations

import pickle
import runpy
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from typelattice.tracing.record.child_runs import ChildSettings
from typelattice.tracing.record.tracing import Tracing
from typelattice.tracing.record.witness import LazyWitness


def follow(settings: bytes) -> None:
    """Follow this process as its parent was, until its end."""
    given: ChildSettings = pickle.loads(settings)
    tracing = Tracing(given.packages, given.cache, given.patched, given.values, given.folder)
    tracing.start()
    tracing.child_runs.end_with_multiprocessing()
    FOLLOWED.append(tracing)
    if given.script:
        _follow_script(tracing, given.script)


def _follow_script(tracing: Tracing, script: str) -> None:
    """Rewrite the parent's script where multiprocessing runs it again, under another name."""
    inner: Callable[..., Any] = runpy._get_code_from_file  # type: ignore[attr-defined]

    def code_from_file(*given: Any) -> Any:
        found = inner(*given)
        if given[-1] != script:
            return found
        code = tracing.compiler.code("__main__", script, Path(script).read_bytes())
        if code is None:
            return found
        return (code, *found[1:]) if isinstance(found, tuple) else code

    runpy._get_code_from_file = code_from_file  # type: ignore[attr-defined]


FOLLOWED: list[Tracing] = []


def witness(file: str, number: int) -> LazyWitness | None:
    """Return the witness of an operation in a function that was pickled by value; None if none follows it."""
    if not FOLLOWED:
        return None
    compiler = FOLLOWED[-1].compiler
    if file not in compiler.modules:
        with suppress(OSError):
            compiler.code(file, file, Path(file).read_bytes())
    module = compiler.modules.get(file)
    return LazyWitness(module, number) if module is not None and number < len(module.rows) else None
