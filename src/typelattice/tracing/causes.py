"""Causes: the places at which a wide float came up that made narrower floats wide, and what stops them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from typelattice.facts.dtypes import DType, Kind
from typelattice.operands.operand import Operand
from typelattice.programs.replay import Outcome
from typelattice.programs.replay_changed import replay_changed
from typelattice.programs.step import Input
from typelattice.tracing.ran import Ran
from typelattice.tracing.widths import narrowed, width, width_of

MORE = 6  # rounds in which further casts are looked for


@dataclass(frozen=True, slots=True)
class Cause:
    """A place at which a wide float came up that made narrower floats wide.

    `first` are the steps there: of one source text and one dtype. `widening` are the steps at which a
    narrower float became wide by it, in order; they are `first` themselves where that is where it came up.
    `later` are the steps that are wide by it, without `first`; they ran `runs` times. `bytes` is what all of
    them took more than they would have taken narrow.
    """

    first: tuple[int, ...]
    narrow: DType
    wide: DType
    widening: tuple[int, ...]
    later: tuple[int, ...]
    runs: int
    bytes: int

    @property
    def at(self) -> int:
        """The step that a cause is named by: the first at which a float widened."""
        return self.widening[0]


@dataclass(frozen=True, slots=True)
class Stop:
    """Casts that stop a cause: the results of `steps`, of `bytes` in all, taken as `target`.

    `kept` are the steps, of those that are wide by the cause, that the replay with these casts found narrow.
    """

    steps: tuple[int, ...]
    target: DType
    bytes: int
    kept: tuple[int, ...]


def causes(ran: Ran) -> tuple[Cause, ...]:
    """The causes in a run, the one that takes the most bytes first."""
    causes_of = made_by(ran)
    widening: dict[int, list[int]] = {}
    for i, cause in causes_of.items():
        if _narrow_parts(ran, i):
            widening.setdefault(cause, []).append(i)
    groups: dict[object, list[int]] = {}
    for first, widened in widening.items():
        groups.setdefault(_place(ran, first, widened[0]), []).append(first)
    later: dict[int, list[int]] = {}
    for i, cause in causes_of.items():
        later.setdefault(cause, []).append(i)
    found = [_cause(ran, group, widening, later) for group in groups.values()]
    return tuple(sorted(found, key=lambda c: (-c.bytes, -c.runs, c.first)))


def made_by(ran: Ran) -> dict[int, int]:
    """Of each step that is a float, the step that it is that wide by: itself where no operand is as wide.

    Where several operands are, it is the first of those that had made a narrower float wide, else the first.
    """
    found: dict[int, int] = {}
    guilty: set[int] = set()
    for i, parts in enumerate(ran.parts):
        own = width(ran.observed(i))
        if own is None:
            continue
        wide = [found[p] for p in parts if p in found and (width(ran.observed(p)) or 0) >= own]
        found[i] = next((cause for cause in wide if cause in guilty), wide[0] if wide else i)
        if _narrow_parts(ran, i):
            guilty.add(found[i])
    return found


def _narrow_parts(ran: Ran, i: int) -> list[Operand]:
    """The floats among the operands of a step that are narrower than its result."""
    own = width(ran.observed(i)) or 0
    operands = (ran.observed(p) for p in ran.parts[i])
    return [o for o in operands if o is not None and 0 < (width(o) or 0) < own]


def _place(ran: Ran, first: int, widened: int) -> object:
    """What steps have in common that are one cause: the source, and the dtypes.

    What comes from outside has no place of its own: there it is the source of the step that it widened.
    """
    step = ran.steps[widened if isinstance(ran.steps[first], Input) else first]
    return step.place, step.text, step.op, ran.observed(first), _narrow(ran, widened)


def _narrow(ran: Ran, widened: int) -> DType:
    """The widest of the narrower floats that were made wide at a step."""
    operands = [o.dtype for o in _narrow_parts(ran, widened) if o.dtype]
    return max(operands, key=lambda d: width_of(d) or 0)


def _cause(ran: Ran, group: list[int], widening: dict[int, list[int]], made: dict[int, list[int]]) -> Cause:
    widened = sorted(i for first in group for i in widening[first])
    wide, narrow = ran.observed(group[0]), _narrow(ran, widened[0])
    assert wide is not None and wide.dtype is not None
    later = sorted(i for first in group for i in made[first] if i != first)
    grown = [*later, *(i for i in group if not isinstance(ran.steps[i], Input))]
    return Cause(
        tuple(group), narrow, wide.dtype, tuple(widened), tuple(later),
        sum(ran.run.seen[i].count for i in later), sum(_grown(ran, i, narrow) for i in grown),
    )  # fmt: skip


def _grown(ran: Ran, i: int, narrow: DType) -> int:
    """The bytes that the result of a step takes more than it would at the narrower width."""
    own, less = width(ran.observed(i)), width_of(narrow)
    return ran.run.seen[i].bytes * (own - less) // own if own and less and less < own else 0


def stop(ran: Ran, cause: Cause) -> Stop | None:
    """The casts of the fewest bytes that stop the most of what follows from a cause; None if none stops any.

    One is tried after the other: operands of the steps that widen, and the result of the first step. What
    then still meets a wide operand gets that cast, too.
    """
    tried = [_tried(ran, cause, {*steps}) for steps in _candidates(ran, cause)]
    stopping = [t for t in tried if t.kept]
    return min(stopping, key=lambda t: (-len(t.kept), t.bytes, len(t.steps)), default=None)


def _candidates(ran: Ran, cause: Cause) -> Iterator[list[int]]:
    """What might be cast first: integers that a float met where the wide one came up, wide operands of the
    steps that widen, or the result of the first step.
    """
    integers = [p for i in cause.first for p in ran.parts[i] if _integer(ran.observed(p))]
    if integers and {*cause.first} <= {*cause.widening}:
        yield integers
    operands = [p for i in cause.widening for p in _wide_parts(ran, i, {})]
    if operands:
        yield operands
    yield [*cause.first]


def _wide_parts(ran: Ran, i: int, changes: Mapping[int, Outcome]) -> list[int]:
    """The operands by which a step is as wide as it is, where some of the run's outcomes are others."""
    now = {p: changes[p].operand if p in changes else ran.observed(p) for p in ran.parts[i]}
    own = width(changes[i].operand if i in changes else ran.observed(i))
    return [p for p, o in now.items() if own is not None and width(o) == own]


def _tried(ran: Ran, cause: Cause, steps: set[int]) -> Stop:
    """Casts, what the replay with them finds, and more casts as long as others widen what follows."""
    limit = width_of(cause.narrow) or 0
    concerned = cause.later or cause.first
    for _ in range(MORE):
        instead = {i: Outcome(_as_narrow(ran.observed(i), cause.narrow)) for i in steps}
        changes = replay_changed(ran.steps, ran.systems, ran.seen, instead, ran.made_into)
        narrow = {i for i in concerned if i in changes and (width(changes[i].operand) or limit + 1) <= limit}
        wide = (i for i in concerned if i not in narrow and {*ran.parts[i]} & (narrow | steps))
        more = {p for i in islice(wide, 1) for p in _wide_parts(ran, i, changes) if p not in changes}
        if not more:
            break
        steps = steps | more
    kept = tuple(i for i in concerned if i in narrow)
    target = narrowed(cause.wide, cause.narrow)
    return Stop(tuple(sorted(steps)), target, sum(ran.run.seen[i].bytes for i in steps), kept)


def _as_narrow(o: Operand | None, narrow: DType) -> Operand:
    assert o is not None and o.dtype is not None
    target = narrow if _integer(o) else narrowed(o.dtype, narrow)
    return replace(o, dtype=target, kind=target.kind, value=None)


def _integer(o: Operand | None) -> bool:
    """Whether an operand is an integer with a dtype of its own."""
    integral = o is not None and o.kind in (Kind.SIGNED, Kind.UNSIGNED)
    return integral and o is not None and o.dtype is not None and not o.weak
