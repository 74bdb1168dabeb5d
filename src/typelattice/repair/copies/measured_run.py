"""A plain run of a program, without the tracer: its seconds, the peak memory of its process, its values."""

from __future__ import annotations

import os
import pickle
import runpy
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from time import perf_counter
from types import CodeType, ModuleType
from typing import Any

from typelattice.repair.copies.kept_values import (
    KeptValue,
    list_bound_values,
    list_file_states,
    list_saved_values,
)
from typelattice.repair.copies.program_to_run import ProgramToRun, load_function, read_program


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """The seconds and the peak bytes of a plain run, and the values that it bound to names or saved."""

    seconds: float
    peak_bytes: int
    values: Mapping[str, KeptValue]


def main(program_file: str, result_file: str) -> None:
    """Run a program that one file describes. Write the measured run, or its failure, into another file."""
    todo = read_program(program_file)
    files = list_file_states(todo.copy_folder)
    names: dict[str, Any] = {}
    if todo.replaced_contents:
        sys.meta_path.insert(0, ReplacedFinder(todo.replaced_contents))
    try:
        if todo.function:
            function, args, named = load_function(todo)
            started = perf_counter()
            names["result"] = function(*args, **named)
        else:
            started = perf_counter()
            with suppress(SystemExit):
                run_target(todo, names)
    except Exception as e:
        if todo.mendable_files:
            from typelattice.repair.copies.refused_calls import read_failure  # only such a program needs this

            outside = todo.replaced_contents
            contents = {x: outside.get(x) or Path(x).read_bytes() for x in todo.mendable_files}
            Path(result_file).write_bytes(pickle.dumps(read_failure(e, contents)))
        raise
    seconds, peak = perf_counter() - started, peak_bytes()
    values = {**list_bound_values(names), **list_saved_values(todo.copy_folder, files)}
    Path(result_file).write_bytes(pickle.dumps(MeasuredRun(seconds, peak, values)))


def run_target(program: ProgramToRun, names: dict[str, Any]) -> None:
    """Run a script, a module or tests as Python does. Add the names that the program binds to `names`."""
    sys.argv[:] = [program.target, *program.argv]
    if program.runs_tests:
        sys.argv += ["-p", "no:cacheprovider", "-q"]
    if program.as_module or program.runs_tests:
        sys.path.insert(0, os.getcwd())
        names |= runpy.run_module(program.target, run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, os.path.dirname(program.target))
        names |= runpy.run_path(program.target, run_name="__main__")


def peak_bytes() -> int:
    """Return the most memory that this process has used, in bytes, or 0 if the system does not report it."""
    with suppress(OSError):
        # On Linux, ru_maxrss also counts the process that this one was started from.
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:
        return 0
    return getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


class ReplacedLoader(SourceFileLoader):
    """A loader of a source file with replaced content. It neither reads nor writes Python's cache."""

    content: bytes

    def get_code(self, fullname: str) -> CodeType:
        """Compile the other content."""
        return compile(self.content, self.path, "exec", dont_inherit=True)


class ReplacedFinder(MetaPathFinder):
    """A finder for modules with replaced content. Python's own finders give their locations."""

    def __init__(self, replaced_contents: Mapping[str, bytes]) -> None:
        self.replaced_contents = replaced_contents

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module with replaced content, or None for any other module."""
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if finder is not self else None
            if spec is not None:
                if spec.origin is None or spec.origin not in self.replaced_contents:
                    return None
                loader = ReplacedLoader(name, spec.origin)
                loader.content = self.replaced_contents[spec.origin]
                spec.loader = loader
                return spec
        return None
