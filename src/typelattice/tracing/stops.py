"""Casts that stop a cause: those after which what it had made wide stays narrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from typelattice.facts.dtypes import DType
from typelattice.programs.replay import Outcome
from typelattice.programs.replay_changed import replay_changed
from typelattice.programs.step import Call
from typelattice.tracing.causes import Cause, narrow_parts
from typelattice.tracing.ran import Ran, source_of
from typelattice.tracing.widths import as_narrow, is_integer, narrowed, width, width_of

MORE = 8  # rounds in which further casts are looked for


@dataclass(frozen=True, slots=True, order=True)
class Casting:
    """A cast of the result of the step `of`: where it is made, or where the step `at` alone takes it.

    A float is cast where it is made. An integer is not: what else takes it may need an integer, such as an
    index, a shape or a count, and not all of that is part of a run.
    """

    of: int
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """Casts that stop a cause, of `bytes` in all; a wide float is cast to `target`, an integer as well.

    `kept` are the steps, of those that are wide by the cause, that the replay with these casts found narrow.
    There are none where the casts are of the narrower floats, after which nothing widens.
    """

    casts: tuple[Casting, ...]
    target: DType
    bytes: int
    kept: tuple[int, ...]


def stop(ran: Ran, cause: Cause) -> Stop | None:
    """The casts of the fewest bytes that stop the most of what follows from a cause; None if none stops any.

    One is tried after the other: operands of the steps that widen, and the result of the first step. What
    then still meets a wide operand gets that cast, too. A wide float that is not of a dtype that one gets
    without asking is meant to be as wide: there the narrower ones are to be cast.
    """
    if not cause.usual:
        return _widened_first(ran, cause)
    tried = [_tried(ran, cause, {*casts}) for casts in _candidates(ran, cause)]
    stopping = [t for t in tried if t.kept]
    best = min(stopping, key=lambda t: (-len(t.kept), t.bytes, len(t.casts)), default=None)
    return best and _without_needless(ran, cause, best)


def _widened_first(ran: Ran, cause: Cause) -> Stop:
    """The casts of the narrower floats that became wide."""
    of = {j for i in cause.widening for p in narrow_parts(ran, i) for j in ran.alike(p)}
    target = narrowed(cause.narrow, cause.wide)
    return Stop(tuple(map(Casting, sorted(of))), target, sum(ran.run.seen[i].bytes for i in of), ())


def _candidates(ran: Ran, cause: Cause) -> Iterator[list[Casting]]:
    """What might be cast first: integers that a float met where the wide one came up, wide operands of the
    steps that widen, or the result of the first step.
    """
    if {*cause.first} <= {*cause.widening}:
        integers = [c for i in cause.first for c in _integers(ran, i)]
        if integers:
            yield integers
    operands = [c for i in cause.widening for c in _wide_operands(ran, i, {})]
    if operands:
        yield operands
    yield [Casting(i) for i in cause.first]


def _integers(ran: Ran, i: int) -> list[Casting]:
    """The casts of the integers that a step takes."""
    return [Casting(p, i) for p in ran.parts[i] if is_integer(ran.observed(p))]


def _wide_operands(ran: Ran, i: int, changes: Mapping[int, Outcome]) -> list[Casting]:
    """The casts of the operands by which a step is as wide as it is, where some of the run's outcomes are
    others: of floats that are as wide; where none is, of integers.
    """
    now = {p: changes[p].operand if p in changes else ran.observed(p) for p in ran.parts[i]}
    own = width(changes[i].operand if i in changes else ran.observed(i))
    wide = [p for p, o in now.items() if own is not None and width(o) == own]
    if not wide and changes and isinstance(ran.steps[i], Call):
        return _integers(ran, i)
    return [Casting(each) for p in wide if p not in changes for each in ran.alike(p)]


def _tried(ran: Ran, cause: Cause, casts: set[Casting]) -> Stop:
    """Casts, what the replay with them finds, and more casts as long as others widen what follows."""
    concerned = sorted({*cause.widening, *cause.later})
    limit = width_of(cause.narrow) or 0
    changes = _replayed(ran, cause, casts)
    for _ in range(MORE):
        met = {*changes}
        wide = (i for i in concerned if not _narrow(changes.get(i), limit) and met & {i, *ran.parts[i]})
        more = next((found for i in wide if (found := {*_wide_operands(ran, i, changes)} - casts)), None)
        if not more:
            break
        further = _replayed(ran, cause, casts | more)
        if any(outcome.operand is None for outcome in further.values()):
            break  # what else takes these needs them wide
        casts, changes = casts | more, further
    return _stop(ran, cause, casts, changes)


def _stop(ran: Ran, cause: Cause, casts: set[Casting], changes: Mapping[int, Outcome]) -> Stop:
    """Casts, and what the replay with them found: none of what was wide is kept where a step is refused."""
    limit = width_of(cause.narrow) or 0
    refused = any(outcome.operand is None for outcome in changes.values())
    concerned = () if refused else sorted({*cause.widening, *cause.later})
    return Stop(
        tuple(sorted(casts, key=lambda c: (c.of, c.at or 0))),
        narrowed(cause.wide, cause.narrow),
        sum(ran.run.seen[i].bytes for i in {c.of for c in casts}),
        tuple(i for i in concerned if _narrow(changes.get(i), limit)),
    )


def _without_needless(ran: Ran, cause: Cause, found: Stop) -> Stop:
    """The casts but for those without which as much stays narrow, a source text at a time."""
    sources: dict[object, set[Casting]] = {}
    for c in found.casts:
        sources.setdefault((source_of(ran.steps[c.of]), c.at is None), set()).add(c)
    for those in sources.values() if len(sources) > 1 else ():
        fewer = {*found.casts} - those
        less = _stop(ran, cause, fewer, _replayed(ran, cause, fewer))
        found = less if less.kept == found.kept else found
    return found


def _narrow(outcome: Outcome | None, limit: int) -> bool:
    """Whether a step that was wide has come to no more than some bits."""
    return outcome is not None and (width(outcome.operand) or limit + 1) <= limit


def _replayed(ran: Ran, cause: Cause, casts: set[Casting]) -> dict[int, Outcome]:
    """What comes out otherwise with some casts."""
    instead: dict[int, Outcome] = {}
    taken: dict[int, dict[int, Outcome]] = {}
    for c in casts:
        into = instead if c.at is None else taken.setdefault(c.at, {})
        into[c.of] = Outcome(as_narrow(ran.observed(c.of), cause.narrow))
    return replay_changed(ran.steps, ran.engine, ran.seen, instead, ran.made_into, taken)
