"""Run and follow a script, or a module as a script, in this process, as `python SCRIPT` would."""

from __future__ import annotations

import atexit
import builtins
import importlib.util
import linecache
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.abc import FileLoader
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any, NoReturn
from zipimport import zipimporter

from typelattice.disk.read import FileError, read_bytes
from typelattice.facts.libraries import library_of
from typelattice.support.error_texts import clip_text, quote_short
from typelattice.support.errors import TypelatticeError
from typelattice.tracing.record.trace_imports import Tracing
from typelattice.tracing.record.value_loss_witness import ValueChecks
from typelattice.tracing.report.formatting import shown_path
from typelattice.tracing.run_data.run import Run

MAX_SCRIPT_BYTES = 10_000_000  # bytes; a longer script is refused
COMMAND_FILE_NAME = "<string>"  # the file name that Python gives the code after -c


class ScriptError(TypelatticeError, ValueError):
    """A script or a module that cannot be run."""


@dataclass(frozen=True, slots=True)
class EndedScript:
    """A script that has ended: its run, and its exit status or None if it was interrupted.

    `forked` is true if it ended in a process that the script forked. `names` has the names that it bound.
    """

    run: Run
    status: int | None
    forked: bool = False
    names: Mapping[str, Any] = field(default_factory=dict, repr=False)


def run_script(
    target: str,
    argv: Sequence[str],
    packages: Sequence[str],
    as_module: bool = False,
    cache: Path | None = None,
    before_os_exit: Callable[[EndedScript], None] | None = None,
    ends_process: bool = False,
    replaced_contents: Mapping[str, bytes] = {},
    values: bool | ValueChecks = False,
    runs_folder: str = "",
    as_code: bool = False,
) -> EndedScript:
    """Run a script until it ends in any way. Raises ScriptError or FileError if it cannot be run.

    If the script calls `os._exit`, which does not return, `before_os_exit` gets the run first. If this
    process ends with the script (`ends_process`), its threads and exit functions are also followed, and the
    script's changes of `sys` stay. Otherwise the caller continues, and handles threads and exit functions.
    `replaced_contents` has other contents for some files. `values` turns on checks of values. A process that
    a followed one started leaves its run in `runs_folder`. `as_code`: the target is code, as after
    `python -c`.
    """
    for package in packages:
        check_package(package)
    root = target.partition(".")[0]
    if as_module and not packages and not runs_folder and library_of(root) is None:
        packages = (root,)
    pid, own_builtins = os.getpid(), {**vars(builtins)}
    module = ModuleType("__main__")
    module.__dict__.update(__builtins__=builtins, __cached__=None)
    if sys.version_info < (3, 14):
        module.__annotations__ = {}
    tracing = Tracing(packages, cache, replaced_contents, values, runs_folder)
    tracing.start()
    if runs_folder:
        tracing.child_runs.end_by_signal()
    path = [*sys.path]
    _leave_out_own_folder()
    try:
        if as_module:
            _put_folder_first(os.getcwd())
            code, name = _module_code(target, module, tracing)
        elif as_code:
            _put_folder_first("")
            with _explain_syntax_error("the code after -c"):
                code, name = compile(target, COMMAND_FILE_NAME, "exec", dont_inherit=True), "-c"
            if sys.version_info >= (3, 13):  # Python 3.13 finds the lines of a traceback through linecache
                known = code if sys.version_info >= (3, 14) else COMMAND_FILE_NAME
                linecache._register_code(known, target, COMMAND_FILE_NAME)
        else:
            code, name = _script_code(target, module, tracing)
    except TypelatticeError:
        tracing.stop()
        sys.path[:] = path
        raise
    own_main, own_argv = sys.modules["__main__"], sys.argv
    sys.argv = [name, *argv]
    sys.modules["__main__"] = module
    try:
        with _report_before_exit(tracing, before_os_exit):
            status = _run_code(code, module)
            if ends_process:
                _run_exit_functions()
    finally:
        vars(builtins).update(own_builtins)  # the script may have replaced some, and not restored them
        if not ends_process:
            sys.modules["__main__"], sys.argv, sys.path[:] = own_main, own_argv, path
    tracing.recorder.name_results({name: x for name, x in module.__dict__.items() if name[:2] != "__"})
    if os.getpid() != pid or runs_folder:
        tracing.child_runs.write_run()
    return EndedScript(tracing.stop(), status, os.getpid() != pid, module.__dict__)


def _run_exit_functions() -> None:
    """Run exit functions in Python's order, so that none is left when Python exits.

    Python first calls the functions given to `threading._register_atexit`. Pools use it to learn that their
    threads have to end. Then it joins threads, which may still register functions with `atexit`, and calls
    those functions. An exception in one of these is printed and does not change the exit status.
    """
    with suppress(BaseException):  # at exit Python calls it again, and prints the exception
        threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()


@contextmanager
def _report_before_exit(
    tracing: Tracing, before_os_exit: Callable[[EndedScript], None] | None
) -> Iterator[None]:
    """Report the run before `os._exit` ends the process. In a forked process, write its own run instead."""
    pid, leave = os.getpid(), os._exit

    def report_and_exit(status: int) -> NoReturn:
        try:
            if os.getpid() != pid or not tracing.child_runs.owner_pid:
                tracing.child_runs.write_run()
            elif before_os_exit is not None and isinstance(status, int):
                before_os_exit(EndedScript(tracing.stop(), status))
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
        raise FileError(f"{e}; give the path of a script, or -m and a module") from None


def _script_code(path: str, module: ModuleType, tracing: Tracing) -> tuple[CodeType, str]:
    """Return the code of a script, or of a folder or an archive with a `__main__`."""
    if os.path.isdir(path) or path.endswith((".zip", ".pyz")):
        sys.path.insert(0, os.path.abspath(path))
        if PathFinder.find_spec("__main__", sys.path[:1]) is None:
            raise ScriptError(f"there is no __main__.py in {clip_text(path, 200)}; name a script in it")
        code, _ = _module_code("__main__", module, tracing)
        return code, path
    given, path = path, path and os.path.abspath(path)
    data = read_script(given, MAX_SCRIPT_BYTES + 1)
    if len(data) > MAX_SCRIPT_BYTES:
        what = f"{_short_path(path)} is larger than {MAX_SCRIPT_BYTES:,} bytes"
        raise ScriptError(f"{what}; trace a module of it")
    _put_folder_first(os.path.dirname(os.path.realpath(path)))
    module.__file__, module.__loader__ = path, SourceFileLoader("__main__", path)
    return _compile_script(path, data, tracing), given


def _compile_script(path: str, data: bytes, tracing: Tracing) -> CodeType:
    """Compile a script to rewritten code, or to its own code if it cannot be rewritten."""
    if data.startswith(MAGIC_NUMBER):
        what = f"{_short_path(path)} is compiled code, in which nothing can be followed"
        raise ScriptError(f"{what}; trace the source that it was made from")
    found = tracing.compiler.compile_module("__main__", path, data)
    if found is not None:
        return found
    with _explain_syntax_error(path):
        return compile(data, path, "exec", dont_inherit=True)


def _short_path(path: str) -> str:
    """Name a file as the report does: from the current folder on if it is below it."""
    return clip_text(shown_path(path), 200)


@contextmanager
def _explain_syntax_error(path: str) -> Iterator[None]:
    """Turn Python's error for code that it cannot compile into a ScriptError. `path` is its file."""
    try:
        yield
    except (RecursionError, MemoryError):
        why = "an expression is nested too deeply"
        raise ScriptError(f"{_short_path(path)}: {why}; Python cannot run it either") from None
    except SyntaxError as e:
        place = _short_path(e.filename or path) + (f", line {e.lineno}" if e.lineno else "")
        raise ScriptError(f"{place}: {e.msg}; Python cannot run it either") from None
    except ValueError as e:
        raise ScriptError(f"{_short_path(path)}: {e}; Python cannot run it either") from None


def _module_code(name: str, module: ModuleType, tracing: Tracing) -> tuple[CodeType, str]:
    """Return the code of a module that is run by `-m`."""
    package = False
    try:
        spec = PathFinder.find_spec(name) if name == "__main__" else importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            package, spec = True, importlib.util.find_spec(f"{name}.__main__")
    except (ImportError, AttributeError, ValueError) as e:
        why = clip_text(str(e), 200)
        raise ScriptError(f"there is no module {clip_text(name, 100)} ({why}); install it") from None
    except Exception as e:  # the module's package may raise anything
        what = f"the package of {clip_text(name, 100)} cannot be imported"
        why = clip_text(f"{type(e).__name__}: {e}", 200)
        raise ScriptError(f"{what} ({why}); Python cannot run it either") from None
    if package and spec is None:
        raise ScriptError(f"{clip_text(name, 100)} is a package without a __main__; name a module of it")
    if spec is None or spec.loader is None:
        what = f"there is no module {clip_text(name, 100)} that can be run"
        raise ScriptError(f"{what}; install it, or name another")
    return _code_of_spec(spec, module, tracing)


def _code_of_spec(spec: ModuleSpec, module: ModuleType, tracing: Tracing) -> tuple[CodeType, str]:
    path, loader = spec.origin or spec.name, spec.loader
    code: object = None
    if spec.name == "__main__" and isinstance(loader, (FileLoader, zipimporter)):
        code = _compile_script(path, loader.get_data(path), tracing)
    elif get_code := getattr(loader, "get_code", None):
        with _explain_syntax_error(path):
            code = get_code(spec.name)
    if not isinstance(code, CodeType):
        raise ScriptError(f"module {clip_text(spec.name, 100)} has no code that can be run; name another")
    module.__file__, module.__dict__["__cached__"] = path, spec.cached
    module.__spec__, module.__loader__, module.__package__ = spec, spec.loader, spec.parent
    return code, path


def _run_code(code: CodeType, module: ModuleType) -> int | None:
    """Run code as the main program. Return its exit status, None if it was interrupted."""
    try:
        exec(code, module.__dict__)
    except SystemExit as e:
        return _exit_status(e.code)
    except KeyboardInterrupt as e:
        _print_traceback(e)
        return None
    except BaseException as e:  # any exception of the script ends it as it would end Python
        _print_traceback(e)
        return 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):  # the script may have closed the stream, or put any object in its place
                stream.flush()
    return 0


def _exit_status(code: object) -> int:
    """Return the exit status for an argument of `sys.exit`, as Python does."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    with suppress(Exception):  # Python also ignores an object that cannot be printed, or a closed stream
        print(code, file=sys.stderr)
    return 1


def _print_traceback(error: BaseException) -> None:
    """Print a traceback as Python would, without our own frame."""
    trace: TracebackType | None = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error.__traceback__ = trace
    try:
        sys.excepthook(type(error), error, trace)
    except Exception:  # the script may have put any object in the place of the hook
        sys.__excepthook__(type(error), error, trace)
