"""The report of a run as text: causes of wide floats, where systems part, and where our rules are wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from typelattice.programs.program import AnySystem
from typelattice.programs.step import Opaque
from typelattice.rendering.layout import Layout
from typelattice.tracing.as_written import operation_words
from typelattice.tracing.causes import Cause
from typelattice.tracing.divergences import COSTS, Divergence
from typelattice.tracing.findings import Findings, findings
from typelattice.tracing.ran import Ran
from typelattice.tracing.run import Run, is_operation
from typelattice.tracing.sentences import (
    cast_back_heading,
    cast_back_words,
    cause_sections,
    divergence_lines,
    operands_words,
    otherwise_words,
)
from typelattice.tracing.words import counted, place, size

SHOWN = 10
"""Causes, and places where a system parts, that are shown; of the others it is said how many there are."""

NOTHING = (
    "nothing is known of the dtypes: no array was computed with in what was followed; name the package that "
    "does with --package (of pytest: --dtype-trace)"
)
ALL = "the pages of --html (of pytest: --dtype-html) show all"


def report(run: Run, systems: Sequence[AnySystem], width: int = 80) -> Iterator[str]:
    """The report of a run, replayed under some systems, in paragraphs.

    Raises UnknownSystemError or FormatError for a system.
    """
    found = findings(run, systems)
    page = Layout(width)
    for line in summary(found):
        yield page.folded(line)
    yield ""
    if not run.operations and not run.opaque:
        yield page.folded(NOTHING)
        return
    yield from _causes(found, page)
    yield from _cast_back(found, page)
    for name, divergences in found.divergences.items():
        yield from _divergences(found.ran, name, divergences, page)
    yield from _departures(found.ran, page)
    yield from _mismatches(found.ran, page)


def summary(found: Findings) -> Iterator[str]:
    """What ran, what of it no operation describes, and what was left out, in sentences."""
    run = found.ran.run
    under = " and ".join(dict.fromkeys(run.systems.values()))
    ran = [s.place.file for s in found.ran.steps if s.place and (is_operation(s) or isinstance(s, Opaque))]
    files = counted(len({*ran}), "file")
    yield f"{counted(run.operations, 'operation')} ran in {files}{f' under {under}' if under else ''}"
    if run.opaque:
        results = counted(run.opaque, "array comes", "arrays come")
        share = f"{run.opaque_share:.1%} of those that are computed with"
        yield f"{results} from calls of which no rule is known ({share}): taken as seen"
    for left in run.left_alone:
        yield f"not followed: {left.name}: {left.reason}"
    if run.children:
        many = counted(run.children, "child process", "child processes")
        yield f"not followed: {many} that the program started; run such work in the program's own process"
    yield from run.summaries


def _causes(found: Findings, page: Layout) -> Iterator[str]:
    """Each cause with its rule, what follows from it, and what stops it."""
    causes = found.causes
    if not causes:
        yield page.bold("no float was widened by another")
        return
    more = sum(c.bytes for c in causes)  # 0 where the wide dtype is meant, or arrays do not tell their sizes
    took = f", which took {size(more)} more" if more else ""
    yield page.bold(f"floats were widened from {counted(len(causes), 'place')}{took}")
    for number, cause in enumerate(causes[:SHOWN], 1):
        yield ""
        yield from _cause(found.ran, number, cause, page)
    if len(causes) > SHOWN:
        yield ""
        yield page.folded(f"and {counted(len(causes) - SHOWN, 'place')} more; {ALL}")


def _cause(ran: Ran, number: int, cause: Cause, page: Layout) -> Iterator[str]:
    step = ran.steps[cause.at]
    stub = len(str(SHOWN)) + 2
    yield page.beside(f"{number:>{stub - 2}}", [f"{place(step.place)}: {step.text}"], stub)
    for heading, lines in cause_sections(ran, cause):
        yield page.beside(f"{' ' * stub}{heading}", lines, stub + 10)


def _cast_back(found: Findings, page: Layout) -> Iterator[str]:
    """The places that compute in a wider float than they write."""
    places = found.cast_back
    if places:
        yield ""
        yield page.bold(cast_back_heading(len(places)))
        for each in places[:SHOWN]:
            step = found.ran.steps[each.step]
            yield page.folded(f"{place(step.place)}: {step.text}: {cast_back_words(each)}", margin=4)
        if len(places) > SHOWN:
            yield page.folded(f"and {counted(len(places) - SHOWN, 'place')} more; {ALL}", margin=4)


def _divergences(ran: Ran, name: str, divergences: Sequence[Divergence], page: Layout) -> Iterator[str]:
    """Where a system parts, and what that costs."""
    yield ""
    if not divergences:
        yield page.bold(f"under {name} every step comes out alike")
        return
    yield page.bold(f"under {name} {counted(len(divergences), 'place')} would part: {_by_cost(divergences)}")
    for divergence in divergences[:SHOWN]:
        step = ran.steps[divergence.steps[0]]
        yield ""
        yield page.beside(
            f"    {divergence.cost}",
            [f"{place(step.place)}: {step.text}", *divergence_lines(ran, divergence)],
            14,
        )
    if len(divergences) > SHOWN:
        yield ""
        more = counted(len(divergences) - SHOWN, "place")
        yield page.folded(f"and {more} more: {_by_cost(divergences[SHOWN:])}; {ALL}")


def _by_cost(divergences: Sequence[Divergence]) -> str:
    """How many places there are of each cost."""
    return ", ".join(f"{n} {cost}" for cost in COSTS if (n := sum(p.cost == cost for p in divergences)))


def _departures(ran: Ran, page: Layout) -> Iterator[str]:
    """The steps that came out as their library is known to depart from its rule."""
    found = ran.departures
    if found:
        yield ""
        many = counted(len(found), "step")
        yield page.bold(f"{many} came out as the library is known to, and not as its rule says")
        yield from _otherwise(ran, [*found], page, found)


def _mismatches(ran: Ran, page: Layout) -> Iterator[str]:
    """The steps that our own rules say otherwise."""
    found = ran.mismatches
    yield ""
    if not found:
        other = " other" if ran.departures else ""
        yield page.folded(f"every{other} operation came out as its library's system says")
        return
    many = counted(len(found), "mismatch", "mismatches")
    yield page.bold(f"{many}: our rules say otherwise than was observed; please report it")
    yield from _otherwise(ran, found, page, {})


def _otherwise(ran: Ran, found: Sequence[int], page: Layout, reasons: Mapping[int, str]) -> Iterator[str]:
    for i in found[:SHOWN]:
        step = ran.steps[i]
        done = f"{operation_words(step)} of {operands_words(ran, i)} {otherwise_words(ran, i, reasons)}"
        yield page.folded(f"{place(step.place)}: {step.text}: {done}", margin=2)
    if len(found) > SHOWN:
        yield page.folded(f"and {len(found) - SHOWN:,} more", margin=2)
