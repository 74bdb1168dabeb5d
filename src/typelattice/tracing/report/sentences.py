"""Sentences about causes, steps and divergences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from typelattice.core.engine.promotion import Promotion
from typelattice.core.evidence.never_asked import NEVER_ASKED_MARK
from typelattice.core.explanations.promotion_in_english import describe_loss
from typelattice.core.losses.loss import loss
from typelattice.core.operations.operations import OPERATIONS
from typelattice.programs.calls.steps import Call, Cast, Created, Input, Opaque, SourceLocation, Step
from typelattice.tracing.findings.announced_dtypes import WrongAnnouncement
from typelattice.tracing.findings.cast_back import CastBack
from typelattice.tracing.findings.divergences_from_run import RunDivergence
from typelattice.tracing.findings.met_operands import find_met_operands
from typelattice.tracing.findings.predicted_run import PredictedRun, source_key
from typelattice.tracing.findings.widening_causes import (
    WideningCause,
    list_arrays_that_stay_wide,
    narrow_operands,
)
from typelattice.tracing.remedies.remedy import Remedy, find_remedy, parse_sources
from typelattice.tracing.remedies.replayed_casts import ReplayedCasts
from typelattice.tracing.report.formatting import (
    count_text,
    describe_how_to_follow,
    location_text,
    size_text,
)
from typelattice.tracing.run_data.float_widths import dtype_at_width_of
from typelattice.tracing.run_data.run import AnnouncedCall
from typelattice.tracing.source.dtype_decisions import find_dtype_decisions
from typelattice.tracing.steps.called_name import name_in_source

AS_REQUESTED = ", as the code asks"
MAX_OTHER_PLACES = 3
"""The most other places of a cause that are shown. The rest are counted."""


def cause_message(predicted_run: PredictedRun, cause: WideningCause) -> str:
    """Say in one sentence what happened at a cause."""
    first = cause.origin_steps[0]
    if cause.meant_step is not None:
        leak = f"; {_describe_leak(predicted_run, cause.meant_step)}"
        return f"{cause.narrow_dtype} becomes {cause.wide_dtype}: {describe_step(predicted_run, first)}{leak}"
    origin = "" if cause.step == first else f"; the wide one comes from {_step_line(predicted_run, first)}"
    return (
        f"{cause.narrow_dtype} becomes {cause.wide_dtype}: {describe_step(predicted_run, cause.step)}{origin}"
    )


def cause_sections(predicted_run: PredictedRun, cause: WideningCause) -> Iterator[tuple[str, list[str]]]:
    """Explain a cause under short headings, the remedy first."""
    first = cause.origin_steps[0]
    yield "remedy", _describe_remedy(predicted_run, cause)
    yield "what", [describe_step(predicted_run, cause.step)]
    if cause.meant_step is not None:
        yield "meant", [_describe_leak(predicted_run, cause.meant_step)]
    if cause.step != first:
        yield "wide", [_step_line(predicted_run, first), describe_step(predicted_run, first)]
    met = find_met_operands(predicted_run, cause)
    if met:
        yield "with", [
            text for i in met for text in (_step_line(predicted_run, i), describe_step(predicted_run, i))
        ]
    decisions = find_dtype_decisions(predicted_run.steps[first], parse_sources(predicted_run.run))
    if decisions:
        yield "decided", _shorten([f"{location_text(each.location)}: {each.text}" for each in decisions])
    also = [
        line
        for line in _list_lines_of(predicted_run, cause.widening_steps)
        if line != _step_line(predicted_run, cause.step)
    ]
    if also:
        yield "also at", _shorten(also)
    arrays = list_arrays_that_stay_wide(predicted_run, cause)
    if arrays:
        lines = [f"{_step_line(predicted_run, i)}, whatever is written into it" for i in arrays]
        yield "as wide", _shorten(lines)
    yield "follows", [_describe_following(predicted_run, cause)]
    if cause.result_names:
        yield "results", [_describe_results(cause.result_names)]
    if cause.extra_bytes:
        narrow = dtype_at_width_of(cause.wide_dtype, cause.narrow_dtype)
        yield "costs", [f"{size_text(cause.extra_bytes)} more than in {narrow}"]
    decided = (
        predicted_run.predict_with_narrow_floats(cause.step)
        if predicted_run.is_always_wide(cause.step)
        else predicted_run.predictions[cause.step]
    )
    rule = _quote_rule(decided.promotion)
    if rule:
        yield "rule", rule


def _describe_leak(predicted_run: PredictedRun, meant_step: int) -> str:
    """Say that a wide float leaves the line that a comment excuses."""
    step = predicted_run.steps[meant_step]
    return f"{step.text} is meant at {location_text(step.location)}; it leaks here"


def describe_island(predicted_run: PredictedRun, island: WideningCause) -> str:
    """Say where a program casts to a wider float whose results are all cast back."""
    line = _step_line(predicted_run, island.origin_steps[0])
    return f"{line} computes in {island.wide_dtype} on purpose, and nothing of it leaves"


def _shorten(lines: Sequence[str], noun: str = "place") -> list[str]:
    """Return the first lines, and a line that counts the others."""
    left = len(lines) - MAX_OTHER_PLACES
    return [*lines[:MAX_OTHER_PLACES], *([f"and {count_text(left, noun)} more"] if left > 0 else [])]


def _describe_following(predicted_run: PredictedRun, cause: WideningCause) -> str:
    """Count the source texts that use widened values, directly or through other steps, and their runs."""
    later = len(_collect_sources(predicted_run, cause.following_steps))
    return (
        f"{count_text(later, 'later step')}, which ran {count_text(cause.following_runs, 'time')}"
        if later
        else "no later step"
    )


def _describe_results(names: Sequence[str]) -> str:
    """Name the results that a cause made wide."""
    shown = ", ".join(names[:MAX_OTHER_PLACES])
    return f"{shown} and {len(names) - MAX_OTHER_PLACES:,} more" if len(names) > MAX_OTHER_PLACES else shown


def _collect_sources(predicted_run: PredictedRun, steps: Iterable[int]) -> set[object]:
    return {source_key(predicted_run.steps[i]) for i in steps}


def _step_line(predicted_run: PredictedRun, step_number: int) -> str:
    """Return the source location and the text of a step."""
    step = predicted_run.steps[step_number]
    return f"{location_text(step.location)}: {step.text}" if step.location else step.text


def _list_lines_of(predicted_run: PredictedRun, steps: Iterable[int]) -> list[str]:
    """Return the source locations and the texts of steps, each once."""
    return [*dict.fromkeys(_step_line(predicted_run, i) for i in steps)]


def describe_step(predicted_run: PredictedRun, step_number: int) -> str:
    """Describe the action of a step."""
    step, given = predicted_run.steps[step_number], predicted_run.result_of(step_number)
    match step:
        case Cast():
            return f"casts {describe_operands(predicted_run, step_number)} to {given} explicitly"
        case Created():
            return f"makes {given}{'' if step.dtype is None else AS_REQUESTED}"
        case Opaque() if _has_list_operand(predicted_run, step_number):
            of = f"{describe_operands(predicted_run, step_number)} and a list or the like"
            return f"{name_in_source(step)} of {of} gives {given}"
        case Opaque(part=part, package=package):
            inside = f" in {part}" if part else ""
            is_computed = step.inputs and step_number not in predicted_run.separate_parts
            of = f" of {describe_operands(predicted_run, step_number)}" if is_computed else ""
            return f"makes {given}{inside}{of}; no rule of it is known{describe_how_to_follow(package)}"
        case Input():
            return f"comes in as {given}"
    if step.op == "setitem":
        into, value = (predicted_run.result_of(p) for p in predicted_run.inputs[step_number][:2])
        decides = "" if narrow_operands(predicted_run, step_number) else ", which alone decides the dtype"
        return f"writes {value} into {into}{decides}"
    why = ", as it does of narrower floats" if predicted_run.is_always_wide(step_number) else ""
    if step.requested_dtype is not None:
        why = AS_REQUESTED
    return f"{name_in_source(step)} of {describe_operands(predicted_run, step_number)} gives {given}{why}"


def describe_announcement(wrong: WrongAnnouncement, steps: Sequence[Step]) -> str:
    """Describe an array whose computed dtype differs from the announced one, and the calls that announced."""
    what = f"announced {wrong.announced}, computed {wrong.computed}"
    sources = [steps[number] for number in wrong.sources]
    places = (
        f"`{each.text}` at {location_text(each.location)}" if each.location else f"`{each.text}`"
        for each in sources
    )  # fmt: skip
    named = " or ".join(dict.fromkeys(places))
    if not all(isinstance(each, Opaque) for each in sources):
        return f"{what}; {named}, or a step after it, announces another dtype than it computes"
    return f"{what}; no rule is known of {named}: correct the dtype that it announces, as by dtype= or meta="


def describe_announced_call(call: AnnouncedCall) -> str:
    """Describe a call that announced another dtype than the same call computed."""
    part = f" in {call.path}" if call.path else ""
    what = f"announced {call.announced}{part}, computed {call.computed}"
    return f"{what} by `{call.computing_text}` at {location_text(call.computing_location)}"


def describe_mismatch(predicted_run: PredictedRun, step_number: int, reasons: Mapping[int, str]) -> str:
    """Describe a result that contradicts its library's own system, with the reason if it is known."""
    gave, said = predicted_run.result_of(step_number), predicted_run.predictions[step_number]
    if step_number in reasons:
        return f"gave {gave}, by the rule {said.text_with_mark}: {reasons[step_number]}"
    return f"gave {gave}, by our rules {said.text_with_mark}"


def describe_operands(predicted_run: PredictedRun, step_number: int) -> str:
    """Describe the observed operands of a step, each once."""
    step = predicted_run.steps[step_number]
    those = step.operands if isinstance(step, Call) else predicted_run.inputs[step_number]
    told = [str(predicted_run.result_of(p)) for p in those]
    return " and ".join(dict.fromkeys(told)) if len(told) < 4 else ", ".join(dict.fromkeys(told))


def _has_list_operand(predicted_run: PredictedRun, step_number: int) -> bool:
    """Return True if an opaque step has a known operation of two operands, and one is not an array."""
    step = predicted_run.steps[step_number]
    known = OPERATIONS.get(step.name) if isinstance(step, Opaque) else None
    return known is not None and known.max_operands == 2 and len(predicted_run.inputs[step_number]) == 1


def _quote_rule(promotion: Promotion | None) -> list[str]:
    """Quote the lines of the file behind an answer, each with its number."""
    if promotion is None or promotion.dtype is None:
        return []
    rule = promotion.rule
    numbers = [f"{line}: " for line in rule.lines] if len(rule.lines) == len(rule.quoted) > 1 else []
    quoted = [line.strip() for line in rule.quoted]
    return [str(rule), *(map("".join, zip(numbers, quoted, strict=True)) if numbers else quoted)]


def _describe_remedy(predicted_run: PredictedRun, cause: WideningCause) -> list[str]:
    """Say how the lines read that stop a cause, and how much they stop."""
    remedy = find_remedy(predicted_run, cause)
    step = predicted_run.steps[cause.step]
    if remedy is None and isinstance(step, Opaque):
        return [f"not known: typelattice has no rule of {name_in_source(step)}, and cannot replay it"]
    if remedy is None:
        return [f"no change of the followed lines was found that keeps it {cause.narrow_dtype}"]
    replay = remedy.replay
    what = size_text(replay.bytes) if replay.bytes else "this"  # a list's array has no size
    narrowed = {c.producer for c in replay.casts if c.consumer is None} | {*replay.narrow_steps}
    return [
        f"cast {what} to {replay.target}{_describe_kept(predicted_run, cause, replay)}:",
        *_write_changed_lines(remedy),
        *_describe_casts_again(predicted_run, cause, replay),
        *_describe_unknown(predicted_run, replay),
        *_describe_compiled_calls(predicted_run, narrowed),
    ]


def list_changed_lines(predicted_run: PredictedRun, cause: WideningCause) -> list[tuple[str, int, str]]:
    """List the lines as the remedy of a cause changes them, each with its file and number."""
    remedy = find_remedy(predicted_run, cause)
    return [] if remedy is None else remedy.list_changed_lines()


def _write_changed_lines(remedy: Remedy) -> list[str]:
    """Write each line as a remedy changes it."""
    return [
        f"{location_text(SourceLocation(file, line))}: {text.strip()}"
        for file, line, text in remedy.list_changed_lines()
    ]


def _describe_compiled_calls(predicted_run: PredictedRun, narrowed_steps: Set[int]) -> list[str]:
    """Name the calls of compiled functions that take an array which the casts make narrow."""
    calls = [
        f"{location_text(t.location)}: {t.text}"
        for t in predicted_run.run.compiled_call_arguments
        if t.step in narrowed_steps
    ]
    if not calls:
        return []
    return ["a compiled function takes the array, and may refuse another dtype:", *dict.fromkeys(calls)]


def _describe_kept(predicted_run: PredictedRun, cause: WideningCause, plan: ReplayedCasts) -> str:
    """Say how many steps stay narrow in a replay with some casts, or nothing if it does not tell."""
    if not plan.narrow_steps:
        return "" if plan.unknown_steps else ", and nothing is widened"
    wide = dtype_at_width_of(cause.wide_dtype, cause.narrow_dtype)
    verb, verbs = ("stays", "stay") if wide is cause.narrow_dtype else ("becomes", "become")
    of = {*cause.widening_steps, *cause.following_steps} - {*plan.unknown_steps}
    of |= {*_list_casts_again(predicted_run, cause, plan)}
    left = _collect_sources(predicted_run, of - {*plan.narrow_steps})
    texts = len(_collect_sources(predicted_run, of))
    if left:
        return f", and {texts - len(left):,} of {count_text(texts, 'step')} {verbs} {wide}"
    if plan.unknown_steps:
        return f", and {count_text(texts, 'step')} {verb if texts == 1 else verbs} {wide}"
    return f", and {'all of it' if texts > 1 else 'it'} {verb} {wide}"


def _list_casts_again(
    predicted_run: PredictedRun, cause: WideningCause, plan: ReplayedCasts
) -> Iterator[int]:
    """List the steps that make a float wide again by themselves, once some casts have made it narrow."""
    known = {*cause.origin_steps, *cause.widening_steps, *cause.later_wide_steps}
    narrowed = {*plan.narrow_steps, *(each.producer for each in plan.casts if each.consumer is None)}
    later = {i for p in narrowed for i in predicted_run.consumers[p]} - known
    wide = {i for i in later if predicted_run.widths[i] == predicted_run.widths[cause.step]}
    yield from (i for i in sorted(wide) if predicted_run.is_always_wide(i))


def _describe_casts_again(
    predicted_run: PredictedRun, cause: WideningCause, plan: ReplayedCasts
) -> Iterator[str]:
    """Name the steps that make a float wide again, once some casts have made it narrow."""
    again = _list_lines_of(predicted_run, _list_casts_again(predicted_run, cause, plan))
    if again:
        yield f"then these make {cause.wide_dtype} again, and changed nothing before:"
        yield from _shorten(again)


def _describe_unknown(predicted_run: PredictedRun, finding: ReplayedCasts | RunDivergence) -> Iterator[str]:
    """Name the calls without a rule that take a changed array, and count the steps that follow them."""
    if not finding.unknown_steps:
        return
    after = len(
        _collect_sources(predicted_run, finding.unknown_steps)
        - _collect_sources(predicted_run, finding.opaque_consumers)
    )
    then = f", nor {count_text(after, 'step')} after it" if after else ""
    yield f"a replay does not tell what these calls give{then}; only a new run does:"
    yield from _shorten(_list_lines_of(predicted_run, finding.opaque_consumers), "call")


def cast_back_heading(places: int) -> str:
    """Write the heading for the places that compute in a wider float than they write."""
    does = (
        "computes in a wider float than it writes"
        if places == 1
        else "compute in a wider float than they write"
    )
    return f"{count_text(places, 'place')} {does}: that widens nothing, but takes time"


def describe_cast_back(cast_back: CastBack) -> str:
    """Describe a place that computes in a wider float than it writes."""
    return f"computes in {cast_back.compute_dtype}, writes {cast_back.written_dtype}"


def divergence_lines(predicted_run: PredictedRun, divergence: RunDivergence) -> Iterator[str]:
    """Describe a divergence: both results, the lost values, and the later steps that also differ."""
    i = divergence.steps[0]
    of = describe_operands(predicted_run, i)
    said = f"{name_in_source(predicted_run.steps[i])}{f' of {of}' if of else ''}"
    if divergence.outcome.operand is None:
        mark = NEVER_ASKED_MARK if divergence.outcome.is_unrecorded else ""
        yield f"{said} is refused{mark}: {divergence.outcome.reason}; the run gave {divergence.observed}"
    else:
        yield f"{said} gives {divergence.outcome.text_with_mark}; the run gave {divergence.observed}"
    for source, target in divergence.lossy_casts:
        yield f"{source} to {target}: {'; '.join(describe_loss(loss(source, target), source, target))}"
    if divergence.later_count:
        unreached = (
            f", {divergence.unreached_count:,} of them not reached" if divergence.unreached_count else ""
        )
        have = "has" if divergence.later_count == 1 else "have"
        later = count_text(divergence.later_count, "later step")
        yield f"{later} {have} another dtype because of this{unreached}"
    yield from _describe_unknown(predicted_run, divergence)
