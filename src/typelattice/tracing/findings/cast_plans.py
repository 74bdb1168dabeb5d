"""The casts that keep later floats narrow, found by replaying the run with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from typelattice.calls.steps import Call, Opaque
from typelattice.facts.dtypes import DType
from typelattice.programs.replay.outcome import Outcome
from typelattice.programs.replay.replay_with_replaced_outcomes import replay_with_replaced_outcomes
from typelattice.tracing.findings.dtype_argument_origin import is_cast_at_consumer
from typelattice.tracing.findings.predicted_run import PredictedRun, source_key
from typelattice.tracing.findings.widening_causes import WideningCause, narrow_operands
from typelattice.tracing.run_data.float_widths import (
    dtype_at_width_of,
    dtype_width,
    is_integer,
    narrow_operand,
    operand_width,
)

POSITION_OPERATIONS = {"arange"}  # a narrow float does not hold all positions
MAX_CAST_ROUNDS = 8  # rounds that add casts for operands that are still wide


@dataclass(frozen=True, slots=True, order=True)
class PlannedCast:
    """A cast of the result of the step `producer`: where it is made, or only where `consumer` uses it.

    A float is cast where it is made. If another function without an array at hand made it, it is cast where a
    float meets it. So a constant stays wide for callers with wide arrays. An integer is also cast where a
    float meets it. Other steps may need the integer as an index, a shape or a count, and a run does not
    contain all of them.
    """

    producer: int
    consumer: int | None = None


@dataclass(frozen=True, slots=True)
class CastPlan:
    """Casts to one dtype, `target`, and what a replay with them found.

    `bytes` is the size of the arrays to cast. `narrow_steps` are the steps with floats that stay narrow.

    `opaque_consumers` are the opaque steps that use a narrowed array. A replay cannot predict their results
    or the results of later steps: these are `unknown_steps`. Casts that widen the narrower floats keep
    nothing narrow.
    """

    casts: tuple[PlannedCast, ...]
    target: DType
    bytes: int
    narrow_steps: tuple[int, ...]
    opaque_consumers: tuple[int, ...] = ()
    unknown_steps: tuple[int, ...] = ()


def plan_casts(predicted_run: PredictedRun, cause: WideningCause) -> CastPlan | None:
    """Find the casts of the fewest bytes that keep the most later floats narrow, or None if no cast does.

    Positions, and arrays that more is computed from, such as angles, stay wide until they meet a narrow
    float. For all others, first the operands of the widening steps are cast, then the result of the cause's
    first step. If a step still meets a wide operand, this operand is also cast. An explicitly requested wide
    dtype is taken as intended: then the narrower floats are cast to it.
    """
    if cause.meant_step is not None:  # its line stays wide, so what leaks from it is cast where it is used
        casts = {
            PlannedCast(c.producer, i)
            for i in cause.widening_steps
            for c in _cast_wide_operands(predicted_run, i, {})
        }
        return _measure_casts(predicted_run, cause, casts, _replay_with_casts(predicted_run, cause, casts))
    if not cause.is_default_dtype:
        return _plan_widening(predicted_run, cause)
    met = _plan_where_met(predicted_run, cause)
    if met is not None:
        return met
    tried = [_try_casts(predicted_run, cause, {*casts}) for casts in _list_first_casts(predicted_run, cause)]
    stopping = [t for t in tried if t.narrow_steps]
    best = min(
        stopping,
        key=lambda t: (-len(t.narrow_steps) - len(t.unknown_steps), t.bytes, len(t.casts)),
        default=None,
    )
    return best and _cast_at_consumers(predicted_run, cause, _drop_needless_casts(predicted_run, cause, best))


def _plan_where_met(predicted_run: PredictedRun, cause: WideningCause) -> CastPlan | None:
    """Plan casts only where a wide array meets a narrow one, or None if the cause needs no such plan."""
    steps = predicted_run.steps
    meets_at_once = any(
        origin == i or origin in predicted_run.inputs[i]
        for origin in cause.origin_steps
        for i in cause.widening_steps
    )
    is_position = any(steps[i].op in POSITION_OPERATIONS for i in cause.origin_steps)
    if meets_at_once and not is_position:
        return None
    casts = {
        PlannedCast(c.producer, i)
        for i in cause.widening_steps
        for c in _cast_wide_operands(predicted_run, i, {})
        if c.producer in predicted_run.inputs[i]
    }
    plan = _measure_casts(predicted_run, cause, casts, _replay_with_casts(predicted_run, cause, casts))
    return plan if plan.narrow_steps else None


def _cast_at_consumers(predicted_run: PredictedRun, cause: WideningCause, plan: CastPlan) -> CastPlan:
    """Move the casts of another function's arrays to the steps that use them, if as much stays narrow."""
    casts: set[PlannedCast] = set()
    concerned = {*cause.widening_steps, *cause.later_wide_steps}
    for c in plan.casts:
        consumers = [i for i in predicted_run.consumers[c.producer] if i in concerned]
        is_elsewhere = all(_is_made_elsewhere(predicted_run, c.producer, i) for i in consumers)
        moves = c.consumer is None and consumers and is_elsewhere
        casts |= {PlannedCast(c.producer, i) for i in consumers} if moves else {c}
    if casts == {*plan.casts}:
        return plan
    moved = _measure_casts(predicted_run, cause, casts, _replay_with_casts(predicted_run, cause, casts))
    still_kept = ({*plan.narrow_steps} | {*plan.unknown_steps}) - {c.producer for c in casts}
    return moved if moved.narrow_steps and {*moved.narrow_steps, *moved.unknown_steps} >= still_kept else plan


def _is_made_elsewhere(predicted_run: PredictedRun, producer: int, consumer: int) -> bool:
    """Return True if the source text shows that a step should be cast where another uses it."""
    return is_cast_at_consumer(
        predicted_run.steps[producer], predicted_run.steps[consumer], predicted_run.run.sources
    )


def _plan_widening(predicted_run: PredictedRun, cause: WideningCause) -> CastPlan:
    """Plan to cast the narrower floats to the wide dtype, which the program requested."""
    narrow = [p for i in cause.widening_steps for p in narrow_operands(predicted_run, i)]
    producers = {producer for p in narrow for producer in predicted_run.steps_of_same_source(p)}
    target = dtype_at_width_of(cause.narrow_dtype, cause.wide_dtype)
    return CastPlan(
        tuple(map(PlannedCast, sorted(producers))),
        target,
        sum(predicted_run.run.observations[p].bytes for p in producers),
        (),
    )


def _list_first_casts(predicted_run: PredictedRun, cause: WideningCause) -> Iterator[list[PlannedCast]]:
    """List casts to begin with: of integers that a float met, of wide operands, of the first result."""
    if {*cause.origin_steps} <= {*cause.widening_steps}:
        integers = [c for i in cause.origin_steps for c in _cast_integers(predicted_run, i)]
        if integers:
            yield integers
    operands = [c for i in cause.widening_steps for c in _cast_wide_operands(predicted_run, i, {})]
    if operands:
        yield operands
    yield [PlannedCast(i) for i in cause.origin_steps]


def _cast_integers(predicted_run: PredictedRun, step_number: int) -> list[PlannedCast]:
    return [
        PlannedCast(p, step_number)
        for p in predicted_run.inputs[step_number]
        if is_integer(predicted_run.result_of(p))
    ]


def _cast_wide_operands(
    predicted_run: PredictedRun, step_number: int, changes: Mapping[int, Outcome]
) -> list[PlannedCast]:
    """List casts of the operands that are as wide as a step's result, or of its integers if none is a float.

    `changes` has outcomes that replace those of the run.
    """
    operands = {
        p: changes[p].operand if p in changes else predicted_run.result_of(p)
        for p in predicted_run.inputs[step_number]
    }
    result_width = operand_width(
        changes[step_number].operand if step_number in changes else predicted_run.result_of(step_number)
    )
    wide = [p for p, o in operands.items() if result_width is not None and operand_width(o) == result_width]
    if not wide and changes and isinstance(predicted_run.steps[step_number], Call):
        return _cast_integers(predicted_run, step_number)
    return [
        PlannedCast(producer)
        for p in wide
        if p not in changes
        for producer in predicted_run.steps_of_same_source(p)
    ]


def _try_casts(predicted_run: PredictedRun, cause: WideningCause, casts: set[PlannedCast]) -> CastPlan:
    """Replay the run with some casts, and add casts as long as other operands widen what follows."""
    concerned = sorted({*cause.widening_steps, *cause.later_wide_steps})
    limit = dtype_width(cause.narrow_dtype) or 0
    changes = _replay_with_casts(predicted_run, cause, casts)
    for _ in range(MAX_CAST_ROUNDS):
        met = {*changes}
        unknown = _find_unknown_steps(predicted_run, concerned, changes)
        known = [i for i in concerned if i not in unknown and met & {i, *predicted_run.inputs[i]}]
        wide = (i for i in known if not _is_narrow(changes.get(i), limit))
        more = next(
            (
                wide_operands
                for i in wide
                if (wide_operands := {*_cast_wide_operands(predicted_run, i, changes)} - casts)
            ),
            None,
        )
        if not more:
            break
        changed = _replay_with_casts(predicted_run, cause, casts | more)
        if any(outcome.operand is None for outcome in changed.values()):
            break  # another step needs these operands wide
        casts, changes = casts | more, changed
    return _measure_casts(predicted_run, cause, casts, changes)


def _measure_casts(
    predicted_run: PredictedRun, cause: WideningCause, casts: set[PlannedCast], changes: Mapping[int, Outcome]
) -> CastPlan:
    """Find the steps that some casts keep narrow. Find none if the replay with them refuses a step."""
    limit = dtype_width(cause.narrow_dtype) or 0
    refused = any(outcome.operand is None for outcome in changes.values())
    concerned = () if refused else sorted({*cause.widening_steps, *cause.later_wide_steps})
    unknown = _find_unknown_steps(predicted_run, concerned, changes)
    narrow_steps = tuple(i for i in concerned if _is_narrow(changes.get(i), limit))
    return CastPlan(
        tuple(sorted(casts, key=lambda c: (c.producer, c.consumer or 0))),
        dtype_at_width_of(cause.wide_dtype, cause.narrow_dtype),
        sum(predicted_run.run.observations[i].bytes for i in {c.producer for c in casts}),
        narrow_steps,
        tuple(i for i, takes_changed_array in unknown.items() if takes_changed_array),
        tuple(i for i in unknown if i not in narrow_steps),
    )


def _find_unknown_steps(
    predicted_run: PredictedRun, concerned_steps: Sequence[int], changes: Mapping[int, Outcome]
) -> dict[int, bool]:
    """Map each step with an unknown result to True if it is opaque and takes a changed array."""
    unknown: dict[int, bool] = {}
    for i in concerned_steps:
        if i in changes:
            continue
        if isinstance(predicted_run.steps[i], Opaque) and any(p in changes for p in predicted_run.inputs[i]):
            unknown[i] = True
        elif any(p in unknown for p in predicted_run.inputs[i]):
            unknown[i] = False
    return unknown


def _drop_needless_casts(predicted_run: PredictedRun, cause: WideningCause, plan: CastPlan) -> CastPlan:
    """Drop the casts of each source text that the plan does not need to keep as much narrow."""
    sources: dict[object, set[PlannedCast]] = {}
    for c in plan.casts:
        sources.setdefault((source_key(predicted_run.steps[c.producer]), c.consumer is None), set()).add(c)
    for group in sources.values() if len(sources) > 1 else ():
        fewer = {*plan.casts} - group
        smaller = _measure_casts(predicted_run, cause, fewer, _replay_with_casts(predicted_run, cause, fewer))
        plan = smaller if smaller.narrow_steps == plan.narrow_steps else plan
    return plan


def _is_narrow(outcome: Outcome | None, limit: int) -> bool:
    """Return True if a step that was wide now has at most `limit` bits."""
    return outcome is not None and (operand_width(outcome.operand) or limit + 1) <= limit


def _replay_with_casts(
    predicted_run: PredictedRun, cause: WideningCause, casts: set[PlannedCast]
) -> dict[int, Outcome]:
    """Replay the run with some casts, and return the outcomes that change."""
    at_producer: dict[int, Outcome] = {}
    by_consumer: dict[int, dict[int, Outcome]] = {}
    for c in casts:
        target = at_producer if c.consumer is None else by_consumer.setdefault(c.consumer, {})
        target[c.producer] = Outcome(narrow_operand(predicted_run.result_of(c.producer), cause.narrow_dtype))
    evaluate = predicted_run.find_evaluator
    return replay_with_replaced_outcomes(
        predicted_run.steps,
        evaluate,
        predicted_run.results,
        at_producer,
        predicted_run.consumers,
        by_consumer,
    )
