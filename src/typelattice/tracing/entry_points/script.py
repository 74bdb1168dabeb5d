"""Run and follow a script, or a module as a script, in this process, as `python SCRIPT` would."""

from __future__ import annotations

import atexit
import builtins
import gc
import importlib.util
import linecache
import os
import pkgutil
import runpy
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NoReturn

from typelattice.base.disk.read import FileError, read_bytes
from typelattice.base.errors.error_texts import clip_text, hint_at_file, quote_short, spelling_hint
from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.errors.outside_errors import leave_out_own_frames
from typelattice.core.registry.libraries import library_of
from typelattice.tracing.record.trace_imports import Tracing
from typelattice.tracing.record.user_code import find_project_folder
from typelattice.tracing.record.value_loss_witness import ValueChecks
from typelattice.tracing.report.formatting import shown_path
from typelattice.tracing.rewrite.hidden_frames import call_without_callers, hide_frame
from typelattice.tracing.rewrite.original_code import HIDDEN_CODE
from typelattice.tracing.run_data.model_run import ModelQuestions
from typelattice.tracing.run_data.run import Run
from typelattice.tracing.run_data.source_text import SourceText

globals()["__builtins__"] = {**vars(builtins)}  # copied, because a program may replace some of them
STATUS_OF_INTERRUPT = 130  # as shells report it; a process on Linux ends by the signal itself
MAX_NAMES_FOR_HINT = 10_000  # names of files or modules among which a near one is looked for
MAX_SCRIPT_BYTES = 10_000_000  # bytes; a longer script is refused
COMMAND_FILE_NAME = "<string>"  # the file name that Python gives the code after -c


class ScriptError(TypelatticeError, ValueError):
    """A script or a module that cannot be run."""


class CompileError(ScriptError):
    """Code that Python cannot compile."""


@dataclass(frozen=True, slots=True)
class EndedScript:
    """A script that has ended: its run, and its exit status or None if it was interrupted.

    `forked` is true if it ended in a process that the script forked. `names` has the names that it bound.
    `error` is the exception that ended it, or None. `followed` has the source of each followed file.
    """

    run: Run
    status: int | None
    forked: bool = False
    names: Mapping[str, Any] = field(default_factory=dict, repr=False)
    error: BaseException | None = field(default=None, repr=False)
    followed: Mapping[str, SourceText] = field(default_factory=dict, repr=False)

    @property
    def sources(self) -> dict[str, str]:
        """The text of each followed file, also of those of which nothing is in the run."""
        return {file: "".join(source.lines) for file, source in self.followed.items()}


def run_script(
    target: str,
    argv: Sequence[str],
    packages: Sequence[str],
    as_module: bool = False,
    cache: Path | None = None,
    before_os_exit: Callable[[EndedScript], int | None] | None = None,
    replaced_contents: Mapping[str, bytes] = {},
    values: bool | ValueChecks = False,
    project: str = "",
    models: ModelQuestions | None = None,
) -> EndedScript:
    """Run a script until it ends in any way. Raises ScriptError or FileError if it cannot be run.

    The caller continues, and handles threads and exit functions. If the script calls `os._exit`, which does
    not return, `before_os_exit` gets the run first. `replaced_contents` has other contents for some files.
    `values` turns on checks of values. The modules in the folder `project` are followed, if it is given.
    With `models`, the operations of dispatchers are logged for these questions.
    """
    packages = _packages_to_follow(target, packages, as_module)
    tracing = Tracing(packages, cache, replaced_contents, values, project=project, models=models)
    pid, path = os.getpid(), [*sys.path]
    own_main, own_argv = sys.modules["__main__"], sys.argv
    program = _Program(target, argv, as_module, False, tracing)
    try:
        with _report_before_exit(program, before_os_exit):
            program.run()
    finally:
        sys.modules["__main__"], sys.argv, sys.path[:] = own_main, own_argv, path
    if os.getpid() != pid:
        tracing.child_runs.write_run()
    return program.stop(is_forked=os.getpid() != pid)


def run_script_to_exit(
    target: str,
    argv: Sequence[str],
    packages: Sequence[str],
    report: Callable[[EndedScript], int | None],
    refuse: Callable[[ScriptError], None],
    as_module: bool = False,
    cache: Path | None = None,
    replaced_contents: Mapping[str, bytes] = {},
    values: bool = False,
    runs_folder: str = "",
    as_code: bool = False,
    project: str = "",
    models: ModelQuestions | None = None,
) -> NoReturn:
    """Run a script with which this process ends, and then end the process as the script ended.

    The script's threads and exit functions are also followed, and its changes of `sys` stay. After them,
    while Python ends the process, `report` gets the run. If it returns a status, a script that succeeded ends
    with this one. It gets none in a forked process, which leaves its run to its parent. So does a process
    that a followed one started with its `runs_folder`. `as_code`: the target is code, as after `python -c`.
    The modules in the folder `project` are followed, if it is given. With `models`, the operations of
    dispatchers are logged for these questions. The script finds no frame below its own.

    Raises ScriptError or FileError if the script cannot be run. If only Python can tell that it cannot run a
    module, `refuse` gets the error, and the status is 2.
    """
    packages = _packages_to_follow(target, packages, as_module and not runs_folder)
    tracing = Tracing(
        packages, cache, replaced_contents, values, runs_folder, project=project, models=models
    )
    program = _Program(target, argv, as_module, as_code, tracing, python_reports=not runs_folder)
    end = _ProcessEnd(program, report, bool(runs_folder))
    if runs_folder:
        tracing.child_runs.end_by_signal()

    @hide_frame
    def run_to_exit() -> NoReturn:
        try:
            with _report_before_exit(program, report):
                program.run()
                end.register_again()
        except ScriptError as e:
            atexit.unregister(end.finish)
            refuse(e)
            raise SystemExit(2) from None
        except KeyboardInterrupt:
            program.status = None
        raise SystemExit(STATUS_OF_INTERRUPT if program.status is None else program.status)

    call_without_callers(run_to_exit)


for each in (run_script, run_script_to_exit):
    HIDDEN_CODE.add_outermost(each)


def _packages_to_follow(target: str, packages: Sequence[str], as_module: bool) -> Sequence[str]:
    """Return the packages to follow: those given, or that of a module. Raises ScriptError."""
    for package in packages:
        check_package(package)
    root = target.partition(".")[0]
    return (root,) if as_module and not packages and library_of(root) is None else packages


def find_project(target: str, as_module: bool) -> str:
    """Find the folder of the project that a script or a module belongs to, whose modules are followed.

    A name with a null character is of no file, as reading the script says then.
    """
    if as_module or "\0" in target:
        return find_project_folder(os.getcwd())
    return find_project_folder(target if os.path.isdir(target) else os.path.dirname(os.path.realpath(target)))


class _Program:
    """A script, a module or code that runs as the main program of this process, and its trace.

    `status` is its exit status, or None if it was interrupted. Raises TypelatticeError if it cannot be run.
    `python_reports`: the program is then the error that Python reports, if Python cannot compile the script.
    """

    def __init__(
        self,
        target: str,
        argv: Sequence[str],
        as_module: bool,
        as_code: bool,
        tracing: Tracing,
        python_reports: bool = False,
    ) -> None:
        self.tracing = tracing
        self.status: int | None = 0
        self.error: BaseException | None = None
        self.own_builtins = {**vars(builtins)}
        self.module = ModuleType("__main__")
        if sys.version_info < (3, 14):
            self.module.__annotations__ = {}
        self.module.__dict__["__builtins__"] = builtins  # after the annotations, as in Python
        tracing.start()
        path = [*sys.path]
        _leave_out_own_folder()
        try:
            self.start, name = self.prepare(target, as_module, as_code)
        except CompileError:
            tracing.stop()
            if not python_reports:
                sys.path[:] = path
                raise
            tracing.recorder.not_followed[target] = "Python cannot compile it"
            self.start, name = partial(_run_by_python, target, argv), target
        except TypelatticeError:
            tracing.stop()
            sys.path[:] = path
            raise
        sys.argv = [name, *argv]
        sys.modules["__main__"] = self.module

    def prepare(self, target: str, as_module: bool, as_code: bool) -> tuple[Callable[[], None], str]:
        """Return a function that runs the program, and the first word of its command line."""
        if as_module:
            _put_folder_first(os.getcwd())
            _check_module(target)
            return partial(_run_module, target, True), "-m"
        if as_code:
            _put_folder_first("")
            with _explain_syntax_error("the code after -c"):
                code, name = compile(target, COMMAND_FILE_NAME, "exec", dont_inherit=True), "-c"
            if sys.version_info >= (3, 13):  # Python 3.13 finds the lines of a traceback through linecache
                known = code if sys.version_info >= (3, 14) else COMMAND_FILE_NAME
                linecache._register_code(known, target, COMMAND_FILE_NAME)
        elif os.path.isdir(target) or target.endswith((".zip", ".pyz")):
            sys.path.insert(0, os.path.abspath(target))
            if PathFinder.find_spec("__main__", sys.path[:1]) is None:
                raise ScriptError(f"there is no __main__.py in {clip_text(target, 200)}; name a script in it")
            self.tracing.finder.follow_package("__main__")
            return partial(_run_module, "__main__", False), target
        else:
            code, name = _script_code(target, self.module, self.tracing), target
        return partial(exec, code, self.module.__dict__), name

    @hide_frame
    def run(self) -> None:
        """Run the program until it ends in any way. Raises ScriptError if Python refuses its module."""
        error: BaseException | None = None
        try:
            try:
                self.start()
            except BaseException as e:  # any exception of the program ends it as it would end Python
                error = e
            finally:
                _flush_streams()
            self.check_refusal(error)
            self.error = error
            self.status = _end_status(error)  # here, because an error of the hook is not one of the handler
        finally:
            self.restore_builtins()

    def check_refusal(self, error: BaseException | None) -> None:
        """Raise ScriptError if Python refused to run the module, before any code of it ran."""
        refusal = getattr(error, "__context__", None)
        if isinstance(refusal, runpy._Error) and self.module.__spec__ is None:  # type: ignore[attr-defined]
            self.tracing.stop()
            raise ScriptError(f"{clip_text(str(refusal), 200)}; name a module that can run")

    def restore_builtins(self) -> None:
        """Restore the builtins that the program replaced, since our own code uses them, too."""
        vars(builtins).update(self.own_builtins)

    def release(self) -> None:
        """Hold no reference to the module any more, nor to its names."""
        self.module = ModuleType("__main__")
        self.error = None
        self.start = _do_nothing

    def stop(self, is_forked: bool = False) -> EndedScript:
        """Stop the trace, and return what ended."""
        names = self.module.__dict__
        self.tracing.recorder.name_results({name: x for name, x in names.items() if name[:2] != "__"})
        sources = {**self.tracing.recorder.sources}
        return EndedScript(self.tracing.stop(), self.status, is_forked, names, self.error, sources)


def _do_nothing() -> None:
    """Stand for the program that has ended."""


def _run_by_python(script: str, argv: Sequence[str]) -> NoReturn:
    """Let Python itself run a script that it cannot compile, so that the report is Python's own."""
    options = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    raise SystemExit(subprocess.call([sys.executable, *options, script, *argv]))


class _ProcessEnd:
    """The last exit function of this process, which reports the run.

    Python calls exit functions in reverse order, and itself joins threads before. So this function is
    registered before the program runs, and the program's own functions run as they do without us.
    """

    def __init__(
        self, program: _Program, report: Callable[[EndedScript], int | None], is_child: bool
    ) -> None:
        self.program, self.report, self.is_child = program, report, is_child
        self.pid = os.getpid()
        self.modules = {**sys.modules}
        self.imports = {name: [*getattr(sys, name)] for name in ("path", "meta_path", "path_hooks")}
        atexit.register(self.finish)

    def register_again(self) -> None:
        """Register the function again if the program has removed all exit functions."""
        if not atexit._ncallbacks():
            atexit.register(HIDDEN_CODE.restore)
            atexit.register(self.finish)

    def finish(self) -> None:
        """Report the run, or leave it to the parent of a forked or started process."""
        status: int | None = 0
        try:
            self.restore_imports()
            child_runs = self.program.tracing.child_runs
            if os.getpid() != self.pid or self.is_child:
                child_runs.write_run()
                self.program.tracing.stop()
            else:
                status = self.report(self.program.stop())
            interrupted = self.program.status is None
        except KeyboardInterrupt:
            interrupted = True
        except TypelatticeError as e:
            print(f"typelattice: {e}", file=sys.__stderr__)
            _end_at_once(2)
        self.release()
        if interrupted:  # Python itself forgets the interrupt if a report runs further code
            _end_by_interrupt()
        if status and self.program.status == 0:
            _end_at_once(status)

    def release(self) -> None:
        """Release the main module, which Python deletes next. The program's finalizers run as it does so."""
        self.modules.clear()
        self.program.release()

    def restore_imports(self) -> None:
        """Restore what imports need, which the program may have cleared: a report imports modules."""
        self.program.restore_builtins()
        for name, own in self.imports.items():
            setattr(sys, name, own)
        for name, module in self.modules.items():
            sys.modules.setdefault(name, module)


def _end_at_once(status: int) -> NoReturn:
    """End this process, since the status of a process that is ending cannot be changed in another way."""
    _flush_streams()
    os._exit(status)


def _end_by_interrupt() -> None:
    """End this process by the signal of Ctrl-C, after the finalizers. A shell that runs a loop then stops."""
    if type(main := sys.modules.get("__main__")) is ModuleType:
        vars(main).clear()
    gc.collect()
    _flush_streams()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)


def _flush_streams() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # the program may have closed the stream, or replaced it by any object
            stream.flush()


@contextmanager
def _report_before_exit(
    program: _Program, before_os_exit: Callable[[EndedScript], int | None] | None
) -> Iterator[None]:
    """Report the run before `os._exit` ends the process. In a forked process, write its own run instead."""
    pid, leave, child_runs = os.getpid(), os._exit, program.tracing.child_runs

    def report_and_exit(status: int) -> NoReturn:
        try:
            if os.getpid() != pid or not child_runs.owner_pid:
                child_runs.write_run()
            elif before_os_exit is not None and isinstance(status, int):
                own_status = before_os_exit(EndedScript(program.tracing.stop(), status))
                status = status or own_status or 0
        finally:
            leave(status)

    os._exit = report_and_exit
    try:
        yield
    finally:
        os._exit = leave


def _leave_out_own_folder() -> None:
    """Remove the folder that Python added to the path for the program that called us."""
    ours = sys.modules["__main__"]
    started = os.path.dirname(os.path.realpath(getattr(ours, "__file__", None) or ""))
    folder = os.getcwd() if getattr(ours, "__spec__", None) else started
    if not sys.flags.safe_path and sys.path[:1] == [folder]:
        del sys.path[0]


def _put_folder_first(folder: str) -> None:
    """Put the folder of the script on the path, as Python does by default."""
    if not sys.flags.safe_path:
        sys.path.insert(0, folder)


def check_package(package: str) -> None:
    """Raise ScriptError if a package cannot be followed."""
    if not all(part.isidentifier() for part in package.split(".")):
        raise ScriptError(f"{quote_short(package)} is no name of a package; write it as an import does")
    if library_of(package.partition(".")[0]) is not None:
        what = f"{package} is a library whose operations are what is followed"
        raise ScriptError(f"{what}; name a package that calls it")


def read_script(path: str, max_bytes: int) -> bytes:
    """Read a script, but no more than `max_bytes` bytes. Raises FileError if it cannot be read."""
    try:
        return read_bytes(path, max_bytes)
    except FileError as e:
        near = "" if os.path.exists(path) else _hint_at_script(path)
        raise FileError(f"{e}{near}; give the path of a script, or -m and a module") from None


def _hint_at_script(path: str) -> str:
    """Return ` (did you mean …?)` with scripts of the same folder whose names are near, or an empty text."""
    folder, name = os.path.split(path)
    scripts: list[str] = []
    with suppress(OSError, ValueError):
        scripts = [each for each in sorted(os.listdir(folder or os.curdir)) if each.endswith(".py")]
    return hint_at_file(name, scripts[:MAX_NAMES_FOR_HINT])


def hint_at_module(name: str) -> str:
    """Return ` (did you mean …?)` with modules whose names are near. Nothing is imported."""
    modules = pkgutil.iter_modules([os.getcwd(), *sys.path])
    named = dict.fromkeys(each.name for each in modules if not each.name.startswith("_"))
    return spelling_hint(name, [*named][:MAX_NAMES_FOR_HINT])


def _script_code(given: str, module: ModuleType, tracing: Tracing) -> CodeType:
    """Return the code of a script."""
    path = given and os.path.abspath(given)
    data = read_script(given, MAX_SCRIPT_BYTES + 1)
    if len(data) > MAX_SCRIPT_BYTES:
        what = f"{_short_path(path)} is larger than {MAX_SCRIPT_BYTES:,} bytes"
        raise ScriptError(f"{what}; trace a module of it")
    _put_folder_first(os.path.dirname(os.path.realpath(path)))
    module.__file__, module.__loader__ = path, SourceFileLoader("__main__", path)
    module.__dict__["__cached__"] = None
    return _compile_script(path, data, tracing)


def _compile_script(path: str, data: bytes, tracing: Tracing) -> CodeType:
    """Compile a script to rewritten code, or to its own code if it cannot be rewritten."""
    if data.startswith(MAGIC_NUMBER):
        what = f"{_short_path(path)} is compiled code, in which nothing can be followed"
        raise ScriptError(f"{what}; trace the source that it was made from")
    with _explain_syntax_error(path):
        original = compile(data, path, "exec", dont_inherit=True)
    return tracing.compiler.compile_module("__main__", path, data, original) or original


def _short_path(path: str) -> str:
    """Name a file as the report does: from the current folder on if it is below it."""
    return clip_text(shown_path(path), 200)


@contextmanager
def _explain_syntax_error(path: str) -> Iterator[None]:
    """Turn Python's error for code that it cannot compile into a CompileError. `path` is its file."""
    try:
        yield
    except (RecursionError, MemoryError):
        why = "an expression is nested too deeply"
        raise CompileError(f"{_short_path(path)}: {why}; Python cannot run it either") from None
    except SyntaxError as e:
        place = _short_path(e.filename or path) + (f", line {e.lineno}" if e.lineno else "")
        raise CompileError(f"{place}: {e.msg}; Python cannot run it either") from None
    except ValueError as e:
        raise CompileError(f"{_short_path(path)}: {e}; Python cannot run it either") from None


def _check_module(name: str) -> None:
    """Raise ScriptError if no module or package has this name, as far as one can tell without imports."""
    root = name.partition(".")[0]
    with suppress(ImportError, ValueError, AttributeError):
        if importlib.util.find_spec(root) is not None:
            return
    what = f"there is no module {clip_text(name, 100)}{hint_at_module(root)}"
    raise ScriptError(f"{what}; install it, or correct the name")


# Runs a module, or the `__main__` of a folder or an archive that is first on the path, as `python -m` does.
_run_module = runpy._run_module_as_main  # type: ignore[attr-defined]


@hide_frame
def _end_status(error: BaseException | None) -> int | None:
    """Return the exit status after an error that ended the main program, None if it was interrupted."""
    if error is None:
        return 0
    if isinstance(error, SystemExit):
        return _exit_status(error.code)
    status = _print_exception(error)
    return None if isinstance(error, KeyboardInterrupt) else status


def _exit_status(code: object) -> int:
    """Return the exit status for an argument of `sys.exit`, as Python does."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    with suppress(Exception):  # Python also ignores an object that cannot be printed, or a closed stream
        print(code, file=sys.stderr)
    return 1


@hide_frame
def _print_exception(error: BaseException) -> int:
    """Print an exception that ends the program as Python does, without our frames. Return the status."""
    leave_out_own_frames(error)
    cls, trace = type(error), error.__traceback__
    sys.last_type, sys.last_value, sys.last_traceback = cls, error, trace
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    hook = getattr(sys, "excepthook", None)
    if hook is None:
        print("sys.excepthook is missing", file=sys.stderr)
        sys.__excepthook__(cls, error, trace)
        return 1
    try:
        hook(cls, error, trace)
    except SystemExit as e:
        return _exit_status(e.code)
    except BaseException as e:  # the program may have put any object in the place of the hook
        leave_out_own_frames(e)
        print("Error in sys.excepthook:", file=sys.stderr)
        sys.__excepthook__(type(e), e, e.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)
        sys.__excepthook__(cls, error, trace)
    return 1
