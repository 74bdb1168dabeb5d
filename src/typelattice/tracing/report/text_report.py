"""The report of a run as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from typelattice.programs.program import AnySystem
from typelattice.rendering.paragraphs import Layout
from typelattice.tracing.findings.findings import findings
from typelattice.tracing.report.model import Chapter, report_of
from typelattice.tracing.report.words import place
from typelattice.tracing.run_data.run import Run

SHOWN = 10
"""Entries of a chapter that are shown; the others are counted."""

NOTHING = (
    "nothing is known of the dtypes: no array was computed with in what was followed; name the package that "
    "does with --package (of pytest: --dtype-trace)"
)
ALL = "--all shows them, and so do the pages of --html (of pytest: --dtype-html)"


def report(
    run: Run, systems: Sequence[AnySystem], width: int = 80, everything: bool = False
) -> Iterator[str]:
    """Print the report of a run, replayed under some systems, in paragraphs.

    Raises UnknownSystemError or FormatError for a system.
    """
    made = report_of(findings(run, systems), everything)
    page = Layout(width)
    for line in made.summary:
        yield page.fold_line(line)
    yield ""
    if made.empty:
        yield page.fold_line(NOTHING)
        return
    for number, chapter in enumerate(made.chapters):
        if number:
            yield ""
        yield from _write_chapter(chapter, page, len(chapter.entries) if everything else SHOWN)


def _write_chapter(chapter: Chapter, page: Layout, shown: int) -> Iterator[str]:
    yield page.bold(chapter.heading)
    for note in chapter.notes:
        yield page.fold_line(note)
    stub = len(str(min(shown, len(chapter.entries)) if shown > SHOWN else SHOWN)) + 2
    for number, entry in enumerate(chapter.entries[:shown], 1):
        head = f"{place(entry.location)}: {entry.code}"
        if chapter.brief:
            yield page.fold_line(f"{head}: {entry.message}", margin=4)
            continue
        yield ""
        yield page.beside(f"{number:>{stub - 2}}", [head], stub)
        for heading, lines in entry.sections():
            yield page.beside(f"{' ' * stub}{heading}", lines, stub + 10)
    if len(chapter.entries) > shown:
        if not chapter.brief:
            yield ""
        yield page.fold_line(f"and {chapter.rest(shown)}; {ALL}", margin=4 * chapter.brief)
