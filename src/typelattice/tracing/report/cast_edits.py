"""The casts of a remedy as changes of source lines: the text of an expression, and its replacement."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from typelattice.calls.steps import Created, Input, SourceLocation
from typelattice.facts.dtypes import DType
from typelattice.facts.libraries import libraries
from typelattice.tracing.findings.cast_plans import PlannedCast, plan_casts
from typelattice.tracing.findings.predicted_run import PredictedRun
from typelattice.tracing.findings.widening_causes import WideningCause
from typelattice.tracing.library_traits import cast_text
from typelattice.tracing.report.sentences import operand_text

ATOM_PATTERN = re.compile(r"[\w.]+(?:[(\[][^()\[\]]*[)\]])?")
"""A name, or a call or an element without others inside: a method may follow it without parentheses."""


@dataclass(frozen=True, slots=True)
class ProposedCast:
    """An expression at a source location, and the text that casts it."""

    location: SourceLocation
    old_code: str
    new_code: str

    def apply_to_line(self, line: str) -> str:
        """Change a source line. Return it as it is unless the expression occurs in it exactly once."""
        return line.replace(self.old_code, self.new_code) if line.count(self.old_code) == 1 else line


def propose_casts(predicted_run: PredictedRun, cause: WideningCause) -> Iterator[ProposedCast]:
    """Yield each cast that stops a cause once. Yield nothing if no replay found a cast."""
    plan = plan_casts(predicted_run, cause)
    if plan is not None:
        casts = (
            _write_cast(predicted_run, producer, at, plan.target)
            for casting in plan.casts
            for producer, at in _list_places(predicted_run, cause, casting)
        )
        yield from dict.fromkeys(cast for cast in casts if cast is not None)


def _list_places(
    predicted_run: PredictedRun, cause: WideningCause, casting: PlannedCast
) -> Iterator[tuple[int, int]]:
    """Yield each step to cast with the step that has it in its source. A parameter has several of these."""
    producer = casting.producer
    if casting.consumer is not None:
        yield producer, casting.consumer
    elif isinstance(predicted_run.steps[producer], Input) and not predicted_run.steps[producer].text.endswith(
        ")"
    ):
        yield from ((producer, at) for at in cause.widening_steps if producer in predicted_run.inputs[at])
    else:
        yield producer, producer


def _write_cast(
    predicted_run: PredictedRun, producer: int, consumer: int, target: DType
) -> ProposedCast | None:
    """Write the cast of a step in the source of another, or return None if its place is not known."""
    step, at = predicted_run.steps[producer], predicted_run.steps[consumer]
    if at.location is None:
        return None
    before = step.text if at is step else operand_text(predicted_run, producer, at)
    dtype = _dtype_text(predicted_run.run.sources.get(at.location.file, ""), at.owner or "", target)
    if at is step and isinstance(step, Created) and step.dtype is None and before.endswith(")"):
        return ProposedCast(at.location, before, f"{before[:-1]}, dtype={dtype})")
    array = before if ATOM_PATTERN.fullmatch(before) else f"({before})"
    return ProposedCast(at.location, before, cast_text(at.owner or "", array, dtype))


def _dtype_text(source: str, library: str, target: DType) -> str:
    """Write a dtype as in a source that imports the library, or else in quotation marks."""
    for module in libraries()[library].modules if library in libraries() else ():
        found = re.search(rf"(?m)^\s*import {re.escape(module)}(?: as (\w+))?\s*$", source)
        if found:
            return f"{found[1] or module}.{target.name}"
    return f'"{target.name}"'
