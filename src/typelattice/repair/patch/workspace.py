"""A copy of a program's folder, where the program runs with patches."""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files as package_files
from pathlib import Path
from select import select
from signal import SIGKILL
from stat import S_ISDIR
from time import monotonic
from typing import Any

from typelattice.base.disk.read import FileError
from typelattice.base.own_folders import IMPORT_FOLDER, PACKAGE_FOLDER
from typelattice.base.workers import write_guard
from typelattice.base.workers.write_guard import MODULE_NAME, STOPPED_MESSAGE, GuardSettings
from typelattice.core.registry.libraries import libraries
from typelattice.repair.copies.kept_values import KeptValue
from typelattice.repair.copies.measured_run import MeasuredRun
from typelattice.repair.copies.program_to_run import ProgramToRun
from typelattice.repair.copies.progress import Progress
from typelattice.repair.copies.project_copy import ProjectCopy, copy_file, explain_unwritable
from typelattice.repair.copies.refused_calls import Failure
from typelattice.repair.copies.search_folder import TEMPORARY_FOLDER_NAME, open_search_folder, remove_folder
from typelattice.repair.copies.source import FixError
from typelattice.repair.patch.traced_run import TracedRun
from typelattice.repair.proof.function_proof.function_proofs import FunctionProofs
from typelattice.repair.proof.step_values import ValuesByStep
from typelattice.tracing.library_traits import may_be_forked
from typelattice.tracing.run_data.run import Run

DEFAULT_SECONDS = 120.0
TICK_SECONDS = 0.2  # between two looks at a run
SLOWER_RUN_FACTOR, SLOWER_RUN_SECONDS = 10, 10.0  # a changed program may take so much longer than unchanged
FOLDER_STATE = (0,)
DENIED_PATTERN = re.compile(rf"{STOPPED_MESSAGE}|[Ee]rrno (= )?13\b|[Pp]ermission denied|readonly database")
START_GUARD_CODE = """
import sys
try:
    if {folder!r} in sys.path:
        sys.path.remove({folder!r})
    from importlib.util import module_from_spec, spec_from_file_location
    spec = spec_from_file_location({name!r}, {guard!r})
    guard = sys.modules[{name!r}] = module_from_spec(spec)
    spec.loader.exec_module(guard)
    guard.start_guard(guard.GuardSettings(*{settings!r}))
except Exception as e:  # an old Python; our own runs refuse to start without the guard
    pass
own = sys.modules.pop('sitecustomize', None)
try:
    import sitecustomize  # that of the environment
except ImportError:
    if own is not None:
        sys.modules['sitecustomize'] = own
"""
GUARD_FOLDER_NAME, NOTES_NAME, CACHES_NAME = "guard", "notes", "caches"
OWN_PACKAGE_FOLDER_NAME = "package"
OWN_ERROR_PREFIX_PATTERN = re.compile(r"^typelattice\.[\w.]+: ")  # in the last line of a traceback
RUN_MAIN_CODE = "import sys; from {} import main; main(*sys.argv[1:])"
MEASURED_RUN, TRACED_RUN = "typelattice.repair.copies.measured_run", "typelattice.repair.patch.traced_run"
SERVE_CODE = "from typelattice.repair.patch.traced_run import serve; serve()"
PRELOADED_MODULES_BY_RUNS_TESTS = (
    ("typelattice.tracing.rewrite.syntax_tree",),
    ("typelattice.tracing.rewrite.syntax_tree", "typelattice.tracing.entry_points.pytest_run"),
)
"""The modules to import before a run of a program, and before a run of tests."""


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run of a program: the trace, the values, the output and the warnings.

    For a pytest run, `test_outcomes` has the outcome of each test, and `failures` the message of each failed
    one.
    """

    run: Run
    values: Mapping[str, KeptValue]
    printed: str
    warnings: tuple[str, ...]
    test_outcomes: Mapping[str, str]
    failures: Mapping[str, str]
    step_values: ValuesByStep


@dataclass(frozen=True, slots=True)
class FailedRun:
    """A run that failed or took too long, the reason, and the files that were followed until then.

    `run` is the trace up to the failure, or None if there is none.
    """

    reason: str
    followed_files: tuple[str, ...] = ()
    run: Run | None = None
    took_too_long: bool = False


class SearchTimeOverError(Exception):
    """Ends a search whose seconds are over. What it has proved so far stays."""


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """The seconds of a search, and the folders outside the copy that its runs may write into."""

    seconds: float = DEFAULT_SECONDS
    allowed_folders: tuple[str, ...] = ()


DEFAULT_LIMITS = SearchLimits()


@dataclass(frozen=True, slots=True)
class PlainRun:
    """A run without the tracer: its cost, values and output."""

    cost: RunCost
    values: Mapping[str, KeptValue]
    printed: str


@dataclass(frozen=True, slots=True)
class EndedRun:
    """A run that ended with status 0: what its `main` wrote as its result, and its output."""

    result: Any
    printed: str


@dataclass(frozen=True, slots=True)
class PrintedFailure:
    """The failure of a program, and what it had printed until then."""

    failure: Failure
    printed: str


@dataclass(frozen=True, slots=True)
class RunCost:
    """The seconds of a program's plain run, and the most bytes of its process."""

    seconds: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class GuardNote:
    """A note of the guard: a stopped write, a process or a connection, and the program's line, if known."""

    kind: str
    what: str
    file: str
    line: int
    is_kernel_guarded: bool


@dataclass(eq=False)
class Workspace:
    """The copy of a folder, and the program to be run in it.

    The first run starts a process of its own. Later runs are forks of one process, which has imported the
    modules that all need. `outside_contents` and `inside_contents` have the new contents of files outside and
    inside the copy. `entries` show whether a run has changed a file of the copy. `doing` says what the next
    run is for. `python` is the interpreter.
    """

    program: ProgramToRun
    folder: Path
    limits: SearchLimits = DEFAULT_LIMITS
    progress: Progress = field(default_factory=Progress)
    preloaded_modules: tuple[str, ...] = ()
    outside_contents: dict[str, bytes] = field(default_factory=dict)
    inside_contents: dict[str, bytes] = field(default_factory=dict)
    entries: dict[str, tuple[int, ...]] = field(default_factory=dict)
    server: subprocess.Popen[bytes] | None = None
    runs_assertions: bool = True
    python: str = sys.executable
    run_count: int = 0
    doing: str = "the program as it is"
    longest_seconds: float = 0.0
    notes: dict[str, None] = field(default_factory=dict)
    started: float = field(default_factory=lambda: monotonic())

    def run(
        self,
        has_wide_input: bool = False,
        records_steps: bool = False,
        wide_content: bytes = b"",
        noise_dtype: str = "",
    ) -> FinishedRun | FailedRun:
        """Run the program in a process of its own.

        Raises FixError if it would write outside the copy, and SearchTimeOverError.
        """
        program = replace(
            self.program,
            has_wide_input=has_wide_input,
            wide_content=wide_content,
            records_steps=records_steps,
            noise_dtype=noise_dtype,
        )
        files = self._list_run_files("ran.pickle")
        status = self._run_program(program, files, TRACED_RUN, is_forkable=True)
        if isinstance(status, FailedRun):
            return status
        _, result_file, printed, errors = files
        traced_run: TracedRun | None = (
            pickle.loads(result_file.read_bytes()) if result_file.is_file() else None
        )
        text = errors.read_text(encoding="utf-8", errors="replace")
        if traced_run is None or traced_run.status != 0 or status != 0:
            ended_with = status or (traced_run.status if traced_run else status)
            line = find_error_line(text) or f"it ended with status {ended_with}"
            followed = traced_run.followed_files if traced_run is not None else ()
            run = traced_run.run if traced_run is not None else None
            return FailedRun(self._clip_reason(line), followed, run)
        if hasattr(os, "fork"):
            forkable_modules = (
                libraries()[name].modules[0] for name in traced_run.run.systems if may_be_forked(name)
            )
            self.preloaded_modules = (
                *PRELOADED_MODULES_BY_RUNS_TESTS[self.program.runs_tests],
                *forkable_modules,
            )
        warnings = [line.partition("Warning: ") for line in text.splitlines() if "Warning: " in line]
        written = tuple(sorted(f"{kind.rpartition(' ')[2]}Warning: {text}" for kind, _, text in warnings))
        output = "" if self.program.runs_tests else printed.read_text(encoding="utf-8", errors="replace")
        return FinishedRun(
            traced_run.run,
            traced_run.values,
            output,
            traced_run.warnings or written,
            traced_run.test_outcomes,
            traced_run.failures,
            traced_run.step_values,
        )

    def run_by(self, module: str, program: ProgramToRun) -> EndedRun | FailedRun:
        """Run a program by the `main` of a module, in a fork if the modules that it needs are imported there.

        Raises FixError if it would write outside the copy, and SearchTimeOverError.
        """
        files = self._list_run_files("ended.pickle")
        status = self._run_program(program, files, module, is_forkable=True)
        if isinstance(status, FailedRun):
            return status
        _, result_file, printed, errors = files
        if status != 0 or not result_file.is_file():
            line = find_error_line(errors.read_text(encoding="utf-8", errors="replace"))
            return FailedRun(self._clip_reason(line or f"it ended with status {status}"))
        output = printed.read_text(encoding="utf-8", errors="replace")
        return EndedRun(pickle.loads(result_file.read_bytes()), output)

    def run_plain(self) -> PlainRun | None:
        """Run the program without the tracer, and measure it. Return None if it fails or takes too long."""
        finished = self.run_and_read_failure(())
        return finished if isinstance(finished, PlainRun) else None

    def run_and_read_failure(self, mendable_files: tuple[str, ...]) -> PlainRun | PrintedFailure | None:
        """Run the program without the tracer. If it fails in files that may change, read the failure.

        Return None if it fails elsewhere, or takes too long.
        """
        files = self._list_run_files("measured.pickle")
        program = replace(self.program, mendable_files=mendable_files)
        status = self._run_program(program, files, MEASURED_RUN)
        _, result_file, printed, _ = files
        if isinstance(status, FailedRun) or not result_file.is_file():
            return None
        output = printed.read_text(encoding="utf-8", errors="replace")
        found: MeasuredRun | Failure = pickle.loads(result_file.read_bytes())
        if isinstance(found, Failure):
            return PrintedFailure(found, output)
        cost = RunCost(found.seconds, found.peak_bytes)
        return PlainRun(cost, found.values, output) if status == 0 else None

    def _run_program(
        self, program: ProgramToRun, files: Sequence[Path], module: str, is_forkable: bool = False
    ) -> int | FailedRun:
        """Run a program by the `main` of a module. Return its exit status, or why it was ended."""
        if self.seconds_left <= 0:
            raise SearchTimeOverError
        program_file, result_file, *_ = files
        program_file.write_bytes(pickle.dumps(replace(program, replaced_contents=self.outside_contents)))
        result_file.unlink(missing_ok=True)
        self.run_count += 1
        started = monotonic()
        try:
            is_forked = self.preloaded_modules and is_forkable
            run = self.run_in_fork if is_forked else self.run_in_process
            status = run(files, module)
            self.longest_seconds = max(self.longest_seconds, monotonic() - started)
            return status
        except subprocess.TimeoutExpired as e:
            if self.seconds_left <= 0:
                raise SearchTimeOverError from None
            return FailedRun(f"it ran for more than {e.timeout:.0f} seconds", took_too_long=True)
        finally:
            self.restore_files()
            self.read_notes()

    @property
    def seconds_left(self) -> float:
        """The seconds that the search may still take."""
        return self.started + self.limits.seconds - monotonic()

    def _limit_run(self) -> float:
        """Return the seconds that the next run may take."""
        slower = self.longest_seconds * SLOWER_RUN_FACTOR + SLOWER_RUN_SECONDS
        return min(self.seconds_left, slower if self.longest_seconds else self.seconds_left)

    def _clip_reason(self, line: str) -> str:
        """Shorten the last line of a traceback. If the guard may be the cause, name the option."""
        line = line.replace(f"{self.program.copy_folder}{os.sep}", "")
        reason = OWN_ERROR_PREFIX_PATTERN.sub("", line)[:300]
        if DENIED_PATTERN.search(reason) is None:
            return reason
        return f"{reason}; fix lets a run write only into a copy: allow more with --allow-writes FOLDER"

    def read_notes(self) -> None:
        """Keep what the guard noted of a run. Raises FixError if it stopped a write."""
        path = self.folder / NOTES_NAME
        if not path.is_file():
            return
        notes = [GuardNote(*json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
        for note in notes:
            if note.kind == "write":
                path.unlink()
                raise FixError(self._explain_stopped_write(note))
        path.unlink()
        for note in notes:
            if note.kind == "network":
                self.notes[f"each run connects to {note.what}, which nothing undoes"] = None
            elif note.kind == "process":
                effect = "can write only into the copy, too" if note.is_kernel_guarded else "is not guarded"
                self.notes[f"each run starts {note.what}, which {effect}"] = None

    def _explain_stopped_write(self, note: GuardNote) -> str:
        """Say which line would write where, and how to allow it."""
        file = Path(note.file)
        if file.is_relative_to(self.program.copy_folder):
            file = self.program.original_folder / file.relative_to(self.program.copy_folder)
        here = Path.cwd()
        name = file.relative_to(here) if file.is_relative_to(here) else file
        where = f"{name}:{note.line}" if note.file else "the program"
        advice = f"allow it with --allow-writes {os.path.dirname(note.what)}, or give a relative path"
        return f"{where} writes {note.what}, outside the copy that fix runs, and was stopped; {advice}"

    def make_proofs(self) -> FunctionProofs:
        """Make the process that will prove patched functions, in the folder of the program's runs."""

        def start(words: list[str]) -> subprocess.Popen[bytes]:
            self.run_count += 1
            return subprocess.Popen(
                [*self.interpreter_command, *words],
                cwd=self.current_folder_in_copy, env=self.environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip

        def finish() -> None:
            self.restore_files()
            # calls with other arguments may do what the program does not
            (self.folder / NOTES_NAME).unlink(missing_ok=True)

        return FunctionProofs(self.folder, start, finish, pickle.dumps(self.program))

    def restore_files(self) -> None:
        """Undo what a run did to files of the copy, so that no run reads the results of another."""
        root = self.program.copy_folder
        now = list_entry_states(root)
        changed = [path for path, state in self.entries.items() if now.get(path) != state]
        for path in sorted(now.keys() - self.entries.keys() | {*changed} & now.keys(), reverse=True):
            _remove_entry(path)
        for path in sorted(changed):
            original = str(self.program.original_folder / Path(path).relative_to(root))
            if self.entries[path] == FOLDER_STATE:
                os.mkdir(path)
            elif path in self.inside_contents:
                Path(path).write_bytes(self.inside_contents[path])
            elif path in self.links:
                os.symlink(self.links[path], path)
            else:
                copy_file(original, path)
            self.entries[path] = entry_state(path)
        temporary = self.folder / TEMPORARY_FOLDER_NAME
        for name in os.listdir(temporary):
            _remove_entry(str(temporary / name))

    def _list_run_files(self, result_name: str) -> list[Path]:
        """Return the files of a run: the program, what the run writes, and its two streams."""
        return [self.folder / name for name in ("program.pickle", result_name, "printed", "errors")]

    def put_content(self, file: str, content: bytes) -> None:
        """Give a file other content: in the copy, or only during runs if the copy does not have it.

        A link in the copy may lead to a file of the user, which stays as it is.
        """
        if Path(os.path.realpath(file)).is_relative_to(self.program.copy_folder):
            Path(file).write_bytes(content)
            self.inside_contents[file], self.entries[file] = content, entry_state(file)
        else:
            self.outside_contents[file] = content

    @property
    def current_folder_in_copy(self) -> Path:
        """The folder in the copy that corresponds to the current one."""
        here, original, root = Path.cwd(), self.program.original_folder, self.program.copy_folder
        return root / here.relative_to(original) if here.is_relative_to(original) else root

    @property
    def interpreter_command(self) -> list[str]:
        """The interpreter, with the option that omits assertions if they are turned off."""
        return [self.python, *([] if self.runs_assertions else ["-O"])]

    @contextmanager
    def using_python(self, python: str) -> Iterator[None]:
        """Run in another interpreter for a while, which gets our package from a folder of its own."""
        own = self.folder / OWN_PACKAGE_FOLDER_NAME
        if not own.is_dir():
            own.mkdir()
            os.symlink(PACKAGE_FOLDER, own / os.path.basename(PACKAGE_FOLDER))
        before, environment = self.python, {**self.environment}
        path = [str(self.folder / GUARD_FOLDER_NAME), os.environ.get("PYTHONPATH", ""), str(own)]
        self.close()
        self.python = python
        self.__dict__["environment"] = {**environment, "PYTHONPATH": os.pathsep.join(filter(None, path))}
        try:
            yield
        finally:
            self.close()
            self.python = before
            self.__dict__["environment"] = environment

    def set_asserts(self, asserts: bool) -> None:
        """Turn the program's assertions on or off for later runs."""
        self.close()
        self.runs_assertions, self.preloaded_modules = asserts, ()

    def run_in_process(self, files: Sequence[Path], module: str) -> int:
        """Run the `main` of a module, which runs the program, in a new process. Return its exit status."""
        todo, out, printed, errors = files
        limit = self._limit_run()
        with printed.open("wb") as stdout, errors.open("wb") as stderr:
            words = [*self.interpreter_command, "-c", RUN_MAIN_CODE.format(module), str(todo), str(out)]
            with subprocess.Popen(
                words, cwd=self.current_folder_in_copy, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True,
            ) as process:  # fmt: skip
                try:
                    return self._wait_for_end(process, limit)
                except BaseException:
                    _kill_group(process)
                    raise

    def run_in_fork(self, files: Sequence[Path], module: str) -> int:
        """Run the `main` of a module in a fork of the process that is kept. Return its exit status."""
        limit = self._limit_run()
        if self.server is None:
            self.server = subprocess.Popen(
                [*self.interpreter_command, "-c", SERVE_CODE],
                cwd=self.current_folder_in_copy, env=self.environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
        assert self.server.stdin is not None and self.server.stdout is not None
        todo = [*map(str, files), str(self.current_folder_in_copy), module, *self.preloaded_modules]
        try:
            self.server.stdin.write(pickle.dumps(todo).hex().encode() + b"\n")
            self.server.stdin.flush()
            for left in self._tick(limit):
                if select([self.server.stdout], [], [], left)[0]:
                    break
            else:
                raise subprocess.TimeoutExpired(todo, limit)
        except BaseException:
            self.close()
            raise
        answer = self.server.stdout.readline()
        if not answer:
            self.close()
        return int(answer or 1)

    def _wait_for_end(self, process: subprocess.Popen[bytes], limit: float) -> int:
        """Return the exit status of a process as soon as it ends. Raises TimeoutExpired.

        With a time limit, `Popen.wait` asks only twenty times a second whether the process has ended.
        """
        end = os.pidfd_open(process.pid) if hasattr(os, "pidfd_open") else None  # of Linux
        try:
            for left in self._tick(limit):
                if end is not None:
                    if select([end], [], [], left)[0]:
                        return process.wait()
                else:
                    with suppress(subprocess.TimeoutExpired):
                        return process.wait(left)
        finally:
            if end is not None:
                os.close(end)
        raise subprocess.TimeoutExpired(process.args, limit)

    def _tick(self, limit: float) -> Iterator[float]:
        """Yield how long to wait for the end of a run, until its time is over. Show the progress meanwhile.

        Raises FixError as soon as the guard has stopped a write.
        """
        end = monotonic() + limit
        while (left := end - monotonic()) > 0:
            yield min(left, TICK_SECONDS)
            self.progress.show(self.run_count, self.doing)
            with suppress(OSError):
                if '["write", ' in (self.folder / NOTES_NAME).read_text(encoding="utf-8"):
                    self.read_notes()

    def close(self) -> None:
        """End the process that is kept, and the runs in its forks."""
        if self.server is not None:
            _kill_group(self.server)
            self.server.communicate()
            self.server = None

    @cached_property
    def environment(self) -> dict[str, str]:
        """The environment of the runs: ours, with the guard, and with a temporary folder of their own."""
        path = [self.folder / GUARD_FOLDER_NAME, os.environ.get("PYTHONPATH", ""), IMPORT_FOLDER]
        temporary, caches = str(self.folder / TEMPORARY_FOLDER_NAME), str(self.folder / CACHES_NAME)
        text = (package_files("typelattice.repair.patch") / "cache_variables.txt").read_text(encoding="ascii")
        return {
            **{name: caches for name in text.splitlines() if name[:1] not in ("#", "")},
            **os.environ,
            "PYTHONPATH": os.pathsep.join(str(entry) for entry in path if entry != ""),
            "PYTHONDONTWRITEBYTECODE": "1",  # else a run would write beside the packages that it imports
            **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary),
        }

    @cached_property
    def links(self) -> dict[str, str]:
        """The links of the copy."""
        return {path: os.readlink(path) for path in self.entries if os.path.islink(path)}

    def write_guard_files(self) -> None:
        """Write the module that each Python process of a run imports first: it starts the guard."""
        home = os.path.realpath(os.path.expanduser("~")).rstrip(os.sep)
        moved = [os.environ.get(name, "") for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME")]
        caches = [f"{home}/.", f"{home}/Library/Caches/", *(f"{os.path.realpath(x)}/" for x in moved if x)]
        settings = GuardSettings(
            (str(self.folder), *(os.path.realpath(folder) for folder in self.limits.allowed_folders)),
            tuple(caches), str(self.folder / NOTES_NAME), str(self.program.copy_folder),
        )  # fmt: skip
        folder = self.folder / GUARD_FOLDER_NAME
        guard = write_guard.__file__
        code = START_GUARD_CODE.format(
            folder=str(folder), name=MODULE_NAME, guard=guard,
            settings=[settings.allowed, settings.caches, settings.notes, settings.copy],
        )  # fmt: skip
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(code, encoding="utf-8")
        (self.folder / CACHES_NAME).mkdir()


@contextmanager
def open_workspace(
    program: ProgramToRun, limits: SearchLimits = DEFAULT_LIMITS, progress: Progress | None = None
) -> Iterator[Workspace]:
    """Copy the folder of a program, and set the program's `root` to the copy. Raises FixError."""
    original = program.original_folder
    with _explain_unwritable(), open_search_folder() as folder:
        root = folder / "copy" / (original.name or "root")
        ProjectCopy(str(original), str(root)).copy()
        target = (
            program.target
            if program.as_module or program.runs_tests
            else str(root / Path(program.target).relative_to(original))
        )
        program = replace(program, copy_folder=root, target=target)
        place = Workspace(program, folder, limits, progress or Progress())
        place.entries = list_entry_states(root)
        place.links  # noqa: B018  # before a run can remove one
        place.write_guard_files()
        try:
            yield place
        finally:
            place.progress.clear()
            place.close()


@contextmanager
def _explain_unwritable() -> Iterator[None]:
    """Turn an error of the operating system in the search's own folder into a FixError."""
    try:
        yield
    except FileError:
        raise
    except OSError as e:
        raise explain_unwritable(e) from None


def find_error_line(text: str) -> str:
    """Return the line of a traceback that names the error, or the last line of any other text.

    JAX prints a remark after its errors, and the message of an error may have several lines.
    """
    lines = text.strip().splitlines()
    frames = [i for i, line in enumerate(lines) if line.startswith("  File ")]
    after = [line for line in lines[frames[-1] + 1 :] if line[:1] not in ("", " ")] if frames else lines[-1:]
    return after[0] if after else "".join(lines[-1:])


def list_entry_states(root: Path) -> dict[str, tuple[int, ...]]:
    """Map the files, links and folders in a folder to states that differ after each change."""
    found: dict[str, tuple[int, ...]] = {}
    for folder, folders, names in os.walk(root):
        for name in (*folders, *names):
            path = os.path.join(folder, name)
            with suppress(FileNotFoundError):  # a process that a run left behind has removed it
                found[path] = entry_state(path)
    return found


def entry_state(path: str) -> tuple[int, ...]:
    """Return what changes with each change of a file or a link. A folder only exists or not."""
    status = os.lstat(path)
    if S_ISDIR(status.st_mode):
        return FOLDER_STATE
    return status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _remove_entry(path: str) -> None:
    """Remove a file, a link or a folder."""
    if os.path.isdir(path) and not os.path.islink(path):
        remove_folder(Path(path))
    else:
        with suppress(FileNotFoundError):  # it was in a folder that is removed
            os.unlink(path)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and those that it started, but for those that left its group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, SIGKILL)
