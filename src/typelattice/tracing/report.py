"""The report of a run as text: causes of wide floats, where systems part, and where our rules are wrong."""

from __future__ import annotations

from ast import BinOp, parse, unparse
from collections.abc import Iterator, Sequence

from typelattice.engine.answer import Promotion
from typelattice.explain.english import loss_words
from typelattice.facts.loss import loss
from typelattice.facts.operations import OPERATIONS
from typelattice.operands.operand import Operand
from typelattice.programs.program import AnySystem
from typelattice.programs.replay import Outcome
from typelattice.programs.step import Call, Cast, Created, Input, Opaque, Step
from typelattice.rendering.layout import Layout
from typelattice.tracing.causes import Cause
from typelattice.tracing.findings import Findings, findings
from typelattice.tracing.parted import COSTS, Part
from typelattice.tracing.ran import Ran
from typelattice.tracing.run import Run
from typelattice.tracing.stops import Casting, stop
from typelattice.tracing.words import counted, place, size

SHOWN = 10
"""Causes, and places where a system parts, that are shown; of the others it is said how many there are."""


def report(run: Run, systems: Sequence[AnySystem], width: int = 80) -> Iterator[str]:
    """The report of a run, replayed under some systems, in paragraphs.

    Raises UnknownSystemError or FormatError for a system.
    """
    found = findings(run, systems)
    page = Layout(width)
    for line in summary(found):
        yield page.folded(line)
    yield ""
    yield from _causes(found, page)
    for name, parts in found.parts.items():
        yield from _parts(found.ran, name, parts, page)
    yield from _mismatches(found.ran, page)


def summary(found: Findings) -> Iterator[str]:
    """What ran, what of it no operation describes, and what was left out, in sentences."""
    run = found.ran.run
    under = " and ".join(dict.fromkeys(run.systems.values()))
    files = counted(len({s.place.file for s in found.ran.steps if s.place}), "file")
    yield f"{counted(run.operations, 'operation')} ran in {files}{f' under {under}' if under else ''}"
    if run.opaque:
        results = counted(run.opaque, "result came", "results came")
        share = f"{run.opaque_share:.1%} of the results that later steps take are such"
        yield f"{results} from calls that no operation describes: {share}"
    for left in run.left_alone:
        yield f"not followed: {left.name}: {left.reason}"
    yield from run.summaries


def _causes(found: Findings, page: Layout) -> Iterator[str]:
    """Each cause with its rule, what follows from it, and what stops it."""
    causes = found.causes
    if not causes:
        yield page.bold("no float was widened by another")
        return
    more = size(sum(c.bytes for c in causes))
    yield page.bold(f"floats were widened from {counted(len(causes), 'place')}: {more} more than narrow")
    for number, cause in enumerate(causes[:SHOWN], 1):
        yield ""
        yield from _cause(found.ran, number, cause, page)
    if len(causes) > SHOWN:
        yield ""
        yield page.folded(f"and {counted(len(causes) - SHOWN, 'place')} more, which take less")


def _cause(ran: Ran, number: int, cause: Cause, page: Layout) -> Iterator[str]:
    step = ran.steps[cause.at]
    stub = len(str(SHOWN)) + 2
    yield page.beside(f"{number:>{stub - 2}}", [f"{place(step.place)}: {step.text}"], stub)
    for heading, lines in cause_sections(ran, cause):
        yield page.beside(f"{' ' * stub}{heading}", lines, stub + 10)


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
    yield "follows", [f"{_following(ran, cause)}; {size(cause.bytes)} more than in {cause.narrow}"]
    yield "stop it", [_stop_words(ran, cause)]


def _wide(ran: Ran, first: int) -> list[str]:
    """Where a wide float came up that then widened another."""
    step = ran.steps[first]
    return [f"{place(step.place)}: {step.text}" if step.place else step.text, deed(ran, first)]


def _following(ran: Ran, cause: Cause) -> str:
    """How many steps are wide by a cause, beside the one that it is named by."""
    named = cause.at in cause.later
    later = len(cause.later) - named
    runs = cause.runs - (ran.run.seen[cause.at].count if named else 0)
    return f"{counted(later, 'later step')}, run {counted(runs, 'time')}" if later else "nothing else"


def deed(ran: Ran, i: int) -> str:
    """What a step did."""
    step, given = ran.steps[i], ran.observed(i)
    match step:
        case Cast():
            return f"casts {operands_words(ran, i)} to {given}, as it says"
        case Created():
            return f"makes {given}"
        case Opaque() if _with_a_list(ran, i):
            return f"{step.op} of {operands_words(ran, i)} and a list or the like gives {given}"
        case Opaque() if ran.parts[i]:
            return f"makes {given} of {operands_words(ran, i)}; no operation of ours describes it"
        case Opaque():
            return f"makes {given}; no operation of ours describes it"
        case Input():
            return f"comes in as {given}"
    always = ", and of narrower floats too" if ran.is_always_wide(i) else ""
    return f"{step.op} of {operands_words(ran, i)} gives {given}{always}"


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


def _stop_words(ran: Ran, cause: Cause) -> str:
    """The casts that stop a cause, and how much they were found to stop."""
    found = stop(ran, cause)
    if found is None and _with_a_list(ran, cause.at):
        return f"make an array of {cause.narrow} of that first (not tried: it was not followed)"
    if found is None:
        return "no single cast does; see what widens it further down"
    texts = list(dict.fromkeys(_castable(ran, c) for c in found.casts))
    what = " and ".join(texts) if len(texts) < 4 else f"{', '.join(texts[:3])} and {len(texts) - 3} more"
    taking = f" ({size(found.bytes)})" if found.bytes else ""  # of the array of a list nothing was seen
    done = f"{what} as {found.target}{taking}"
    concerned = {*cause.widening, *cause.later}
    if len(found.kept) < len(concerned):
        return f"{done}: {len(found.kept):,} of {counted(len(concerned), 'step')} stay {cause.narrow}"
    all_of = "all that follows stays" if len(concerned) > 1 else "it stays"
    return f"{done}: {all_of} {cause.narrow}"


def _castable(ran: Ran, c: Casting) -> str:
    step = ran.steps[c.of]
    if c.at is not None:
        at = ran.steps[c.at]
        return f"{operand_text(ran, c.of, at)} in {at.text} (line {at.place.line if at.place else 0})"
    return (
        step.text
        if isinstance(step, Input)
        else f"{step.text} (line {step.place.line})"
        if step.place
        else step.text
    )


def operand_text(ran: Ran, i: int, at: Step) -> str:
    """An operand as the source text of a step has it that takes it; else the text of what made it."""
    try:
        written = parse(at.text, mode="eval").body
    except SyntaxError:  # it is a statement, or cut short
        written = None
    if isinstance(written, BinOp) and len(at.parts) == 2:
        return unparse((written.left, written.right)[at.parts.index(i)])
    return ran.steps[i].text


def _parts(ran: Ran, name: str, parts: Sequence[Part], page: Layout) -> Iterator[str]:
    """Where a system parts, and what that costs."""
    yield ""
    if not parts:
        yield page.bold(f"under {name} every step comes out alike")
        return
    kinds = [f"{n} {cost}" for cost in COSTS if (n := sum(p.cost == cost for p in parts))]
    yield page.bold(f"under {name} {counted(len(parts), 'place')} would part: {', '.join(kinds)}")
    for part in parts[:SHOWN]:
        step = ran.steps[part.steps[0]]
        yield ""
        yield page.beside(
            f"    {part.cost}", [f"{place(step.place)}: {step.text}", *part_lines(ran, part)], 14
        )
    if len(parts) > SHOWN:
        yield ""
        yield page.folded(f"and {counted(len(parts) - SHOWN, 'place')} more, which cost less")


def part_lines(ran: Ran, part: Part) -> Iterator[str]:
    """What happens at a place where a system parts."""
    i = part.steps[0]
    of = operands_words(ran, i)
    said = f"{ran.steps[i].op}{f' of {of}' if of else ''}"
    if part.outcome.operand is None:
        yield f"{said} is refused: {part.outcome.reason}; it gave {part.observed}"
    else:
        yield f"{said} gives {part.outcome}, not {part.observed}"
    for source, target in part.lost:
        yield f"{source} to {target}: {'; '.join(loss_words(loss(source, target), source, target))}"
    if part.later:
        unreached = f", {part.unreached:,} of them not reached" if part.unreached else ""
        comes = "comes" if part.later == 1 else "come"
        yield f"{counted(part.later, 'later step')} {comes} out otherwise by it{unreached}"


def _mismatches(ran: Ran, page: Layout) -> Iterator[str]:
    """The steps that our own rules say otherwise."""
    found = ran.mismatches
    yield ""
    if not found:
        yield page.folded("every operation came out as its library's system says")
        return
    many = counted(len(found), "mismatch", "mismatches")
    yield page.bold(f"{many}: our rules say otherwise than was observed; please report it")
    for i in found[:SHOWN]:
        step = ran.steps[i]
        said: Outcome = ran.said[i]
        seen: Operand | None = ran.observed(i)
        yield page.folded(
            f"{place(step.place)}: {step.text}: {step.op} of {operands_words(ran, i)} gave {seen}, "
            f"by our rules {said}",
            margin=2,
        )
    if len(found) > SHOWN:
        yield page.folded(f"and {len(found) - SHOWN:,} more", margin=2)
