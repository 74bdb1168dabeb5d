"""A block of code that is followed: `with tl.trace(package="mypkg") as run:`."""

from __future__ import annotations

import gc
import sys
from contextlib import ExitStack
from types import FrameType, TracebackType

from typelattice.programs.program.program import AnySystem
from typelattice.tracing.entry_points.followed_functions import Traced, TraceError, follow_files
from typelattice.tracing.entry_points.script import check_package
from typelattice.tracing.record.trace_imports import Tracing
from typelattice.tracing.run_data.run import Run


class FollowedBlock:
    """A block that follows the functions of its own file, and the functions of some packages.

    The lines of the block itself run as they are. After the block it has its run, and shows the report.
    """

    def __init__(self, packages: tuple[str, ...] = (), systems: tuple[AnySystem, ...] = ()) -> None:
        for package in packages:
            check_package(package)
        self.packages, self.systems = packages, systems
        self._stack = ExitStack()
        self._traced: Traced | None = None
        self._frame: FrameType | None = None

    def __enter__(self) -> FollowedBlock:
        self._frame = sys._getframe(1)
        self._traced, self._tracing = None, Tracing(self.packages)
        self._tracing.start()
        files = {self._frame.f_code.co_filename: str(self._frame.f_globals.get("__name__"))}
        for name, module in [*sys.modules.items()]:
            file = getattr(module, "__file__", None)
            if self._tracing.finder.user_code.names_module(name) and isinstance(file, str):
                files[file] = name
                self._tracing.recorder.not_followed.pop(name, None)
        self._stack.enter_context(follow_files(files, gc.get_objects(), self._tracing.recorder))
        return self

    def __exit__(
        self, cls: type[BaseException] | None, e: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()
        assert self._frame is not None
        names = {name: x for name, x in self._frame.f_locals.items() if not name.startswith("__")}
        self._tracing.recorder.name_results(names)
        self._traced, self._frame = Traced(None, self._tracing.stop(), self.systems), None

    @property
    def traced(self) -> Traced:
        """The traced block. Raises TraceError if the block has not ended."""
        if self._traced is None:
            raise TraceError("the block has not ended; ask for its run after it")
        return self._traced

    @property
    def run(self) -> Run:
        """The run. Raises TraceError if the block has not ended."""
        return self.traced.run

    def to_json(self) -> str:
        """Return the run as a JSON text."""
        return self.traced.to_json()

    def __repr__(self) -> str:
        return "<a followed block that has not ended>" if self._traced is None else repr(self._traced)

    def __str__(self) -> str:
        return str(self.traced)

    def _repr_html_(self) -> str:
        return self.traced._repr_html_()
