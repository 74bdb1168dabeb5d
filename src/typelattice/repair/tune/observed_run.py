"""A traced run of a program that is tuned: its operations by their place, and its float arrays in bytes."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from typelattice.repair.copies.program_to_run import TunedInput, load_function, read_program
from typelattice.repair.tune.libraries import tuned_library
from typelattice.repair.tune.operation_sites import OperationSite, SiteObserver
from typelattice.tracing.entry_points.script import run_script
from typelattice.tracing.entry_points.trace_function import trace_call


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """The sites of a run, the libraries that took part, their modules, and the files that were followed."""

    sites: tuple[OperationSite, ...]
    libraries: tuple[str, ...]
    files: tuple[str, ...]
    modules: tuple[str, ...] = ()

    @property
    def float_bytes(self) -> int:
        """The bytes of all float arrays that the run made, each time that it made them."""
        return sum(site.bytes for site in self.sites)


def main(program_file: str, result_file: str) -> None:
    """Run a program that one file describes, traced. Write its operations into another file."""
    todo = read_program(program_file)
    observer = SiteObserver((todo.tuned or TunedInput()).narrow_dtypes)
    if todo.function:
        function, args, named = load_function(todo)
        run = trace_call(function, args, named, values=observer).run
        status: int | None = 0
    else:
        ended = run_script(
            todo.target, todo.argv, todo.packages, todo.as_module, Path(result_file).parent / "compiled",
            replaced_contents=todo.replaced_contents, values=observer, project=str(todo.copy_folder),
        )  # fmt: skip
        run, status = ended.run, ended.status
    if status != 0:
        raise SystemExit(status or 1)
    systems = tuple(run.systems)
    observed = ObservedRun(
        tuple(observer.finish()), systems, tuple(run.sources), tuple(list_library_modules(systems))
    )
    Path(result_file).write_bytes(pickle.dumps(observed))


def list_library_modules(names: Sequence[str]) -> Iterator[str]:
    """Yield the modules of libraries that this process has imported, in the order of their imports."""
    libraries = [library for name in names if (library := tuned_library(name)) is not None]
    packages = {library.module.partition(".")[0] for library in libraries}
    for name, module in [*sys.modules.items()]:
        spec = getattr(module, "__spec__", None)
        is_file = spec is not None and spec.name == name and spec.has_location
        if is_file and name.partition(".")[0] in packages:
            yield name
