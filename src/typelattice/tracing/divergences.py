"""Where a system that a run is replayed under parts from what was observed, and what that costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from typelattice.engine.answer import Promotion
from typelattice.engine.steps import Hosted
from typelattice.facts.dtypes import DType, Kind
from typelattice.facts.loss import loss
from typelattice.programs.program import Replay
from typelattice.programs.replay import Outcome
from typelattice.programs.step import Call, Step
from typelattice.tracing.ran import Ran
from typelattice.tracing.run import agrees, is_operation

COSTS = ("raises", "loses", "wider", "narrower", "differs")
"""What a system costs at a step, the worst first: it refuses; one of its casts loses what no cast in the run
lost; its result takes more bits, or fewer; or it is of another kind that takes as many."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """A place at which a system parts by itself, and what it costs there, one of COSTS.

    `steps` are the steps there: of one source text, with the same operands. `later` other steps come out
    otherwise by them, of which `unreached` need what was refused; they ran `runs` times. `lost` are the casts
    that lose something, or the dtypes of a result that loses a part.
    """

    system: str
    steps: tuple[int, ...]
    observed: DType
    outcome: Outcome
    cost: str
    lost: tuple[tuple[DType, DType], ...]
    later: int
    unreached: int
    runs: int


def divergences(ran: Ran, replayed: Replay) -> tuple[Divergence, ...]:
    """The places at which a system parts, by cost, those with the most that follows first."""
    causes: dict[int, int] = {}  # of each step that comes out otherwise, the first that did by itself
    later: dict[int, list[int]] = {}
    for i, outcome in enumerate(replayed):
        if _same(ran.seen[i], outcome):
            continue
        by = next((causes[p] for p in ran.parts[i] if p in causes), i)
        if _refuses_lists(ran.steps[i], outcome):
            by = i  # whatever the list would come to, which is not made then
            for p in _made_of_lists(ran, i):
                if causes.get(p) == p:
                    del later[p]
        if by == i and not is_operation(ran.steps[i]):
            continue
        causes[i] = by
        later.setdefault(by, []).append(i)
    groups: dict[object, list[int]] = {}
    for by in later:
        groups.setdefault(_place(ran, by, replayed[by]), []).append(by)
    found = [_divergence(ran, group, later, replayed) for group in groups.values()]
    return tuple(sorted(found, key=lambda p: (COSTS.index(p.cost), -p.runs, p.steps)))


def _refuses_lists(step: Step, outcome: Outcome) -> bool:
    """Whether a step is refused because a list is among its operands."""
    p = outcome.promotion
    return isinstance(step, Call) and bool(step.lists) and p is not None and isinstance(p.steps[-1], Hosted)


def _made_of_lists(ran: Ran, i: int) -> Iterator[int]:
    """The steps that are made of the lists of a step, and for it alone."""
    step = ran.steps[i]
    left = [*step.lists] if isinstance(step, Call) else []
    while left:
        p = left.pop()
        if not ran.run.seen[p].count:
            yield p
            left += ran.parts[p]


def _same(seen: Outcome, outcome: Outcome) -> bool:
    """Whether a step comes to the dtype that was observed; one of which nothing is known does."""
    return seen.operand is None or agrees(outcome, seen.operand)


def _place(ran: Ran, i: int, outcome: Outcome) -> object:
    """What steps have in common that part in one place: the source, the operands, and what they come to."""
    step = ran.steps[i]
    operands = tuple(str(ran.seen[p]) for p in ran.parts[i])
    return step.place, step.text, step.op, operands, str(ran.seen[i]), str(outcome)


def _divergence(ran: Ran, group: list[int], later: Mapping[int, list[int]], replayed: Replay) -> Divergence:
    first = group[0]
    outcome, seen = replayed[first], ran.observed(first)
    assert seen is not None and seen.dtype is not None
    following = [i for by in group for i in later[by] if i != by]
    lost = _lost(outcome.promotion, ran.said[first].promotion) or _dropped(seen.dtype, outcome)
    return Divergence(
        replayed.name, tuple(group), seen.dtype, outcome, _cost(seen.dtype, outcome, lost), lost,
        len(following), sum(replayed[i].operand is None for i in following),
        sum(ran.run.seen[i].count for i in (*group, *following)),
    )  # fmt: skip


def _cost(seen: DType, outcome: Outcome, lost: object) -> str:
    """What a system costs where a step of one dtype comes to an outcome."""
    if outcome.operand is None:
        return "raises"
    if lost:
        return "loses"
    now = outcome.operand.dtype
    before, after = seen.storage_bits or 0, (now.storage_bits or 0) if now else 0
    return "wider" if after > before else "narrower" if after < before else "differs"


def _lost(p: Promotion | None, own: Promotion | None) -> tuple[tuple[DType, DType], ...]:
    """The casts of arrays by which values are lost that the run kept, which cast no such operand to a dtype
    that holds as little.
    """
    cast = {c.source: c.target for c in own.casts} if own else {}
    lossy = [
        (c.source, c.target)
        for c in (p.casts if p else ())
        if isinstance(c.source, DType) and c.loss and (c.source not in cast or loss(cast[c.source], c.target))
    ]
    return tuple(dict.fromkeys(lossy))


def _dropped(seen: DType, outcome: Outcome) -> tuple[tuple[DType, DType], ...]:
    """The dtypes of a result that was a float and comes to be an integer, or was complex and comes to be
    real: what the lower kind does not hold is lost.
    """
    now = outcome.operand.dtype if outcome.operand else None
    dropped = now is not None and now.kind.rank < seen.kind.rank and seen.kind.rank >= Kind.FLOAT.rank
    return ((seen, now),) if dropped and now else ()
