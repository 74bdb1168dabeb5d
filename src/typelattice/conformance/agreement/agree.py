"""Random programs asked in every way, and each difference reduced to a few lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from typelattice.conformance.agreement.random_programs import RandomProgram, random_programs
from typelattice.conformance.agreement.way import AskedProgram, Way
from typelattice.conformance.agreement.ways.arrays import NamespaceArrays, TypedGraph
from typelattice.conformance.agreement.ways.checker import StubsByChecker
from typelattice.conformance.agreement.ways.emitted import EMITTED_WAYS
from typelattice.conformance.agreement.ways.engine import Explanation, TableOfSystem
from typelattice.conformance.agreement.ways.graphs import GRAPH_WAYS
from typelattice.conformance.recording.library import CannotAskError
from typelattice.core.engine.system import System
from typelattice.programs.calls.steps import ProgramError

STEPS = 8  # lines of a random program at most
MAX_REDUCED = 5  # differences of a way that are reduced and shown
WAYS: tuple[Way, ...] = (
    Explanation(), TableOfSystem(), NamespaceArrays(), TypedGraph(), *GRAPH_WAYS, StubsByChecker(),
    *EMITTED_WAYS,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Difference:
    """A step to which a way gives another dtype than the rules, in a reduced program."""

    way: str
    program: RandomProgram
    step: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.way}: {self.step} is {self.found}, and {self.expected} by the rules\n{self.program}"


@dataclass(slots=True)
class WayResult:
    """The result of one way: the number of steps that it answered, and those that differ.

    `missing` is the command that installs the way; it was not asked then. `failure` says why it failed as a
    whole. `unanswered` counts the other steps by the reason why the way has no answer.
    """

    name: str
    missing: str = ""
    failure: str = ""
    step_count: int = 0
    difference_count: int = 0
    differences: list[Difference] = field(default_factory=list)
    unanswered: Counter[str] = field(default_factory=Counter)


def agree(
    system: System,
    count: int,
    seed: int = 0,
    ways: Sequence[Way] = WAYS,
    on_way: Callable[[str], object] = lambda name: None,
) -> Iterator[WayResult]:
    """Ask random programs in several ways, and yield the result of each.

    >>> from typelattice import system
    >>> [(way.name, way.difference_count) for way in agree(system("numpy"), 3, ways=[Explanation()])]
    [('explanation', 0)]
    """
    programs = [p for p in random_programs(system, count, seed, STEPS) if p.lines]
    asked = [AskedProgram(system, p.build()) for p in programs]
    for way in ways:
        on_way(way.name)
        result = WayResult(way.name, way.missing)
        if not result.missing:
            _ask_way(system, way, programs, asked, result)
        yield result


def _ask_way(
    system: System,
    way: Way,
    programs: Sequence[RandomProgram],
    asked: Sequence[AskedProgram],
    result: WayResult,
) -> None:
    for each in asked:
        each.reasons.clear()
    try:
        answers = way.ask(system, asked)
    except CannotAskError as e:
        result.failure = str(e)
        return
    for made, each, found in zip(programs, asked, answers, strict=True):
        answered = [i for i in each.asked_steps if found[i] is not None]
        result.step_count += len(answered)
        result.unanswered.update(
            each.reasons.get(i, way.leaves_out) for i in each.asked_steps if i not in answered
        )
        wrong = _first_difference(each, found)
        if wrong is not None:
            result.difference_count += 1
            if len(result.differences) < MAX_REDUCED:
                step = each.program.steps[wrong].text
                whole = Difference(way.name, made, step, each.expected[wrong], str(found[wrong]))
                result.differences.append(_reduce(system, way, whole))


def _first_difference(asked: AskedProgram, answers: Sequence[str | None]) -> int | None:
    pairs = enumerate(zip(answers, asked.expected, strict=True))
    return next((i for i, (answer, expected) in pairs if answer not in (None, expected)), None)


def _reduce(system: System, way: Way, found: Difference) -> Difference:
    """Leave out lines as long as the way still differs, and return the difference that is left."""
    smaller = True
    while smaller:
        smaller = False
        for i in reversed(range(len(found.program.lines))):
            lines = found.program.lines
            shorter = replace(found.program, lines=(*lines[:i], *lines[i + 1 :]))
            less = _find_difference(system, way, shorter)
            if less is not None:
                found, smaller = less, True
                break
    return found


def _find_difference(system: System, way: Way, program: RandomProgram) -> Difference | None:
    if not program.lines:
        return None
    try:
        asked = AskedProgram(system, program.build())
        (answers,) = way.ask(system, [asked])
    except (ProgramError, CannotAskError):
        return None
    i = _first_difference(asked, answers)
    if i is None:
        return None
    step = asked.program.steps[i]
    return Difference(way.name, program, step.text, asked.expected[i], str(answers[i]))
