"""The report of a run as pages: an index, and a page for each source file, with dtypes beside its lines.

The pages hold no scripts and ask for nothing from anywhere, and every text in them is escaped: source code
and names are whatever a program holds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from typelattice.disk.read import explained
from typelattice.disk.write import write_text
from typelattice.programs.program import AnySystem
from typelattice.tracing.annotated import Annotated, annotated
from typelattice.tracing.causes import Cause
from typelattice.tracing.divergences import Divergence
from typelattice.tracing.findings import Findings, findings
from typelattice.tracing.markup import element, page, text
from typelattice.tracing.report import summary
from typelattice.tracing.run import Run
from typelattice.tracing.sentences import (
    cast_back_heading,
    cast_back_words,
    cause_sections,
    divergence_lines,
    otherwise_words,
)
from typelattice.tracing.source_page import source_page
from typelattice.tracing.words import counted, place, shown, size

TITLE = "Where dtypes come from"
MOST = 200
"""Causes, and places where a system parts, that the index shows."""


def write(run: Run, systems: Sequence[AnySystem], folder: str | os.PathLike[str]) -> None:
    """Writes the pages into a folder, which is made if it is not there; `index.html` is the first.

    Pages to which an index led that was written there earlier, and which are of no file now, are removed.
    Raises FileError, and UnknownSystemError or FormatError for a system.
    """
    found = findings(run, systems)
    files = annotated(found)
    names = {file.name: _page_name(i, file.name) for i, file in enumerate(files)}
    pages = {names[file.name]: source_page(found, file, names) for file in files}
    pages["index.html"] = _index(found, files, names)
    with explained("write", folder):
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name in _earlier(Path(folder) / "index.html") - {*pages}:
            (Path(folder) / name).unlink(missing_ok=True)
    for name, content in pages.items():
        write_text(Path(folder) / name, content)


def _earlier(index: Path) -> set[str]:
    """The pages to which an index leads that an earlier run wrote; none if the file is another."""
    told = index.read_text(encoding="utf-8", errors="replace") if index.is_file() else ""
    ours = told.startswith(page(TITLE, "").partition("<style>")[0])
    return {*re.findall(r'href="(\d{3,}_\w+\.html)["#]', told)} if ours else set()


def _page_name(number: int, file: str) -> str:
    """A file name of letters and digits for the page of a source file, told apart by its number."""
    stem = re.sub("[^A-Za-z0-9]+", "_", shown(file).removesuffix(".py"))[-60:].strip("_")
    return f"{number + 1:03}_{stem or 'source'}.html"


def _index(found: Findings, files: Sequence[Annotated], names: dict[str, str]) -> str:
    """The first page: what was found, and the files."""
    body = [
        element("h1", text(TITLE)),
        *(element("p", text(line)) for line in summary(found)),
    ]
    body += _causes(found, names)
    body += _cast_back(found, names)
    for system, divergences in found.divergences.items():
        body += _divergences(found, system, divergences, names)
    body += _departures(found, names)
    body += _mismatches(found, names)
    body += _files(found, files, names)
    return page(TITLE, "\n".join(body))


def _causes(found: Findings, names: dict[str, str]) -> Iterator[str]:
    causes = found.causes
    heading = f"Floats were widened from {counted(len(causes), 'place')}"
    yield element("h2", text(heading if causes else "No float was widened by another"), id="causes")
    for cause in causes[:MOST]:
        yield _cause(found, cause, names)
    yield from _others(len(causes))


def _cause(found: Findings, cause: Cause, names: dict[str, str]) -> str:
    head = element("h3", _linked(found, cause.at, names))
    told = "".join(
        element("dt", text(heading))
        + element("dd", "<br>".join(map(text, lines)), **{"class": "rule" if heading == "rule" else ""})
        for heading, lines in cause_sections(found.ran, cause)
    )
    return element("section", head + element("dl", told), **{"class": "finding"})


def _cast_back(found: Findings, names: dict[str, str]) -> Iterator[str]:
    if found.cast_back:
        heading = cast_back_heading(len(found.cast_back))
        yield element("h2", text(f"{heading[0].upper()}{heading[1:]}"), id="cast-back")
    for each in found.cast_back[:MOST]:
        yield element("p", _linked(found, each.step, names) + text(f": {cast_back_words(each)}"))
    yield from _others(len(found.cast_back))


def _divergences(
    found: Findings, system: str, divergences: Sequence[Divergence], names: dict[str, str]
) -> Iterator[str]:
    if not divergences:
        yield element("h2", text(f"Under {system} every step comes out alike"))
        return
    yield element("h2", text(f"Under {system} {counted(len(divergences), 'place')} would part"))
    for divergence in divergences[:MOST]:
        head = element("h3", _linked(found, divergence.steps[0], names))
        lines = "<br>".join(map(text, divergence_lines(found.ran, divergence)))
        told = element("dl", element("dt", text(divergence.cost)) + element("dd", lines))
        yield element("section", head + told, **{"class": "finding parts"})
    yield from _others(len(divergences))


def _departures(found: Findings, names: dict[str, str]) -> Iterator[str]:
    known = found.ran.departures
    if known:
        many = counted(len(known), "step")
        yield element("h2", text(f"{many} came out as the library is known to, and not as its rule says"))
        yield from _otherwise(found, [*known], names, known)


def _mismatches(found: Findings, names: dict[str, str]) -> Iterator[str]:
    wrong = found.ran.mismatches
    if not wrong:
        other = " other" if found.ran.departures else ""
        yield element("p", text(f"Every{other} operation came out as its library's system says."))
        return
    yield element(
        "h2", text(f"{counted(len(wrong), 'mismatch', 'mismatches')}: typelattice's rules are wrong here")
    )
    yield element("p", text("Please report these: the library did otherwise than our rules say."))
    yield from _otherwise(found, wrong, names, {})


def _otherwise(
    found: Findings, wrong: Sequence[int], names: dict[str, str], reasons: Mapping[int, str]
) -> Iterator[str]:
    for i in wrong[:MOST]:
        said = f"it {otherwise_words(found.ran, i, reasons)}"
        yield element(
            "section",
            element("h3", _linked(found, i, names)) + element("p", text(said)),
            **{"class": "finding wrong"},
        )
    yield from _others(len(wrong))


def _others(count: int) -> Iterator[str]:
    if count > MOST:
        yield element("p", text(f"And {count - MOST:,} more; the pages of the files show them all."))


def _linked(found: Findings, i: int, names: dict[str, str]) -> str:
    """A step by its place and text, the place a link to its line."""
    step = found.ran.steps[i]
    where = step.place
    if where is None or where.file not in names:
        return text(f"{place(where)}: {step.text}")
    link = element("a", text(place(where)), href=f"{names[where.file]}#L{where.line}")
    return f"{link}: {text(step.text)}"


def _files(found: Findings, files: Sequence[Annotated], names: dict[str, str]) -> Iterator[str]:
    yield element("h2", text("Files"), id="files")
    heads = ["file", "operations", "widened", "wider by", "opaque", *found.divergences]
    number = {"class": "number"}
    head = "".join(element("th", text(h), scope="col", **({} if h == "file" else number)) for h in heads)
    rows = []
    for file in files:
        link = element("a", text(shown(file.name)), href=names[file.name])
        cells = [f"{file.operations:,}", str(file.causes or ""), size(file.bytes) if file.bytes else ""]
        cells += [f"{file.opaque:,}" if file.opaque else ""]
        cells += [str(n or "") for n in file.divergences.values()]
        told = "".join(element("td", text(cell), **number) for cell in cells)
        rows.append(element("tr", element("th", link, scope="row") + told))
    table = element("table", element("thead", element("tr", head)) + element("tbody", "\n".join(rows)))
    yield element("div", table, **{"class": "wide-table"})
