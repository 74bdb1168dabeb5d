"""A program that is run and traced in its own process, and the data that it sends back."""

from __future__ import annotations

import gc
import io
import os
import pickle
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.core.operands.adapters import native
from typelattice.repair.copies.kept_values import (
    KeptValue,
    list_bound_values,
    list_file_states,
    list_saved_values,
)
from typelattice.repair.copies.program_to_run import ProgramToRun, load_function, read_program
from typelattice.repair.proof.operation_noise import OperationNoise
from typelattice.repair.proof.step_values import StepValues, ValuesByStep
from typelattice.tracing.entry_points.script import EndedScript, run_script
from typelattice.tracing.entry_points.trace_function import trace_call
from typelattice.tracing.models.departures import list_departing_lines
from typelattice.tracing.run_data.model_run import ModelQuestions, ModelRun
from typelattice.tracing.run_data.operation_log import OperationLog
from typelattice.tracing.run_data.policy import read_policy
from typelattice.tracing.run_data.run import Run

WIDE_DTYPE = "float64"


@dataclass(frozen=True, slots=True)
class TracedRun:
    """The run of a program, its exit status, and the values that it bound to names or saved in files.

    For a pytest run, `test_outcomes` has the outcome of each test, and `failures` the message of each failed
    one. `followed_files` are also those of which nothing is in the run.
    """

    run: Run
    status: int | None
    values: Mapping[str, KeptValue]
    test_outcomes: Mapping[str, str] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    step_values: ValuesByStep = field(default_factory=dict)
    followed_files: tuple[str, ...] = ()


def main(program_file: str, result_file: str) -> None:
    """Run a program that a file describes, and write the result into another file."""
    todo = read_program(program_file)
    cache = Path(result_file).parent / "compiled"
    files = list_file_states(todo.copy_folder)
    steps = StepValues() if todo.records_steps else None
    checks = steps or (OperationNoise(DTYPES[todo.noise_dtype]) if todo.noise_dtype else False)

    def save_result(ended: EndedScript) -> None:
        values = {**list_bound_values(ended.names), **list_saved_values(todo.copy_folder, files)}
        followed = tuple(ended.followed or ended.run.sources)
        ran = TracedRun(
            _without_log(ended.run), ended.status, values, step_values=steps.values if steps else {},
            followed_files=followed,
        )  # fmt: skip
        Path(result_file).write_bytes(pickle.dumps(ran))

    if todo.runs_tests:
        # only tests need this, and it needs pytest
        from typelattice.tracing.entry_points.pytest_run import run_tests

        run, found = run_tests(todo.argv, todo.packages, cache, todo.replaced_contents)
        warned = tuple(sorted(found.warnings))
        ran = TracedRun(run, 0, {}, found.outcomes, found.failures, warned)
        Path(result_file).write_bytes(pickle.dumps(ran))
    elif todo.function:
        function, args, named = _load_widened_function(todo)
        traced = trace_call(function, args, named, values=checks)
        save_result(EndedScript(traced.run, 0, names={"result": traced.result}))
    else:
        patched = {
            **todo.replaced_contents,
            **({todo.target: todo.wide_content} if todo.has_wide_input else {}),
        }
        given = todo.target, todo.argv, todo.packages, todo.as_module, cache
        save_result(
            run_script(
                *given,
                before_os_exit=save_result,
                replaced_contents=patched,
                values=checks,
                project=str(todo.copy_folder) if todo.follows_project else "",
                models=ModelQuestions(read_policy(todo.policy)) if todo.policy else None,
            )
        )


def _without_log(run: Run) -> Run:
    """Compare a run with its policy, and keep the lines that depart in place of the log."""
    policy = run.model.questions.policy if run.model is not None else None
    if run.model is None or policy is None:
        return run
    lines = list_departing_lines(run.model.log, policy)
    return replace(run, model=ModelRun(OperationLog(), departing_lines=lines))


def serve() -> None:
    """Run programs, each in a fork of this process, which has already imported the modules that all need.

    A line on standard input names the file of the program, the file for its result, its two streams, its
    folder, and the module whose `main` runs it. The answer is a line with the exit status. The process ends
    when standard input is closed.
    """
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    for line in io.FileIO(os.dup(0), closefd=True):
        program, out, printed, errors, folder, runner, *modules = pickle.loads(bytes.fromhex(line.decode()))
        for module in modules:
            __import__(module)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python 3.12 warns if a library has started threads
            pid = os.fork()
        if pid == 0:
            answers.close()
            gc.freeze()  # at its end, Python looks through all objects, also those that the runs share
            for number, path in enumerate((os.devnull, printed, errors)):
                os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), number)
            os.chdir(folder)
            import_module(runner).main(program, out)
            return
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        try:
            answers.write(f"{status}\n")
        except BrokenPipeError:  # the search was killed, so nobody reads
            os._exit(1)


def _load_widened_function(
    program: ProgramToRun,
) -> tuple[Callable[..., Any], Sequence[Any], Mapping[str, Any]]:
    """Find the function and its arguments, which are made wide on request."""
    found, args, named = load_function(program)
    if program.has_wide_input:
        args, named = [widen_array(x) for x in args], {key: widen_array(x) for key, x in named.items()}
    return found, args, named


def widen_array(value: Any) -> Any:
    """Cast an array of narrower floats to float64. Return anything else as it is."""
    if not str(getattr(value, "dtype", "")).rpartition(".")[2].startswith(("float", "bfloat")):
        return value
    cast = getattr(value, "astype", None) or getattr(value, "to", None)
    return value if cast is None else cast(native(WIDE_DTYPE, type(value).__module__.partition(".")[0]))
