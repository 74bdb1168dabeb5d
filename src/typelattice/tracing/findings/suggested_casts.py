"""The casts that keep later floats narrow, found by replaying the run with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from typelattice.calls.steps import Call, Opaque
from typelattice.facts.dtypes import DType
from typelattice.programs.replay.outcome import Outcome
from typelattice.programs.replay.replay_with_changes import replay_with_changes
from typelattice.tracing.findings.checked_run import CheckedRun, source_of
from typelattice.tracing.findings.dtype_origin import is_cast_where_taken
from typelattice.tracing.findings.widening_causes import Cause, narrow_parts
from typelattice.tracing.run_data.float_widths import as_narrow, is_integer, narrow_to, width, width_of

MAX_CAST_ROUNDS = 8  # in each, casts are added for operands that are still wide


@dataclass(frozen=True, slots=True, order=True)
class Casting:
    """A cast of the result of the step `producer`, where it is made or where `consumer` alone takes it.

    A float is cast where it is made. If another function made it, which has no array at hand, it is cast
    where a float meets it: so a constant stays as wide for callers with wide arrays. An integer is also cast
    where a float meets it. Other steps may need the integer as an index, a shape or a count, and a run does
    not contain all of them.
    """

    producer: int
    consumer: int | None = None


@dataclass(frozen=True, slots=True)
class CastPlan:
    """Casts to one dtype, `target`, and what a replay with them found.

    `bytes` is the size of the arrays that are cast. `kept` are the steps whose floats stay narrow.

    `takers` are the opaque steps that take a narrowed array. A replay cannot tell their results, nor those of
    the steps after them: these are `unknown`. Casts that widen the narrower floats keep nothing narrow.
    """

    casts: tuple[Casting, ...]
    target: DType
    bytes: int
    kept: tuple[int, ...]
    takers: tuple[int, ...] = ()
    unknown: tuple[int, ...] = ()


def plan_casts(checked: CheckedRun, cause: Cause) -> CastPlan | None:
    """Find the casts of the fewest bytes that keep the most later floats narrow; None if no cast does.

    First the operands of the widening steps are cast, then the result of the cause's first step. Steps that
    still meet a wide operand get a cast of that, too. An explicitly requested wide dtype is taken as
    intended: then the narrower floats are cast to it.
    """
    if not cause.usual:
        return _plan_widening(checked, cause)
    tried = [_try_casts(checked, cause, {*casts}) for casts in _list_first_casts(checked, cause)]
    stopping = [t for t in tried if t.kept]
    best = min(stopping, key=lambda t: (-len(t.kept) - len(t.unknown), t.bytes, len(t.casts)), default=None)
    return best and _cast_where_taken(checked, cause, _drop_needless_casts(checked, cause, best))


def _cast_where_taken(checked: CheckedRun, cause: Cause, plan: CastPlan) -> CastPlan:
    """Move the casts of arrays that another function made to the steps that take them, if as much is kept."""
    casts: set[Casting] = set()
    concerned = {*cause.widening, *cause.later}
    for c in plan.casts:
        takers = [i for i in checked.made_into[c.producer] if i in concerned]
        is_elsewhere = all(_is_made_elsewhere(checked, c.producer, i) for i in takers)
        moves = c.consumer is None and takers and is_elsewhere
        casts |= {Casting(c.producer, i) for i in takers} if moves else {c}
    if casts == {*plan.casts}:
        return plan
    moved = _measure_casts(checked, cause, casts, _replay_with_casts(checked, cause, casts))
    still_kept = ({*plan.kept} | {*plan.unknown}) - {c.producer for c in casts}
    return moved if moved.kept and {*moved.kept, *moved.unknown} >= still_kept else plan


def _is_made_elsewhere(checked: CheckedRun, producer: int, consumer: int) -> bool:
    """Return True if a step is to be cast where another takes it, as the source text has it."""
    return is_cast_where_taken(checked.steps[producer], checked.steps[consumer], checked.run.sources)


def _plan_widening(checked: CheckedRun, cause: Cause) -> CastPlan:
    """Plan to cast the narrower floats to the wide dtype, since that was asked for."""
    narrow = [p for i in cause.widening for p in narrow_parts(checked, i)]
    producers = {producer for p in narrow for producer in checked.alike(p)}
    target = narrow_to(cause.narrow, cause.wide)
    return CastPlan(
        tuple(map(Casting, sorted(producers))), target, sum(checked.run.seen[p].bytes for p in producers), ()
    )


def _list_first_casts(checked: CheckedRun, cause: Cause) -> Iterator[list[Casting]]:
    """List casts to begin with: of integers that a float met, of wide operands, of the first result."""
    if {*cause.first} <= {*cause.widening}:
        integers = [c for i in cause.first for c in _cast_integers(checked, i)]
        if integers:
            yield integers
    operands = [c for i in cause.widening for c in _cast_wide_operands(checked, i, {})]
    if operands:
        yield operands
    yield [Casting(i) for i in cause.first]


def _cast_integers(checked: CheckedRun, i: int) -> list[Casting]:
    return [Casting(p, i) for p in checked.inputs[i] if is_integer(checked.observed(p))]


def _cast_wide_operands(checked: CheckedRun, i: int, changes: Mapping[int, Outcome]) -> list[Casting]:
    """List casts of the operands that are as wide as a step's result; of its integers where no float is.

    `changes` holds outcomes that take the place of the run's.
    """
    operands = {p: changes[p].operand if p in changes else checked.observed(p) for p in checked.inputs[i]}
    result_width = width(changes[i].operand if i in changes else checked.observed(i))
    wide = [p for p, o in operands.items() if result_width is not None and width(o) == result_width]
    if not wide and changes and isinstance(checked.steps[i], Call):
        return _cast_integers(checked, i)
    return [Casting(producer) for p in wide if p not in changes for producer in checked.alike(p)]


def _try_casts(checked: CheckedRun, cause: Cause, casts: set[Casting]) -> CastPlan:
    """Replay the run with some casts, and add casts as long as other operands widen what follows."""
    concerned = sorted({*cause.widening, *cause.later})
    limit = width_of(cause.narrow) or 0
    changes = _replay_with_casts(checked, cause, casts)
    for _ in range(MAX_CAST_ROUNDS):
        met = {*changes}
        unknown = _find_unknown_steps(checked, concerned, changes)
        known = [i for i in concerned if i not in unknown and met & {i, *checked.inputs[i]}]
        wide = (i for i in known if not _is_narrow(changes.get(i), limit))
        more = next(
            (found for i in wide if (found := {*_cast_wide_operands(checked, i, changes)} - casts)), None
        )
        if not more:
            break
        changed = _replay_with_casts(checked, cause, casts | more)
        if any(outcome.operand is None for outcome in changed.values()):
            break  # another step needs these operands wide
        casts, changes = casts | more, changed
    return _measure_casts(checked, cause, casts, changes)


def _measure_casts(
    checked: CheckedRun, cause: Cause, casts: set[Casting], changes: Mapping[int, Outcome]
) -> CastPlan:
    """Measure which steps some casts keep narrow: none if the replay with them refuses a step."""
    limit = width_of(cause.narrow) or 0
    refused = any(outcome.operand is None for outcome in changes.values())
    concerned = () if refused else sorted({*cause.widening, *cause.later})
    unknown = _find_unknown_steps(checked, concerned, changes)
    kept = tuple(i for i in concerned if _is_narrow(changes.get(i), limit))
    return CastPlan(
        tuple(sorted(casts, key=lambda c: (c.producer, c.consumer or 0))),
        narrow_to(cause.wide, cause.narrow),
        sum(checked.run.seen[i].bytes for i in {c.producer for c in casts}),
        kept,
        tuple(i for i, taken in unknown.items() if taken),
        tuple(i for i in unknown if i not in kept),
    )


def _find_unknown_steps(
    checked: CheckedRun, concerned: Sequence[int], changes: Mapping[int, Outcome]
) -> dict[int, bool]:
    """Map each step with an unknown result to True if it is opaque and takes a changed array."""
    unknown: dict[int, bool] = {}
    for i in concerned:
        if i in changes:
            continue
        if isinstance(checked.steps[i], Opaque) and any(p in changes for p in checked.inputs[i]):
            unknown[i] = True
        elif any(p in unknown for p in checked.inputs[i]):
            unknown[i] = False
    return unknown


def _drop_needless_casts(checked: CheckedRun, cause: Cause, plan: CastPlan) -> CastPlan:
    """Drop the casts of each source text that the plan does not need to keep as much narrow."""
    sources: dict[object, set[Casting]] = {}
    for c in plan.casts:
        sources.setdefault((source_of(checked.steps[c.producer]), c.consumer is None), set()).add(c)
    for group in sources.values() if len(sources) > 1 else ():
        fewer = {*plan.casts} - group
        smaller = _measure_casts(checked, cause, fewer, _replay_with_casts(checked, cause, fewer))
        plan = smaller if smaller.kept == plan.kept else plan
    return plan


def _is_narrow(outcome: Outcome | None, limit: int) -> bool:
    """Return True if a step that was wide now has at most `limit` bits."""
    return outcome is not None and (width(outcome.operand) or limit + 1) <= limit


def _replay_with_casts(checked: CheckedRun, cause: Cause, casts: set[Casting]) -> dict[int, Outcome]:
    """Replay the run with some casts; return the outcomes that change."""
    at_producer: dict[int, Outcome] = {}
    by_consumer: dict[int, dict[int, Outcome]] = {}
    for c in casts:
        target = at_producer if c.consumer is None else by_consumer.setdefault(c.consumer, {})
        target[c.producer] = Outcome(as_narrow(checked.observed(c.producer), cause.narrow))
    evaluate = checked.find_evaluator
    return replay_with_changes(
        checked.steps, evaluate, checked.seen, at_producer, checked.made_into, by_consumer
    )
