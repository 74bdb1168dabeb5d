"""A program under a system as a diagram, with the dtype of each step and the implicit casts."""

from __future__ import annotations

from dataclasses import replace

from typelattice.calls.steps import Argument, Cast, DTypeOf, Ref, Step
from typelattice.explanations.promotion_in_english import describe_loss
from typelattice.facts.dtypes import DType
from typelattice.facts.loss import loss
from typelattice.programs.program import Program, Replay
from typelattice.programs.replay.implicit_casts import ImplicitCast, implicit_casts
from typelattice.programs.replay.outcome import Outcome
from typelattice.recorded.never_asked import NEVER_ASKED_NOTE
from typelattice.rendering.diagram import Arrow, Diagram, Vertex
from typelattice.support.error_texts import clip_text

MAX_STEP_CHARS = 34


def program_diagram(replay: Replay) -> Diagram:
    """Return the steps of a program as a diagram, with a repeated expression only once.

    An implicit cast is dashed; one that loses has a number and a note.
    """
    steps, outcomes = replay.program.steps, replay.outcomes
    casts: dict[tuple[int, int], ImplicitCast] = {
        (c.operand, c.step_number): c for c in implicit_casts(steps, outcomes)
    }
    drawn = _drawn_steps(replay.program)
    casts = {(part, i): c for (part, i), c in casts.items() if i in drawn}
    vertices = tuple(_step_vertex(i, steps[i], outcomes[i]) for i in drawn)
    arrows, notes = list[Arrow](), list[str]()
    for i, parts in drawn.items():
        for part, shown in parts.items():
            arrow, note = _arrow_to_step(
                part, shown, i, steps[i], outcomes, casts.get((part, i)), len(notes) + 1
            )
            arrows.append(arrow)
            notes += [note] if note else []
    casts_of_results = [c for (part, i), c in casts.items() if part == i]
    notes += [
        f"{c.step.text}: the result is cast, {_describe_cast(c.source, c.target)}" for c in casts_of_results
    ]
    lossless_count = sum("lossy" not in a.marks for a in arrows if "cast" in a.marks)
    notes += (
        [f"{lossless_count} further casts (dashed) lose nothing, or are of Python numbers"]
        if lossless_count
        else []
    )
    notes += [NEVER_ASKED_NOTE] if any(outcome.is_unrecorded for outcome in outcomes) else []
    notes += [f"refused: {step.text}: {outcome.reason}" for step, outcome in replay.refusals]
    return Diagram(
        f"{_program_title(replay.program)} under {replay.name}", vertices, tuple(arrows), notes=tuple(notes)
    )


def steps_diagram(program: Program) -> Diagram:
    """Return the steps of a program without a system."""
    vertices, arrows = list[Vertex](), list[Arrow]()
    for i, parts in _drawn_steps(program).items():
        text = program.steps[i].text
        vertices.append(Vertex(str(i), clip_text(text, MAX_STEP_CHARS), tooltip=text))
        arrows += [Arrow(str(shown), str(i)) for shown in parts.values()]
    return Diagram(_program_title(program), tuple(vertices), tuple(arrows))


def _drawn_steps(program: Program) -> dict[int, dict[int, int]]:
    """Map each step to draw to its inputs, and each of these to the step drawn for it.

    Equal steps with equal inputs are drawn once. Numbers are drawn next to each step that takes them.
    """
    first_equal_step: list[int] = []
    known: dict[str, int] = {}  # by text, since 1, 1.0 and True would be one key

    def renamed(x: Argument) -> Argument:
        return replace(x, step=first_equal_step[x.step]) if isinstance(x, (Ref, DTypeOf)) else x

    for i, step in enumerate(program.steps):
        normalized_step = replace(step.map_refs(first_equal_step.__getitem__, renamed), location=None)
        first_equal_step.append(known.setdefault(repr(normalized_step), i))
    numbers = {i for i, step in enumerate(program.steps) if not step.inputs}
    drawn = {
        i: {part: part if part in numbers else first_equal_step[part] for part in step.inputs}
        for i, step in enumerate(program.steps)
        if i in numbers or first_equal_step[i] == i
    }
    used_steps = {part for parts in drawn.values() for part in parts}
    return {i: parts for i, parts in drawn.items() if first_equal_step[i] == i or i in used_steps}


def _program_title(program: Program) -> str:
    return clip_text(" ".join(program.source.split()), 60) or "program"


def _step_vertex(step_index: int, step: Step, outcome: Outcome) -> Vertex:
    kind = outcome.operand.kind.value if outcome.operand else ""
    marks = () if outcome.operand else ("refused",) if outcome.is_refused else ("faded",)
    weak = ("weak",) if outcome.operand and (outcome.operand.weak or outcome.operand.tier == "scalar") else ()
    place = f", {step.location}" if step.location else ""
    why = f": {outcome.reason}" if outcome.reason else ""
    title = f"{step.text}: {outcome.text_with_mark}{why}{place}"
    return Vertex(
        str(step_index),
        f"{clip_text(step.text, MAX_STEP_CHARS)}\n{outcome.text_with_mark}",
        0,
        kind,
        (*weak, *marks),
        title,
    )


def _arrow_to_step(
    input_step: int,
    drawn_step: int,
    step_index: int,
    step: Step,
    outcomes: tuple[Outcome, ...],
    cast: ImplicitCast | None,
    number: int,
) -> tuple[Arrow, str]:
    """Return the arrow to a step from its input, or from the node drawn for that, and a note on the loss."""
    ends = str(drawn_step), str(step_index)
    if cast is not None:
        said = _describe_cast(cast.source, cast.target)
        if cast.loss:
            return Arrow(
                *ends, ("cast", "lossy"), said, str(number)
            ), f"{number}: in {cast.step.text}, {said}"
        return Arrow(*ends, ("cast",), said), ""
    source, target = outcomes[input_step].operand, outcomes[step_index].operand
    if (
        isinstance(step, Cast)
        and input_step == step.operand
        and source
        and target
        and source.dtype
        and target.dtype
    ):
        return Arrow(*ends, tooltip=f"written: {_describe_cast(source.dtype, target.dtype)}"), ""
    return Arrow(*ends), ""


def _describe_cast(source: object, target: DType) -> str:
    """Describe a cast and what it can lose."""
    if not isinstance(source, DType):
        return f"a Python {source} becomes {target}"
    lost = "; ".join(describe_loss(loss(source, target), source, target))
    return f"{source} to {target}: {lost or 'loses nothing'}"
