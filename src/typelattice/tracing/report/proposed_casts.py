"""The casts of a remedy as changes of source lines: the text of an expression, and what takes its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from typelattice.calls.step import Created, Input, SourceLocation
from typelattice.facts.dtypes import DType
from typelattice.facts.libraries import libraries
from typelattice.tracing.findings.checked_run import CheckedRun
from typelattice.tracing.findings.suggested_casts import Casting, stop
from typelattice.tracing.findings.widening_causes import Cause
from typelattice.tracing.libraries import cast_text
from typelattice.tracing.report.sentences import operand_text

ATOM = re.compile(r"[\w.]+(?:[(\[][^()\[\]]*[)\]])?")
"""A name, or a call or an element without others inside: a method may follow it without parentheses."""


@dataclass(frozen=True, slots=True)
class ProposedCast:
    """An expression at a source location, and the text that casts it."""

    location: SourceLocation
    before: str
    after: str

    def apply(self, line: str) -> str:
        """Change a source line; return it as it is if the expression does not stand there exactly once."""
        return line.replace(self.before, self.after) if line.count(self.before) == 1 else line


def proposed_casts(checked: CheckedRun, cause: Cause) -> Iterator[ProposedCast]:
    """Yield the casts that stop a cause, each once; nothing if no replay found any."""
    found = stop(checked, cause)
    if found is not None:
        casts = (
            _cast(checked, of, at, found.target)
            for each in found.casts
            for of, at in _places(checked, cause, each)
        )
        yield from dict.fromkeys(each for each in casts if each is not None)


def _places(checked: CheckedRun, cause: Cause, casting: Casting) -> Iterator[tuple[int, int]]:
    """Yield the step to cast, and the step whose source it stands in: for a parameter, those that take it."""
    of = casting.of
    if casting.at is not None:
        yield of, casting.at
    elif isinstance(checked.steps[of], Input) and not checked.steps[of].text.endswith(")"):
        yield from ((of, at) for at in cause.widening if of in checked.inputs[at])
    else:
        yield of, of


def _cast(checked: CheckedRun, of: int, taker: int, target: DType) -> ProposedCast | None:
    """Write the cast of a step in the source of another; None if its place is not known."""
    step, at = checked.steps[of], checked.steps[taker]
    if at.location is None:
        return None
    before = step.text if at is step else operand_text(checked, of, at)
    dtype = _dtype_text(checked.run.sources.get(at.location.file, ""), at.owner or "", target)
    if at is step and isinstance(step, Created) and step.dtype is None and before.endswith(")"):
        return ProposedCast(at.location, before, f"{before[:-1]}, dtype={dtype})")
    array = before if ATOM.fullmatch(before) else f"({before})"
    return ProposedCast(at.location, before, cast_text(at.owner or "", array, dtype))


def _dtype_text(source: str, library: str, target: DType) -> str:
    """Write a dtype as a source does that imports the library; else in quotation marks."""
    for module in libraries()[library].modules if library in libraries() else ():
        found = re.search(rf"(?m)^\s*import {re.escape(module)}(?: as (\w+))?\s*$", source)
        if found:
            return f"{found[1] or module}.{target.name}"
    return f'"{target.name}"'
