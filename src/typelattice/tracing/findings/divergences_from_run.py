"""Divergences: places where a replay under a system differs from the observed run, and their costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.engine.decisions import ForeignArrayCounted
from typelattice.core.engine.promotion import Promotion
from typelattice.core.losses.loss import loss
from typelattice.programs.calls.steps import Call, Opaque, Step
from typelattice.programs.program.program import Replay
from typelattice.programs.replay.outcome import Outcome
from typelattice.tracing.findings.predicted_run import PredictedRun
from typelattice.tracing.run_data.run import has_observed_dtype, is_operation

DIVERGENCE_COSTS = ("raises", "loses", "wider", "narrower", "differs")
"""The costs of a system at a step, the worst first.

The system refuses the step, or one of its casts loses what no cast in the run lost. The result has more bits,
or fewer bits, or as many bits in a different kind.
"""


@dataclass(frozen=True, slots=True)
class RunDivergence:
    """A place where a system first differs from the run, with its cost, one of DIVERGENCE_COSTS.

    - `steps`: the steps at that place, with one source text and the same operands.
    - `later_count`: the number of other steps that differ because of them. `unreached_count` of these have no
      result, because they need a refused one. `runs` counts how often all of them ran.
    - `opaque_consumers`: the opaque steps that use an array with a changed dtype. A replay cannot predict
      their results or the results of later steps: these are `unknown_steps`.
    - `lossy_casts`: the casts that lose values, or the dtypes of a result that loses a part of its values.
    """

    system: str
    steps: tuple[int, ...]
    observed: DType
    outcome: Outcome
    cost: str
    lossy_casts: tuple[tuple[DType, DType], ...]
    later_count: int
    unreached_count: int
    runs: int
    opaque_consumers: tuple[int, ...] = ()
    unknown_steps: tuple[int, ...] = ()


def find_divergences(predicted_run: PredictedRun, replayed: Replay) -> tuple[RunDivergence, ...]:
    """Return the divergences of a system, sorted by cost, then by how often their steps ran."""
    causes: dict[int, int] = {}  # maps each step that differs to the first step behind it
    later: dict[int, list[int]] = {}
    unknown: dict[int, int] = {}  # maps each step that a replay cannot predict to the first step behind it
    for i, outcome in enumerate(replayed):
        if _is_as_observed(predicted_run.results[i], outcome):
            changed = (unknown, causes) if isinstance(predicted_run.steps[i], Opaque) else (unknown,)
            behind = [by[p] for by in changed for p in predicted_run.inputs[i] if p in by]
            unknown.update([(i, behind[0])] if behind else [])
            continue
        by = next((causes[p] for p in predicted_run.inputs[i] if p in causes), i)
        if _refuses_lists(predicted_run.steps[i], outcome):
            by = i  # the list is not converted under this system, so its array does not count
            for p in _list_steps_of_lists(predicted_run, i):
                if causes.get(p) == p:
                    del later[p]
        if by == i and not is_operation(predicted_run.steps[i]):
            continue
        causes[i] = by
        later.setdefault(by, []).append(i)
    groups: dict[object, list[int]] = {}
    for by in later:
        groups.setdefault(_divergence_key(predicted_run, by, replayed[by]), []).append(by)
    found = [_make_divergence(predicted_run, group, later, replayed, unknown) for group in groups.values()]
    return tuple(sorted(found, key=lambda p: (DIVERGENCE_COSTS.index(p.cost), -p.runs, p.steps)))


def _refuses_lists(step: Step, outcome: Outcome) -> bool:
    """Return True if a step is refused because a list is among its operands."""
    p = outcome.promotion
    has_list = isinstance(step, Call) and bool(step.list_operands)
    return has_list and p is not None and isinstance(p.decisions[-1], ForeignArrayCounted)


def _list_steps_of_lists(predicted_run: PredictedRun, step_number: int) -> Iterator[int]:
    """Yield the steps that were built from the lists of a step, and only for it."""
    step = predicted_run.steps[step_number]
    left = [*step.list_operands] if isinstance(step, Call) else []
    while left:
        p = left.pop()
        if not predicted_run.run.observations[p].count:
            yield p
            left += predicted_run.inputs[p]


def _is_as_observed(observed: Outcome, outcome: Outcome) -> bool:
    """Return True if the outcome has the observed dtype, or if nothing is known of the step."""
    return observed.operand is None or has_observed_dtype(outcome, observed.operand)


def _divergence_key(predicted_run: PredictedRun, step_number: int, outcome: Outcome) -> object:
    """Return the key that steps of one divergence share: the source, the operands and both results."""
    step = predicted_run.steps[step_number]
    operands = tuple(str(predicted_run.results[p]) for p in predicted_run.inputs[step_number])
    return step.location, step.text, step.op, operands, str(predicted_run.results[step_number]), str(outcome)


def _make_divergence(
    predicted_run: PredictedRun,
    group: list[int],
    steps_behind: Mapping[int, list[int]],
    replayed: Replay,
    unknown: Mapping[int, int],
) -> RunDivergence:
    first = group[0]
    outcome, seen = replayed[first], predicted_run.result_of(first)
    assert seen is not None and seen.dtype is not None
    following = [i for by in group for i in steps_behind[by] if i != by]
    after = tuple(i for i, by in unknown.items() if by in group)
    takers = tuple(i for i in after if isinstance(predicted_run.steps[i], Opaque))
    lost = _find_lossy_casts(
        outcome.promotion, predicted_run.predictions[first].promotion
    ) or _find_dropped_part(seen.dtype, outcome)
    return RunDivergence(
        replayed.name, tuple(group), seen.dtype, outcome, _classify_cost(seen.dtype, outcome, lost), lost,
        len(following), sum(replayed[i].operand is None for i in following),
        sum(predicted_run.run.observations[i].count for i in (*group, *following)), takers, after,
    )  # fmt: skip


def _classify_cost(observed_dtype: DType, outcome: Outcome, lossy_casts: object) -> str:
    """Return the cost, one of DIVERGENCE_COSTS, of an outcome in place of the observed dtype."""
    if outcome.operand is None:
        return "raises"
    if lossy_casts:
        return "loses"
    now = outcome.operand.dtype
    before, after = observed_dtype.storage_bits or 0, (now.storage_bits or 0) if now else 0
    return "wider" if after > before else "narrower" if after < before else "differs"


def _find_lossy_casts(
    promotion: Promotion | None, own_promotion: Promotion | None
) -> tuple[tuple[DType, DType], ...]:
    """Return the casts of arrays that lose values which the run kept.

    The run kept them if it did not cast an operand of that dtype, or cast it to a dtype that holds more.
    """
    cast = {c.source: c.target for c in own_promotion.casts} if own_promotion else {}
    lossy = [
        (c.source, c.target)
        for c in (promotion.casts if promotion else ())
        if isinstance(c.source, DType) and c.loss and (c.source not in cast or loss(cast[c.source], c.target))
    ]
    return tuple(dict.fromkeys(lossy))


def _find_dropped_part(observed_dtype: DType, outcome: Outcome) -> tuple[tuple[DType, DType], ...]:
    """Return both dtypes if a float result becomes an integer or a complex one real, or nothing.

    The lower kind cannot hold a part of the values.
    """
    now = outcome.operand.dtype if outcome.operand else None
    dropped = (
        now is not None
        and now.kind.category < observed_dtype.kind.category
        and observed_dtype.kind.category >= Kind.FLOAT.category
    )
    return ((observed_dtype, now),) if dropped and now else ()
