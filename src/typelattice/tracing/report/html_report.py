"""The report of a run as pages: an index, and a page for each source file, with dtypes next to its lines.

The pages load nothing, and run one script, for keys that move from finding to finding. Every text in them is
escaped, because source code and names may contain anything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from typelattice.base.disk.write import explain_failure, write_text
from typelattice.programs.program.program import AnySystem
from typelattice.tracing.findings.findings import Findings, collect_findings
from typelattice.tracing.models.memory_table import MemoryTable, make_memory_table
from typelattice.tracing.report.annotated_files import AnnotatedFile, annotate_files
from typelattice.tracing.report.formatting import location_text, shown_path, size_text
from typelattice.tracing.report.html_elements import escape_text, text_element, write_element, write_page
from typelattice.tracing.report.memory_page import write_memory_table
from typelattice.tracing.report.report_entries import (
    DIVERGENCE_RULES,
    MISTAKE_RULES,
    Chapter,
    ReportEntry,
    make_report,
)
from typelattice.tracing.report.source_page import source_page, write_definitions
from typelattice.tracing.run_data.run import Run

PAGE_TITLE = "Where dtypes come from"
MAX_INDEX_ENTRIES = 200
"""The most causes and divergences that the index shows."""


def write_pages(run: Run, systems: Sequence[AnySystem], folder: str | os.PathLike[str]) -> None:
    """Write the pages into a folder, and make it if it does not exist. `index.html` is the first page.

    Pages of an earlier run are removed if their source file is not in this run. Raises FileError if a page
    cannot be written. Raises UnknownSystemError or FormatError if a system cannot be read.
    """
    found = collect_findings(run, systems)
    files = annotate_files(found)
    names = {file.name: _page_name(i, file.name) for i, file in enumerate(files)}
    pages = {names[file.name]: source_page(found, file, names) for file in files}
    pages["index.html"] = _build_index(found, files, names)
    with explain_failure("write", folder):
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name in _find_earlier_pages(Path(folder) / "index.html") - {*pages}:
            (Path(folder) / name).unlink(missing_ok=True)
    for name, content in pages.items():
        write_text(Path(folder) / name, content)


def _find_earlier_pages(index: Path) -> set[str]:
    """Return the pages of an earlier run that its index links to, or none if we did not write the index."""
    told = index.read_text(encoding="utf-8", errors="replace") if index.is_file() else ""
    ours = told.startswith(write_page(PAGE_TITLE, "").partition("<style>")[0])
    return {*re.findall(r'href="(\d{3,}_\w+\.html)["#]', told)} if ours else set()


def _page_name(number: int, file: str) -> str:
    """Return the file name of a source file's page, with letters, digits and the page's number."""
    stem = re.sub("[^A-Za-z0-9]+", "_", shown_path(file).removesuffix(".py"))[-60:].strip("_")
    return f"{number + 1:03}_{stem or 'source'}.html"


def _build_index(findings: Findings, files: Sequence[AnnotatedFile], names: dict[str, str]) -> str:
    """Build the first page: the report, and the files."""
    made = make_report(findings)
    body = [
        text_element("h1", PAGE_TITLE),
        *(text_element("p", line) for line in made.summary),
    ]
    memory = _find_memory(findings)
    for chapter in made.chapters:
        body += _write_chapter(chapter, names, memory)
    body += _write_files(findings, files, names)
    return write_page(PAGE_TITLE, "\n".join(body))


def _write_chapter(
    chapter: Chapter, names: dict[str, str], memory: MemoryTable | None = None
) -> Iterator[str]:
    heading = f"{chapter.heading[0].upper()}{chapter.heading[1:]}"
    yield text_element("h2", heading, id=chapter.name)
    for note in chapter.notes:
        yield text_element("p", note)
    if chapter.tables and memory is not None:
        yield write_memory_table(memory)
    for entry in chapter.entries[:MAX_INDEX_ENTRIES]:
        head = write_element("h3", _link_entry(entry, names))
        about = (
            text_element("p", entry.message) if chapter.brief else write_definitions(entry.sections(), names)
        )
        yield write_element("section", head + about, **{"class": f"finding {_name_style(entry)}".strip()})
    if len(chapter.entries) > MAX_INDEX_ENTRIES:
        yield text_element(
            "p",
            f"And {chapter.describe_rest(MAX_INDEX_ENTRIES)}; the pages of the files show them all.",
        )


def _find_memory(findings: Findings) -> MemoryTable | None:
    """Make the table of memory of a run, if there was a dispatcher that reported it."""
    model = findings.predicted_run.run.model
    return make_memory_table(model.log) if model is not None else None


def _name_style(entry: ReportEntry) -> str:
    """Name the style of an entry. Causes have the usual style."""
    if entry.rule in DIVERGENCE_RULES.values():
        return "parts"
    return "wrong" if entry.rule in MISTAKE_RULES else ""


def report_html(run: Run, systems: Sequence[AnySystem] = ()) -> str:
    """Show a report as HTML without pages of files, as a notebook does."""
    found = collect_findings(run, systems)
    made = make_report(found)
    body = [text_element("p", line) for line in made.summary]
    for chapter in made.chapters:
        body += _write_chapter(chapter, {}, _find_memory(found))
    return write_element("div", "\n".join(body), **{"class": "typelattice"})


def _link_entry(entry: ReportEntry, names: dict[str, str]) -> str:
    """Return an entry with its place and code. The place is a link to its line."""
    where = entry.location
    if where is None or where.file not in names:
        return escape_text(f"{location_text(where)}: {entry.code}")
    link = text_element("a", location_text(where), href=f"{names[where.file]}#L{where.line}")
    return f"{link}: {escape_text(entry.code)}"


def _write_files(findings: Findings, files: Sequence[AnnotatedFile], names: dict[str, str]) -> Iterator[str]:
    yield text_element("h2", "Files", id="files")
    heads = ["file", "operations", "widened", "wider by", "opaque", *findings.divergences]
    number = {"class": "number"}
    head = "".join(text_element("th", h, scope="col", **({} if h == "file" else number)) for h in heads)
    rows = []
    for file in files:
        link = text_element("a", shown_path(file.name), href=names[file.name])
        cells = [
            f"{file.operation_count:,}",
            str(file.cause_count or ""),
            size_text(file.extra_bytes) if file.extra_bytes else "",
        ]
        cells += [f"{file.opaque_count:,}" if file.opaque_count else ""]
        cells += [str(n or "") for n in file.divergence_counts.values()]
        told = "".join(text_element("td", cell, **number) for cell in cells)
        rows.append(write_element("tr", write_element("th", link, scope="row") + told))
    table = write_element(
        "table", write_element("thead", write_element("tr", head)) + write_element("tbody", "\n".join(rows))
    )
    yield write_element("div", table, **{"class": "wide-table"})
