"""Answers the box of the site: a function's lines with the dtypes that several systems give them.

The site's pages fetch this file and run it in the reader's browser, beside the package.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import typelattice as tl
from typelattice.core.evidence.never_asked import NEVER_ASKED_MARK, NEVER_ASKED_NOTE
from typelattice.core.explanations.recorded_answer_in_english import recorded_result_text
from typelattice.core.system_files.system_text import UnknownSystemError
from typelattice.programs.calls.steps import ProgramError, Step
from typelattice.programs.program.program import Program, Replay
from typelattice.programs.replay.divergences import (
    Divergences,
    StepDivergence,
    find_divergences,
    list_shared_steps,
)
from typelattice.programs.replay.outcome import Outcome
from typelattice.show.cli.bindings import BINDING_PATTERN, split_bindings
from typelattice.show.cli.explain_program import explain_outcome

MOST_LINES = 40
MOST_CHARACTERS = 4_000
MOST_SYSTEMS = 3
REFUSED = str(Outcome(None, reason=""))
ERROR_LINE = re.compile(r"<source>, line (\d+): ")


def annotate(source: str, names: str, systems: str) -> dict[str, Any]:
    """Return the lines of a program with their steps, or the error and the number of its line.

    `names` binds the program's names to operands, as `x=float32[100] n=int64`, and `systems` names one to
    three systems.

    >>> found = annotate("y = x + 300\\ny.sum()", "x=uint8", "numpy torch")
    >>> found["summary"][0], [line["answers"] for line in found["lines"]]
    ('numpy and torch first differ in line 1, at x + 300.', [['refused', 'uint8'], ['not reached', 'int64']])
    >>> annotate("y = x + 1\\ny.foo()", "x=int8", "numpy")["line"]
    2
    """
    text = source.rstrip()
    try:
        found = [tl.system(name) for name in _system_names(systems)]
        p = _program(text, names)
        replays = [p.under(s) for s in found]
    except tl.TypelatticeError as error:
        said = str(error)
        if isinstance(error, UnknownSystemError):  # whose remedies are those of a command line
            said = f"{said.partition(';')[0]}; these are: {', '.join(tl.systems())}"
        place = ERROR_LINE.match(said)
        line = int(place[1]) if place else None
        return {"error": ERROR_LINE.sub("", said), "line": line, "source": text.splitlines()}
    diverging = find_divergences([r.program.steps for r in replays], [r.name for r in replays], replays)
    return {
        "error": None,
        "systems": [r.name for r in replays],
        "summary": [*_summary(diverging), *map(_result, replays)],
        "lines": [*_lines(text, replays, diverging)],
        "note": NEVER_ASKED_NOTE if any(o.is_unrecorded for made in replays for o in made) else "",
    }


def _system_names(text: str) -> list[str]:
    names = list(dict.fromkeys(text.replace(",", " ").split()))
    if not 1 <= len(names) <= MOST_SYSTEMS:
        raise ProgramError(f"{len(names)} systems; name one to {MOST_SYSTEMS}, as in: numpy torch")
    return names


def _program(text: str, names: str) -> Program:
    """Make the program of a text and its names, if both are small. Raises ProgramError."""
    lines = len(text.splitlines())
    if lines > MOST_LINES or len(text) > MOST_CHARACTERS:
        size = f"{lines} lines of {len(text):,} characters"
        raise ProgramError(f"{size}; at most {MOST_LINES} lines and {MOST_CHARACTERS:,} characters are read")
    words = re.split(r"[\s;]+|,\s+", names.strip())
    for word in filter(None, words):
        if not BINDING_PATTERN.match(word):
            raise ProgramError(f"{word!r} binds no name; write a name, = and an operand: x=float32[100]")
    return tl.program(text, **split_bindings(["", *filter(None, words)])[1])


def _summary(diverging: Divergences) -> Iterator[str]:
    """Say where the systems first differ."""
    names = " and ".join([", ".join(diverging.systems[:-1]), diverging.systems[-1]]).removeprefix(" and ")
    if first := diverging.first_divergence:
        yield f"{names} first differ in line {_line(first.step)}, at {first.step.text}."
    elif len(diverging.systems) > 1:
        yield f"{names} agree on every step."


def _result(replayed: Replay) -> str:
    """Say what a program gives under a system, or which step is refused."""
    if replayed.refusals:
        step, outcome = replayed.refusals[0]
        return f"{replayed.name} refuses line {_line(step)}, {step.text}: {outcome.reason}."
    results = ", ".join(_answer(replayed[i]) for i in replayed.program.results)
    return f"{replayed.name} returns {results}."


def _lines(
    text: str, replays: Sequence[Replay], diverging: Divergences
) -> Iterator[dict[str, Any]]:
    """Give each line its steps and its answers."""
    differences = {d.step_number: d for d in diverging.step_divergences}
    steps: dict[int, list[dict[str, Any]]] = {}
    for i, step, having in list_shared_steps([made.program.steps for made in replays]):
        if step.op is not None:
            outcomes = [made[i] if k in having else None for k, made in enumerate(replays)]
            shown = _shown(step, outcomes, differences.get(i) if len(having) == len(replays) else None)
            steps.setdefault(_line(step), []).append(shown)
    for number, line in enumerate(text.splitlines(), 1):
        own = steps.get(number, [])
        yield {
            "number": number,
            "text": line,
            "answers": [*map(_last, zip(*(step["answers"] for step in own), strict=True))],
            "differs": any(step["differs"] for step in own),
            "first": bool(diverging.first_divergence and _line(diverging.first_divergence.step) == number),
            "steps": _counted(own),
        }


def _last(answers: Sequence[str]) -> str:
    """The answer of a line: that of its last step, or the refusal of an earlier one.

    A system that takes another branch has no answer to a step.
    """
    given = [said for said in answers if said]
    return next((said for said in given if said.startswith(REFUSED)), given[-1] if given else "")


def _shown(
    step: Step, outcomes: Sequence[Outcome | None], difference: StepDivergence | None
) -> dict[str, Any]:
    return {
        "text": step.text,
        "answers": ["" if o is None else _answer(o) for o in outcomes],
        "reasons": ["" if o is None else "; ".join(explain_outcome(o)) for o in outcomes],
        "differs": difference is not None and not difference.inherited_from,
    }


def _counted(steps: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join equal steps, such as those of a loop, and say how often each is taken."""
    times = Counter(map(repr, steps))
    once = {repr(step): step for step in steps}
    return [{**step, "times": times[key]} for key, step in once.items()]


def _answer(o: Outcome) -> str:
    """Write the result of a step: what the library was seen to answer where it departs from its rule."""
    if seen := o.recorded_departure:
        return f"{seen.dtype}{'*' * seen.weak}" if seen.dtype else recorded_result_text(seen)
    return f"{o}{NEVER_ASKED_MARK * o.is_unrecorded}"


def _line(step: Step) -> int:
    return step.location.line if step.location else 1  # a program of one line says no line
