"""A traced run of a program that is tuned: its operations by their place, and its float arrays in bytes."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path

from typelattice.repair.copies.program_to_run import TunedInput, load_function, read_program
from typelattice.repair.tune.operation_sites import OperationSite, SiteObserver
from typelattice.tracing.entry_points.script import run_script
from typelattice.tracing.entry_points.trace_function import trace_call


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """The sites of a run, the libraries that took part, and the files that were followed."""

    sites: tuple[OperationSite, ...]
    libraries: tuple[str, ...]
    files: tuple[str, ...]

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
    observed = ObservedRun(tuple(observer.sites), tuple(run.systems), tuple(run.sources))
    Path(result_file).write_bytes(pickle.dumps(observed))
