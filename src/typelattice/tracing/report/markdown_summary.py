"""The summary of a report in Markdown, for a pull request: each finding, its cost, and the changed lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from typelattice.base.rendering.grid import printable
from typelattice.tracing.report.formatting import location_text, shown_path, size_text
from typelattice.tracing.report.report_entries import Chapter, ReportEntry, TraceReport

MAX_SUMMARY_ENTRIES = 50  # of a chapter; a page of GitHub takes a megabyte


def write_markdown_summary(report: TraceReport, verdict: Sequence[str]) -> Iterator[str]:
    """Write a report in lines of Markdown. `verdict` says in lines how the check ends.

    The remedy of a finding is a block that GitHub and GitLab take as a suggestion in a comment on the line.
    """
    yield "## dtypes"
    yield ""
    yield from (f"{_inline(line)}  " for line in (*verdict, *report.summary))
    for chapter in report.chapters:
        yield ""
        yield f"### {_inline(chapter.heading)}"
        if chapter.notes:
            yield ""
            yield from (f"{_inline(note)}  " for note in chapter.notes)
        if chapter.entries:
            yield ""
            yield from _write_table(chapter)
        for entry in chapter.entries[:MAX_SUMMARY_ENTRIES]:
            yield from _write_suggestions(entry)


def _write_table(chapter: Chapter) -> Iterator[str]:
    yield "| line | code | what happens | more memory |"
    yield "|---|---|---|---:|"
    for entry in chapter.entries[:MAX_SUMMARY_ENTRIES]:
        cost = size_text(entry.extra_bytes) if entry.extra_bytes else ""
        cells = location_text(entry.location), _code(entry.code), _inline(entry.message), cost
        yield f"| {' | '.join(cells)} |"
    if len(chapter.entries) > MAX_SUMMARY_ENTRIES:
        yield f"| | | and {_inline(chapter.describe_rest(MAX_SUMMARY_ENTRIES))} | |"


def _write_suggestions(entry: ReportEntry) -> Iterator[str]:
    """Write each line as the remedy changes it, as a suggestion."""
    for file, line, text in entry.change_lines():
        yield ""
        yield f"Line {line} of {_code(shown_path(file))}, as the remedy changes it:"
        yield ""
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
        yield f"{fence}suggestion"
        yield from ("".join(map(_printable_character, each)) for each in text.splitlines())
        yield fence


def _printable_character(character: str) -> str:
    return character if character.isprintable() or character == "\t" else "\ufffd"


def _code(text: str) -> str:
    return f"<code>{_inline(text)}</code>"


def _inline(text: str) -> str:
    """Escape a text for a line or a cell, in which no character formats."""
    shown = escape(printable(text), quote=False)
    return "".join(f"&#{ord(c)};" if c in "|`*_[]\\~" else c for c in shown)
