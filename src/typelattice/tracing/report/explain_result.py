"""Why a result has its dtype: the chain of steps back to the one that decided it, and the remedy."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from typelattice.base.errors.error_texts import clip_text, spelling_hint
from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.rendering.paragraphs import Layout
from typelattice.core.dtypes.dtypes import DType
from typelattice.tracing.findings.dtype_chain import find_dtype_chain
from typelattice.tracing.findings.predicted_run import PredictedRun, predict_run
from typelattice.tracing.findings.widening_causes import find_causes
from typelattice.tracing.report.formatting import count_text, location_text
from typelattice.tracing.report.html_elements import escape_text, write_element
from typelattice.tracing.report.sentences import cause_sections, describe_step
from typelattice.tracing.run_data.run import Run

LINE_PATTERN = re.compile(r"(?:(?P<file>.+):)?(?P<line>\d{1,9})")
MAX_NAMED_RESULTS = 8  # results that an error lists


class ResultError(TypelatticeError, LookupError):
    """The error of a name or a line without a result in a run."""

    __module__ = "typelattice"


@dataclass(frozen=True, slots=True)
class ChainLink:
    """A step of a chain: its place as `file.py:12`, its text, and its action."""

    location: str
    text: str
    deed: str


@dataclass(frozen=True, slots=True)
class Why:
    """The steps from a result back to the one that decided its dtype, the result's own step first.

    `remedy` is the same as in the report of the run. It is empty if the result was not widened.
    """

    name: str
    dtype: DType | None
    steps: tuple[ChainLink, ...]
    remedy: tuple[str, ...] = ()

    def lines(self, width: int = 80) -> Iterator[str]:
        """Write the answer in lines."""
        page = Layout(width)
        yield page.bold(f"{self.name} is {self.dtype}")
        for number, link in enumerate(self.steps):
            heading = "because" if number == 0 else "from"
            yield page.join_columns(heading, [f"{link.location}: {link.text}", link.deed], 10)
        if self.remedy:
            yield page.join_columns("remedy", self.remedy, 10)

    def __repr__(self) -> str:
        return f"<why {self.name} is {self.dtype}: {count_text(len(self.steps), 'step')}; print it>"

    def _repr_html_(self) -> str:
        return write_element("pre", "\n".join(map(escape_text, str(self).split("\n"))))

    def __str__(self) -> str:
        """Return the answer as text."""
        return "\n".join(self.lines())


def explain_result(run: Run, name: str) -> Why:
    """Explain the dtype of a result, given by its name, or as the last step at a line: `12` or `file.py:12`.

    Raises ResultError if the run has no such result.
    """
    i = _find_step(run, name)
    checked = predict_run(run)
    links = find_dtype_chain(checked, i)
    steps = tuple(
        ChainLink(location_text(checked.steps[j].location), checked.steps[j].text, describe_step(checked, j))
        for j in links
    )
    own = checked.result_of(i)
    return Why(name, own.dtype if own else None, steps, _describe_remedy(checked, links))


def _find_step(run: Run, name: str) -> int:
    if type(name) is not str:
        raise ResultError(f"a result has a name, not an object of type {type(name).__name__}; give a text")
    found = run.results.get(name)
    if found is not None:
        return found
    if asked := LINE_PATTERN.fullmatch(name):
        last = _find_last_step(run, asked["file"], int(asked["line"]))
        if last is not None:
            return last
        near = spelling_hint(name, _name_places(run, int(asked["line"]))) if asked["file"] else ""
        what = f"no array was computed at line {clip_text(name, 80)}{near}"
        raise ResultError(f"{what}; see the lines of the report")
    raise ResultError(_describe_unknown(name, run.results))


def _name_places(run: Run, line: int) -> list[str]:
    """Return `file.py:12` for each file with a step at a line."""
    places = [step.location for step, _ in run if step.location is not None]
    return [*dict.fromkeys(f"{os.path.basename(at.file)}:{line}" for at in places if at.line == line)]


def _find_last_step(run: Run, file: str | None, line: int) -> int | None:
    """Find the last step at a line of a file. The end of the file's path is enough to name it."""
    found = None
    for i, (step, seen) in enumerate(run):
        at = step.location
        if at is not None and at.line == line and seen.count and (file is None or at.file.endswith(file)):
            found = i
    return found


def _describe_unknown(name: str, results: Mapping[str, int]) -> str:
    what = f"no array of the run is named {clip_text(name, 80)!r}"
    if close := spelling_hint(name, results):
        return f"{what}{close}"
    if not results:
        return f"{what}: none is bound to a name in the end; name a line, such as 12 or file.py:12"
    listed = ", ".join([*results][:MAX_NAMED_RESULTS])
    return f"{what}; there are {listed}{', ...' if len(results) > MAX_NAMED_RESULTS else ''}, or name a line"


def _describe_remedy(predicted_run: PredictedRun, links: tuple[int, ...]) -> tuple[str, ...]:
    """Return the remedy for the cause that made the results of a chain wide, or nothing without a cause."""
    for cause in find_causes(predicted_run):
        if not {*cause.origin_steps}.isdisjoint(links):
            return tuple(dict(cause_sections(predicted_run, cause))["remedy"])
    return ()
