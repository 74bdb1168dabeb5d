"""Runs of the processes that a program starts with multiprocessing, a fork or subprocess, each in a folder.

A forked process goes on recording, from nothing. A new process is told by the data that multiprocessing
sends it before its main module. No environment variable is set, so that the program finds none.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from typelattice.tracing.record.child_commands import OURS, patch_popen
from typelattice.tracing.record.signal_until_handled import RepeatedSignal
from typelattice.tracing.run_data.merged_runs import merged, without_unused
from typelattice.tracing.run_data.run import Run

if TYPE_CHECKING:
    from typelattice.tracing.record.recorder import Recorder

SPAWNERS = ("multiprocessing.spawn", "joblib.externals.loky.backend.spawn", "loky.backend.spawn")
"""Modules whose `get_preparation_data` gives what is sent to a new process."""
POPEN = "subprocess"
LAST = -1_000  # the priority of what multiprocessing calls at the end of a process: after the program's own
STARTED = """
try:
    import importlib.util, sys
    if 'typelattice' not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            'typelattice', {init!r}, submodule_search_locations=[{folder!r}]
        )
        sys.modules['typelattice'] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules['typelattice'])
    from typelattice.tracing.record.followed_child import follow
    follow({settings!r})
except Exception:
    pass
"""


class Started:
    """An object whose reading in a new process starts its tracing there, and that is read as None.

    Python alone reads it: a process that cannot import typelattice goes on untraced. The search path of the
    process stays as it is.
    """

    def __init__(self, settings: bytes) -> None:
        self.settings = settings

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        code = STARTED.format(init=str(OURS / "__init__.py"), folder=str(OURS), settings=self.settings)
        return exec, (code,)


@dataclass(frozen=True, slots=True)
class ChildSettings:
    """The settings by which a child process is followed: as its parent is, and its parent's script too.

    It leaves its run in `folder`.
    """

    packages: tuple[str, ...] = ()
    cache: Path | None = None
    patched: Mapping[str, bytes] = field(default_factory=dict)
    values: bool = False
    folder: str = ""
    script: str = ""


class ChildRuns:
    """A context in which the runs of child processes are collected, as files in a folder.

    The first child process makes the folder necessary. `find_witness` returns the witness of an operation in
    a file, by its number.
    """

    def __init__(
        self,
        recorder: Recorder,
        settings: ChildSettings,
        find_witness: Callable[[str, int], object] = lambda file, number: None,
    ) -> None:
        self.recorder, self.given, self.find_witness = recorder, settings, find_witness
        made = os.path.join(gettempdir(), f"typelattice-runs-{os.urandom(16).hex()}")
        self.folder = Path(settings.folder or made)
        self.owner = 0 if settings.folder else os.getpid()
        self.runs: list[Run] = []
        self.written = self.writing = False
        self.ended_by = 0
        """The signal that is to end this process, once its run is written."""
        self.repeated = RepeatedSignal(signal.SIGTERM, lambda: not self.ended_by and self.is_handled())

    def start(self) -> None:
        """Follow the processes that are started from now on."""
        _register()
        ACTIVE.append(self)
        for name in (POPEN, *SPAWNERS):
            if name in sys.modules:
                self.patch(sys.modules[name])

    def stop(self) -> None:
        """Read the runs of the processes that have ended, and follow no others."""
        if self in ACTIVE:
            ACTIVE.remove(self)
        if self.owner != os.getpid() or not self.folder.is_dir():
            return
        for path in sorted(self.folder.glob("*.run")):
            with suppress(Exception):  # a process that was killed
                self.runs.append(pickle.loads(path.read_bytes()))
        rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *given: object) -> None:
        self.stop()

    def settings(self, script: str) -> bytes:
        """Return the settings of a child process, which runs a script of its parent again."""
        followed = script if script in self.recorder.sources else ""
        cache = self.given.cache and self.given.cache.absolute()
        return pickle.dumps(replace(self.given, folder=str(self.folder), script=followed, cache=cache))

    def with_children(self, run: Run) -> Run:
        """Merge the runs of child processes into that of their parent."""
        return merged([run, *self.runs])

    def make_folder(self) -> None:
        """Make the folder, before the first process starts."""
        if self.owner == os.getpid():
            with suppress(OSError):
                self.folder.mkdir(mode=0o700, exist_ok=True)

    def save_settings(self) -> str:
        """Save the settings of a process that runs another command, for it to read; return the path."""
        self.make_folder()
        path = self.folder / f"{os.urandom(8).hex()}.settings"
        path.write_bytes(self.settings(""))
        return str(path)

    def patch(self, module: ModuleType) -> None:
        """Let a module that starts processes start followed ones."""
        if module.__name__ == POPEN:
            patch_popen(module, ACTIVE)
        else:
            self.patch_preparation_data(module)

    def patch_preparation_data(self, module: ModuleType) -> None:
        """Add our part to the data that a module sends to new processes."""
        inner: Any = getattr(module, "get_preparation_data", None)
        if inner is None or hasattr(inner, "of_typelattice"):
            return

        def get_preparation_data(*args: Any, **named: Any) -> Any:
            data = inner(*args, **named)
            if ACTIVE:
                own = ACTIVE[-1]
                own.make_folder()
                data["typelattice"] = Started(own.settings(data.get("init_main_from_path", "")))
            return data

        get_preparation_data.of_typelattice = True  # type: ignore[attr-defined]
        module.get_preparation_data = get_preparation_data  # type: ignore[attr-defined]

    # -- in a child process

    def begin(self) -> None:
        """Begin the run of a child process, which has seen nothing yet."""
        recorder = self.recorder
        recorder.lock, recorder.links.lock = threading.RLock(), threading.Lock()
        for note in recorder.notes:
            for each in (note, note.alike):
                if each is not None:
                    each.count = each.bytes = 0
        recorder.children.forget()
        recorder.weak_arguments.found.clear()
        if recorder.values is not None:
            recorder.values.found.clear()
        self.runs, self.written = [], False
        self.end_with_multiprocessing()

    def end_with_multiprocessing(self) -> None:
        """Write the run when multiprocessing ends this process: at its end, or by SIGTERM, as a pool does."""
        util: Any = sys.modules.get("multiprocessing.util")
        if util is not None:
            self.register()
            util.register_after_fork(self, ChildRuns.register)  # a process that is forked forgets the first

    def register(self) -> None:
        """Ask multiprocessing to call us last."""
        util: Any = sys.modules["multiprocessing.util"]
        util.Finalize(None, self.write, exitpriority=LAST)
        self.end_by_signal()

    def end_by_signal(self) -> None:
        """Write the run if SIGTERM ends this process, and the program does not catch it."""
        if threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self.terminated)
        if self.is_handled():
            self.repeated.start()

    def is_handled(self) -> bool:
        """Return True if `terminated` handles SIGTERM, rather than a function of the program."""
        return signal.getsignal(signal.SIGTERM) == self.terminated

    def terminated(self, number: int, frame: FrameType | None) -> None:
        """Write the run, then end as by the signal. If it is being written, that ends first."""
        self.ended_by = number
        self.write()
        if not self.writing:
            _end(number)

    def write(self) -> None:
        """Write the run of this process, whole or not at all; the program goes on if that fails."""
        if self.written:
            return
        self.written = self.writing = True
        with suppress(Exception):
            spare = self.folder / f"{os.getpid()}.part"
            spare.write_bytes(pickle.dumps(without_unused(self.recorder.run())))
            spare.replace(self.folder / f"{os.getpid()}-{os.urandom(4).hex()}.run")
        self.writing = False
        if self.ended_by:
            _end(self.ended_by)


def _end(number: int) -> None:
    """End this process by a signal."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


ACTIVE: list[ChildRuns] = []


def witness(file: str, number: int) -> object:
    """Return the witness of an operation in a function that was pickled by value; None if none follows it."""
    return ACTIVE[-1].find_witness(file, number) if ACTIVE else None


@cache
def _register() -> None:
    """Hear of forks once for all, as Python cannot forget a hook."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before_fork, after_in_child=_after_fork)


def _before_fork() -> None:
    for each in ACTIVE:
        each.make_folder()


def _after_fork() -> None:
    for each in ACTIVE:
        with suppress(Exception):
            each.begin()
