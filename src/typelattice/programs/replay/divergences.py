"""Divergences between systems: the steps with different outcomes, and the steps that cause them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from typelattice.programs.calls.steps import Step
from typelattice.programs.replay.outcome import Outcome


@dataclass(frozen=True, slots=True)
class StepDivergence:
    """A step with different outcomes under some systems, and its outcome under each.

    `inherited_from` has the earlier differences that the step uses. A step without any causes the difference.
    """

    step_number: int
    step: Step
    outcomes: tuple[Outcome, ...]
    inherited_from: tuple[int, ...]

    def answers(self, systems: Sequence[str]) -> str:
        """Write each system's outcome: `numpy float64, torch float32?`.

        A `?` marks an outcome that only a rule predicts: the library has no recorded answer.
        """
        return ", ".join(f"{name} {o.text_with_mark}" for name, o in zip(systems, self.outcomes, strict=True))


@dataclass(frozen=True, slots=True)
class Divergences:
    """The divergences between systems in a program: all differences, in the order of the steps.

    `first_divergence` is the first difference, or None if the systems agree.
    """

    systems: tuple[str, ...]
    step_divergences: tuple[StepDivergence, ...] = field(repr=False)

    @property
    def first_divergence(self) -> StepDivergence | None:
        """The first step where the systems diverge."""
        return next(iter(self.step_divergences), None)

    @property
    def causes(self) -> tuple[StepDivergence, ...]:
        """The steps that differ although their operands agree. The others inherit their difference."""
        return tuple(d for d in self.step_divergences if not d.inherited_from)

    @property
    def has_unrecorded_calls(self) -> bool:
        """Return True if an outcome of a difference comes only from a rule."""
        return any(o.is_unrecorded for d in self.step_divergences for o in d.outcomes)

    def __str__(self) -> str:
        if not self.step_divergences:
            return f"{', '.join(self.systems)} agree on every step"
        from typelattice.core.evidence.never_asked import NEVER_ASKED_NOTE  # slow to import

        lines = []
        for d in self.step_divergences:
            where = f" ({d.step.location})" if d.step.location else ""
            said = d.answers(self.systems)
            lines.append(f"{'inherits' if d.inherited_from else 'diverges'}  {d.step.text}{where}: {said}")
        if self.has_unrecorded_calls:
            lines.append(NEVER_ASKED_NOTE)
        return "\n".join(lines)


def find_divergences(
    programs: Sequence[Sequence[Step]], names: Sequence[str], replays: Sequence[Sequence[Outcome]]
) -> Divergences:
    """Return the steps with different outcomes under the systems of these names.

    `programs` has the steps under each system. They are the same up to the first question about a dtype that
    two systems answer differently; what follows is not compared.
    """
    divergences: list[StepDivergence] = []
    differing: set[int] = set()
    for i, step, having in list_shared_steps(programs):
        if len(having) < len(programs):
            break
        outcomes = tuple(made[i] for made in replays)
        first = outcomes[0]
        if all(outcome is first or str(outcome) == str(first) for outcome in outcomes):
            continue
        inherited = tuple(part for part in step.inputs if part in differing)
        differing.add(i)
        divergences.append(StepDivergence(i, step, outcomes, inherited))
    return Divergences(tuple(names), tuple(divergences))


def list_shared_steps(programs: Sequence[Sequence[Step]]) -> Iterator[tuple[int, Step, Sequence[int]]]:
    """Yield each step with its number, and which of the programs have it.

    First come the steps that all have, then what each program has beside them.
    """
    every, shared = range(len(programs)), 0
    for i, step in enumerate(programs[0] if programs else ()):
        if any(len(steps) <= i or (steps is not programs[0] and steps[i] != step) for steps in programs):
            break
        shared = i + 1
        yield i, step, every
    rest: list[tuple[Sequence[Step], list[int]]] = []
    for number, steps in enumerate(programs):
        alike = next((having for other, having in rest if other is steps or other == steps), None)
        if alike is None:
            rest.append((steps, [number]))
        else:
            alike.append(number)
    for steps, having in rest:
        yield from ((i, steps[i], having) for i in range(shared, len(steps)))
