"""A copy of a program's folder, where the program runs with patches."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from select import select
from shutil import copyfile, copytree
from signal import SIGKILL
from tempfile import TemporaryDirectory

from typelattice.facts.libraries import libraries
from typelattice.fixing.function_proof.function_proofs import FunctionProofs
from typelattice.fixing.kept_values import KeptValue, file_state, is_left_out, list_file_states
from typelattice.fixing.program_to_run import ProgramToRun
from typelattice.fixing.source import FixError
from typelattice.fixing.step_values import ValuesByStep
from typelattice.fixing.traced_run import TracedRun
from typelattice.tracing.library_traits import may_be_forked
from typelattice.tracing.run_data.run import Run

MAX_COPIED_FILES = 20_000
MAX_COPIED_BYTES = 500_000_000
MAX_RUN_SECONDS = 600.0
OWN_ERROR_PREFIX_PATTERN = re.compile(r"^typelattice\.[\w.]+: ")  # in the last line of a traceback
RUN_MAIN_CODE = "import sys; from typelattice.fixing.{} import main; main(*sys.argv[1:])"
SERVE_CODE = "from typelattice.fixing.traced_run import serve; serve()"
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
    """A run that failed or took too long, and the reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class RunCost:
    """The seconds of a program's plain run, and the most bytes of its process."""

    seconds: float
    peak_bytes: int


@dataclass(eq=False)
class Workspace:
    """The copy of a folder, and the program to be run in it.

    The first run starts a process of its own. Later runs are forks of one process, which has imported the
    modules that all need. `outside_contents` and `inside_contents` have the new contents of files outside and
    inside the copy. `file_states` show whether a run has changed a file of the copy.
    """

    program: ProgramToRun
    folder: Path
    preloaded_modules: tuple[str, ...] = ()
    outside_contents: dict[str, bytes] = field(default_factory=dict)
    inside_contents: dict[str, bytes] = field(default_factory=dict)
    file_states: dict[str, tuple[int, int]] = field(default_factory=dict)
    server: subprocess.Popen[bytes] | None = None
    runs_assertions: bool = True

    def run(
        self, has_wide_input: bool = False, records_steps: bool = False, wide_content: bytes = b""
    ) -> FinishedRun | FailedRun:
        """Run the program in a process of its own."""
        program_file, result_file, printed, errors = files = self._list_run_files("ran.pickle")
        program_file.write_bytes(
            pickle.dumps(
                replace(
                    self.program,
                    has_wide_input=has_wide_input,
                    wide_content=wide_content,
                    records_steps=records_steps,
                    replaced_contents=self.outside_contents,
                )
            )
        )
        result_file.unlink(missing_ok=True)
        try:
            status = self.run_in_fork(files) if self.preloaded_modules else self.run_in_process(files)
        except subprocess.TimeoutExpired:
            return FailedRun(f"it ran for more than {MAX_RUN_SECONDS:.0f} seconds")
        finally:
            self.restore_files()
        traced_run: TracedRun | None = (
            pickle.loads(result_file.read_bytes()) if result_file.is_file() else None
        )
        text = errors.read_text(encoding="utf-8", errors="replace")
        if traced_run is None or traced_run.status != 0 or status != 0:
            ended_with = status or (traced_run.status if traced_run else status)
            lines = text.strip().splitlines() or [f"it ended with status {ended_with}"]
            reason = lines[-1].replace(f"{self.program.copy_folder}{os.sep}", "")
            return FailedRun(OWN_ERROR_PREFIX_PATTERN.sub("", reason)[:300])
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

    def measure_cost(self) -> RunCost | None:
        """Measure the program without the tracer, or return None if it fails or takes too long."""
        todo, out, *_ = files = self._list_run_files("cost")
        todo.write_bytes(pickle.dumps(replace(self.program, replaced_contents=self.outside_contents)))
        out.unlink(missing_ok=True)
        with suppress(subprocess.TimeoutExpired):
            if self.run_in_process(files, "measured_run") == 0 and out.is_file():
                seconds, peak = out.read_text(encoding="ascii").split()
                self.restore_files()
                return RunCost(float(seconds), int(peak))
        self.restore_files()
        return None

    def make_proofs(self) -> FunctionProofs:
        """Make the process that will prove patched functions, in the folder of the program's runs."""

        def start(words: list[str]) -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                [*self.interpreter_command, *words],
                cwd=self.current_folder_in_copy, env=_make_environment(),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip

        return FunctionProofs(self.folder, start, self.restore_files, pickle.dumps(self.program))

    def restore_files(self) -> None:
        """Undo what a run did to files of the copy, so that no run reads the results of another."""
        root = self.program.copy_folder
        now = list_file_states(root)
        for path in now.keys() - self.file_states.keys():
            os.unlink(path)
        for path, state in self.file_states.items():
            if now.get(path) == state:
                continue
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if path in self.inside_contents:
                Path(path).write_bytes(self.inside_contents[path])
            else:
                _copy_file(str(self.program.original_folder / Path(path).relative_to(root)), path)
            self.file_states[path] = file_state(path)

    def _list_run_files(self, result_name: str) -> list[Path]:
        """Return the files of a run: the program, what the run writes, and its two streams."""
        return [self.folder / name for name in ("program.pickle", result_name, "printed", "errors")]

    def put_content(self, file: str, content: bytes) -> None:
        """Give a file other content: in the copy, or only during runs if the copy does not have it.

        A link in the copy may lead to a file of the user, which stays as it is.
        """
        if Path(os.path.realpath(file)).is_relative_to(self.program.copy_folder):
            Path(file).write_bytes(content)
            self.inside_contents[file], self.file_states[file] = content, file_state(file)
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
        return [sys.executable, *([] if self.runs_assertions else ["-O"])]

    def set_asserts(self, asserts: bool) -> None:
        """Turn the program's assertions on or off for later runs."""
        self.close()
        self.runs_assertions, self.preloaded_modules = asserts, ()

    def run_in_process(self, files: Sequence[Path], module: str = "traced_run") -> int:
        """Run a module of this package that runs the program in a new process. Return its exit status."""
        todo, out, printed, errors = files
        with printed.open("wb") as stdout, errors.open("wb") as stderr:
            words = [*self.interpreter_command, "-c", RUN_MAIN_CODE.format(module), str(todo), str(out)]
            with subprocess.Popen(
                words, cwd=self.current_folder_in_copy, env=_make_environment(),
                stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
            ) as process:  # fmt: skip
                try:
                    return _wait_for_end(process, MAX_RUN_SECONDS)
                except BaseException:
                    process.kill()
                    raise

    def run_in_fork(self, files: Sequence[Path]) -> int:
        """Run the program in a fork of the process that is kept for this. Return its exit status."""
        if self.server is None:
            self.server = subprocess.Popen(
                [*self.interpreter_command, "-c", SERVE_CODE],
                cwd=self.current_folder_in_copy, env=_make_environment(),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
        assert self.server.stdin is not None and self.server.stdout is not None
        todo = [*map(str, files), str(self.current_folder_in_copy), *self.preloaded_modules]
        self.server.stdin.write(pickle.dumps(todo).hex().encode() + b"\n")
        self.server.stdin.flush()
        if not select([self.server.stdout], [], [], MAX_RUN_SECONDS)[0]:
            self.close()
            raise subprocess.TimeoutExpired(todo, MAX_RUN_SECONDS)
        answer = self.server.stdout.readline()
        if not answer:
            self.close()
        return int(answer or 1)

    def close(self) -> None:
        """End the process that is kept, and the runs in its forks."""
        if self.server is not None:
            os.killpg(self.server.pid, SIGKILL)
            self.server.communicate()
            self.server = None


def _wait_for_end(process: subprocess.Popen[bytes], seconds: float) -> int:
    """Return the exit status of a process as soon as it ends. Raises TimeoutExpired.

    With a time limit, `Popen.wait` asks only twenty times a second whether the process has ended.
    """
    if not hasattr(os, "pidfd_open"):  # of Linux
        return process.wait(seconds)
    end = os.pidfd_open(process.pid)
    try:
        has_ended = bool(select([end], [], [], seconds)[0])
    finally:
        os.close(end)
    return process.wait(None if has_ended else 0)


def _make_environment() -> dict[str, str]:
    own = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH", ""), own]))
    return {**os.environ, "PYTHONPATH": path}


@contextmanager
def open_workspace(program: ProgramToRun) -> Iterator[Workspace]:
    """Copy the folder of a program, and set the program's `root` to the copy. Raises FixError."""
    original = program.original_folder
    files = bytes_ = 0
    for folder, folders, names in os.walk(original):
        folders[:] = [name for name in folders if not is_left_out(Path(folder, name))]
        files += len(names)
        bytes_ += sum(Path(folder, name).lstat().st_size for name in names)
        if files > MAX_COPIED_FILES or bytes_ > MAX_COPIED_BYTES:
            what = f"{original} holds more than {MAX_COPIED_FILES:,} files or {MAX_COPIED_BYTES // 10**6} MB"
            raise FixError(f"{what}, too much to copy for each try; run it from a folder that holds less")
    with TemporaryDirectory(prefix="typelattice-fix-") as folder:
        root = Path(os.path.realpath(folder)) / original.name
        copytree(original, root, symlinks=True, ignore=_list_ignored, copy_function=_copy_file)
        target = (
            program.target
            if program.as_module or program.runs_tests
            else str(root / Path(program.target).relative_to(original))
        )
        place = Workspace(replace(program, copy_folder=root, target=target), Path(os.path.realpath(folder)))
        place.file_states = list_file_states(root)
        try:
            yield place
        finally:
            place.close()


def _list_ignored(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if Path(folder, name).is_dir() and is_left_out(Path(folder, name))]


def _copy_file(source: str, target: str) -> None:
    """Copy a regular file. Leave out sockets, pipes and devices."""
    if os.path.isfile(source):
        copyfile(source, target)
