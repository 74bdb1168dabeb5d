"""The dtypes of steps under the system that a source is read under."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from typelattice.core.engine.system import System
from typelattice.core.system_files.reader import system as find_system
from typelattice.programs.calls.steps import Step
from typelattice.programs.replay.outcome import Outcome
from typelattice.programs.replay.replay import evaluator_finder


class SystemAnswers:
    """The outcomes of the steps so far, computed when a line of the source depends on one.

    `asked` has what each question was answered. Systems that answer alike read the same program.
    """

    def __init__(self, system: System | Mapping[str, System] | str) -> None:
        self._system = system
        self.asked: list[object] = []
        self._steps: list[Step] = []
        self._outcomes: list[Outcome] = []
        self._owners: set[str | None] = set()

    @property
    def system(self) -> System | Mapping[str, System]:
        """The system. One that is named is read when the first question is asked."""
        if isinstance(self._system, str):
            self._system = find_system(self._system)
        return self._system

    @property
    def name(self) -> str:
        """The name of the system, or the names of several."""
        system = self.system
        return system.name if isinstance(system, System) else " and ".join(s.name for s in system.values())

    def outcome_of(self, steps: Sequence[Step], number: int) -> Outcome:
        """Return the outcome of a step. Raises DTypeError, OperandError or ProgramError as a replay does."""
        owners = {step.owner for step in steps}
        known = len(self._steps)
        if owners != self._owners or self._steps != steps[:known]:
            self._steps, self._outcomes, self._owners = [], [], owners
        find_evaluator = evaluator_finder(self.system, steps)
        for step in steps[len(self._steps) : number + 1]:
            self._outcomes.append(find_evaluator(step).outcome_of_step(step, self._outcomes))
            self._steps.append(step)
        return self._outcomes[number]

    def note(self, answer: object) -> None:
        """Record what the source was told, so that systems with other answers are read by themselves."""
        self.asked.append(answer)
