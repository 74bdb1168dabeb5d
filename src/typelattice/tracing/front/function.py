"""A function that is called once and followed, with the functions of its module."""

from __future__ import annotations

import gc
import inspect
import linecache
import marshal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from json import dumps
from types import CodeType, FunctionType, MethodType
from typing import Any

from typelattice.facts.errors import TypelatticeError
from typelattice.files.reader import system as find_system
from typelattice.programs.program import AnySystem
from typelattice.tracing.record.importing import Compiler
from typelattice.tracing.record.recorder import Recorder
from typelattice.tracing.record.uncompiled import Switches
from typelattice.tracing.record.witness import LazyWitness, Module
from typelattice.tracing.report.plain_data import run_data
from typelattice.tracing.report.report import report
from typelattice.tracing.report.why import Why, explain_result
from typelattice.tracing.run_data.run import Run

RESULT = "result"
"""The name of what a traced function gave. A part of it is `result[0]`, or `result['name']`."""


class TraceError(TypelatticeError, TypeError):
    """The error of an object that cannot be traced: no function, or a function without its source."""


@dataclass(frozen=True, slots=True)
class Traced:
    """A function's result, the run that gave it, and the systems under which that is replayed.

    >>> import numpy as np
    >>> from typelattice import trace
    >>> def twice(x):
    ...     return x + x
    >>> trace(twice, np.ones(2, "int8")).result
    array([2, 2], dtype=int8)
    """

    result: Any
    run: Run = field(repr=False)
    systems: tuple[AnySystem, ...] = ()

    def __str__(self) -> str:
        """The report."""
        return "\n".join(report(self.run, self.systems))

    def _repr_html_(self) -> str:
        """The report as HTML, which notebooks show."""
        from typelattice.tracing.report.html import whole

        return whole(self.run, self.systems)

    def to_json(self) -> str:
        """The run as a JSON text."""
        return dumps(run_data(self.run, self.systems), indent=1)


def trace(
    function: Callable[..., Any], /, *args: Any, systems: Sequence[AnySystem] = (), **named: Any
) -> Traced:
    """Call a function, follow it and the others of its source file, and replay the run under systems.

    Raise TraceError for an object that is no Python function, runs only after its call or has no source.
    Raise UnknownSystemError or FormatError for a system. An error of the function itself is passed on.

    >>> import numpy as np
    >>> from typelattice import trace
    >>> def scaled(x):
    ...     return x * np.float64(0.5)
    >>> traced = trace(scaled, np.ones(3, "float32"), systems=["torch"])
    >>> traced.run.program.steps[-1].text, traced.run.seen[-1].operand.dtype, traced.run.under("torch").dtype
    ('x * np.float64(0.5)', float64, float32)
    """
    systems = (systems,) if isinstance(systems, str) else systems
    for each in systems:
        find_system(each)
    inner = inspect.unwrap(function) if callable(function) else function
    if isinstance(inner, MethodType):
        inner = inner.__func__
    if not isinstance(inner, FunctionType):
        kind = type(inner).__name__
        raise TraceError(f"a {kind} is no Python function; give one that calls it, such as lambda x: f(x)")
    if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
        what = f"{inner.__qualname__} is a generator, which runs after it was called"
        raise TraceError(f"{what}; give a function that makes a list of it")
    if inspect.iscoroutinefunction(inner):
        what = f"{inner.__qualname__} is a coroutine, which runs after it was called"
        raise TraceError(f"{what}; give a function that runs it with asyncio.run")
    recorder, switches = Recorder(), Switches()
    with followed(inner, recorder), switches, recorder.children:
        result = function(*args, **named)
        compiler = recorder.compiles[type(function)]
        if compiler is not None:
            at = witness(inner, recorder, named)
            recorder.compiled_calls.call(at, compiler, function, (*args, *named.values(), result))
    recorder.name_results({RESULT: result})
    recorder.following = False
    return Traced(result, recorder.run(), tuple(systems))


def why(traced: Traced, result: str = RESULT) -> Why:
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
    return explain_result(traced.run, result)


@contextmanager
def followed(function: FunctionType, recorder: Recorder) -> Iterator[None]:
    """Within, the functions of a function's source file have rewritten code. Raises TraceError."""
    file = function.__code__.co_filename
    code = _rewritten(function, file, recorder)
    by_place = {_place(c): c for c in _inner(code)}
    before: list[tuple[FunctionType, CodeType]] = []
    for each in _functions(function):
        new = by_place.get(_place(each.__code__))
        if new is not None and new.co_freevars == each.__code__.co_freevars:
            before.append((each, each.__code__))
    if not any(each is function for each, _ in before):
        if file == "<string>":  # from eval or exec: from Python 3.13 on, what `-c` ran has that name as well
            raise _no_source(function)
        what = f"the source of {function.__qualname__} is not as it was when it was defined"
        raise TraceError(f"{what}; import it again")
    try:
        for each, old in before:
            each.__code__ = by_place[_place(old)]
        yield
    finally:
        for each, old in before:
            each.__code__ = old


def witness(function: FunctionType, recorder: Recorder, named: Iterable[str]) -> LazyWitness:
    """Build the witness for the call of the function itself, which passes arguments of some names."""
    line = function.__code__.co_firstlineno
    row = marshal.dumps((line, 0, line, 0, "", tuple(named), (), ()))
    return LazyWitness(Module(recorder, function.__code__.co_filename, [row]), 0)


def _rewritten(function: FunctionType, file: str, recorder: Recorder) -> CodeType:
    """The rewritten code of a function's source file."""
    text = "".join(linecache.getlines(file, function.__globals__))
    if not text:
        raise _no_source(function)
    name = function.__module__ or file
    found = Compiler(recorder).code(name, file, text.encode())
    if found is None:
        why = recorder.left_alone[name]
        raise TraceError(f"{file} cannot be followed: {why}; trace a function of another file")
    return found


def _no_source(function: FunctionType) -> TraceError:
    return TraceError(f"the source of {function.__qualname__} is not there; define it in a file")


def _functions(function: FunctionType) -> Iterator[FunctionType]:
    """The function, and those of the same file and module that exist by now."""
    yield function
    for each in gc.get_objects():
        if (
            type(each) is FunctionType
            and each is not function
            and each.__code__.co_filename == function.__code__.co_filename
            and each.__globals__ is function.__globals__
        ):
            yield each


def _inner(code: CodeType) -> Iterator[CodeType]:
    """The codes of all functions in a module's code."""
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from _inner(const)


def _place(code: CodeType) -> tuple[str, int, tuple[str, ...]]:
    """By what a function's code is known again."""
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return code.co_qualname, code.co_firstlineno, parameters
