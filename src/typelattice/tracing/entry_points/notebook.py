"""The magic `%%dtypes` of notebooks: a cell is followed, and its report shown."""

from __future__ import annotations

import linecache
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from traceback import walk_stack, walk_tb
from typing import Any
from zlib import crc32

from typelattice.base.errors.error_texts import quote_short
from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.errors.outside_errors import leave_out_own_frames
from typelattice.core.system_files.reader import system as find_system
from typelattice.tracing.entry_points.followed_functions import (
    Traced,
    TraceError,
    files_of_namespace,
    follow_files,
    functions_of_namespace,
)
from typelattice.tracing.record.compiler_switches import CompilerSwitches
from typelattice.tracing.record.import_hook import ModuleCompiler
from typelattice.tracing.record.recorder import Recorder
from typelattice.tracing.report.notebook_cells import cell_number
from typelattice.tracing.run_data.source_text import split_lines

CELL_NAME_FORMAT = "<dtypes {:08x}>"


def load_ipython_extension(shell: Any) -> None:
    """Define the magic: `%load_ext typelattice`."""

    def dtypes(line: str, cell: str) -> Traced:
        """Run a cell and report its dtypes, also under the systems on the line: `%%dtypes torch`."""
        code = "\n" + getattr(shell, "transform_cell", str)(cell)  # the first line has the magic
        file = _cell_file(shell, code)
        try:
            return traced_cell(code, shell.user_ns, _split_line(line), file)
        except BaseException as e:
            if _passed_file(e, file):
                _hide_own_frames(e, shell)
                raise
            usage_error = getattr(sys.modules.get("IPython.core.error"), "UsageError", None)
            if usage_error is None or not isinstance(e, (TypelatticeError, SyntaxError)):
                raise
            raise usage_error(_describe_error(e)) from None  # IPython prints it in one line

    shell.register_magic_function(dtypes, "cell", "dtypes")


def _split_line(line: str) -> list[str]:
    """Split the line of the magic into names of systems. Raises TraceError."""
    try:
        names = shlex.split(line)
    except ValueError as e:
        raise TraceError(f"%%dtypes: {str(e).lower()} in {line!r}; give names of systems") from None
    if option := next((name for name in names if name.startswith("-")), None):
        others = " ".join(name for name in names if not name.startswith("-")) or "torch"
        what = f"%%dtypes takes names of systems alone, and no option {quote_short(option)}"
        raise TraceError(f"{what}; write %%dtypes {others}")
    return names


def _cell_file(shell: Any, code: str) -> str:
    """Name the file of a cell, and let IPython know it, so that places have the number of the cell."""
    compiler = getattr(shell, "compile", None)
    callers = (frame.f_code.co_filename for frame, _ in walk_stack(None))
    number = next((n for n in map(cell_number, callers) if n is not None), None)
    if number is not None and compiler is not None:
        return str(compiler.cache(code, number))
    return CELL_NAME_FORMAT.format(crc32(code.encode()))


def _passed_file(error: BaseException, file: str) -> bool:
    """Return True if an error passed through code of a file."""
    return any(frame.f_code.co_filename == file for frame, _ in walk_tb(error.__traceback__))


def _describe_error(error: TypelatticeError | SyntaxError) -> str:
    """Describe an error of the magic, or of a cell that is no Python, in one line."""
    if isinstance(error, SyntaxError):
        number = cell_number(error.filename or "")
        cell = f"cell {number}, " if number is not None else ""
        return f"{cell}line {error.lineno}: {error.msg}" + (f": {error.text.strip()}" if error.text else "")
    return str(error)


def _hide_own_frames(error: BaseException, shell: Any) -> None:
    """Let IPython show the error of a cell without our frames, which Python adds again on its way."""
    leave_out_own_frames(error)
    trace, formatter = error.__traceback__, getattr(shell, "InteractiveTB", None)
    if formatter is not None:
        with suppress(TypeError):  # an error may take no attributes
            vars(error)["_render_traceback_"] = lambda: formatter.structured_traceback(
                type(error), error, trace
            )


def traced_cell(cell: str, names: dict[str, Any], systems: Sequence[str], file: str = "") -> Traced:
    """Run a cell with some names, and follow it and the functions of other cells.

    Raises UnknownSystemError or FormatError if a system cannot be read, and TraceError if the cell cannot be
    traced. Errors of the cell are passed on.
    """
    for each in systems:
        find_system(each)
    compile(cell, file, "exec")  # raises SyntaxError before any of the cell runs
    linecache.cache[file] = len(cell), None, split_lines(cell), file
    recorder, switches = Recorder(), CompilerSwitches()
    code = ModuleCompiler(recorder).compile_module("__main__", file, cell.encode())
    if code is None:
        raise TraceError(f"the cell cannot be followed: {recorder.not_followed['__main__']}; split it")
    files, functions = files_of_namespace(names, file), functions_of_namespace(names)
    with follow_files(files, functions, recorder), switches, recorder.child_process_counter:
        exec(code, names)
    recorder.name_results({name: x for name, x in names.items() if not name.startswith("_")})
    recorder.is_following = False
    return Traced(None, recorder.build_run(), tuple(systems))
