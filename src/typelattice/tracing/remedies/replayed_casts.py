"""Replays of a run with casts: what stays narrow with them, and what no replay tells."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass

from typelattice.core.dtypes.dtypes import DType
from typelattice.programs.calls.steps import Opaque
from typelattice.programs.replay.outcome import Outcome
from typelattice.programs.replay.replay_with_replaced_outcomes import replay_with_replaced_outcomes
from typelattice.tracing.findings.predicted_run import PredictedRun
from typelattice.tracing.findings.widening_causes import WideningCause
from typelattice.tracing.remedies.change import StepCast
from typelattice.tracing.run_data.float_widths import (
    dtype_at_width_of,
    dtype_width,
    narrow_operand,
    operand_width,
)


@dataclass(frozen=True, slots=True)
class ReplayedCasts:
    """Casts to one dtype, `target`, and what a replay with them found.

    `bytes` is the size of the arrays to cast. `outcomes` are the outcomes that change. `narrow_steps` are the
    steps with floats that stay narrow. There are none if the replay refuses a step.

    `opaque_consumers` are the opaque steps that use a narrowed array. A replay cannot predict their results
    or the results of later steps: these are `unknown_steps`.
    """

    casts: tuple[StepCast, ...]
    target: DType
    bytes: int
    outcomes: Mapping[int, Outcome]
    narrow_steps: tuple[int, ...]
    opaque_consumers: tuple[int, ...] = ()
    unknown_steps: tuple[int, ...] = ()

    @property
    def is_refused(self) -> bool:
        """True if a step takes no array of the narrower dtype."""
        return any(outcome.operand is None for outcome in self.outcomes.values())


def replay_casts(
    predicted_run: PredictedRun, cause: WideningCause, casts: Collection[StepCast]
) -> ReplayedCasts:
    """Replay a run with some casts, and find which steps of a cause they keep narrow."""
    limit = dtype_width(cause.narrow_dtype) or 0
    outcomes = _find_changed_outcomes(predicted_run, cause, casts)
    refused = any(outcome.operand is None for outcome in outcomes.values())
    concerned = () if refused else sorted({*cause.widening_steps, *cause.later_wide_steps})
    unknown = _find_unknown_steps(predicted_run, concerned, outcomes, {c.consumer for c in casts})
    narrow_steps = tuple(i for i in concerned if is_narrow(outcomes.get(i), limit))
    return ReplayedCasts(
        tuple(sorted(casts, key=lambda c: (c.producer, c.consumer or 0))),
        dtype_at_width_of(cause.wide_dtype, cause.narrow_dtype),
        sum(predicted_run.run.observations[i].bytes for i in {c.producer for c in casts}),
        outcomes,
        narrow_steps,
        tuple(i for i, takes_changed_array in unknown.items() if takes_changed_array),
        tuple(i for i in unknown if i not in narrow_steps),
    )


def is_narrow(outcome: Outcome | None, limit: int) -> bool:
    """Return True if a step that was wide now has at most `limit` bits."""
    return outcome is not None and (operand_width(outcome.operand) or limit + 1) <= limit


def _find_unknown_steps(
    predicted_run: PredictedRun,
    concerned_steps: Sequence[int],
    outcomes: Mapping[int, Outcome],
    casting_steps: Container[int | None],
) -> dict[int, bool]:
    """Map each step with an unknown result to True if it is opaque and takes a changed array.

    `casting_steps` are the steps that take an operand with a cast.
    """
    unknown: dict[int, bool] = {}
    for i in concerned_steps:
        if i in outcomes:
            continue
        takes_changed = i in casting_steps or any(p in outcomes for p in predicted_run.inputs[i])
        if isinstance(predicted_run.steps[i], Opaque) and takes_changed:
            unknown[i] = True
        elif any(p in unknown for p in predicted_run.inputs[i]):
            unknown[i] = False
    return unknown


def _find_changed_outcomes(
    predicted_run: PredictedRun, cause: WideningCause, casts: Collection[StepCast]
) -> dict[int, Outcome]:
    """Replay the run with some casts, and return the outcomes that change."""
    at_producer: dict[int, Outcome] = {}
    by_consumer: dict[int, dict[int, Outcome]] = {}
    for cast in casts:
        target = at_producer if cast.consumer is None else by_consumer.setdefault(cast.consumer, {})
        operand = predicted_run.result_of(cast.producer)
        if operand is not None and operand.dtype is not None:
            target[cast.producer] = Outcome(narrow_operand(operand, cause.narrow_dtype))
    return replay_with_replaced_outcomes(
        predicted_run.steps,
        predicted_run.find_evaluator,
        predicted_run.results,
        at_producer,
        predicted_run.consumers,
        by_consumer,
    )
