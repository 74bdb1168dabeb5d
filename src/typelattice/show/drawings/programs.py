"""A program under a system as a diagram, with the dtype of each step and the implicit casts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from typelattice.base.errors.error_texts import clip_text
from typelattice.base.rendering.diagram import Arrow, Diagram, Vertex
from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.evidence.never_asked import NEVER_ASKED_NOTE
from typelattice.core.explanations.promotion_in_english import describe_loss
from typelattice.core.losses.loss import loss
from typelattice.programs.calls.steps import Argument, Cast, DTypeOf, Ref, Step
from typelattice.programs.program.program import Program, Replay
from typelattice.programs.replay.implicit_casts import ImplicitCast, implicit_casts
from typelattice.programs.replay.outcome import Outcome

MAX_STEP_CHARS = 34
MAX_TITLE_CHARS = 200


def program_diagram(replay: Replay) -> Diagram:
    """Return the steps of a program as a diagram, with a repeated expression only once.

    An implicit cast is dashed; one that loses has a number and a note. A step where a wide float widens a
    narrower one has a ring, and floats of that width have another colour.
    """
    steps, outcomes = replay.program.steps, replay.outcomes
    casts: dict[tuple[int, int], ImplicitCast] = {
        (c.operand, c.step_number): c for c in implicit_casts(steps, outcomes)
    }
    drawn = _drawn_steps(replay.program)
    casts = {(part, i): c for (part, i), c in casts.items() if i in drawn}
    culprits = _find_culprits(casts.values(), drawn, outcomes)
    narrow = min((_width(cast.source) for cast in culprits.values()), default=0)
    wide = {i for i in drawn if narrow and _width(_array_dtype(outcomes[i])) > narrow}
    vertices = tuple(
        _step_vertex(i, steps[i], outcomes[i], ("wide",) * (i in wide) + ("culprit",) * (i in culprits))
        for i in drawn
    )
    arrows, notes = list[Arrow](), list[str]()
    for i, parts in drawn.items():
        for part, shown in parts.items():
            arrow, note = _arrow_to_step(
                part, shown, i, steps[i], outcomes, casts.get((part, i)), len(notes) + 1
            )
            arrows.append(arrow)
            notes += [note] if note else []
    notes = [
        f"ringed: {c.source} becomes {c.target} in {c.step.text}; orange: wider than {c.source}"
        for c in culprits.values()
    ] + notes
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
        f"{_program_title(replay.program)} under {replay.name}",
        vertices,
        tuple(arrows),
        notes=tuple(notes),
        flows_down=True,
    )


def _find_culprits(
    casts: Iterable[ImplicitCast], drawn: Mapping[int, Mapping[int, int]], outcomes: Sequence[Outcome]
) -> dict[int, ImplicitCast]:
    """Find the steps where a narrow float meets a wider one that no other such step made wide."""
    found: dict[int, ImplicitCast] = {}
    behind: set[int] = set()  # the steps that such a step made wide
    by_step: dict[int, ImplicitCast] = {}
    for cast in casts:
        if 0 < _width(cast.source) < _width(cast.target) and cast.operand != cast.step_number:
            by_step.setdefault(cast.step_number, cast)
    for i in sorted(drawn):
        own = _width(_array_dtype(outcomes[i]))
        wide_inputs = {p for p in drawn[i].values() if own and _width(_array_dtype(outcomes[p])) >= own}
        if wide_inputs & behind:
            behind.add(i)
        elif i in by_step:
            found[i] = by_step[i]
            behind.add(i)
    return found


def _array_dtype(outcome: Outcome) -> DType | None:
    """Return the dtype of an array, or None for a Python number and a refusal."""
    o = outcome.operand
    return None if o is None or o.weak or o.tier == "scalar" else o.dtype


def _width(dtype: DType | Kind | None) -> int:
    """Return the bits of a float, or of each half of a complex number; 0 for everything else."""
    if not isinstance(dtype, DType) or dtype.kind not in (Kind.FLOAT, Kind.COMPLEX):
        return 0
    return (dtype.bits or 0) // (2 if dtype.kind is Kind.COMPLEX else 1)


def steps_diagram(program: Program) -> Diagram:
    """Return the steps of a program without a system."""
    vertices, arrows = list[Vertex](), list[Arrow]()
    for i, parts in _drawn_steps(program).items():
        text = program.steps[i].text
        vertices.append(Vertex(str(i), clip_text(text, MAX_STEP_CHARS), tooltip=text))
        arrows += [Arrow(str(shown), str(i)) for shown in parts.values()]
    return Diagram(_program_title(program), tuple(vertices), tuple(arrows), flows_down=True)


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
    return clip_text(" ".join(program.source.split()), MAX_TITLE_CHARS) or "program"


def _step_vertex(step_index: int, step: Step, outcome: Outcome, width_marks: tuple[str, ...]) -> Vertex:
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
        (*weak, *marks, *width_marks),
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
