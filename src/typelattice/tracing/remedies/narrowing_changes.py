"""Changes of the source that may keep floats narrow, at the places that decide a wide dtype."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from typelattice.programs.calls.steps import Cast, Created
from typelattice.tracing.findings.predicted_run import PredictedRun
from typelattice.tracing.findings.widening_causes import WideningCause
from typelattice.tracing.remedies.change import Change, edits_overlap
from typelattice.tracing.remedies.changes_at_objects import (
    is_array_of_object,
    propose_at_object,
    propose_numbers,
)
from typelattice.tracing.remedies.changes_where_made import (
    SIZED_OPERATIONS,
    propose_at_later_results,
    propose_like_array_at_hand,
    propose_where_made,
)
from typelattice.tracing.remedies.changes_where_met import (
    propose_plain_constants,
    propose_to_callers,
    propose_where_met,
)
from typelattice.tracing.remedies.lasting_arrays import is_lasting
from typelattice.tracing.remedies.step_node import StepNode
from typelattice.tracing.run_data.float_widths import dtype_width, is_integer
from typelattice.tracing.source.source_file import SourceFile

POSITION_OPERATIONS = {"arange"}  # a narrow float does not hold all positions
SHORT_WIDTH = 16  # bits of a float that does not hold all integers up to a few thousand
MAX_WIDENINGS = 40  # steps that widen because of one cause, where casts are tried
MAX_WIDENING_NODES = 4  # expressions of these steps
MAX_COMBINED = 4  # changes at each of two places that are tried together
FILLING_OPERATIONS = SIZED_OPERATIONS | {"zeros_like", "ones_like", "full_like", "empty_like"}


def propose_narrowing_changes(
    predicted_run: PredictedRun, cause: WideningCause, sources: Mapping[str, SourceFile]
) -> Iterator[Change]:
    """Yield the changes that may remove a cause, the best first, all within the given sources.

    A cast stands where the narrow array meets the wide one. Only an array that this place uses as it was
    made, or writes into, may be made narrow at once. Never made narrow are constants of a module or a class,
    positions, and state that an object keeps. Each place has several forms, the idiomatic ones first.
    """
    first, steps = cause.origin_steps[0], predicted_run.steps
    origin = StepNode.find(predicted_run, first, sources)
    widenings = _list_widenings(predicted_run, cause, sources)
    plain: list[Change] = []
    if origin is not None and is_lasting(origin):
        plain = [change for at in widenings for change in propose_plain_constants(at, origin)]
        origin = None
    near = origin is not None and bool(widenings) and origin.scope is widenings[0].scope
    # a function that widens by itself gets narrow operands, or its result is cast
    near = near and (isinstance(steps[first], Cast) or first != cause.step)
    of_objects = [at for at in (origin, *widenings) if at is not None and is_array_of_object(steps[at.step])]
    for at in of_objects:
        yield from propose_numbers(at, cause)
    origin = None if origin in of_objects else origin
    widenings = [at for at in widenings if at not in of_objects]
    made = (
        [*propose_where_made(origin, cause, widenings[0] if widenings else None, sources)]
        if origin is not None and not _stays_wide(predicted_run, cause)
        else []
    )
    widenings = [at for at in widenings if not isinstance(steps[at.step], Cast)]
    met = [change for at in widenings for change in propose_where_met(at, cause)]
    found: list[Change] = plain
    if origin is not None and not near and made:
        found += propose_like_array_at_hand(origin, cause)
    if near:
        found += [*made, *met, *_combine(made, met)]
    else:
        found += met
    found += [change for at in widenings for change in propose_to_callers(at, cause, sources)]
    found += [*made, *(change for at in of_objects for change in propose_at_object(at, cause))]
    found += [*propose_at_later_results(predicted_run, cause, sources)]
    yield from dict.fromkeys(found)


def _list_widenings(
    predicted_run: PredictedRun, cause: WideningCause, sources: Mapping[str, SourceFile]
) -> list[StepNode]:
    """List the first expressions that widen because of a cause."""
    found = (StepNode.find(predicted_run, i, sources) for i in cause.widening_steps[:MAX_WIDENINGS])
    by_node = {at.node: at for at in reversed([at for at in found if at is not None])}
    return [*reversed(by_node.values())][:MAX_WIDENING_NODES]


def _stays_wide(predicted_run: PredictedRun, cause: WideningCause) -> bool:
    """Return True for positions, and for arrays that more is computed from, such as angles.

    Integers that become floats, such as the timestep `t.float() / 1000`, are positions to a float of 16 bits.
    """
    first = cause.origin_steps[0]
    step = predicted_run.steps[first]
    is_used_at_once = any(first in predicted_run.inputs[i] for i in cause.widening_steps)
    computes_more = isinstance(step, Created) and step.op not in FILLING_OPERATIONS and not is_used_at_once
    is_short = (dtype_width(cause.narrow_dtype) or 0) <= SHORT_WIDTH
    converts = isinstance(step, Cast) and any(is_integer(predicted_run.result_of(i)) for i in step.inputs)
    is_position = step.op in POSITION_OPERATIONS or (is_short and converts and not is_used_at_once)
    return computes_more or is_position


def _combine(made: Sequence[Change], met: Sequence[Change]) -> Iterator[Change]:
    """Yield changes of both lines of a remedy: where an array is made, and what is written into it."""
    for a in made[:MAX_COMBINED]:
        for b in met[:MAX_COMBINED]:
            if a.file == b.file and not edits_overlap((*a.edits, *b.edits)):
                yield Change(a.file, a.line, (*a.edits, *b.edits), (*a.casts, *b.casts))
