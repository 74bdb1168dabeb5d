"""The dtypes of steps under the system that a source is read under."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from typelattice.core.engine.system import System
from typelattice.core.system_files.reader import system as find_system
from typelattice.programs.calls.steps import Call, StepList
from typelattice.programs.replay.outcome import Outcome
from typelattice.programs.replay.replay import EvaluatorFinder, evaluator_finder


class SystemAnswers:
    """The outcomes of the steps so far, computed when a line of the source depends on one.

    `asked` has what each question was answered. Systems that answer alike read the same program.
    """

    def __init__(self, system: System | Mapping[str, System] | str) -> None:
        self._system = system
        self.asked: list[object] = []
        self._outcomes: list[Outcome] = []
        self._owners: set[str | None] = set()
        self._modules: set[str] = set()
        self._counted = 0  # the steps whose owners and modules are known
        self._evaluator: EvaluatorFinder | None = None

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

    def outcome_of(self, steps: StepList, number: int) -> Outcome:
        """Return the outcome of a step. Raises DTypeError, OperandError or ProgramError as a replay does."""
        del self._outcomes[steps.first_changed :]
        self._count_owners(steps)
        if number < len(self._outcomes):
            return self._outcomes[number]
        find_evaluator = self._find_evaluator(steps)
        for step in islice(steps, len(self._outcomes), number + 1):
            self._outcomes.append(find_evaluator(step).outcome_of_step(step, self._outcomes))
        return self._outcomes[number]

    def _count_owners(self, steps: StepList) -> None:
        """Keep the owners and modules of the steps. Other owners may change the outcomes of all steps."""
        before = self._owners
        if steps.first_changed < self._counted:
            self._owners, self._modules, self._counted = set(), set(), 0
        new = steps[self._counted :]
        self._owners = self._owners | {step.owner for step in new}
        self._modules |= {step.module for step in new if isinstance(step, Call) and step.module}
        self._counted = steps.first_changed = len(steps)
        if self._owners != before:
            self._outcomes = []

    def _find_evaluator(self, steps: StepList) -> EvaluatorFinder:
        """Return the finder of the evaluators of steps, the same as long as one evaluator does for all."""
        if not isinstance(self.system, System) or self._modules or len(self._owners - {None}) > 1:
            return evaluator_finder(self.system, steps)
        if self._evaluator is None:
            self._evaluator = evaluator_finder(self.system, ())
        return self._evaluator

    def note(self, answer: object) -> None:
        """Record what the source was told, so that systems with other answers are read by themselves."""
        self.asked.append(answer)
