"""Runs of the processes that a program starts with multiprocessing, a fork or subprocess, each in a folder.

A forked process starts an empty recording and continues. A new process starts to record when it reads the
data that multiprocessing sends before its main module. No environment variable is set, so the program does
not see one.
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
from functools import cache, wraps
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir
from types import FrameType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from typelattice.base.own_folders import PACKAGE_FOLDER
from typelattice.tracing.record.child_commands import patch_popen
from typelattice.tracing.record.resend_signal import RepeatedSignal
from typelattice.tracing.run_data.merged_runs import drop_unused_steps, merge_runs
from typelattice.tracing.run_data.run import Run

if TYPE_CHECKING:
    from typelattice.tracing.record.recorder import Recorder

SPAWNING_MODULES = ("multiprocessing.spawn", "joblib.externals.loky.backend.spawn", "loky.backend.spawn")
"""Modules with a `get_preparation_data` that returns the data for a new process."""
POPEN_MODULE = "subprocess"
PICKLING_MODULES = ("cloudpickle.cloudpickle", "joblib.externals.cloudpickle.cloudpickle")
"""Modules with a `_make_function` that makes a function which was sent by value."""
PATCHED_MODULES = (POPEN_MODULE, *SPAWNING_MODULES, *PICKLING_MODULES)
LAST_PRIORITY = (
    -1_000
)  # multiprocessing calls this at the end of a process, after the program's own functions
START_CODE = """
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


class TracingStarter:
    """An object that starts tracing when a new process reads it. The process reads it as None.

    Only Python reads it, so a process that cannot import typelattice runs untraced. The search path of the
    process stays as it is.
    """

    def __init__(self, settings: bytes) -> None:
        self.settings = settings

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        code = START_CODE.format(
            init=os.path.join(PACKAGE_FOLDER, "__init__.py"), folder=PACKAGE_FOLDER, settings=self.settings
        )
        return exec, (code,)


@dataclass(frozen=True, slots=True)
class ChildSettings:
    """Settings to follow a child process: as its parent is followed, and its parent's script as well.

    The child process leaves its run in `folder`. `main` is the file of the main module from which functions
    may be sent by value, if it is followed.
    """

    packages: tuple[str, ...] = ()
    cache: Path | None = None
    replaced_contents: Mapping[str, bytes] = field(default_factory=dict)
    checks_values: bool = False
    folder: str = ""
    script: str = ""
    main: str = ""
    project: str = ""


class ChildRuns:
    """A context that collects the runs of child processes as files in a folder.

    The folder is made for the first child process. `follow_function` lets a function of a file run
    rewritten code.
    """

    def __init__(
        self,
        recorder: Recorder,
        settings: ChildSettings,
        follow_function: Callable[[FunctionType, str], None] = lambda function, file: None,
    ) -> None:
        self.recorder, self.child_settings, self.follow_function = recorder, settings, follow_function
        made = os.path.join(gettempdir(), f"typelattice-runs-{os.urandom(16).hex()}")
        self.folder = Path(settings.folder or made)
        self.owner_pid = 0 if settings.folder else os.getpid()
        self.runs: list[Run] = []
        self.is_written = self.is_writing = False
        self.end_signal = 0
        """The signal that ends this process once its run is written."""
        self.repeated_signal = RepeatedSignal(
            signal.SIGTERM, lambda: not self.end_signal and self.handles_sigterm()
        )

    def start(self) -> None:
        """Follow the processes that are started from now on."""
        _register_fork_hooks()
        ACTIVE_CHILD_RUNS.append(self)
        for name in PATCHED_MODULES:
            if name in sys.modules:
                self.patch_module(sys.modules[name])

    def stop(self) -> None:
        """Read the runs of the processes that have ended, and follow no others."""
        if self in ACTIVE_CHILD_RUNS:
            ACTIVE_CHILD_RUNS.remove(self)
        if self.owner_pid != os.getpid() or not self.folder.is_dir():
            return
        for path in sorted(self.folder.glob("*.run")):
            with suppress(Exception):  # a process that was killed left an incomplete run
                self.runs.append(pickle.loads(path.read_bytes()))
        rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def pickle_settings(self, script: str) -> bytes:
        """Return the settings of a child process that runs a script of its parent again."""
        followed = script if script in self.recorder.sources else ""
        cache = self.child_settings.cache and self.child_settings.cache.absolute()
        settings = replace(
            self.child_settings, folder=str(self.folder), script=followed, cache=cache, main=self.main_file
        )
        return pickle.dumps(settings)

    @property
    def main_file(self) -> str:
        """The file of the main module of this process or of its parent, if it is followed, or ""."""
        own: str = getattr(sys.modules.get("__main__"), "__file__", None) or ""
        return own if own in self.recorder.sources else self.child_settings.main

    def merge_child_runs(self, run: Run) -> Run:
        """Merge the runs of child processes into their parent's run."""
        return merge_runs([run, *self.runs])

    def make_folder(self) -> None:
        """Make the folder, before the first process starts."""
        if self.owner_pid == os.getpid():
            with suppress(OSError):
                self.folder.mkdir(mode=0o700, exist_ok=True)

    def save_settings(self) -> str:
        """Save the settings of a process that runs another command, which reads them. Return the path."""
        self.make_folder()
        path = self.folder / f"{os.urandom(8).hex()}.settings"
        path.write_bytes(self.pickle_settings(""))
        return str(path)

    def patch_module(self, module: ModuleType) -> None:
        """Make a module that starts processes start followed ones."""
        if module.__name__ == POPEN_MODULE:
            patch_popen(module, ACTIVE_CHILD_RUNS)
        elif module.__name__ in PICKLING_MODULES:
            self.patch_function_maker(module)
        else:
            self.patch_preparation_data(module)

    def patch_preparation_data(self, module: ModuleType) -> None:
        """Add our part to the data that a module sends to new processes."""
        inner: Any = getattr(module, "get_preparation_data", None)
        if inner is None or hasattr(inner, "of_typelattice"):
            return

        def get_preparation_data(*args: Any, **named: Any) -> Any:
            data = inner(*args, **named)
            if ACTIVE_CHILD_RUNS:
                own = ACTIVE_CHILD_RUNS[-1]
                own.make_folder()
                data["typelattice"] = TracingStarter(own.pickle_settings(data.get("init_main_from_path", "")))
            return data

        get_preparation_data.of_typelattice = True  # type: ignore[attr-defined]
        module.get_preparation_data = get_preparation_data  # type: ignore[attr-defined]

    # -- in a child process

    def patch_function_maker(self, module: ModuleType) -> None:
        """Follow the functions that are sent by value. They come with the code that their file has."""
        inner: Any = getattr(module, "_make_function", None)
        if inner is None or hasattr(inner, "of_typelattice"):
            return

        @wraps(inner)  # whoever pickles the function itself finds it by its own name
        def make_function(*args: Any, **named: Any) -> Any:
            function = inner(*args, **named)
            own = ACTIVE_CHILD_RUNS[-1] if ACTIVE_CHILD_RUNS else None
            if own is not None and own.main_file:
                own.follow_function(function, own.main_file)
            return function

        make_function.of_typelattice = True  # type: ignore[attr-defined]
        module._make_function = make_function  # type: ignore[attr-defined]

    def begin_run(self) -> None:
        """Begin the empty run of a child process."""
        recorder = self.recorder
        recorder.lock, recorder.links.lock = threading.RLock(), threading.Lock()
        for tally in recorder.tallies:
            for each in (tally, tally.merged_tally):
                if each is not None:
                    each.count = each.bytes = 0
        recorder.child_process_counter.restart_count()
        recorder.weak_arguments.changes.clear()
        if recorder.value_checks is not None:
            recorder.value_checks.losses.clear()
        self.runs, self.is_written = [], False
        self.write_run_when_multiprocessing_ends()

    def write_run_when_multiprocessing_ends(self) -> None:
        """Write the run when multiprocessing ends this process: at its end, or by SIGTERM, as a pool does."""
        util: Any = sys.modules.get("multiprocessing.util")
        if util is not None:
            self.register_exit()
            util.register_after_fork(self, ChildRuns.register_exit)  # a forked process forgets the first call

    def register_exit(self) -> None:
        """Register with multiprocessing to be called last."""
        util: Any = sys.modules["multiprocessing.util"]
        util.Finalize(None, self.write_run, exitpriority=LAST_PRIORITY)
        self.end_by_signal()
        # A pool ends its workers while they are about to wait for a task.
        if threading.current_thread() is threading.main_thread() and self.handles_sigterm():
            self.repeated_signal.start()

    def end_by_signal(self) -> None:
        """Write the run if SIGTERM ends this process, and the program does not catch it.

        No thread helps here: the program would see it in `sys._current_frames()`, and Python warns of it
        where a program forks.
        """
        if threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self.on_sigterm)

    def handles_sigterm(self) -> bool:
        """Return True if `on_sigterm` handles SIGTERM, rather than a function of the program."""
        return signal.getsignal(signal.SIGTERM) == self.on_sigterm

    def on_sigterm(self, number: int, frame: FrameType | None) -> None:
        """Write the run, then end as by the signal. If a write is in progress, finish it first."""
        self.end_signal = number
        self.write_run()
        if not self.is_writing:
            _end_by_signal(number)

    def write_run(self) -> None:
        """Write the run of this process completely, or nothing of it. The program goes on if that fails."""
        if self.is_written:
            return
        self.is_written = self.is_writing = True
        with suppress(Exception):
            spare = self.folder / f"{os.getpid()}.part"
            spare.write_bytes(pickle.dumps(drop_unused_steps(self.recorder.build_run())))
            spare.replace(self.folder / f"{os.getpid()}-{os.urandom(4).hex()}.run")
        self.is_writing = False
        if self.end_signal:
            _end_by_signal(self.end_signal)


def _end_by_signal(number: int) -> None:
    """End this process by a signal."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


ACTIVE_CHILD_RUNS: list[ChildRuns] = []


@cache
def _register_fork_hooks() -> None:
    """Register for forks only once, because Python cannot remove such a hook."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before_fork, after_in_child=_after_fork)


def _before_fork() -> None:
    for each in ACTIVE_CHILD_RUNS:
        each.make_folder()


def _after_fork() -> None:
    for each in ACTIVE_CHILD_RUNS:
        with suppress(Exception):
            each.begin_run()
