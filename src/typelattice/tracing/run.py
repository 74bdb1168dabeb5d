"""A run: a program that real code was, and what was observed of each of its steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from typelattice.operands.operand import Operand
from typelattice.programs.program import AnySystem, Program, Replay
from typelattice.programs.replay import Outcome
from typelattice.programs.step import Call, Cast, Created, Index, Input, Number, Opaque, Step


@dataclass(frozen=True, slots=True)
class Seen:
    """What was observed of a step: what its results were, how often it ran, the bytes of all its results.

    A step that ran many times stands once; `operand` is the dtype, the tier and the weakness that all its
    results had. Of an input, `count` says how many arrays came in there. A step that was not seen by itself
    has a count of 0: a Python number, or the sum that `add(x, y, out=z)` writes into z.
    """

    operand: Operand
    count: int
    bytes: int


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """A module, or a function of one, that was run as it is and not followed, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A step that the library's own system says otherwise than it was observed: a mistake in the system.

    Of a departure it is none: there the library is known to depart from its rule, and `reason` says why.
    """

    number: int
    step: Step
    seen: Seen
    outcome: Outcome
    reason: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A recorded run of real code: its program, and beside each step what was observed of it.

    `systems` names the system of each library that took part, such as `{"numpy": "numpy@2.4"}`; `sources` has
    the text of each file as it ran, by the path that the places of steps name. `summaries` are sentences that
    say what was left out to keep the memory bounded. `children` is how many processes the program started,
    which are not followed.
    """

    program: Program
    seen: tuple[Seen, ...] = field(repr=False)
    systems: Mapping[str, str]
    left_alone: tuple[LeftAlone, ...] = ()
    summaries: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)
    children: int = 0

    def __iter__(self) -> Iterator[tuple[Step, Seen]]:
        """Each step with what was observed of it."""
        return zip(self.program.steps, self.seen, strict=True)

    @property
    def operations(self) -> int:
        """How many operations ran, each as often as it did."""
        return sum(seen.count for step, seen in self if is_operation(step))

    @property
    def opaque(self) -> int:
        """How many array results came from steps that no operation describes."""
        return sum(seen.count for step, seen in self if isinstance(step, Opaque))

    @property
    def opaque_share(self) -> float:
        """The share of opaque results among the results that later steps take, from 0 to 1."""
        used = {part for step in self.program.steps for part in step.parts}
        steps = [self.program.steps[i] for i in used]
        counts = [self.seen[i].count for i in used]
        made = [pair for pair in zip(steps, counts, strict=True) if not isinstance(pair[0], (Input, Number))]
        opaque = sum(count for s, count in made if isinstance(s, Opaque))
        return opaque / max(1, sum(count for _, count in made))

    def under(self, system: AnySystem | Mapping[str, AnySystem]) -> Replay:
        """What each step comes to under a system, or under one for each library."""
        return self.program.under(system)

    @property
    def mismatches(self) -> tuple[Mismatch, ...]:
        """The steps that the libraries' own systems say otherwise than they were observed.

        Those that follow from such a step are not among them, nor are departures.
        """
        return tuple(m for m in self.otherwise() if m.reason is None)

    @property
    def departures(self) -> tuple[Mismatch, ...]:
        """The steps that came out as their library is known to, and not as its rule says."""
        return tuple(m for m in self.otherwise() if m.reason is not None)

    def otherwise(self) -> tuple[Mismatch, ...]:
        """The mismatches and the departures."""
        if not self.systems:
            return ()
        found: list[Mismatch] = []
        wrong: set[int] = set()
        for i, ((step, seen), outcome) in enumerate(zip(self, self.under(self.systems), strict=True)):
            undecided = left_open(step, outcome) and not agrees(outcome, seen.operand)
            if undecided or not wrong.isdisjoint(step.parts):
                wrong.add(i)  # what follows from a mistake is none of its own
            elif is_operation(step) and seen.count and not agrees(outcome, seen.operand):
                wrong.add(i)
                found.append(Mismatch(i, step, seen, outcome, known_reason(outcome, seen.operand)))
        return tuple(found)


def is_operation(step: Step) -> bool:
    """Whether a step is described by an operation, and no input, number or opaque step."""
    return isinstance(step, (Call, Cast, Created, Index))


def left_open(step: Step, outcome: Outcome) -> bool:
    """Whether no rule says what a step comes to: the array API standard has no dtype for an array made
    without one, and NumPy 1 goes by the values of scalars, of which those that were computed are not known.
    """
    if isinstance(step, Created) and step.dtype is None and outcome.refused:
        return True
    p = outcome.promotion
    if p is None or p.system.combine != "value":
        return False
    return any(o.tier == "0d" and o.value is None for o in p.operands)


def agrees(outcome: Outcome, observed: Operand) -> bool:
    """Whether a step comes to the dtype that was observed."""
    return outcome.operand is not None and outcome.operand.dtype is observed.dtype


def known_reason(outcome: Outcome, observed: Operand) -> str | None:
    """Why a library departs from its rule, where it is known to give what was observed; else None."""
    known = outcome.departure
    return known.reason if known is not None and known.dtype is observed.dtype else None
