"""Writes docs/findings*.md from docs/findings.toml: answers come from the recordings."""
from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from generated import write_pages

from typelattice.core.engine.system import System
from typelattice.core.evidence.answer_notation import EXCEPTION_PREFIX
from typelattice.core.evidence.recording import Recording
from typelattice.core.evidence.recording_files import load_recording
from typelattice.core.operands.notation import parse_operand

DOCS = Path(__file__).parents[1] / "docs"
KINDS = {
    "order": "Results that depend on the order of the operands",
    "silent": "Choices and losses without a warning",
    "document": "Documents that the code contradicts",
    "standard": "Answers that contradict the array API standard",
    "inconsistent": "Libraries that contradict themselves",
    "version": "Differences between versions",
}

INTRODUCTION = """\
These recorded results may surprise a user of the libraries. Each has the calls, the answers and a snippet
that shows it. The ten that stand first are on the pages of their kinds, too."""
ANSWERED = "Every answer below was recorded from the library, in the version shown."


def texts() -> dict[Path, str]:
    """The page that lists all findings, and a page of each kind."""
    with (DOCS / "findings.toml").open("rb") as file:
        given = tomllib.load(file)
    listed, best = given["finding"], given["best"]
    recordings: dict[str, Recording] = {}
    kind_by_title = {each["title"]: each["kind"] for each in listed}
    index = ["# Findings", "", INTRODUCTION, "", "## Ten to begin with", ""]
    index += [_link(title, kind_by_title[title]) for title in best]
    made = {}
    for kind, heading in KINDS.items():
        chosen = [finding for finding in listed if finding["kind"] == kind]
        if not chosen:
            continue
        name = page_of_kind(kind)
        links = [_link(each["title"], kind) for each in chosen if each["title"] not in best]
        index += ["", f"## {heading}", "", *links]
        lines = [f"# {heading}", "", f"[All findings](findings.md). {ANSWERED}"]
        for finding in chosen:
            lines += _write_finding(finding, recordings)
        made[DOCS / name] = "\n".join(lines).rstrip() + "\n"
    names = [path.stem for path in made]
    index += ["", "```{toctree}", ":hidden:", "", *names, "```"]
    return {DOCS / "findings.md": "\n".join(index) + "\n", **made}


def _link(title: str, kind: str) -> str:
    return f"- [{title}]({page_of_kind(kind)}#{slug(title)})"


def page_of_kind(kind: str) -> str:
    """The file of the findings of a kind."""
    return f"findings-{kind}.md"


def slug(title: str) -> str:
    """The anchor of a heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", title.lower().strip()).replace(" ", "-")


def _write_finding(finding: dict[str, Any], recordings: dict[str, Recording]) -> list[str]:
    """The section of a finding: its text, what was recorded, and a snippet."""
    lines = ["", f"## {finding['title']}", "", finding["text"].strip(), ""]
    if "documented" in finding:
        lines += [f"Does the library document it? {_sentence(finding['documented'])}", ""]
    recorded = finding.get("recorded", {})
    rows = [row for name, calls in recorded.items() for row in _rows(name, calls, recordings)]
    rows += [row for name, calls in finding.get("systems", {}).items() for row in _said(name, calls)]
    if rows:
        lines += ["| library | call | answer |", "|---|---|---|", *rows]
    if rows and "snippet" in finding:
        lines += [""]
    if "snippet" in finding:
        lines += ["```pycon", finding["snippet"].strip(), "```"]
    return lines


def _sentence(text: str) -> str:
    """A text as a sentence: with a capital letter, and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def _rows(name: str, calls: list[str], recordings: dict[str, Recording]) -> list[str]:
    recording = recordings.setdefault(name, load_recording(name))
    version = ", ".join(f"{package} {v}" for package, v in recording.versions.items())
    rows = []
    for call in calls:
        op, operands = _taken_apart(call)
        answer = recording.require_answer(op, *operands)
        rows.append(f"| {version} | `{call}` | {_given(answer)} |")
    return rows


def _given(answer: str) -> str:
    """What a library did: `raises TypeError`, or the dtype that it gave."""
    return (
        f"raises {answer.removeprefix(EXCEPTION_PREFIX)}" if answer.startswith(EXCEPTION_PREFIX) else answer
    )


def _said(name: str, calls: list[str]) -> list[str]:
    """What a system without a library says, such as a document's."""
    from typelattice import system

    found: System = system(name)
    rows = []
    for call in calls:
        op, operands = _taken_apart(call)
        p = found.explain(*(parse_operand(o) for o in operands), op=op if op != "result_type" else None)
        rows.append(f"| {found.title} | `{call}` | {p.dtype or 'refused'} |")
    return rows


def _taken_apart(call: str) -> tuple[str, list[str]]:
    found = re.fullmatch(r"(\w+)\((.*)\)", call)
    assert found, call
    return found[1], [operand.strip() for operand in found[2].split(",")]


if __name__ == "__main__":
    write_pages(texts())
