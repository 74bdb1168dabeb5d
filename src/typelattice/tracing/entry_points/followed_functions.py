"""Functions that exist already and are followed for a while: they get rewritten code, then their own."""

from __future__ import annotations

import gc
import linecache
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from json import dumps
from types import CodeType, FunctionType
from typing import Any

from typelattice.base.errors.errors import TypelatticeError
from typelattice.programs.program.program import AnySystem
from typelattice.tracing.record.import_hook import ModuleCompiler
from typelattice.tracing.record.recorder import Recorder
from typelattice.tracing.report.run_as_data import run_data
from typelattice.tracing.report.text_report import write_report
from typelattice.tracing.rewrite.original_code import HIDDEN_CODE
from typelattice.tracing.run_data.run import Run

NewCode = tuple[FunctionType, CodeType, CodeType]  # a function, its old code and its new one


class TraceError(TypelatticeError, TypeError):
    """The error of an object that cannot be traced: not a function, or a function without its source."""

    __module__ = "typelattice"


@dataclass(frozen=True, slots=True)
class Traced:
    """A function's result, the run that gave it, and the systems that the run is replayed under.

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

    def __repr__(self) -> str:
        under = f" under {', '.join(map(str, self.systems))}" if self.systems else ""
        return f"<traced: {self.run!r}{under}; print it for the report>"

    def __str__(self) -> str:
        """Return the report."""
        return "\n".join(write_report(self.run, self.systems))

    def _repr_html_(self) -> str:
        """Return the report as HTML, which notebooks show."""
        from typelattice.tracing.report.html_report import report_html

        return report_html(self.run, self.systems)

    def to_json(self) -> str:
        """Return the run as a JSON text."""
        return dumps(run_data(self.run, self.systems), indent=1)


@contextmanager
def follow_function(function: FunctionType, recorder: Recorder) -> Iterator[None]:
    """Replace a function, and others with the same global names, by rewritten code in a block.

    They are those of its own source file, and in a notebook those of other cells. Raises TraceError.
    """
    file, names = function.__code__.co_filename, function.__globals__
    others = functions_of_namespace(names)
    own = [function, *(each for each in others if each is not function and each.__code__.co_filename == file)]
    codes = _new_codes(own, _rewritten_code(function, file, recorder))
    if not any(each is function for each, *_ in codes):
        if file == "<string>":  # the file of eval or exec, and from Python 3.13 on also of `-c`
            raise _missing_source_error(function)
        what = f"the source of {function.__qualname__} is not as it was when it was defined"
        raise TraceError(f"{what}; import it again")
    with _exchange_code(codes), follow_files(files_of_namespace(names, file), others, recorder):
        yield


def functions_of_namespace(names: Mapping[str, Any]) -> list[FunctionType]:
    """Find the functions with these global names, whatever holds them.

    The collector compares references faster than we could look through all objects of a large program.
    """
    return [
        each for each in gc.get_referrers(names) if type(each) is FunctionType and each.__globals__ is names
    ]


def files_of_namespace(names: Mapping[str, Any], excluded_file: str) -> dict[str, str]:
    """Map the files of functions with the same global names to their module, except one file.

    In a notebook each cell is a file of its own, and all share the names of `__main__`.
    """
    functions = [x for x in [*names.values()] if type(x) is FunctionType and x.__globals__ is names]
    files = {function.__code__.co_filename: function.__module__ or "__main__" for function in functions}
    files.pop(excluded_file, None)
    return files


@contextmanager
def follow_files(files: Mapping[str, str], objects: Iterable[object], recorder: Recorder) -> Iterator[None]:
    """Replace functions of some source files by rewritten code in a block. `files` has their modules."""
    functions: dict[str, list[FunctionType]] = {}
    for each in objects:
        if type(each) is FunctionType and each.__code__.co_filename in files:
            functions.setdefault(each.__code__.co_filename, []).append(each)
    codes: list[NewCode] = []
    for file, functions_of_file in functions.items():
        text = "".join(linecache.getlines(file, functions_of_file[0].__globals__))
        code = ModuleCompiler(recorder).compile_module(files[file], file, text.encode()) if text else None
        codes += _new_codes(functions_of_file, code) if code else []
    with _exchange_code(codes):
        yield


def _new_codes(functions: Iterable[FunctionType], module: CodeType) -> list[NewCode]:
    """Find the functions with rewritten code in their module, each with its old and its new code."""
    by_place: dict[object, list[CodeType]] = {}
    for code in _yield_inner_codes(module):
        by_place.setdefault(_function_key(code), []).append(code)
    found: list[NewCode] = []
    for each in functions:
        old = each.__code__
        candidates = by_place.get(_function_key(old), [])
        new = (
            candidates[0]
            if len(candidates) == 1
            else next((x for x in candidates if _body_start(x) == _body_start(old)), None)
        )
        if new is not None and new.co_freevars == old.co_freevars:
            found.append((each, HIDDEN_CODE.running_code(each), new))
    return found


@contextmanager
def _exchange_code(codes: Sequence[NewCode]) -> Iterator[None]:
    """Give functions their new code in a block."""
    try:
        for function, _, new in codes:
            HIDDEN_CODE.set_running_code(function, new)
        yield
    finally:
        for function, old, _ in codes:
            HIDDEN_CODE.set_running_code(function, old)


def _rewritten_code(function: FunctionType, file: str, recorder: Recorder) -> CodeType:
    """Return the rewritten code of a function's source file."""
    text = "".join(linecache.getlines(file, function.__globals__))
    if not text:
        raise _missing_source_error(function)
    name = function.__module__ or file
    found = ModuleCompiler(recorder).compile_module(name, file, text.encode())
    if found is None:
        why = recorder.not_followed[name]
        raise TraceError(f"{file} cannot be followed: {why}; trace a function of another file")
    return found


def _missing_source_error(function: FunctionType) -> TraceError:
    return TraceError(f"the source of {function.__qualname__} is not there; define it in a file")


def _yield_inner_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the codes of all functions in a module's code."""
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from _yield_inner_codes(const)


def _function_key(code: CodeType) -> tuple[str, int, tuple[str, ...]]:
    """Return a key that identifies the code of a function."""
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return code.co_qualname, code.co_firstlineno, parameters


def _body_start(code: CodeType) -> tuple[int, int]:
    """Return the start of a function's body, which distinguishes the lambdas of a line."""
    starts = {(line, column) for line, _, column, _ in code.co_positions() if line and column is not None}
    return min(starts - {(code.co_firstlineno, 0)}, default=(0, 0))
