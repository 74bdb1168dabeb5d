"""The casts that keep later floats narrow, found by replaying the run with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from typelattice.calls.step import Call, Opaque
from typelattice.facts.dtypes import DType
from typelattice.programs.replay.outcome import Outcome
from typelattice.programs.replay.replay_with_changes import replay_with_changes
from typelattice.tracing.findings.checked_run import CheckedRun, source_of
from typelattice.tracing.findings.dtype_origin import is_cast_where_taken
from typelattice.tracing.findings.widening_causes import Cause, narrow_parts
from typelattice.tracing.run_data.float_widths import as_narrow, is_integer, narrow_to, width, width_of

ROUNDS = 8  # in which further casts are looked for


@dataclass(frozen=True, slots=True, order=True)
class Casting:
    """A cast of the result of the step `of`: where it is made, or where the step `at` alone takes it.

    A float is cast where it is made. If another function made it, which has no array at hand, it is cast
    where a float meets it: so a constant stays as wide for callers with wide arrays. An integer is also cast
    where a float meets it. Other steps may need the integer as an index, a shape or a count, and a run does
    not contain all of them.
    """

    of: int
    at: int | None = None


@dataclass(frozen=True, slots=True)
class NarrowingCasts:
    """Casts to `target`, of `bytes` in all, and the steps that the replay with them found narrow (`kept`).

    `takers` are the opaque steps that take a narrowed array. A replay cannot tell their results, nor those of
    the steps after them: these are `unknown`. Casts of narrower floats to the wide dtype keep nothing.
    """

    casts: tuple[Casting, ...]
    target: DType
    bytes: int
    kept: tuple[int, ...]
    takers: tuple[int, ...] = ()
    unknown: tuple[int, ...] = ()


def stop(checked: CheckedRun, cause: Cause) -> NarrowingCasts | None:
    """Find the casts of the fewest bytes that stop the most of what follows from a cause; None if none does.

    First the operands of the widening steps are cast, then the result of the cause's first step. Steps that
    still meet a wide operand get a cast of that, too. A dtype that nobody gets without asking is meant to be
    as wide: then the narrower floats are cast.
    """
    if not cause.usual:
        return _widened_first(checked, cause)
    tried = [_try_casts(checked, cause, {*casts}) for casts in _candidates(checked, cause)]
    stopping = [t for t in tried if t.kept]
    best = min(stopping, key=lambda t: (-len(t.kept) - len(t.unknown), t.bytes, len(t.casts)), default=None)
    return best and _cast_where_taken(checked, cause, _without_needless(checked, cause, best))


def _cast_where_taken(checked: CheckedRun, cause: Cause, found: NarrowingCasts) -> NarrowingCasts:
    """Move the casts of arrays that another function made to the steps that take them, if as much is kept."""
    casts: set[Casting] = set()
    concerned = {*cause.widening, *cause.later}
    for c in found.casts:
        takers = [i for i in checked.made_into[c.of] if i in concerned]
        moves = c.at is None and takers and all(_made_elsewhere(checked, c.of, i) for i in takers)
        casts |= {Casting(c.of, i) for i in takers} if moves else {c}
    if casts == {*found.casts}:
        return found
    moved = _stop(checked, cause, casts, _replay_with_casts(checked, cause, casts))
    as_much = {*moved.kept} | {*moved.unknown} >= ({*found.kept} | {*found.unknown}) - {c.of for c in casts}
    return moved if moved.kept and as_much else found


def _made_elsewhere(checked: CheckedRun, of: int, at: int) -> bool:
    """Return True if a step is to be cast where another takes it, as the source text has it."""
    return is_cast_where_taken(checked.steps[of], checked.steps[at], checked.run.sources)


def _widened_first(checked: CheckedRun, cause: Cause) -> NarrowingCasts:
    """Cast the narrower floats that became wide."""
    of = {j for i in cause.widening for p in narrow_parts(checked, i) for j in checked.alike(p)}
    target = narrow_to(cause.narrow, cause.wide)
    return NarrowingCasts(
        tuple(map(Casting, sorted(of))), target, sum(checked.run.seen[i].bytes for i in of), ()
    )


def _candidates(checked: CheckedRun, cause: Cause) -> Iterator[list[Casting]]:
    """List casts to begin with: of integers that a float met, of wide operands, of the first result."""
    if {*cause.first} <= {*cause.widening}:
        integers = [c for i in cause.first for c in _integers(checked, i)]
        if integers:
            yield integers
    operands = [c for i in cause.widening for c in _wide_operands(checked, i, {})]
    if operands:
        yield operands
    yield [Casting(i) for i in cause.first]


def _integers(checked: CheckedRun, i: int) -> list[Casting]:
    return [Casting(p, i) for p in checked.inputs[i] if is_integer(checked.observed(p))]


def _wide_operands(checked: CheckedRun, i: int, changes: Mapping[int, Outcome]) -> list[Casting]:
    """List casts of the operands that are as wide as a step's result; of its integers where no float is.

    `changes` holds outcomes that take the place of the run's.
    """
    now = {p: changes[p].operand if p in changes else checked.observed(p) for p in checked.inputs[i]}
    own = width(changes[i].operand if i in changes else checked.observed(i))
    wide = [p for p, o in now.items() if own is not None and width(o) == own]
    if not wide and changes and isinstance(checked.steps[i], Call):
        return _integers(checked, i)
    return [Casting(each) for p in wide if p not in changes for each in checked.alike(p)]


def _try_casts(checked: CheckedRun, cause: Cause, casts: set[Casting]) -> NarrowingCasts:
    """Replay the run with some casts, and add casts as long as other operands widen what follows."""
    concerned = sorted({*cause.widening, *cause.later})
    limit = width_of(cause.narrow) or 0
    changes = _replay_with_casts(checked, cause, casts)
    for _ in range(ROUNDS):
        met = {*changes}
        unknown = _unknown(checked, concerned, changes)
        wide = (
            i
            for i in concerned
            if i not in unknown and not _narrow(changes.get(i), limit) and met & {i, *checked.inputs[i]}
        )
        more = next((found for i in wide if (found := {*_wide_operands(checked, i, changes)} - casts)), None)
        if not more:
            break
        further = _replay_with_casts(checked, cause, casts | more)
        if any(outcome.operand is None for outcome in further.values()):
            break  # another step needs these operands wide
        casts, changes = casts | more, further
    return _stop(checked, cause, casts, changes)


def _stop(
    checked: CheckedRun, cause: Cause, casts: set[Casting], changes: Mapping[int, Outcome]
) -> NarrowingCasts:
    """Count what some casts keep narrow: nothing where the replay with them refuses a step."""
    limit = width_of(cause.narrow) or 0
    refused = any(outcome.operand is None for outcome in changes.values())
    concerned = () if refused else sorted({*cause.widening, *cause.later})
    unknown = _unknown(checked, concerned, changes)
    kept = tuple(i for i in concerned if _narrow(changes.get(i), limit))
    return NarrowingCasts(
        tuple(sorted(casts, key=lambda c: (c.of, c.at or 0))),
        narrow_to(cause.wide, cause.narrow),
        sum(checked.run.seen[i].bytes for i in {c.of for c in casts}),
        kept,
        tuple(i for i, taken in unknown.items() if taken),
        tuple(i for i in unknown if i not in kept),
    )


def _unknown(
    checked: CheckedRun, concerned: list[int] | tuple[()], changes: Mapping[int, Outcome]
) -> dict[int, bool]:
    """Map each step that a replay cannot tell to whether it is an opaque step that takes a changed array."""
    found: dict[int, bool] = {}
    for i in concerned:
        if i in changes:
            continue
        if isinstance(checked.steps[i], Opaque) and any(p in changes for p in checked.inputs[i]):
            found[i] = True
        elif any(p in found for p in checked.inputs[i]):
            found[i] = False
    return found


def _without_needless(checked: CheckedRun, cause: Cause, found: NarrowingCasts) -> NarrowingCasts:
    """Leave out the casts of a source text, one text at a time, without which as much stays narrow."""
    sources: dict[object, set[Casting]] = {}
    for c in found.casts:
        sources.setdefault((source_of(checked.steps[c.of]), c.at is None), set()).add(c)
    for those in sources.values() if len(sources) > 1 else ():
        fewer = {*found.casts} - those
        less = _stop(checked, cause, fewer, _replay_with_casts(checked, cause, fewer))
        found = less if less.kept == found.kept else found
    return found


def _narrow(outcome: Outcome | None, limit: int) -> bool:
    """Tell whether a step that was wide has now at most so many bits."""
    return outcome is not None and (width(outcome.operand) or limit + 1) <= limit


def _replay_with_casts(checked: CheckedRun, cause: Cause, casts: set[Casting]) -> dict[int, Outcome]:
    """Replay the run with some casts; return the outcomes that change."""
    instead: dict[int, Outcome] = {}
    taken: dict[int, dict[int, Outcome]] = {}
    for c in casts:
        into = instead if c.at is None else taken.setdefault(c.at, {})
        into[c.of] = Outcome(as_narrow(checked.observed(c.of), cause.narrow))
    evaluate = checked.find_evaluator
    return replay_with_changes(checked.steps, evaluate, checked.seen, instead, checked.made_into, taken)
