"""The page of a source file: its lines with dtypes, and details of a line on demand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from typelattice.core.dtypes.dtypes import DType
from typelattice.programs.calls.steps import Opaque
from typelattice.tracing.findings.findings import Findings
from typelattice.tracing.findings.widening_causes import WideningCause
from typelattice.tracing.report.annotated_files import AnnotatedFile, AnnotatedLine
from typelattice.tracing.report.formatting import count_text, location_text, shown_path, size_text
from typelattice.tracing.report.html_elements import (
    escape_text,
    read_asset,
    text_element,
    write_element,
    write_page,
)
from typelattice.tracing.report.sentences import cause_sections, describe_operands, divergence_lines
from typelattice.tracing.report.syntax_colours import highlight_lines
from typelattice.tracing.steps.called_name import name_in_source

MAX_TABLE_STEPS = 24
"""The most steps of a line that are shown: the steps that ran most often."""

LOCATION_PATTERN = re.compile(r"(.+?):(\d+)(?=: )")
"""The place at the beginning of a line of a section, such as `file.py:12`."""

PAGE_LEGEND = (
    ("cause", "a float was widened here"),
    ("made", "its wide float is made here"),
    ("later", "wide by such a line"),
    ("change", "a cast here keeps floats narrow"),
    ("parts", "another system differs here"),
    ("wrong", "our rules predict another dtype"),
)


def source_page(findings: Findings, file: AnnotatedFile, names: Mapping[str, str]) -> str:
    """Return a file, line by line."""
    flagged = [n for n, line in sorted(file.lines.items()) if _is_finding(line)]
    title = shown_path(file.name)
    links = [text_element("a", "all files", href="index.html#files")]
    links += [text_element("a", "first finding", href=f"#L{flagged[0]}")] if flagged else []
    following = dict(pairwise(flagged))
    last = max(file.lines, default=0)
    source = [*file.source, *[""] * (last - len(file.source))]
    rows = "\n".join(
        _write_row(findings, number, code, markup, file.lines.get(number), names, following.get(number))
        for number, (code, markup) in enumerate(zip(source, highlight_lines(source), strict=True), 1)
    )
    operations = count_text(file.operation_count, "operation")
    missing = "" if file.source else " The text of this file is not known."
    body = [
        text_element("a", "skip to the source", href="#source", **{"class": "skip"}),
        write_element("nav", "".join(links)),
        text_element("h1", title),
        write_element(
            "p",
            escape_text(f"{operations} ran here. Open a line for its steps.{missing}")
            + " The keys n and p go to the next finding and the one before." * bool(flagged),
            **{"class": "soft"},
        ),
        write_element(
            "div",
            "".join(text_element("span", words, **{"class": kind}) for kind, words in PAGE_LEGEND),
            **{"class": "key"},
        ),
        write_element("main", rows, id="source", **{"class": "source"}),
    ]
    return write_page(title, "\n".join(body), read_asset("keys.js"))


def _is_finding(line: AnnotatedLine) -> bool:
    return bool(line.causes or line.changes or line.divergences or line.mismatched_steps)


def _write_row(
    findings: Findings,
    number: int,
    code: str,
    markup: str,
    line: AnnotatedLine | None,
    names: Mapping[str, str],
    following: int | None,
) -> str:
    """Return a line of source. A line with steps opens to show its details."""
    at = f"L{number}"
    link = text_element("a", str(number), href=f"#{at}", tabindex="-1")
    cells = write_element("span", link, **{"class": "number"}) + write_element(
        "span", markup, **{"class": "code"}
    )
    if line is None:
        return write_element("div", cells, id=at, **{"class": "line"})
    took = sum(findings.predicted_run.run.observations[i].bytes for i in line.steps)
    cells += text_element("span", ", ".join(_list_dtypes(findings, line)), **{"class": "dtypes"})
    cells += text_element("span", size_text(took) if took else "", **{"class": "bytes"})
    about = write_element(
        "div", "\n".join(_write_details(findings, line, names, following)), **{"class": "about"}
    )
    marks = " ".join(["line", *_list_marks(findings, line)])
    return write_element(
        "details", write_element("summary", cells) + about, id=at, **{"class": marks}
    ) + _show_changed_line(line)


def _show_changed_line(line: AnnotatedLine) -> str:
    """Show a line as the remedy of its first cause changes it, and what that saves."""
    if not line.changes:
        return ""
    changed, cause = line.changes[0]
    saved = cause.extra_bytes
    cells = (
        text_element("span", "+", **{"class": "number"})
        + write_element("span", highlight_lines([changed])[0], **{"class": "code"})
        + text_element("span", f"saves up to {size_text(saved)}" if saved else "", **{"class": "dtypes"})
    )
    return write_element("div", cells, **{"class": "line added"})


def _list_marks(findings: Findings, line: AnnotatedLine) -> Iterator[str]:
    if line.causes or line.widening_causes:
        yield "cause"
    elif line.origin_causes:
        yield "made"
    elif line.following_causes:
        yield "later"
    if line.changes:
        yield "change"
    if line.divergences:
        yield "parts"
    if line.mismatched_steps:
        yield "wrong"
    if _is_finding(line):
        yield "flagged"
    if line.steps and all(isinstance(findings.predicted_run.steps[i], Opaque) for i in line.steps):
        yield "opaque"


def _list_dtypes(findings: Findings, line: AnnotatedLine) -> dict[str, None]:
    """Return the result dtypes of a line's steps, each once, in their order."""
    operands = (findings.predicted_run.result_of(i) for i in line.steps)
    dtypes: Iterator[DType] = (o.dtype for o in operands if o and o.dtype and o.tier != "scalar")
    return dict.fromkeys(map(str, dtypes))


def _write_details(
    findings: Findings, line: AnnotatedLine, names: Mapping[str, str], following: int | None
) -> Iterator[str]:
    """Details of a line."""
    for cause in line.causes:
        told = write_definitions(cause_sections(findings.predicted_run, cause), names)
        yield text_element("p", "a float was widened here", **{"class": "cause"}) + told
    for cause in line.widening_causes:
        told = "a float was widened here, as at " + _write_link(findings, cause, names)
        yield write_element("p", told, **{"class": "cause"})
    for cause in line.origin_causes:
        told = "a wide float is made here, which widens another at " + _write_link(findings, cause, names)
        yield write_element("p", told, **{"class": "made"})
    for cause in line.following_causes:
        yield write_element("p", "wide by " + _write_link(findings, cause, names), **{"class": "later"})
    for text, cause in line.changes:
        told = escape_text(f"to change: it becomes {text.strip()}, for ") + _write_link(
            findings, cause, names
        )
        yield write_element("p", told, **{"class": "change"})
    for divergence in line.divergences:
        lines = "<br>".join(map(escape_text, divergence_lines(findings.predicted_run, divergence)))
        system = text_element("span", f"under {divergence.system}: ", **{"class": "differs"})
        yield write_element("p", system + lines)
    for i in line.mismatched_steps:
        ruled = findings.predicted_run.predictions[i].text_with_mark
        said = f"it gave {findings.predicted_run.result_of(i)}, by our rules {ruled}: please report this"
        yield text_element("p", said, **{"class": "wrong"})
    if line.steps:
        yield write_element("div", _write_table(findings, line), **{"class": "wide-table"})
    if following:
        yield write_element("p", text_element("a", f"next finding: line {following}", href=f"#L{following}"))


def write_definitions(sections: Iterable[tuple[str, Sequence[str]]], names: Mapping[str, str]) -> str:
    """Show headings and their lines as a list of terms. A line that begins with a place links to it."""
    pages = {shown_path(file): page for file, page in names.items()}
    told = "".join(
        text_element("dt", heading)
        + write_element(
            "dd",
            "<br>".join(_link_place(line, pages) for line in lines),
            **{"class": "rule" if heading == "rule" else ""},
        )
        for heading, lines in sections
    )
    return write_element("dl", told)


def _link_place(line: str, pages: Mapping[str, str]) -> str:
    """Return a line of text. If it begins with a place in a file that has a page, the place is a link."""
    found = LOCATION_PATTERN.match(line)
    if found is None or found[1] not in pages:
        return escape_text(line)
    link = text_element("a", f"{found[1]}:{found[2]}", href=f"{pages[found[1]]}#L{found[2]}")
    return link + escape_text(line[found.end() :])


def _write_link(findings: Findings, cause: WideningCause, names: Mapping[str, str]) -> str:
    step = findings.predicted_run.steps[cause.step]
    told = escape_text(f"{location_text(step.location)}: {step.text}")
    if step.location is None or step.location.file not in names:
        return told
    return write_element("a", told, href=f"{names[step.location.file]}#L{step.location.line}")


def _write_table(findings: Findings, line: AnnotatedLine) -> str:
    """Write the steps of a line: their operations, and their results here and under the requested systems."""
    checked = findings.predicted_run
    heads = ["operation", "of", "gave", "times", "bytes", *findings.replays]
    rows = []
    ranked = sorted(line.steps, key=lambda i: -checked.run.observations[i].count)
    for i in sorted(ranked[:MAX_TABLE_STEPS]):
        step, seen = checked.steps[i], checked.run.observations[i]
        op = f"{name_in_source(step)}{' (opaque)' * isinstance(step, Opaque)}"
        cells = [
            escape_text(op),
            escape_text(describe_operands(checked, i)),
            escape_text(str(seen.operand)),
            f"{seen.count:,}",
            escape_text(size_text(seen.bytes)),
        ]
        for replayed in findings.replays.values():
            differs = "" if str(replayed[i]) == str(checked.results[i]) else "differs"
            cells.append(text_element("span", replayed[i].text_with_mark, **{"class": differs}))
        rows.append(
            write_element("tr", "".join(write_element("td", cell) for cell in cells), title=step.text)
        )
    head = write_element(
        "thead", write_element("tr", "".join(text_element("th", h, scope="col") for h in heads))
    )
    more = len(line.steps) - MAX_TABLE_STEPS
    left = text_element("caption", f"and {count_text(more, 'step')} more") if more > 0 else ""
    return write_element("table", left + head + write_element("tbody", "".join(rows)))
