"""The outcomes that change if some steps of a replay had other outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

from typelattice.programs.calls.steps import Step
from typelattice.programs.replay.outcome import Outcome
from typelattice.programs.replay.replay import EvaluatorFinder


def replay_with_replaced_outcomes(
    steps: Sequence[Step],
    find_evaluator: EvaluatorFinder,
    outcomes: Sequence[Outcome],
    replaced_outcomes: Mapping[int, Outcome],
    consumers: Sequence[Sequence[int]],
    replaced_operands: Mapping[int, Mapping[int, Outcome]],
) -> dict[int, Outcome]:
    """Return the outcomes of some steps and of later ones that change if the steps had other outcomes.

    `outcomes` has the original outcomes, `replaced_outcomes` the other ones. `consumers` has the later steps
    that use each step. `replaced_operands` has, for a step, other outcomes of its operands that count only
    for that step. Raises as `replay` does.
    """
    now = _ReplacedOutcomes(outcomes, replaced_outcomes)
    waiting = [*replaced_operands, *(later for i in replaced_outcomes for later in consumers[i])]
    heapify(waiting)
    last = -1
    while waiting:
        i = heappop(waiting)
        if i == last or i in replaced_outcomes:
            continue
        last = i
        outcome = find_evaluator(steps[i]).outcome_of_step(
            steps[i], _ReplacedOutcomes(now, replaced_operands[i]) if i in replaced_operands else now
        )
        if outcome.operand != outcomes[i].operand:
            now.changes[i] = outcome
            for later in consumers[i]:
                heappush(waiting, later)
    return now.changes


class _ReplacedOutcomes(Sequence[Outcome]):
    """Outcomes with some of them replaced."""

    def __init__(self, outcomes: Sequence[Outcome], replaced_outcomes: Mapping[int, Outcome]) -> None:
        self.outcomes, self.changes = outcomes, dict(replaced_outcomes)

    def __len__(self) -> int:
        return len(self.outcomes)

    def __getitem__(self, i: Any) -> Any:
        return self.changes[i] if i in self.changes else self.outcomes[i]
