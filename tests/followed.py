"""Code that is followed as a module is: what its last expression gives, and the run."""

from __future__ import annotations

from typing import Any

from typelattice.tracing.record.import_hook import ModuleCompiler
from typelattice.tracing.record.recorder import Recorder
from typelattice.tracing.run_data.run import Run


def followed_module(text: str, name: str = "code") -> tuple[dict[str, Any], Run]:
    """What the names of a source text are bound to in the end, and the run."""
    recorder = Recorder()
    code = ModuleCompiler(recorder).compile_module(name, f"{name}.py", text.encode())
    assert code is not None
    scope: dict[str, Any] = {"__name__": name}
    exec(code, scope)
    return scope, recorder.build_run()


def followed(expression: str, before: str) -> tuple[Any, Run]:
    """What an expression gives after some lines of code, and the run."""
    scope, run = followed_module(f"{before}y = {expression}\n")
    return scope["y"], run
