"""The report of a run as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from typelattice.base.rendering.paragraphs import Layout
from typelattice.programs.program.program import AnySystem
from typelattice.tracing.findings.findings import Findings, collect_findings
from typelattice.tracing.report.formatting import count_text, location_text, size_text
from typelattice.tracing.report.report_entries import Chapter, ReportEntry, make_report
from typelattice.tracing.run_data.run import Run

MAX_SHOWN_ENTRIES = 10
"""The most entries of a chapter that are shown. The others are counted."""

TABLE_STUB = 10
"""The columns of the headings of a table."""
NOTHING_FOUND = (
    "no dtypes are known: the code that was followed computed with no array; name the package that computes "
    "with --package (in pytest: --dtype-trace)"
)
HOW_TO_SEE_ALL = "--all shows them, and so do the pages of --html (in pytest: --dtype-html)"


def write_report(
    run: Run, systems: Sequence[AnySystem], width: int = 80, everything: bool = False
) -> Iterator[str]:
    """Print the report of a run, replayed under some systems, in paragraphs.

    Raises UnknownSystemError or FormatError if a system cannot be read.
    """
    return write_findings(collect_findings(run, systems), width, everything)


def write_findings(findings: Findings, width: int = 80, everything: bool = False) -> Iterator[str]:
    """Print the report of findings, in paragraphs."""
    made = make_report(findings, everything)
    page = Layout(width)
    for line in made.summary:
        yield page.fold_line(line)
    yield ""
    if made.is_empty:
        yield page.fold_line(NOTHING_FOUND)
        return
    for number, chapter in enumerate(made.chapters):
        if number:
            yield ""
        limit = max(len(chapter.entries), MAX_SHOWN_ENTRIES + 1) if everything else MAX_SHOWN_ENTRIES
        yield from _write_chapter(chapter, page, limit)


def _write_chapter(chapter: Chapter, page: Layout, entry_limit: int) -> Iterator[str]:
    yield page.bold(chapter.heading)
    for note in chapter.notes:
        yield page.fold_line(note)
    yield from (page.join_columns(heading, rows, TABLE_STUB) for heading, rows in chapter.tables)
    stub = (
        len(
            str(
                min(entry_limit, len(chapter.entries))
                if entry_limit > MAX_SHOWN_ENTRIES
                else MAX_SHOWN_ENTRIES
            )
        )
        + 2
    )
    entries, folded = _fold_packages(chapter, entry_limit)
    for number, entry in enumerate(entries[:entry_limit], 1):
        head = f"{location_text(entry.location)}: {entry.code}"
        if chapter.brief:
            yield page.fold_line(f"{head}: {entry.message}", margin=4)
            continue
        yield ""
        yield page.join_columns(f"{number:>{stub - 2}}", [head], stub)
        for heading, lines in entry.sections():
            yield page.join_columns(f"{' ' * stub}{heading}", lines, stub + 10)
    if len(entries) > entry_limit:
        if not chapter.brief:
            yield ""
        rest = replace(chapter, entries=tuple(entries)).describe_rest(entry_limit)
        yield page.fold_line(f"and {rest}; {HOW_TO_SEE_ALL}", margin=4 * chapter.brief)
    if folded:
        yield ""
        yield from map(page.fold_line, folded)


def _fold_packages(chapter: Chapter, entry_limit: int) -> tuple[Sequence[ReportEntry], Sequence[str]]:
    """Return the entries to show, and a line for those in each installed package.

    They are folded only if the user's own lines have entries, and if not all entries are to be shown.
    """
    own = [entry for entry in chapter.entries if not entry.package]
    if not own or len(own) == len(chapter.entries) or entry_limit > MAX_SHOWN_ENTRIES:
        return chapter.entries, ()
    lines = []
    for package in dict.fromkeys(entry.package for entry in chapter.entries if entry.package):
        those = [entry for entry in chapter.entries if entry.package == package]
        size = sum(entry.extra_bytes for entry in those)
        took = f", which took {size_text(size)} more" if size else ""
        first = f"the first is {location_text(those[0].location)}"
        lines.append(f"in {package} {count_text(len(those), 'place')}{took}; {first}; --all shows all")
    return own, lines
