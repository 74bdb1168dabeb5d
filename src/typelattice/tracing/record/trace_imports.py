"""Tracing of the modules that are imported from now on."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from typelattice.tracing.compiled.histories import Histories
from typelattice.tracing.models.watches import ModelWatches, WatchGroup
from typelattice.tracing.record.child_runs import ChildRuns, ChildSettings
from typelattice.tracing.record.import_hook import ModuleCompiler, TracingFinder
from typelattice.tracing.record.recorder import Recorder
from typelattice.tracing.record.user_code import UserCode
from typelattice.tracing.record.value_loss_witness import ValueChecks
from typelattice.tracing.run_data.model_run import ModelQuestions, ModelRun
from typelattice.tracing.run_data.run import Run


class Tracing:
    """A context that traces the modules of some packages, and of a project, if they are imported within it.

    Modules imported before are not traced. The run's `not_followed` names them, and the packages without an
    imported module. Child processes of multiprocessing or a fork are also traced, and their runs are merged
    into this one.

    - `cache`: a folder for compiled code. Without it nothing is written.
    - `replaced_contents`: contents to run instead of those in some files.
    - `checks_values`: check values as well as dtypes, or the object that collects the losses of this process.
    - `folder`: where a child process leaves its run. The first process makes a folder.
    - `main`: the file of the parent's main module, from which functions may come by value.
    - `project`: the folder of a project, whose modules are followed if they are not installed.
    - `models`: also log the operations that dispatchers of libraries report, for these questions.
    """

    def __init__(
        self,
        packages: Sequence[str],
        cache: Path | None = None,
        replaced_contents: Mapping[str, bytes] = {},
        checks_values: bool | ValueChecks = False,
        folder: str = "",
        main: str = "",
        project: str = "",
        models: ModelQuestions | None = None,
    ) -> None:
        self.recorder = Recorder(checks_values)
        self.recorder.script = ""  # until one is compiled
        self.compiler = ModuleCompiler(self.recorder, cache, replaced_contents)
        settings = ChildSettings(
            tuple(packages), cache, replaced_contents, checks_values is True, folder, main=main,
            project=project,
        )  # fmt: skip
        self.child_runs = ChildRuns(self.recorder, settings, self.compiler.follow_function)
        user_code = UserCode(tuple(packages), project)
        watches: list[ModelWatches | Histories] = []
        if models is None:
            watches.append(Histories(self.recorder.histories))
        if models is not None or checks_values is True:
            found = ModelWatches(user_code.owns_file, checks_values is True)
            watches.append(found)
            if models is not None:
                self.recorder.model = ModelRun(found.log, models, found.libraries)
            if self.recorder.value_checks is not None and checks_values is True:
                self.recorder.log_of_values = found.log
                self.recorder.value_checks.libraries_with_log = found.libraries
        self.watches = WatchGroup(watches)
        self.finder = TracingFinder(user_code, self.compiler, self.child_runs, self.watches)

    def start(self) -> None:
        """Rewrite modules as they are imported from now on."""
        for name in [*sys.modules]:
            if self.finder.user_code.names_module(name):
                self.recorder.not_followed[name] = "it was imported before tracing began"
        self.recorder.child_process_counter.__enter__()
        self.child_runs.start()
        sys.meta_path.insert(0, self.finder)
        self.finder.switches.turn_off()
        self.watches.start_imported()

    def stop(self) -> Run:
        """Stop rewriting modules and recording the rewritten ones. Return the run."""
        self.watches.stop()
        if self.finder in sys.meta_path:
            sys.meta_path.remove(self.finder)
        self.finder.switches.restore()
        for package in self.finder.packages_without_modules:
            what = "no module of it was imported, so that nothing of it was checked"
            self.recorder.not_followed.setdefault(package, f"{what}; give its name as an import does")
        self.recorder.child_process_counter.__exit__()
        self.child_runs.stop()
        self.recorder.close()
        return self.run()

    def run(self) -> Run:
        """Return the run so far."""
        return self.child_runs.merge_child_runs(self.recorder.build_run())

    def __enter__(self) -> Tracing:
        self.start()
        return self

    def __exit__(
        self, cls: type[BaseException] | None, e: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
