"""Causes: the places at which a wide float came up that made narrower floats wide."""

from __future__ import annotations

from dataclasses import dataclass

from typelattice.facts.dtypes import DType
from typelattice.programs.step import Input
from typelattice.tracing.ran import Ran, source_of
from typelattice.tracing.widths import width_of


@dataclass(frozen=True, slots=True)
class Cause:
    """A place at which a wide float came up that made narrower floats wide.

    `first` are the steps there: of one source text and one dtype. `widening` are the steps at which a
    narrower float became wide by it, in order; they are `first` themselves where that is where it came up.
    `later` are the steps that are wide by it, without `first`. `follows` are those of them that take what was
    widened, or what was made of that; they ran `runs` times. `usual` says that the wide dtype is the default
    float of the library or wider, so that a program gets it without asking. `bytes` is what all that is wide
    by it took more than it would have taken narrow; 0 where the program asked for the wide dtype.
    """

    first: tuple[int, ...]
    narrow: DType
    wide: DType
    widening: tuple[int, ...]
    later: tuple[int, ...]
    follows: tuple[int, ...]
    runs: int
    bytes: int
    usual: bool

    @property
    def at(self) -> int:
        """The step that a cause is named by: the first at which a float widened."""
        return self.widening[0]


def causes(ran: Ran) -> tuple[Cause, ...]:
    """The causes in a run: those of the usual dtype first, and of these the one that takes the most bytes."""
    causes_of = made_by(ran)
    widening: dict[int, list[int]] = {}
    for i, cause in causes_of.items():
        if narrow_parts(ran, i):
            widening.setdefault(cause, []).append(i)
    groups: dict[object, list[int]] = {}
    for first, widened in widening.items():
        groups.setdefault(_place(ran, first, widened[0]), []).append(first)
    later: dict[int, list[int]] = {}
    for i, cause in causes_of.items():
        later.setdefault(cause, []).append(i)
    found = [_cause(ran, group, widening, later) for group in groups.values()]
    return tuple(sorted(found, key=lambda c: (not c.usual, -c.bytes, -c.runs, c.first)))


def made_by(ran: Ran) -> dict[int, int]:
    """Of each step that is a float, the step that it is that wide by: itself where no operand is as wide, and
    where narrower operands would make no difference.

    Where several operands are as wide, it is the first of those that had made a narrower float wide, else the
    first.
    """
    found: dict[int, int] = {}
    guilty: set[int] = set()
    for i, parts in enumerate(ran.parts):
        own = ran.widths[i]
        if own is None:
            continue
        wide = [found[p] for p in parts if p in found and ran.widths[p] == own]
        if wide and ran.is_always_wide(i):
            wide = []
        found[i] = next((cause for cause in wide if cause in guilty), wide[0] if wide else i)
        if narrow_parts(ran, i):
            guilty.add(found[i])
    return found


def narrow_parts(ran: Ran, i: int) -> list[int]:
    """The operands of a step that are floats narrower than its result."""
    own = ran.widths[i] or 0
    return [p for p in ran.parts[i] if 0 < (ran.widths[p] or 0) < own]


def _place(ran: Ran, first: int, widened: int) -> object:
    """What steps have in common that are one cause: the source, and the dtypes.

    What comes from outside has no place of its own: there it is the source of the step that it widened.
    """
    step = ran.steps[widened if isinstance(ran.steps[first], Input) else first]
    return step.place, step.text, step.op, ran.observed(first), _narrow(ran, widened)


def _narrow(ran: Ran, widened: int) -> DType:
    """The widest of the narrower floats that were made wide at a step."""
    operands = [ran.observed(p) for p in narrow_parts(ran, widened)]
    return max((o.dtype for o in operands if o and o.dtype), key=lambda d: width_of(d) or 0)


def _cause(ran: Ran, group: list[int], widening: dict[int, list[int]], made: dict[int, list[int]]) -> Cause:
    widened = sorted(i for first in group for i in widening[first])
    wide, narrow = ran.observed(group[0]), _narrow(ran, widened[0])
    assert wide is not None and wide.dtype is not None
    later = sorted(i for first in group for i in made[first] if i != first)
    grown = [*later, *(i for i in group if not isinstance(ran.steps[i], Input))]
    follows = _following(ran, widened, later)
    default = ran.default_float(widened[0])
    usual = default is None or (width_of(wide.dtype) or 0) >= (width_of(default) or 0)
    return Cause(
        tuple(group), narrow, wide.dtype, tuple(widened), tuple(later), follows,
        sum(ran.run.seen[i].count for i in follows), usual * sum(_grown(ran, i, narrow) for i in grown),
        usual,
    )  # fmt: skip


def _following(ran: Ran, widened: list[int], later: list[int]) -> tuple[int, ...]:
    """The steps that take what was widened, or what was made of that; without those of the same texts."""
    reached = {*widened}
    for i in later:
        if not reached.isdisjoint(ran.parts[i]):
            reached.add(i)
    sources = {source_of(ran.steps[i]) for i in widened}
    return tuple(i for i in later if i in reached and source_of(ran.steps[i]) not in sources)


def _grown(ran: Ran, i: int, narrow: DType) -> int:
    """The bytes that the result of a step takes more than it would at the narrower width."""
    own, less = ran.widths[i], width_of(narrow)
    return ran.run.seen[i].bytes * (own - less) // own if own and less and less < own else 0
