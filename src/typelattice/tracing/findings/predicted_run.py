"""A run with the prediction of its own systems for each step: the basis of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.engine.system import System
from typelattice.core.operands.operand import Operand
from typelattice.programs.calls.steps import Call, Cast, Index, Opaque, Step
from typelattice.programs.replay.outcome import NOT_REACHED_OUTCOME, Outcome
from typelattice.programs.replay.replay import EvaluatorFinder, SystemByLibrary
from typelattice.tracing.run_data.float_widths import is_integer, narrow_operand, operand_width
from typelattice.tracing.run_data.run import Run
from typelattice.tracing.steps.called_name import WRITING_OPERATION


@dataclass(frozen=True, slots=True)
class PredictedRun:
    """A run with the inputs, consumers, observed result and predicted result of each step.

    - `inputs`, `consumers`: the earlier steps that each step uses, and the later steps that use it.
    - `results`: the observed result of each step, or the predicted one if it was not observed.
    - `predictions`: the prediction of the library's own system, from the observed operands.
    - `steps_by_source`: the steps of each source text at its location. There may be several, as in a loop.
    - `steps_by_line`: the steps at each line of each file.
    - `find_evaluator`: finds the evaluator of a step by its library's own system.
    - `narrowest_float`: the narrowest float of the run.
    - `separate_parts`: the wide parts of values that also have a narrow part, such as the frequencies beside
      a spectrum. No operand made them wide.
    - `widths`: the bits of each float step. A step computed for `out=` or `dtype=` is at most as wide as the
      array there.
    """

    run: Run
    systems: System | SystemByLibrary = field(repr=False)
    steps: Sequence[Step] = field(repr=False)
    inputs: Sequence[Sequence[int]] = field(repr=False)
    consumers: Sequence[Sequence[int]] = field(repr=False)
    results: Sequence[Outcome] = field(repr=False)
    predictions: Sequence[Outcome] = field(repr=False)
    steps_by_source: Mapping[object, Sequence[int]] = field(repr=False)
    steps_by_line: Mapping[tuple[str, int], Sequence[int]] = field(repr=False)
    find_evaluator: EvaluatorFinder = field(repr=False)
    narrowest_float: DType | None
    widths: Sequence[int | None] = field(repr=False)
    separate_parts: frozenset[int] = field(repr=False)

    def result_of(self, step_number: int) -> Operand | None:
        """Return the observed result of a step, or the predicted one if it was not observed by itself."""
        return self.results[step_number].operand

    def steps_of_same_source(self, step_number: int) -> Sequence[int]:
        """Return the steps of the same source text at the same location with the same result."""
        return [
            j
            for j in self.steps_by_source[source_key(self.steps[step_number])]
            if self.result_of(j) == self.result_of(step_number)
        ]

    def steps_of_same_text(self, step_number: int) -> Sequence[int]:
        """Return the steps of the same source text at the same location."""
        return self.steps_by_source[source_key(self.steps[step_number])]

    def list_steps_at(self, file: str, line: int) -> Sequence[int]:
        """Return the steps at a line of a file."""
        return self.steps_by_line.get((file, line), ())

    def default_dtype(self, step_number: int, kind: Kind) -> DType | None:
        """Return the default dtype of a kind in a step's library, or None if it has none."""
        owner = self.steps[step_number].owner
        system = self.systems if isinstance(self.systems, System) else self.systems.get(owner or "")
        return system.defaults.get(kind) if system else None

    def predict_with_narrow_floats(self, step_number: int) -> Outcome:
        """Predict a step under its library's own system if each float operand were the run's narrowest float.

        Return NOT_REACHED_OUTCOME if an operand is an integer, if the step is not a call or cast, or if the
        run has no float.
        """
        step, least = self.steps[step_number], self.narrowest_float
        operands = {p: self.result_of(p) for p in self.inputs[step_number]}
        if least is None or not isinstance(step, (Call, Cast)) or any(map(is_integer, operands.values())):
            return NOT_REACHED_OUTCOME
        narrow = {p: Outcome(narrow_operand(o, least) if self.widths[p] else o) for p, o in operands.items()}
        return self.find_evaluator(step).outcome_of_step(step, narrow)

    def predict_with_integers(self, step_number: int, operand_step: int | None = None) -> Outcome | None:
        """Predict a step under its library's own system if its float operands, or one of them, were integers.

        Return None if no rule tells.
        """
        step, integer = self.steps[step_number], self.default_dtype(step_number, Kind.SIGNED)
        if integer is None or not isinstance(step, (Call, Cast, Index)):
            return None
        outcomes = {p: Outcome(self.result_of(p)) for p in self.inputs[step_number]}
        for p in self.inputs[step_number]:
            operand = self.result_of(p)
            if operand is not None and self.widths[p] and operand_step in (None, p):
                outcomes[p] = Outcome(replace(operand, dtype=integer, kind=integer.kind, value=None))
        return self.find_evaluator(step).outcome_of_step(step, outcomes)

    def is_always_wide(self, step_number: int) -> bool:
        """Return True if a step gives as wide a float from narrower ones, as NumPy's `interp` does."""
        own_width = self.widths[step_number]
        return (
            own_width is not None
            and operand_width(self.predict_with_narrow_floats(step_number).operand) == own_width
        )

    @property
    def mismatches(self) -> tuple[int, ...]:
        """The steps with results that contradict their library's own system, except known departures."""
        found = self.run.compare_predictions(self.predictions)
        return tuple(m.step_number for m in found if m.reason is None)

    @property
    def departures(self) -> Mapping[int, str]:
        """The steps that differ from their library's rule in a known way, each with the reason."""
        found = self.run.compare_predictions(self.predictions)
        return {m.step_number: m.reason for m in found if m.reason is not None}


def predict_run(run: Run) -> PredictedRun:
    """Check a run against its own systems. Raises UnknownSystemError or FormatError if one is unreadable."""
    steps = run.program.steps
    systems, find_evaluator = run.find_systems()
    inputs = [step.inputs for step in steps]
    consumers: list[list[int]] = [[] for _ in steps]
    for i, step_inputs in enumerate(inputs):
        for operand_step in step_inputs:
            consumers[operand_step].append(i)
    predictions = run.predict_steps(find_evaluator)
    results = [one or other for one, other in zip(run.observed_outcomes, predictions, strict=True)]
    steps_by_source: dict[object, list[int]] = {}
    steps_by_line: dict[tuple[str, int], list[int]] = {}
    for i, step in enumerate(steps):
        steps_by_source.setdefault(source_key(step), []).append(i)
        if step.location is not None:
            steps_by_line.setdefault((step.location.file, step.location.line), []).append(i)
    widths = [operand_width(outcome.operand) for outcome in results]
    floats = {
        outcome.operand.dtype: n for outcome, n in zip(results, widths, strict=True) if outcome.operand and n
    }
    for i, p in pair_writes_with_computations(run):
        if (widths[i] or 0) < (widths[p] or 0):
            widths[p] = widths[i]
    narrowest_float = min(floats, key=floats.__getitem__, default=None)
    return PredictedRun(
        run,
        systems,
        steps,
        inputs,
        consumers,
        results,
        predictions,
        steps_by_source,
        steps_by_line,
        find_evaluator,
        narrowest_float,
        widths,
        frozenset(_find_separate_parts(steps, widths)),
    )


def _find_separate_parts(steps: Sequence[Step], widths: Sequence[int | None]) -> Iterator[int]:
    """Find the parts of values without a rule that are wide although another part stays narrow."""
    parts: dict[object, list[int]] = {}
    for i, step in enumerate(steps):
        if isinstance(step, Opaque) and step.part and widths[i]:
            parts.setdefault((source_key(step), step.name, step.input_steps), []).append(i)
    for group in parts.values():
        operands = [widths[p] or 0 for p in steps[group[0]].inputs]
        least = min(widths[i] or 0 for i in group)
        if least <= max(operands, default=0):
            yield from (i for i in group if (widths[i] or 0) > least)


def pair_writes_with_computations(run: Run) -> Iterator[tuple[int, int]]:
    """Yield pairs of steps for each call with `out=`, or that casts its result to `dtype=`.

    These are the write into the array, or the cast, and the computation. The computed values are never an
    array of their own, since the library casts them piece by piece.
    """
    steps = run.program.steps
    for i, step in enumerate(steps):
        if isinstance(step, Cast):
            p = step.operand
        elif isinstance(step, Call) and step.op == WRITING_OPERATION:
            p = step.operands[1]
        else:
            continue
        computation = steps[p]
        if (
            isinstance(computation, Call)
            and not run.observations[p].count
            and source_key(computation) == source_key(step)
        ):
            yield i, p


def source_key(step: Step) -> object:
    """Return the key that all steps of one source text share: the source location and the text."""
    return step.location, step.text
