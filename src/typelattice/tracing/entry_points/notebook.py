"""The magic `%%dtypes` of notebooks: a cell is followed, and its report shown."""

from __future__ import annotations

import linecache
import shlex
from collections.abc import Sequence
from typing import Any
from zlib import crc32

from typelattice.files.reader import system as find_system
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

CELL_NAME_FORMAT = "<dtypes {:08x}>"


def load_ipython_extension(shell: Any) -> None:
    """Define the magic: `%load_ext typelattice`."""

    def dtypes(line: str, cell: str) -> Traced:
        """Run a cell and report its dtypes, also under the systems on the line: `%%dtypes torch`."""
        transform = getattr(shell, "transform_cell", str)
        return traced_cell(transform(cell), shell.user_ns, shlex.split(line))

    shell.register_magic_function(dtypes, "cell", "dtypes")


def traced_cell(cell: str, names: dict[str, Any], systems: Sequence[str]) -> Traced:
    """Run a cell with some names, and follow it and the functions of other cells.

    Raises UnknownSystemError or FormatError if a system cannot be read, and TraceError if the cell cannot be
    traced. Errors of the cell are passed on.
    """
    for each in systems:
        find_system(each)
    file = CELL_NAME_FORMAT.format(crc32(cell.encode()))
    compile(cell, file, "exec")  # raises SyntaxError before any of the cell runs
    linecache.cache[file] = len(cell), None, cell.splitlines(keepends=True), file
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
