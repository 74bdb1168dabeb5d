"""A program to run in a process of its own, and how to find its function there.

The plain runs import this without the tracer, so that they measure only the program.
"""

from __future__ import annotations

import os
import pickle
import runpy
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from typelattice.base.workers.write_guard import MODULE_NAME

SCRIPT_MODULE_NAME = "__typelattice_fix__"  # module name of a script when only one of its functions is called


@dataclass(frozen=True, slots=True)
class TunedInput:
    """The input of one run among several of a program that is tuned, and what counts as its result.

    Constant seeds given to `seeded_functions` are moved by `seed_shift`. `metric` names a function of the
    program whose value is the only result. `narrow_dtypes` are tried beside each operation. `kept_names` are
    the names whose values are kept, or None for all.
    """

    seed_shift: int = 0
    seeded_functions: tuple[str, ...] = ()
    metric: str = ""
    narrow_dtypes: tuple[str, ...] = ()
    kept_names: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ProgramToRun:
    """A program to be run: a script, a module, a pytest run, or a function of a file with its arguments.

    `copy_folder` is the copied folder and `original_folder` the folder that it is a copy of.
    `replaced_contents` has other contents for files that are not in the copy. `has_wide_input` makes the
    input wide: the arguments of the function, or the script's own text, which is then `wide_content`.
    `records_steps` keeps the values of each step. `noise_dtype` moves floats as narrow as it by one unit.
    `mendable_files` are the files that a patch may change if the program fails: a plain run then reads the
    failure. `follows_project` also follows the modules in the copied folder. `policy` has the dtypes that are
    meant, or is empty: with it, the run says which lines depart. `tuned` says what else a
    run does whose results are compared for another dtype.
    """

    target: str
    argv: tuple[str, ...]
    packages: tuple[str, ...]
    as_module: bool
    copy_folder: Path
    original_folder: Path
    function: str = ""
    module: str = ""
    pickled_args: bytes = b""
    has_wide_input: bool = False
    wide_content: bytes = b""
    records_steps: bool = False
    noise_dtype: str = ""
    runs_tests: bool = False
    replaced_contents: Mapping[str, bytes] = field(default_factory=dict)
    mendable_files: tuple[str, ...] = ()
    follows_project: bool = False
    policy: str = ""
    tuned: TunedInput | None = None


def read_program(path: str) -> ProgramToRun:
    """Read a program from a file, and search modules in its copied folder from now on.

    Raises RuntimeError if nothing stops the writes of this process.
    """
    if MODULE_NAME not in sys.modules:
        raise RuntimeError("nothing guards this run: its Python skips sitecustomize; start it without -S")
    todo: ProgramToRun = pickle.loads(Path(path).read_bytes())
    sys.path[:] = [_move_path(entry, todo.original_folder, todo.copy_folder) for entry in sys.path]
    sys.dont_write_bytecode = True
    return todo


def _move_path(path: str, original: Path, root: Path) -> str:
    """Map a path in a folder to its path in the copy. Files that were not copied keep theirs."""
    whole = Path(os.path.abspath(path))
    if not whole.is_relative_to(original):
        return path
    copy = root / whole.relative_to(original)
    return str(copy) if copy.exists() else path


def load_function(program: ProgramToRun) -> tuple[Callable[..., Any], Sequence[Any], Mapping[str, Any]]:
    """Import the function from the copy, and unpack its arguments."""
    sys.path.insert(0, str(Path(program.target).parent))
    if program.module == "__main__":
        function: Any = _make_module(runpy.run_path(program.target, run_name=SCRIPT_MODULE_NAME))
    else:
        function = __import__(program.module, fromlist=["*"])
    for name in program.function.split("."):
        function = getattr(function, name)
    args, named = pickle.loads(program.pickled_args)
    return function, args, named


def _make_module(names: Mapping[str, Any]) -> ModuleType:
    """Make a module of the names that a script bound."""
    module = ModuleType(SCRIPT_MODULE_NAME)
    module.__dict__.update(names)
    for value in names.values():
        if isinstance(value, FunctionType) and value.__globals__.get("__name__") == SCRIPT_MODULE_NAME:
            value.__globals__.update(names)  # `run_path` empties the globals
    return module
