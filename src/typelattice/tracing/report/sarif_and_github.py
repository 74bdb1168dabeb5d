"""The entries of a report as other tools read them: SARIF 2.1, and the annotation lines of GitHub."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from typelattice.rendering.grid import printable
from typelattice.tracing.report.formatting import shown_path
from typelattice.tracing.report.report_entries import FINDING_RULES, ReportEntry, TraceReport

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
# all other findings are notes
LEVEL_BY_RULE = {"TL001": "warning", "TL005": "error", "TL101": "error", "TL102": "warning"}


def build_sarif(report: TraceReport, version: str) -> Mapping[str, Any]:
    """Build a SARIF document of the entries that have a source location."""
    names = [*FINDING_RULES]
    rules = [{"id": rule, "shortDescription": {"text": FINDING_RULES[rule]}} for rule in names]
    driver = {"name": "typelattice", "version": version, "rules": rules}
    notes = [{"level": "note", "message": {"text": printable(line)}} for line in list_scope_lines(report)]
    results = [
        {
            "ruleId": entry.rule,
            "ruleIndex": names.index(entry.rule),
            "level": LEVEL_BY_RULE.get(entry.rule, "note"),
            "message": {"text": _write_message(entry)},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": shown_path(entry.location.file)},
                        "region": {"startLine": entry.location.line},
                    }
                }
            ],
        }
        for entry in report.entries
        if entry.location is not None
    ]
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
                "results": results,
            }
        ],
    }


def write_github_annotations(report: TraceReport) -> Iterator[str]:
    """Print each entry that has a source location as an annotation line of GitHub's workflows.

    Lines on the scope of the checks follow, without a location.
    """
    for entry in report.entries:
        if entry.location is not None:
            level = LEVEL_BY_RULE.get(entry.rule, "note").replace("note", "notice")
            file = _escape_data(shown_path(entry.location.file)).replace(",", "%2C").replace(":", "%3A")
            where = f"file={file},line={entry.location.line},title={entry.rule}"
            yield f"::{level} {where}::{_escape_data(_write_message(entry))}"
    for line in list_scope_lines(report):
        yield f"::notice title=scope::{_escape_data(printable(line))}"


def list_scope_lines(report: TraceReport) -> Iterator[str]:
    """Yield a line for each chapter with notes: what was looked at, and what was not."""
    for chapter in report.scope:
        yield f"{chapter.heading}: {'; '.join(chapter.notes)}"


def scope_data(report: TraceReport) -> list[dict[str, Any]]:
    """Describe the chapters with notes on what was looked at, as dictionaries."""
    return [
        {"chapter": chapter.name, "heading": chapter.heading, "notes": [*chapter.notes]}
        for chapter in report.scope
    ]


def entry_data(entry: ReportEntry) -> dict[str, Any]:
    """Describe an entry as a dictionary, with the same sections as in the text."""
    return {
        "rule": entry.rule,
        "step": entry.step if entry.step >= 0 else None,
        "file": entry.location.file if entry.location else None,
        "line": entry.location.line if entry.location else None,
        "code": entry.code,
        "message": entry.message,
        "sections": {heading: [*lines] for heading, lines in entry.sections()},
    }


def _write_message(entry: ReportEntry) -> str:
    """Word an entry in one line, with its remedy."""
    remedy = next((lines for heading, lines in entry.sections() if heading == "remedy"), ())
    advice = f"; remedy: {' '.join(remedy)}" if remedy else ""
    return printable(f"{entry.code}: {entry.message}{advice}")


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
