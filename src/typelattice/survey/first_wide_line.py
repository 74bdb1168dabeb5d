"""The first line of a package that made a result wide, by a trace of the call."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from typelattice.calls.step import Cast
from typelattice.facts.libraries import library_of
from typelattice.facts.suggestions import clip_text
from typelattice.tracing.findings.chain import chain
from typelattice.tracing.findings.checked_run import CheckedRun, check_run
from typelattice.tracing.findings.widening_causes import causes
from typelattice.tracing.front.function import trace

LONGEST = 100  # characters of a line's text
NARROW_BITS = 32
NAMED_DTYPE = re.compile(r"float|double|complex|['\"][dDfFcg]\d*['\"]")


@dataclass(frozen=True, slots=True)
class WideLine:
    """A line that made floats wide: its file from the package on, its number, its text."""

    file: str
    line: int
    text: str


def first_wide_line(
    repeat: Callable[[], Any], wide: Sequence[str], package: str
) -> WideLine | str:
    """Repeat a call and find the first line that made a result wide; else return why there is none."""
    root = package.partition(".")[0]
    if library_of(root) is not None:
        return f"operations of {root} are the smallest steps that a trace knows"
    modules = _modules_run(repeat, root)
    if not modules:
        return "no line of Python is run: the function is compiled"
    with trace(package=modules) as followed:
        result = repeat()
        if not hasattr(result, "dtype") and not isinstance(result, (tuple, list, dict)):
            result = {name.removeprefix("result."): _part(result, name) for name in wide}
    checked = check_run(followed.run)
    names = [name for name in followed.run.results if name.startswith("result")]
    earliest = sorted(causes(checked), key=lambda cause: cause.at)
    for name in sorted(names, key=lambda name: (name not in wide, name)):
        i = followed.run.results[name]
        if (checked.widths[i] or 0) <= NARROW_BITS:
            continue
        links = chain(checked, i)
        if _follows_other(checked, links[-1]):
            earlier = [cause for cause in earliest if cause.at < links[-1]]
            links = (*links, *(step for cause in earlier[:1] for step in (cause.at, *cause.first)))
        if found := _line(checked, links, root):
            return found
    for cause in earliest:
        if found := _line(checked, (cause.at, *cause.first), root):
            return found
    return "the wide floats come from compiled code, or from code that a trace does not follow"


def _follows_other(checked: CheckedRun, i: int) -> bool:
    """Tell whether a step casts to a dtype that it does not name, so that an earlier line decided it."""
    step = checked.steps[i]
    return isinstance(step, Cast) and not NAMED_DTYPE.search(step.text)


def _part(result: Any, name: str) -> Any:
    """Return a public attribute of an object that is a result."""
    return getattr(result, name.removeprefix("result.").partition(".")[0].partition("[")[0], None)


def _line(checked: CheckedRun, steps: Sequence[int], root: str) -> WideLine | None:
    """Return the place of the last step that has one in the package: the one that decided."""
    for i in reversed(steps):
        step = checked.steps[i]
        if step.location is not None:
            file = step.location.file.replace(os.sep, "/")
            at = file.rfind(f"/{root}/")
            if at >= 0:
                text = clip_text(" ".join(step.text.split()), LONGEST)
                return WideLine(file[at + 1 :], step.location.line, text)
    return None


def _modules_run(repeat: Callable[[], Any], root: str) -> tuple[str, ...]:
    """Repeat a call and list the modules of a package whose functions it runs."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, arg: Any) -> None:
        name = frame.f_globals.get("__name__")
        if event == "call" and isinstance(name, str) and name.partition(".")[0] == root:
            found.add(name)

    sys.setprofile(note)
    try:
        repeat()
    finally:
        sys.setprofile(None)
    return tuple(sorted(found))
