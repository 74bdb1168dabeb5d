"""Tracing of what is imported from now on: started, stopped, and the run so far in between."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from typelattice.tracing.importing import Compiler, Finder
from typelattice.tracing.recorder import Recorder
from typelattice.tracing.run import Run


class Tracing:
    """Follows the modules of some packages that are imported while it is on.

    Modules that were imported before are not followed; they are named in `left_alone` of the run, and so are
    packages of which none was imported. `cache` is a folder for compiled code, written only where it is
    given.
    """

    def __init__(self, packages: Sequence[str], cache: Path | None = None) -> None:
        self.recorder = Recorder()
        self.compiler = Compiler(self.recorder, cache)
        self.finder = Finder(packages, self.compiler)

    def start(self) -> None:
        """From now on, modules are rewritten as they are imported."""
        for name in [*sys.modules]:
            if self.finder.covers(name):
                self.recorder.left_alone[name] = "it was imported before tracing began"
        self.recorder.children.__enter__()
        sys.meta_path.insert(0, self.finder)
        self.finder.switches.off()

    def stop(self) -> Run:
        """No module is rewritten any more, and those that were say nothing. The run."""
        if self.finder in sys.meta_path:
            sys.meta_path.remove(self.finder)
        self.finder.switches.back()
        for package in self.finder.unseen:
            self.recorder.left_alone.setdefault(package, "no module of it was imported")
        self.recorder.children.__exit__()
        self.recorder.following = False
        self.recorder.kinds.close()
        return self.run()

    def run(self) -> Run:
        """The run so far."""
        return self.recorder.run()

    def __enter__(self) -> Tracing:
        self.start()
        return self

    def __exit__(
        self, cls: type[BaseException] | None, e: BaseException | None, where: TracebackType | None
    ) -> None:
        self.stop()
