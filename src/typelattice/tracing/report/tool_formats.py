"""The entries of a report as other tools read them: SARIF 2.1, and the formats of GitHub and GitLab."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from typelattice.base.rendering.grid import printable
from typelattice.programs.calls.steps import SourceLocation
from typelattice.tracing.report.formatting import shown_path
from typelattice.tracing.report.report_entries import FINDING_RULES, ReportEntry, TraceReport

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
# all other findings are notes
LEVEL_BY_RULE = {
    "TL001": "warning",
    "TL005": "error",
    "TL007": "warning",
    "TL101": "error",
    "TL102": "warning",
}
GITLAB_SEVERITY_BY_LEVEL = {"error": "critical", "warning": "major", "note": "info"}


@dataclass(frozen=True, slots=True)
class Annotation:
    """A text at a source location, with a level of SARIF, a rule and the code of the finding."""

    level: str
    code: str
    rule: str
    location: SourceLocation
    lines: tuple[str, ...]


def list_annotations(report: TraceReport) -> Iterator[Annotation]:
    """Yield each entry at its source location, and a note at each other place that it names."""
    for entry in report.entries:
        if entry.location is None:
            continue
        level = LEVEL_BY_RULE.get(entry.rule, "note")
        yield Annotation(level, entry.code, entry.rule, entry.location, (*_list_message_lines(entry),))
        for location, text in entry.other_places:
            yield Annotation("note", entry.code, entry.rule, location, (printable(text),))


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
            "locations": [_sarif_location(entry.location)],
            "relatedLocations": [
                _sarif_location(location) | {"message": {"text": printable(text)}}
                for location, text in entry.other_places
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


def _sarif_location(location: SourceLocation) -> dict[str, Any]:
    place = {"uri": shown_path(location.file)}
    return {"physicalLocation": {"artifactLocation": place, "region": {"startLine": location.line}}}


def write_github_annotations(
    report: TraceReport, verdict: Sequence[str] = (), is_failure: bool = False
) -> Iterator[str]:
    """Print each annotation as a line for GitHub's workflows, in which `%0A` stands for a line break.

    Lines on the scope of the checks follow, without a location, and the verdict of a check.
    """
    for each in list_annotations(report):
        level = each.level.replace("note", "notice")
        file = _escape_data(shown_path(each.location.file)).replace(",", "%2C").replace(":", "%3A")
        where, message = f"file={file},line={each.location.line},title={each.rule}", "\n".join(each.lines)
        yield f"::{level} {where}::{_escape_data(message)}"
    for line in list_scope_lines(report):
        yield f"::notice title=scope::{_escape_data(printable(line))}"
    if verdict:
        text = "\n".join(map(printable, verdict))
        yield f"::{'error' if is_failure else 'notice'} title=dtypes::{_escape_data(text)}"


def build_gitlab_report(report: TraceReport) -> list[dict[str, Any]]:
    """Build the JSON that GitLab shows as code quality. The line is no part of the fingerprint."""
    found: list[dict[str, Any]] = []
    seen: Counter[str] = Counter()
    for each in list_annotations(report):
        path, description = shown_path(each.location.file), "\n".join(each.lines)
        key = "\0".join((each.rule, each.level, path, each.code))
        seen[key] += 1
        fingerprint = sha256(f"{key}\0{seen[key]}".encode(errors="replace")).hexdigest()
        found.append(
            {
                "check_name": each.rule,
                "description": description,
                "fingerprint": fingerprint,
                "severity": GITLAB_SEVERITY_BY_LEVEL[each.level],
                "location": {"path": path, "lines": {"begin": each.location.line}},
            }
        )
    return found


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


def _list_message_lines(entry: ReportEntry) -> Iterator[str]:
    """Word an entry in lines, with each of its sections."""
    yield printable(f"{entry.code}: {entry.message}")
    for heading, lines in entry.sections():
        for i, line in enumerate(lines):
            yield f"  {printable(line)}" if i else printable(f"{heading}: {line}")


def _write_message(entry: ReportEntry) -> str:
    """Word an entry in one line, with its remedy."""
    remedy = next((lines for heading, lines in entry.sections() if heading == "remedy"), ())
    advice = f"; remedy: {' '.join(remedy)}" if remedy else ""
    return printable(f"{entry.code}: {entry.message}{advice}")


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
