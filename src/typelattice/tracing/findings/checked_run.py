"""A run with the prediction of its own systems for each step: the basis of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from typelattice.calls.steps import Call, Cast, Step
from typelattice.engine.system import System
from typelattice.facts.dtypes import DType, Kind
from typelattice.files.reader import system as find_system
from typelattice.operands.operand import Operand
from typelattice.programs.replay.outcome import NOT_REACHED, Outcome
from typelattice.programs.replay.replay import FindEvaluator, Systems, evaluators_of, replay_singly
from typelattice.tracing.run_data.float_widths import as_narrow, is_integer, width
from typelattice.tracing.run_data.run import Run, agrees, is_operation, known_reason, left_open
from typelattice.tracing.steps.called_name import WRITING


@dataclass(frozen=True, slots=True)
class CheckedRun:
    """A run with the inputs, consumers, observed result and predicted result of each step.

    - `inputs`, `made_into`: the earlier steps that each step uses, and the later steps that use it.
    - `seen`: the observed result of each step, or the predicted one if it was not observed.
    - `replayed`: the prediction of the library's own system, from the observed operands.
    - `at_source`: the steps of each source text at its location. There may be several, as in a loop.
    - `find_evaluator`: asks the own system of a step's library.
    - `narrowest`: the narrowest float of the run.
    - `widths`: the bits of each float step. A step computed for `out=` or `dtype=` has at most those of the
      array there.
    """

    run: Run
    systems: System | Systems = field(repr=False)
    steps: Sequence[Step] = field(repr=False)
    inputs: Sequence[Sequence[int]] = field(repr=False)
    made_into: Sequence[Sequence[int]] = field(repr=False)
    seen: Sequence[Outcome] = field(repr=False)
    replayed: Sequence[Outcome] = field(repr=False)
    at_source: Mapping[object, Sequence[int]] = field(repr=False)
    find_evaluator: FindEvaluator = field(repr=False)
    narrowest: DType | None
    widths: Sequence[int | None] = field(repr=False)

    def observed(self, i: int) -> Operand | None:
        """Return the observed result of a step, or the predicted one if it was not observed by itself."""
        return self.seen[i].operand

    def alike(self, i: int) -> Sequence[int]:
        """Return the steps of the same source text at the same location with the same result."""
        return [j for j in self.at_source[source_of(self.steps[i])] if self.observed(j) == self.observed(i)]

    def default_float(self, i: int) -> DType | None:
        """Return the default float of a step's library; None if it has none."""
        owner = self.steps[i].owner
        own = self.systems if isinstance(self.systems, System) else self.systems.get(owner or "")
        return own.defaults.get(Kind.FLOAT) if own else None

    def narrowly(self, i: int) -> Outcome:
        """Predict a step under its library's own system if each float operand were the run's narrowest float.

        Return NOT_REACHED if an operand is an integer, if the step is no call or cast, or if the run has no
        float.
        """
        step, least = self.steps[i], self.narrowest
        operands = {p: self.observed(p) for p in self.inputs[i]}
        if least is None or not isinstance(step, (Call, Cast)) or any(map(is_integer, operands.values())):
            return NOT_REACHED
        narrow = {p: Outcome(as_narrow(o, least) if self.widths[p] else o) for p, o in operands.items()}
        return self.find_evaluator(step).outcome(step, narrow)

    def is_always_wide(self, i: int) -> bool:
        """Return True if a step gives as wide a float from narrower ones, as NumPy's `interp` does."""
        own = self.widths[i]
        return own is not None and width(self.narrowly(i).operand) == own

    @property
    def mismatches(self) -> tuple[int, ...]:
        """The steps whose result contradicts their library's own system, except known departures."""
        return tuple(i for i, reason in self.otherwise().items() if reason is None)

    @property
    def departures(self) -> Mapping[int, str]:
        """The steps that differ from their library's rule in a known way, each with the reason."""
        return {i: reason for i, reason in self.otherwise().items() if reason is not None}

    def otherwise(self) -> Mapping[int, str | None]:
        """Map each mismatch to None and each departure to its reason."""
        return {
            i: known_reason(self.replayed[i], seen.operand)
            for i, (step, seen) in enumerate(self.run)
            if seen.count
            and is_operation(step)
            and not agrees(self.replayed[i], seen.operand)
            and not left_open(step, self.replayed[i])
        }


def check_run(run: Run) -> CheckedRun:
    """Check a run against its own systems. Raises UnknownSystemError or FormatError for a system."""
    steps = run.program.steps
    by_owner = {owner: find_system(name) for owner, name in run.systems.items()}
    systems: System | Systems = by_owner if len(by_owner) != 1 else next(iter(by_owner.values()))
    find_evaluator = evaluators_of(systems, steps)
    inputs = [step.inputs for step in steps]
    made_into: list[list[int]] = [[] for _ in steps]
    for i, step_inputs in enumerate(inputs):
        for part in step_inputs:
            made_into[part].append(i)
    observed = [Outcome(seen_step.operand) if seen_step.count else None for seen_step in run.seen]
    replayed = (
        replay_singly(steps, find_evaluator, observed) if by_owner else [o or Outcome(None) for o in observed]
    )
    seen = [one or other for one, other in zip(observed, replayed, strict=True)]
    at_source: dict[object, list[int]] = {}
    for i, step in enumerate(steps):
        at_source.setdefault(source_of(step), []).append(i)
    widths = [width(outcome.operand) for outcome in seen]
    for i, p in pair_writes(run):
        if (widths[i] or 0) < (widths[p] or 0):
            widths[p] = widths[i]
    floats = {
        seen_step.operand.dtype: n
        for seen_step, n in zip(seen, widths, strict=True)
        if seen_step.operand and n
    }
    narrowest = min(floats, key=floats.__getitem__, default=None)
    return CheckedRun(
        run, systems, steps, inputs, made_into, seen, replayed, at_source, find_evaluator, narrowest, widths
    )


def pair_writes(run: Run) -> Iterator[tuple[int, int]]:
    """Yield pairs of steps for each call with `out=`, or that casts its result to `dtype=`.

    They are the write into the array, or the cast, and the computation. The computed values are never an
    array of their own, since the library casts them piece by piece.
    """
    steps = run.program.steps
    for i, step in enumerate(steps):
        if isinstance(step, Cast):
            p = step.source
        elif isinstance(step, Call) and step.op == WRITING:
            p = step.operands[1]
        else:
            continue
        made = steps[p]
        if isinstance(made, Call) and not run.seen[p].count and source_of(made) == source_of(step):
            yield i, p


def source_of(step: Step) -> object:
    """Return the key that all steps of one source text share: the source location and the text."""
    return step.location, step.text
