"""What is said of a cause, of a step, and of a place where a system parts, in sentences."""

from __future__ import annotations

from ast import BinOp, parse, unparse
from collections.abc import Iterable, Iterator, Mapping

from typelattice.engine.answer import Promotion
from typelattice.explain.english import loss_words
from typelattice.facts.loss import loss
from typelattice.facts.operations import OPERATIONS
from typelattice.programs.step import Call, Cast, Created, Input, Opaque, Step
from typelattice.tracing.as_written import operation_words
from typelattice.tracing.cast_back import CastBack
from typelattice.tracing.causes import Cause
from typelattice.tracing.divergences import Divergence
from typelattice.tracing.ran import Ran, source_of
from typelattice.tracing.stops import Casting, Stop, stop
from typelattice.tracing.widths import narrowed
from typelattice.tracing.words import counted, place, size

ASKED = ", as the code asks"
ALSO = 3
"""Other places at which a cause widened floats that are shown; of the rest it is said how many there are."""


def cause_sections(ran: Ran, cause: Cause) -> Iterator[tuple[str, list[str]]]:
    """What is to be said of a cause: headings of a word or two, and lines."""
    first = cause.first[0]
    yield "what", [deed(ran, cause.at)]
    if cause.at != first:
        yield "wide", _wide(ran, first)
    decided = ran.narrowly(cause.at) if ran.is_always_wide(cause.at) else ran.said[cause.at]
    rule = _rule(decided.promotion)
    if rule:
        yield "rule", rule
    also = [line for line in _lines_of(ran, cause.widening) if line != _line_of(ran, cause.at)]
    if also:
        more = [f"and {counted(len(also) - ALSO, 'place')} more"] if len(also) > ALSO else []
        yield "also at", [*also[:ALSO], *more]
    yield "follows", [_following(ran, cause)]
    if cause.bytes:
        yield "costs", [f"{size(cause.bytes)} more than in {narrowed(cause.wide, cause.narrow)}"]
    yield "stop it", _stop_lines(ran, cause)


def _wide(ran: Ran, first: int) -> list[str]:
    """Where a wide float came up that then widened another."""
    return [_line_of(ran, first), deed(ran, first)]


def _following(ran: Ran, cause: Cause) -> str:
    """How many texts of the source take what was widened, or what was made of it, and how often they ran."""
    later = len(_sources(ran, cause.follows))
    return f"{counted(later, 'later step')}, run {counted(cause.runs, 'time')}" if later else "no later step"


def _sources(ran: Ran, steps: Iterable[int]) -> set[object]:
    return {source_of(ran.steps[i]) for i in steps}


def _line_of(ran: Ran, i: int) -> str:
    """The place and the text of a step."""
    step = ran.steps[i]
    return f"{place(step.place)}: {step.text}" if step.place else step.text


def _lines_of(ran: Ran, steps: Iterable[int]) -> list[str]:
    """The places and the texts of steps, each once."""
    return [*dict.fromkeys(_line_of(ran, i) for i in steps)]


def deed(ran: Ran, i: int) -> str:
    """What a step did."""
    step, given = ran.steps[i], ran.observed(i)
    match step:
        case Cast():
            return f"casts {operands_words(ran, i)} to {given} explicitly"
        case Created():
            return f"makes {given}{'' if step.dtype is None else ASKED}"
        case Opaque() if _with_a_list(ran, i):
            return f"{operation_words(step)} of {operands_words(ran, i)} and a list or the like gives {given}"
        case Opaque() if ran.parts[i]:
            return f"makes {given} of {operands_words(ran, i)}; no rule of it is known"
        case Opaque():
            return f"makes {given}; no rule of it is known"
        case Input():
            return f"comes in as {given}"
    if step.op == "setitem":
        into, value = (ran.observed(p) for p in ran.parts[i][:2])
        return f"writes {value} into {into}"
    why = ", as it does of narrower floats" if ran.is_always_wide(i) else ""
    if isinstance(step, Call) and step.dtype is not None:
        why = ASKED
    return f"{operation_words(step)} of {operands_words(ran, i)} gives {given}{why}"


def otherwise_words(ran: Ran, i: int, reasons: Mapping[int, str]) -> str:
    """What a step gave that its library's own system says otherwise, with the reason of a departure."""
    gave, said = ran.observed(i), ran.said[i]
    if i in reasons:
        return f"gave {gave}, by the rule {said}: {reasons[i]}"
    return f"gave {gave}, by our rules {said}"


def operands_words(ran: Ran, i: int) -> str:
    """The operands of a step as they were, each once."""
    step = ran.steps[i]
    those = step.operands if isinstance(step, Call) else ran.parts[i]
    told = [str(ran.observed(p)) for p in those]
    return " and ".join(dict.fromkeys(told)) if len(told) < 4 else ", ".join(dict.fromkeys(told))


def _with_a_list(ran: Ran, i: int) -> bool:
    """Whether a step is opaque although its operation, of two operands, is known: one is no array."""
    step = ran.steps[i]
    known = OPERATIONS.get(step.name) if isinstance(step, Opaque) else None
    return known is not None and known.most == 2 and len(ran.parts[i]) == 1


def _rule(p: Promotion | None) -> list[str]:
    """The lines of the file behind an answer."""
    if p is None or p.dtype is None:
        return []
    rule = p.rule
    return [str(rule), *(line.strip() for line in rule.quoted)]


def _stop_lines(ran: Ran, cause: Cause) -> list[str]:
    """How much the casts were found to stop that stop a cause, and the casts."""
    found = stop(ran, cause)
    step = ran.steps[cause.at]
    if found is None and _with_a_list(ran, cause.at):
        return [f"make an array of {cause.narrow} of that first (not tried: it was not followed)"]
    if found is None and isinstance(step, Opaque):
        return [f"not known: typelattice has no rule of {operation_words(step)}, and cannot replay it"]
    if found is None:
        return [f"no cast was found that keeps it {cause.narrow}"]
    what = size(found.bytes) if found.bytes else "this"  # of the array of a list nothing was seen
    casts = list(dict.fromkeys(_cast_line(ran, c) for c in found.casts))
    return [f"cast {what} to {found.target}, and {_kept_words(ran, cause, found)}:", *casts]


def _kept_words(ran: Ran, cause: Cause, found: Stop) -> str:
    """What stays narrow after some casts."""
    if not found.kept:
        return "nothing is widened"
    wide = narrowed(cause.wide, cause.narrow)
    verb, verbs = ("stays", "stay") if wide is cause.narrow else ("becomes", "become")
    of = {*cause.widening, *cause.later}
    left = _sources(ran, of - {*found.kept})
    if left:
        texts = len(_sources(ran, of))
        return f"{texts - len(left):,} of {counted(texts, 'step')} {verbs} {wide}"
    return f"{'all of it' if len(_sources(ran, of)) > 1 else 'it'} {verb} {wide}"


def _cast_line(ran: Ran, c: Casting) -> str:
    """Where a cast is to be written, and of what."""
    if c.at is None:
        return _line_of(ran, c.of)
    at = ran.steps[c.at]
    return f"{place(at.place)}: {operand_text(ran, c.of, at)}, where {at.text} takes it"


def operand_text(ran: Ran, i: int, at: Step) -> str:
    """An operand as the source text of a step has it that takes it; else the text of what made it."""
    try:
        written = parse(at.text, mode="eval").body
    except SyntaxError:  # it is a statement, or cut short
        written = None
    if isinstance(written, BinOp) and len(at.parts) == 2:
        return unparse((written.left, written.right)[at.parts.index(i)])
    return ran.steps[i].text


def cast_back_heading(places: int) -> str:
    """What is said of all the places that compute in a wider float than they write."""
    does = (
        "computes in a wider float than it writes"
        if places == 1
        else "compute in a wider float than they write"
    )
    return f"{counted(places, 'place')} {does}: that widens nothing, but takes time"


def cast_back_words(each: CastBack) -> str:
    """What happens at a place that computes in a wider float than it writes."""
    return f"computes in {each.computed}, writes {each.kept}"


def divergence_lines(ran: Ran, divergence: Divergence) -> Iterator[str]:
    """What happens at a place where a system parts."""
    i = divergence.steps[0]
    of = operands_words(ran, i)
    said = f"{operation_words(ran.steps[i])}{f' of {of}' if of else ''}"
    if divergence.outcome.operand is None:
        yield f"{said} is refused: {divergence.outcome.reason}; the run gave {divergence.observed}"
    else:
        yield f"{said} gives {divergence.outcome}; the run gave {divergence.observed}"
    for source, target in divergence.lost:
        yield f"{source} to {target}: {'; '.join(loss_words(loss(source, target), source, target))}"
    if divergence.later:
        unreached = f", {divergence.unreached:,} of them not reached" if divergence.unreached else ""
        comes = "comes" if divergence.later == 1 else "come"
        yield f"{counted(divergence.later, 'later step')} {comes} out otherwise by it{unreached}"
