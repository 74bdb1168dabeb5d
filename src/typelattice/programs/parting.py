"""Where systems part: the steps that come out otherwise, and which of them do so by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from typelattice.programs.replay import Outcome
from typelattice.programs.step import Step


@dataclass(frozen=True, slots=True)
class Difference:
    """A step that does not come out alike under all systems, and what it comes to under each.

    `follows` are the earlier differences that it is made of; one that is made of none parts by itself.
    """

    number: int
    step: Step
    outcomes: tuple[Outcome, ...]
    follows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Parting:
    """Where systems part in a program: all differences, in the order of the steps.

    `first` is where they part first; None where they agree.
    """

    systems: tuple[str, ...]
    differences: tuple[Difference, ...] = field(repr=False)

    @property
    def first(self) -> Difference | None:
        """The first step at which the systems part."""
        return next(iter(self.differences), None)

    @property
    def causes(self) -> tuple[Difference, ...]:
        """The steps at which the systems part by themselves: whose operands come out alike."""
        return tuple(d for d in self.differences if not d.follows)

    def __str__(self) -> str:
        if not self.differences:
            return f"{', '.join(self.systems)} agree on every step"
        lines = []
        for d in self.differences:
            where = f" ({d.step.place})" if d.step.place else ""
            said = ", ".join(
                f"{name} {outcome}" for name, outcome in zip(self.systems, d.outcomes, strict=True)
            )
            lines.append(f"{'follows' if d.follows else 'parts  '}  {d.step.text}{where}: {said}")
        return "\n".join(lines)


def parting(steps: Sequence[Step], names: Sequence[str], replays: Sequence[Sequence[Outcome]]) -> Parting:
    """The steps that do not come out alike under systems of these names."""
    found: list[Difference] = []
    differing: set[int] = set()
    for i, step in enumerate(steps):
        outcomes = tuple(made[i] for made in replays)
        first = outcomes[0]
        if all(outcome is first or str(outcome) == str(first) for outcome in outcomes):
            continue
        follows = tuple(part for part in step.parts if part in differing)
        differing.add(i)
        found.append(Difference(i, step, outcomes, follows))
    return Parting(tuple(names), tuple(found))
