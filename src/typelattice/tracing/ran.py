"""A run beside what its own systems say of each of its steps: the ground on which a report stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from typelattice.engine.system import System
from typelattice.facts.dtypes import DType, Kind
from typelattice.files.reader import system as find_system
from typelattice.operands.operand import Operand
from typelattice.programs.replay import NOT_REACHED, Engine, Outcome, Systems, engine_of, replay_singly
from typelattice.programs.step import Call, Cast, Step
from typelattice.tracing.as_written import WRITING
from typelattice.tracing.run import Run, agrees, is_operation, known_reason, left_open
from typelattice.tracing.widths import as_narrow, is_integer, width


@dataclass(frozen=True, slots=True)
class Ran:
    """A run, and of each step: the earlier steps that it is made of, the later ones that it is made into,
    what it was observed to be, and what its library's own system says of it, given what its operands were.
    `at_source` has the steps of each source text at its place: there may be several, as in a loop. `engine`
    asks the own system of a step's library; `narrowest` is the narrowest float of the run, and `widths` has
    the bits of each step that is a float: of what was computed for `out=` those of the array there.
    """

    run: Run
    systems: System | Systems = field(repr=False)
    steps: Sequence[Step] = field(repr=False)
    parts: Sequence[Sequence[int]] = field(repr=False)
    made_into: Sequence[Sequence[int]] = field(repr=False)
    seen: Sequence[Outcome] = field(repr=False)
    said: Sequence[Outcome] = field(repr=False)
    at_source: Mapping[object, Sequence[int]] = field(repr=False)
    engine: Engine = field(repr=False)
    narrowest: DType | None
    widths: Sequence[int | None] = field(repr=False)

    def observed(self, i: int) -> Operand | None:
        """What the result of a step was; what it comes to, where it was not seen by itself."""
        return self.seen[i].operand

    def alike(self, i: int) -> Sequence[int]:
        """The steps of the same source text at the same place that came to the same operand."""
        return [j for j in self.at_source[source_of(self.steps[i])] if self.observed(j) == self.observed(i)]

    def default_float(self, i: int) -> DType | None:
        """The dtype that a float has by default in the library of a step; None where there is none."""
        owner = self.steps[i].owner
        own = self.systems if isinstance(self.systems, System) else self.systems.get(owner or "")
        return own.defaults.get(Kind.FLOAT) if own else None

    def narrowly(self, i: int) -> Outcome:
        """What the library's own system says of a step if each float that it takes were the narrowest of the
        run; NOT_REACHED where integers, or no operation, decide as well.
        """
        step, least = self.steps[i], self.narrowest
        operands = {p: self.observed(p) for p in self.parts[i]}
        if least is None or not isinstance(step, (Call, Cast)) or any(map(is_integer, operands.values())):
            return NOT_REACHED
        narrow = {p: Outcome(as_narrow(o, least) if self.widths[p] else o) for p, o in operands.items()}
        return self.engine(step).outcome(step, narrow)

    def is_always_wide(self, i: int) -> bool:
        """Whether a step gives so wide a float of narrower ones as well, as `interp` of NumPy does."""
        own = self.widths[i]
        return own is not None and width(self.narrowly(i).operand) == own

    @property
    def mismatches(self) -> tuple[int, ...]:
        """The steps that came out otherwise than their library's own system says of such operands."""
        return tuple(i for i, reason in self.otherwise().items() if reason is None)

    @property
    def departures(self) -> Mapping[int, str]:
        """The steps that came out as their library is known to, and not as its rule says: why."""
        return {i: reason for i, reason in self.otherwise().items() if reason is not None}

    def otherwise(self) -> Mapping[int, str | None]:
        """Both, with the reason of a departure."""
        return {
            i: known_reason(self.said[i], seen.operand)
            for i, (step, seen) in enumerate(self.run)
            if seen.count
            and is_operation(step)
            and not agrees(self.said[i], seen.operand)
            and not left_open(step, self.said[i])
        }


def ran(run: Run) -> Ran:
    """A run with what its own systems say. Raises UnknownSystemError or FormatError for a system."""
    steps = run.program.steps
    found = {owner: find_system(name) for owner, name in run.systems.items()}
    systems: System | Systems = found if len(found) != 1 else next(iter(found.values()))
    engine = engine_of(systems, steps)
    parts = [step.parts for step in steps]
    made_into: list[list[int]] = [[] for _ in steps]
    for i, those in enumerate(parts):
        for part in those:
            made_into[part].append(i)
    observed = [Outcome(each.operand) if each.count else None for each in run.seen]
    said = replay_singly(steps, engine, observed) if found else [o or Outcome(None) for o in observed]
    seen = [one or other for one, other in zip(observed, said, strict=True)]
    at_source: dict[object, list[int]] = {}
    for i, step in enumerate(steps):
        at_source.setdefault(source_of(step), []).append(i)
    widths = [width(outcome.operand) for outcome in seen]
    for i, p in written_into(run):
        if (widths[i] or 0) < (widths[p] or 0):
            widths[p] = widths[i]
    floats = {each.operand.dtype: n for each, n in zip(seen, widths, strict=True) if each.operand and n}
    narrowest = min(floats, key=floats.__getitem__, default=None)
    return Ran(run, systems, steps, parts, made_into, seen, said, at_source, engine, narrowest, widths)


def written_into(run: Run) -> Iterator[tuple[int, int]]:
    """The steps that write into the array of an `out=`, each with the step that computes what is written.

    No array is made of that: the library casts it piece by piece as it computes.
    """
    steps = run.program.steps
    for i, step in enumerate(steps):
        if isinstance(step, Call) and step.op == WRITING:
            p = step.operands[1]
            made = steps[p]
            if isinstance(made, Call) and not run.seen[p].count and source_of(made) == source_of(step):
                yield i, p


def source_of(step: Step) -> object:
    """What steps have in common that one source text makes: the text, and its place."""
    return step.place, step.text
