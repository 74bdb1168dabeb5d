"""The first line of a package that made a result wide, by a trace of the call."""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from typelattice.base.errors.error_texts import clip_text
from typelattice.core.registry.libraries import library_of
from typelattice.programs.calls.steps import Cast, Input
from typelattice.tracing.entry_points.trace_function import trace
from typelattice.tracing.findings.dtype_chain import find_dtype_chain
from typelattice.tracing.findings.predicted_run import PredictedRun, predict_run
from typelattice.tracing.findings.widening_causes import find_causes
from typelattice.tracing.run_data.run import Run

TraceFunction = Callable[[FrameType, str, Any], Any]

MAX_LINE_CHARS = 100
NARROW_BITS = 32
MAX_CALLERS = 6
VENDORED_PATH_PATTERN = re.compile(r"/_?(extern|vendor|third_party)")
NAMED_DTYPE_PATTERN = re.compile(r"float|double|complex|['\"][dDfFcg]\d*['\"]")


@dataclass(frozen=True, slots=True)
class WideLine:
    """A line that made floats wide: its file within the package, its number, its text."""

    file: str
    line: int
    text: str


def find_first_wide_line(
    repeat_call: Callable[[], Any], wide_results: Sequence[str], package: str
) -> WideLine | str:
    """Repeat a call and find the first line that made a result wide, or return the reason why none was
    found.
    """
    root = package.partition(".")[0]
    if library_of(root) is not None:
        return f"operations of {root} are the smallest steps that a trace knows"
    modules = _list_modules_run(repeat_call, root)
    if not modules:
        return "no line of Python is run: the function is compiled"
    with trace(package=modules) as followed:
        result = repeat_call()
        if isinstance(result, tuple):
            result = (*result,)  # a trace opens no named tuples
        elif not hasattr(result, "dtype") and not isinstance(result, (list, dict)):
            result = {
                name.removeprefix("result."): _public_result_attribute(result, name) for name in wide_results
            }
    found = _find_decisive_line(followed.run, wide_results, root)
    if found is None:
        return "the wide floats come from compiled code, or from code that a trace does not follow"
    return (
        found
        if NAMED_DTYPE_PATTERN.search(found.text)
        else _find_naming_caller(repeat_call, found, root) or found
    )


def _find_decisive_line(run: Run, wide_results: Sequence[str], root: str) -> WideLine | None:
    """Find the line that decided the dtype of a wide result, or else the first that widened any float."""
    checked = predict_run(run)
    earliest = sorted(find_causes(checked), key=lambda cause: cause.step)
    names = [name for name in run.results if name.startswith("result")]
    for name in sorted(names, key=lambda name: (name not in wide_results, name)):
        i = run.results[name]
        if (checked.widths[i] or 0) <= NARROW_BITS:
            continue
        links = find_dtype_chain(checked, i)
        if _is_decided_earlier(checked, links[-1]):
            earlier = [cause for cause in earliest if cause.step < links[-1]]
            links = (*links, *(step for cause in earlier[:1] for step in (cause.step, *cause.origin_steps)))
        if found := _find_deciding_place(checked, links, root):
            return found
    lines = (_find_deciding_place(checked, (cause.step, *cause.origin_steps), root) for cause in earliest)
    return next(filter(None, lines), None)


def _is_decided_earlier(predicted_run: PredictedRun, step_number: int) -> bool:
    """Return True if an earlier line decided a step: a cast that names no dtype, or an unfollowed value."""
    step = predicted_run.steps[step_number]
    return isinstance(step, Input) or (isinstance(step, Cast) and not NAMED_DTYPE_PATTERN.search(step.text))


def _public_result_attribute(result: Any, name: str) -> Any:
    """Return a public attribute of an object that is a result."""
    return getattr(result, name.removeprefix("result.").partition(".")[0].partition("[")[0], None)


def _find_deciding_place(predicted_run: PredictedRun, steps: Sequence[int], root: str) -> WideLine | None:
    """Return the place of the last step in the package's own code: the one that decided.

    Copies of other packages within it count only if no step has another place.
    """
    copied: WideLine | None = None
    for i in reversed(steps):
        step = predicted_run.steps[i]
        file = _file_in_package(step.location.file, root) if step.location else None
        if step.location is not None and file is not None:
            line = WideLine(file, step.location.line, _shorten_line(step.text))
            if not VENDORED_PATH_PATTERN.search(file):
                return line
            copied = copied or line
    return copied


def _file_in_package(file: str, root: str) -> str | None:
    file = file.replace(os.sep, "/")
    at = file.rfind(f"/{root}/")
    if at < 0 and file.endswith(f"/{root}.py"):  # a package of one module
        at = file.rfind("/")
    return file[at + 1 :] if at >= 0 else None


def _shorten_line(text: str) -> str:
    return clip_text(" ".join(text.split()), MAX_LINE_CHARS)


def _find_naming_caller(repeat_call: Callable[[], Any], wide_line: WideLine, root: str) -> WideLine | None:
    """Repeat a call and find the caller of a line that passes a dtype on: the line that names the dtype.

    If no line names it, and the line belongs to a copy of another package, the caller is in the package's own
    code.
    """
    callers: list[WideLine] = []

    def note_calls(frame: FrameType, event: str, arg: Any) -> TraceFunction | None:
        is_there = not callers and frame.f_code.co_filename.replace(os.sep, "/").endswith(
            f"/{wide_line.file}"
        )
        return note_line if is_there else None

    def note_line(frame: FrameType, event: str, arg: Any) -> TraceFunction | None:
        if event != "line" or frame.f_lineno != wide_line.line or callers:
            return note_line
        caller = frame.f_back
        while caller is not None and len(callers) < MAX_CALLERS:
            file = _file_in_package(caller.f_code.co_filename, root)
            if file is not None:
                text = linecache.getline(caller.f_code.co_filename, caller.f_lineno)
                callers.append(WideLine(file, caller.f_lineno, _shorten_line(text)))
            caller = caller.f_back
        return note_line

    before = sys.gettrace()
    sys.settrace(note_calls)
    try:
        repeat_call()
    finally:
        sys.settrace(before)
    own = [
        each
        for each in callers
        if VENDORED_PATH_PATTERN.search(wide_line.file) and not VENDORED_PATH_PATTERN.search(each.file)
    ]
    return next((each for each in callers if NAMED_DTYPE_PATTERN.search(each.text)), own[0] if own else None)


def _list_modules_run(repeat_call: Callable[[], Any], root: str) -> tuple[str, ...]:
    """Repeat a call and list the modules of a package in which it runs functions."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, arg: Any) -> None:
        name = frame.f_globals.get("__name__")
        if event == "call" and isinstance(name, str) and name.partition(".")[0] == root:
            found.add(name)

    sys.setprofile(note)
    try:
        repeat_call()
    finally:
        sys.setprofile(None)
    return tuple(sorted(found))
