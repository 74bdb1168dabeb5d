"""The inputs of a script: what a generator function of a file yields, each the arguments of one run."""

from __future__ import annotations

import pickle
import runpy
import sys
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from typelattice.base.errors.error_texts import quote_short
from typelattice.repair.copies.program_to_run import read_program
from typelattice.repair.patch.workspace import FailedRun, Workspace
from typelattice.repair.tune.trial import ProgramInput
from typelattice.repair.tune.tune_options import MAX_INPUTS, TuneError

LISTED_INPUTS_MODULE = "typelattice.repair.tune.listed_inputs"
MODULE_NAME = "__typelattice_inputs__"  # the file of the function does not run as the program


def split_inputs_function(text: str) -> tuple[str, str]:
    """Split `file.py:function` into both. Without a file it is a function of the script."""
    file, _, name = text.rpartition(":")
    if not name.isidentifier():
        raise TuneError(
            f"{quote_short(text)} names no function; give one such as FUNCTION or file.py:FUNCTION"
        )
    return file, name


def list_inputs_of_script(workspace: Workspace, text: str) -> tuple[ProgramInput, ...]:
    """Run the function in the copy, and return the inputs that it yields. Raises TuneError."""
    file, name = split_inputs_function(text)
    program = workspace.program
    target = str(workspace.current_folder_in_copy / file) if file else program.target
    if not Path(target).is_file():
        raise TuneError(f"there is no file {quote_short(file or program.target)} with a function of inputs")
    workspace.doing = "the inputs"
    ended = workspace.run_by(LISTED_INPUTS_MODULE, replace(program, target=target, function=name))
    if isinstance(ended, FailedRun):
        raise TuneError(f"the inputs cannot be listed: {ended.reason}")
    found: list[tuple[str, ...]] = ended.result
    if not found:
        raise TuneError(
            f"{name} yields no input; let it yield the arguments of a run, such as ['--size', '8']"
        )
    return tuple(ProgramInput((*program.argv, *words)) for words in found)


def main(program_file: str, result_file: str) -> None:
    """Write what a function yields into a file."""
    todo = read_program(program_file)
    sys.path.insert(0, str(Path(todo.target).parent))
    sys.argv[:] = [todo.target, *todo.argv]
    names = runpy.run_path(todo.target, run_name=MODULE_NAME)
    function: Any = names.get(todo.function)
    if not callable(function):
        raise SystemExit(f"{Path(todo.target).name} defines no function {todo.function}")
    found: Iterable[Any] = function()
    inputs = [words_of(each) for each in islice(found, MAX_INPUTS)]
    Path(result_file).write_bytes(pickle.dumps(inputs))


def words_of(given: Any) -> tuple[str, ...]:
    """Return the arguments of one run: of a list each item as text, of anything else its text."""
    if isinstance(given, (list, tuple)):
        return tuple(str(word) for word in given)
    return (str(given),)
