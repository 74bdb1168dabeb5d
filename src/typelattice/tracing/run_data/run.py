"""Recorded runs of real code: the program, and the observation of each of its steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from typelattice.base.objects.display_hooks import show
from typelattice.core.dtypes.dtypes import DType
from typelattice.core.engine.system import System
from typelattice.core.operands.operand import Operand
from typelattice.core.system_files.reader import system as find_system
from typelattice.programs.calls.steps import (
    Call,
    Cast,
    Created,
    Index,
    Input,
    Number,
    Opaque,
    SourceLocation,
    Step,
)
from typelattice.programs.program.program import AnySystem, Program, Replay
from typelattice.programs.replay.outcome import Outcome
from typelattice.programs.replay.replay import (
    EvaluatorFinder,
    SystemByLibrary,
    evaluator_finder,
    predict_each_step,
)
from typelattice.tracing.run_data.model_run import ModelRun


@dataclass(frozen=True, slots=True)
class Observation:
    """The observation of a step: the operand of its results, how often it ran, and the bytes of its results.

    A step that ran many times is recorded once. `operand` is the dtype, the tier and the weakness that all
    its results had. For an input, `count` is the number of arrays that came in there. A step without an
    observation of its own has a count of 0: a Python number, or the sum that `add(x, y, out=z)` writes.
    """

    operand: Operand
    count: int
    bytes: int


@dataclass(frozen=True, slots=True)
class UnfollowedCode:
    """A module, or a function of one, that ran unchanged and was not followed, and the reason."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class StepMismatch:
    """A step with a dtype that contradicts the library's own system: a mistake in the system.

    A known departure is not a mistake: there the library departs from its own rule, and `reason` says why.
    """

    step_number: int
    step: Step
    observation: Observation
    outcome: Outcome
    reason: str | None = None


WRAPPED, NOT_FINITE, LOST_FRACTION, LOST_DIGITS = "TL201", "TL202", "TL203", "TL204"
NO_CHANGE, ROUNDED_CONSTANT, UNDERFLOW, SATURATED = "TL205", "TL206", "TL207", "TL208"


@dataclass(frozen=True, slots=True)
class ValueLoss:
    """A loss of values by an operation: the rule, how many numbers, and words for the first of them."""

    rule: str
    lost_count: int
    total_count: int
    description: str


@dataclass(frozen=True, slots=True)
class LocatedLoss:
    """A source text that lost values, with the first loss there, and how many runs lost values.

    `modules` are the names of the model's parts that it ran for, if a dispatcher saw it. `caller` is the
    user's own line, if the text is a package's.
    """

    location: SourceLocation
    text: str
    loss: ValueLoss
    runs: int
    modules: tuple[str, ...] = ()
    caller: SourceLocation | None = None


@dataclass(frozen=True, slots=True)
class UncheckedResults:
    """Results whose values were not checked: the reason, its subject, how many, the bytes of the largest.

    The subject is a library, a dtype or a function. It is "" if the reason needs none.
    """

    reason: str
    subject: str
    count: int
    largest_bytes: int


@dataclass(frozen=True, slots=True)
class ValueScope:
    """The number of results whose values were checked, and the results that were not.

    `dispatched_count` counts the results that a dispatcher saw, also inside of modules and optimizers.
    """

    checked_count: int
    unchecked: tuple[UncheckedResults, ...] = ()
    dispatched_count: int = 0


@dataclass(frozen=True, slots=True)
class HeldArray:
    """An array in an object that code which is not followed returned, such as `.data` of a `Quantity`.

    `holder` is the name of the object's class, and `path` leads from the object to the array. `narrow_dtype`
    is the widest float among the arrays that the call took, or None. `package` is the package of the call.
    `announced_dtype` is the dtype that the object states, if its class has a row in `array_holders`.
    """

    location: SourceLocation
    text: str
    holder: str
    path: str
    dtype: DType
    narrow_dtype: DType | None
    package: str = ""
    announced_dtype: DType | None = None


@dataclass(frozen=True, slots=True)
class CompiledCallArgument:
    """An array argument of a compiled function. The call returns None, so it is not a step."""

    step: int
    location: SourceLocation | None
    text: str


@dataclass(frozen=True, slots=True)
class WeaknessChange:
    """An argument that is weak in one call of a compiled function and strong in another.

    `dtype` is its type without weakness. `location` and `text` belong to the step that made it weak.
    `weak_call` and `strong_call` are the first call of each sort.

    Or it is a part of a state, and the function gives it back with another dtype, `new_dtype`. Then
    `location` and `text` belong to the step that gave it that dtype. The two calls are the one before and the
    one after.

    `package` is the package of a call that made it, if its lines were not followed.
    """

    function: str
    argument: str
    dtype: str
    location: SourceLocation | None
    text: str
    weak_call: SourceLocation | None
    strong_call: SourceLocation | None
    new_dtype: str = ""
    package: str = ""


@dataclass(frozen=True, slots=True)
class AnnouncedCall:
    """A call that announced another dtype than the same call computed, in the part `path` of its result."""

    location: SourceLocation | None
    text: str
    path: str
    announced: str
    computed: str
    computing_location: SourceLocation | None
    computing_text: str


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A recorded run of real code: its program, and the observation of each step.

    `systems` names the system of each library that took part, such as `{"numpy": "numpy@2.4"}`. `sources` has
    the text of each file as it ran, by the path in the source locations of steps. `summaries` are sentences
    on what was left out to limit the memory. `unfollowed_process_count` is the number of processes that the
    program started and that were not followed. `followed_process_count` is the number of the others.
    `commands` has the names of the programs that ran in processes, if Python reports them. `results` maps
    names to the steps of the arrays that they were bound to in the end. `value_losses` are the losses of
    values, or None if they were not checked. `weakness_changes` are the arguments that make compiled
    functions compile again. `compiled_call_arguments` are array arguments of compiled functions in calls that
    are not steps. `value_scope` counts the results whose values were checked, or is None. `held_arrays` are
    float arrays in objects that came from code that is not followed. `script` is the path of the script, ""
    if only modules were followed, and None if that is unknown. `model` has the operations that a dispatcher
    reported, or is None.
    """

    program: Program
    observations: tuple[Observation, ...] = field(repr=False)
    systems: Mapping[str, str]
    unfollowed_code: tuple[UnfollowedCode, ...] = ()
    summaries: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)
    unfollowed_process_count: int = 0
    results: Mapping[str, int] = field(default_factory=dict)
    value_losses: tuple[LocatedLoss, ...] | None = None
    commands: tuple[str, ...] = ()
    followed_process_count: int = 0
    weakness_changes: tuple[WeaknessChange, ...] = ()
    compiled_call_arguments: tuple[CompiledCallArgument, ...] = ()
    value_scope: ValueScope | None = None
    held_arrays: tuple[HeldArray, ...] = ()
    script: str | None = None
    model: ModelRun | None = field(default=None, repr=False)
    announced_calls: tuple[AnnouncedCall, ...] = ()
    """The calls that announced another dtype than the same calls computed."""

    def __repr__(self) -> str:
        under = " and ".join(dict.fromkeys(self.systems.values()))
        count = f"{self.operations:,} operation{'s' * (self.operations != 1)}"
        return f"<run of {count}{f' with {under}' if under else ''}>"

    def _repr_html_(self) -> str | None:
        return show(self, "run")

    def __iter__(self) -> Iterator[tuple[Step, Observation]]:
        """Iterate over the steps, each with its observation."""
        return zip(self.program.steps, self.observations, strict=True)

    @property
    def operations(self) -> int:
        """The number of operations that ran, with all their repetitions."""
        return sum(seen.count for step, seen in self if is_operation(step))

    @property
    def opaque(self) -> int:
        """The number of array results that came from steps without a known operation."""
        return sum(seen.count for step, seen in self if isinstance(step, Opaque))

    @property
    def opaque_share(self) -> float:
        """The share of opaque results among the results that later steps take, from 0 to 1."""
        used = {part for step in self.program.steps for part in step.inputs}
        steps = [self.program.steps[i] for i in used]
        counts = [self.observations[i].count for i in used]
        made = [pair for pair in zip(steps, counts, strict=True) if not isinstance(pair[0], (Input, Number))]
        opaque = sum(count for s, count in made if isinstance(s, Opaque))
        return opaque / max(1, sum(count for _, count in made))

    def under(self, system: AnySystem | Mapping[str, AnySystem]) -> Replay:
        """Replay each step under a system, or under one system for each library."""
        return self.program.under(system)

    @property
    def mismatches(self) -> tuple[StepMismatch, ...]:
        """The steps with observed dtypes that contradict the systems of their libraries.

        Steps that follow from such a step are not included, and departures are not.
        """
        return tuple(m for m in self._find_contradictions() if m.reason is None)

    @property
    def departures(self) -> tuple[StepMismatch, ...]:
        """The steps with a known departure of their library from its rule."""
        return tuple(m for m in self._find_contradictions() if m.reason is not None)

    def _find_contradictions(self) -> tuple[StepMismatch, ...]:
        return self.compare_predictions(self.predict_steps(self.find_systems()[1]))

    def find_systems(self) -> tuple[System | SystemByLibrary, EvaluatorFinder]:
        """Return the run's own systems, and a function that finds the evaluator of a step.

        Raises UnknownSystemError or FormatError if a system cannot be read.
        """
        by_owner = {owner: find_system(name) for owner, name in self.systems.items()}
        systems: System | SystemByLibrary = by_owner if len(by_owner) != 1 else next(iter(by_owner.values()))
        return systems, evaluator_finder(systems, self.program.steps)

    @property
    def observed_outcomes(self) -> Sequence[Outcome | None]:
        """The observed outcome of each step, or None if it was not observed by itself."""
        return [Outcome(seen.operand) if seen.count else None for seen in self.observations]

    def predict_steps(self, find_evaluator: EvaluatorFinder) -> Sequence[Outcome]:
        """Predict each step from its observed operands. Without systems, return what was observed."""
        observed = self.observed_outcomes
        if not self.systems:
            return [outcome or Outcome(None) for outcome in observed]
        return predict_each_step(self.program.steps, find_evaluator, observed)

    def compare_predictions(self, predictions: Sequence[Outcome]) -> tuple[StepMismatch, ...]:
        """Return the mismatches and the departures: the operations with another dtype than predicted."""
        return tuple(
            StepMismatch(i, step, seen, outcome, known_reason(outcome, seen.operand))
            for i, ((step, seen), outcome) in enumerate(zip(self, predictions, strict=True))
            if seen.count and is_operation(step)
            if not has_observed_dtype(outcome, seen.operand) and not is_undecided(step, outcome)
        )


def is_operation(step: Step) -> bool:
    """Return True if an operation describes a step: it is not an input, a number or an opaque step."""
    return isinstance(step, (Call, Cast, Created, Index))


def is_undecided(step: Step, outcome: Outcome) -> bool:
    """Return True if no rule decides the dtype of a step.

    The array API standard has no dtype for an array that is made without one. NumPy 1 depends on the values
    of scalars, and the values of computed scalars are not known.
    """
    if isinstance(step, Created) and step.dtype is None and outcome.is_refused:
        return True
    p = outcome.promotion
    if p is None or p.system.combine != "value":
        return False
    return any(o.tier == "0d" and o.value is None for o in p.operands)


def has_observed_dtype(outcome: Outcome, observed: Operand) -> bool:
    """Return True if the predicted dtype of a step is the observed one."""
    return outcome.operand is not None and outcome.operand.dtype is observed.dtype


def known_reason(outcome: Outcome, observed: Operand) -> str | None:
    """Return the reason for a known departure that explains the observed dtype, or None.

    A recorded departure has to give this dtype. A call that the library answers in several ways may give any.
    """
    recorded_answer = outcome.recorded_answer
    if recorded_answer is None:
        return None
    if not recorded_answer.departs:
        return recorded_answer.caution
    return recorded_answer.reason if recorded_answer.dtype is observed.dtype else None
