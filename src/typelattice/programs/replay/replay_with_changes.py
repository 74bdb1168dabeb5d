"""The outcomes that change if some steps of a replay had other outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

from typelattice.calls.steps import Step
from typelattice.programs.replay.outcome import Outcome
from typelattice.programs.replay.replay import FindEvaluator


def replay_with_changes(
    steps: Sequence[Step],
    find_evaluator: FindEvaluator,
    outcomes: Sequence[Outcome],
    instead: Mapping[int, Outcome],
    made_into: Sequence[Sequence[int]],
    taken: Mapping[int, Mapping[int, Outcome]],
) -> dict[int, Outcome]:
    """Return the outcomes that change if some steps had other outcomes: of these steps and of later ones.

    `outcomes` has the outcomes as they are, `instead` the other ones, `made_into` the later steps that use
    each step. `taken` has, for a step, other outcomes of its operands that count for that step alone.
    Raises as `replay` does.
    """
    now = _Changed(outcomes, instead)
    waiting = [*taken, *(later for i in instead for later in made_into[i])]
    heapify(waiting)
    last = -1
    while waiting:
        i = heappop(waiting)
        if i == last or i in instead:
            continue
        last = i
        outcome = find_evaluator(steps[i]).outcome(steps[i], _Changed(now, taken[i]) if i in taken else now)
        if outcome.operand != outcomes[i].operand:
            now.changes[i] = outcome
            for later in made_into[i]:
                heappush(waiting, later)
    return now.changes


class _Changed(Sequence[Outcome]):
    """Outcomes, some of which are replaced."""

    def __init__(self, found: Sequence[Outcome], instead: Mapping[int, Outcome]) -> None:
        self.found, self.changes = found, dict(instead)

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, i: Any) -> Any:
        return self.changes[i] if i in self.changes else self.found[i]
