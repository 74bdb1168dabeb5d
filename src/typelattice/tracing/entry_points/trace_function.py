"""A function that is called once and followed, with the functions of its module."""

from __future__ import annotations

import inspect
import marshal
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any, overload

from typelattice.base.objects.strange_objects import refuse_strange
from typelattice.core.system_files.reader import system as find_system
from typelattice.programs.program.program import AnySystem
from typelattice.tracing.compiled.histories import Histories
from typelattice.tracing.entry_points.followed_block import FollowedBlock
from typelattice.tracing.entry_points.followed_functions import Traced, TraceError, follow_function
from typelattice.tracing.record.child_runs import ChildRuns, ChildSettings
from typelattice.tracing.record.compiler_switches import CompilerSwitches
from typelattice.tracing.record.recorder import Recorder
from typelattice.tracing.record.value_loss_witness import ValueChecks
from typelattice.tracing.record.witness import FollowedModule, LazyWitness
from typelattice.tracing.report.explain_result import Why, explain_result

RESULT_NAME = "result"
"""The name of a traced function's result. A part of it is `result[0]`, or `result['name']`."""


@overload
def trace(*, systems: Sequence[AnySystem] = (), package: str | Sequence[str] = ()) -> FollowedBlock: ...


@overload
def trace(
    function: Callable[..., Any], /, *args: Any, systems: Sequence[AnySystem] = (), **named: Any
) -> Traced: ...


def trace(
    function: Callable[..., Any] | None = None,
    /,
    *args: Any,
    systems: Sequence[AnySystem] = (),
    **named: Any,
) -> Traced | FollowedBlock:
    """Call a function, follow it and other functions of its module, and replay the run under systems.

    If no function is given, it is a context: `with trace(package="mypkg") as run:` follows the calls of the
    block.

    Raises TraceError if the object is not a Python function, runs only after its call or has no source.
    Raises UnknownSystemError or FormatError if a system cannot be read. An error of the function itself is
    passed on.

    >>> import numpy as np
    >>> from typelattice import trace
    >>> def scaled(x):
    ...     return x * np.float64(0.5)
    >>> traced = trace(scaled, np.ones(3, "float32"), systems=["torch"])
    >>> run = traced.run
    >>> run.program.steps[-1].text, run.observations[-1].operand.dtype, run.under("torch").dtype
    ('x * np.float64(0.5)', float64, float32)
    """
    systems = (systems,) if isinstance(systems, str) else systems
    for each in systems:
        find_system(each)
    if function is None and not args and {*named} <= {"package"}:
        packages = named.get("package", ())
        return FollowedBlock((packages,) if isinstance(packages, str) else tuple(packages), tuple(systems))
    return trace_call(function, args, named, systems)


def trace_call(
    function: Callable[..., Any] | None,
    args: Sequence[Any],
    keywords: Mapping[str, Any],
    systems: Sequence[AnySystem] = (),
    values: bool | ValueChecks = False,
) -> Traced:
    """Call a function and follow it, as `trace` does. Check values on request. Raises TraceError."""
    refuse_strange(function, TraceError, "give a Python function")
    inner = inspect.unwrap(function) if callable(function) else function
    if isinstance(inner, MethodType):
        inner = inner.__func__
    if not isinstance(inner, FunctionType):
        what = f"an object of type {type(inner).__name__}"
        raise TraceError(f"{what} is no Python function; give one that calls it, such as lambda x: f(x)")
    if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
        what = f"{inner.__qualname__} is a generator, which runs after it was called"
        raise TraceError(f"{what}; give a function that makes a list of it")
    if inspect.iscoroutinefunction(inner):
        what = f"{inner.__qualname__} is a coroutine, which runs after it was called"
        raise TraceError(f"{what}; give a function that runs it with asyncio.run")
    recorder, switches = Recorder(values), CompilerSwitches()
    module = inner.__module__
    child_runs = ChildRuns(recorder, ChildSettings(() if module == "__main__" else (module,)))
    histories = Histories(recorder.histories)
    with follow_function(inner, recorder), switches, recorder.child_process_counter, child_runs, histories:
        assert function is not None  # only an object with an inner function comes here
        result = function(*args, **keywords)
        compiler = recorder.compiler_of[type(function)]
        if compiler is not None:
            at = make_witness(inner, recorder, keywords)
            recorder.compiled_calls.add_call(at, compiler, function, (*args, *keywords.values(), result))
    recorder.name_results({RESULT_NAME: result})
    recorder.is_following = False
    return Traced(result, child_runs.merge_child_runs(recorder.build_run()), tuple(systems))


def why(traced: Traced | FollowedBlock, result: str = RESULT_NAME) -> Why:
    """Explain why a result of a traced function has its dtype: the steps back to the one that decided it.

    `result` is also `result[0]` or `result['name']`, a part of it, or a line such as `12` or `file.py:12`.
    Raises ResultError if the run has no such array.

    >>> import numpy as np
    >>> from typelattice import trace, why
    >>> def scaled(x):
    ...     y = x * np.float64(0.5)
    ...     return y + 1
    >>> answer = why(trace(scaled, np.ones(3, "float32")))
    >>> answer.dtype, [step.text for step in answer.steps]
    (float64, ['y + 1', 'x * np.float64(0.5)', 'np.float64(0.5)'])
    """
    if type(traced) not in (Traced, FollowedBlock):
        what = f"an object of type {type(traced).__name__} is no traced call"
        raise TraceError(f"{what}; give what tl.trace(f, x) returns, or _ after a cell with %%dtypes")
    return explain_result(traced.run, result)


def make_witness(function: FunctionType, recorder: Recorder, packages: Iterable[str]) -> LazyWitness:
    """Build the witness for the call of the function itself, with the names of its named arguments."""
    line = function.__code__.co_firstlineno
    row = marshal.dumps((line, 0, line, 0, "", tuple(packages), (), ()))
    return LazyWitness(FollowedModule(recorder, function.__code__.co_filename, [row]), 0)
