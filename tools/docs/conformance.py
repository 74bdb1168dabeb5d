"""Pages and data of what each library was asked, and how often its rules are right: the site's conformance.

Every recorded call is compared with the system of its library, class by class, as `typelattice conform` does.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path

from answers import COLOURS, DEPARTS, RIGHT, UNASKED, badge_of, html_page, libraries
from matrix import chip, chips, heading, matrix, share

import typelattice as tl
from typelattice.conformance.recording.compare_with_system import compare_calls
from typelattice.core.engine.operation_rules import STANDARD_RULES_BY_CLASS
from typelattice.core.evidence.answer_notation import (
    EXCEPTION_PREFIX,
    NOT_ASKED_ANSWER,
    TEXT_BY_BROKEN_ANSWER,
)
from typelattice.core.evidence.list_departures import list_departures
from typelattice.core.evidence.recorded_calls import RecordedCall
from typelattice.core.evidence.recording_files import open_recording
from typelattice.core.operations.missing_operations import find_missing_operations
from typelattice.core.operations.operations import OPERATION_BY_NAME, OPERATIONS
from typelattice.core.registry.releases import VERSION_SIGN, list_releases

FOLDER = "conformance"
VERSION = 1  # of the data


@dataclass(frozen=True, slots=True)
class Counts:
    """The calls of a class of operations: how many a library answered or refused as its rule says.

    `departs` counts the others, `broken` those at which the library broke down. `never_asked` names the
    operations that the library has and that nobody asked it for.
    """

    right: int
    refused: int
    departs: int
    broken: int
    never_asked: tuple[str, ...]

    @property
    def asked(self) -> int:
        return self.right + self.refused + self.departs + self.broken


@dataclass(frozen=True, slots=True)
class Conformance:
    """A release of a library: the versions that were asked, when, and the counts of each class."""

    name: str
    versions: Mapping[str, str]
    date: str
    classes: Mapping[str, Counts]


def conformance(name: str) -> Conformance | None:
    """Compare a recording with its system, class by class; None if nothing was recorded."""
    page = open_recording(name)
    if page is None:
        return None
    system, listed, lacking = tl.system(name), list_departures(name), find_missing_operations(name)
    asked: dict[str, list[str]] = {}
    for op in page.operations:
        if op in OPERATION_BY_NAME and op not in page.missing_in_release[0]:
            asked.setdefault(OPERATION_BY_NAME[op].operation_class, []).append(op)
    found = {}
    for of_class in STANDARD_RULES_BY_CLASS:
        refused = Counter[bool]()

        def calls(ops: Iterable[str], refused: Counter[bool] = refused) -> Iterator[RecordedCall]:
            for op in ops:
                for call in page.calls_of(op):
                    refused[_is_refused(call)] += 1
                    yield call

        ops = asked.get(of_class, [])
        report = compare_calls(system, calls(ops), listed)
        differing = [
            *report.mismatches,
            *(m for found_ in report.mismatches_by_departure.values() for m in found_),
        ]
        by_rule = refused[True] - sum(_is_refused(m.call) for m in differing)
        never = (
            op.name for op in OPERATIONS.values()
            if op.operation_class == of_class and op.name not in ops and op.name not in lacking
        )  # fmt: skip
        found[of_class] = Counts(
            report.compared_count - len(differing) - by_rule,
            by_rule,
            len(differing),
            report.broken_count,
            tuple(never),
        )
    return Conformance(name, page.versions, page.date, found)


def _is_refused(call: RecordedCall) -> bool:
    return (
        call.answer.startswith(EXCEPTION_PREFIX)
        and call.answer != NOT_ASKED_ANSWER
        and call.answer not in TEXT_BY_BROKEN_ANSWER
    )


def names() -> list[str]:
    """The systems of libraries with their older releases, the newest first."""
    return [
        release
        for name in libraries()
        for release in [name, *(f"{name}{VERSION_SIGN}{older}" for older in list_releases(name)[:-1][::-1])]
    ]


def write(html: Path) -> int:
    """Write the pages and the data into the folder of a site; the number of pages."""
    into = html / FOLDER
    into.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor() as processes:
        made = [*filter(None, processes.map(conformance, names()))]
    by_library: dict[str, list[Conformance]] = {}
    for found in made:
        by_library.setdefault(found.name.partition(VERSION_SIGN)[0], []).append(found)
    for name, found_releases in by_library.items():
        (into / f"{name}.html").write_text(library_page(name, found_releases), encoding="utf-8")
        (into / f"{name}.svg").write_text(badge(found_releases[0]), encoding="utf-8")
    (into / "index.html").write_text(index([found[0] for found in by_library.values()]), encoding="utf-8")
    data = {"typelattice": "conformance", "version": VERSION, "recordings": [*map(asdict, made)]}
    (into / "conformance.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return len(by_library) + 1


def index(newest: Sequence[Conformance]) -> str:
    """The page of all libraries: how much of each class its rules say rightly, in the newest release."""
    columns = [
        (
            heading(f'<a href="{f.name}.html">{escape(f.name)}</a>', f.versions, f.date),
            {of_class: _cell(counts) for of_class, counts in f.classes.items()},
        )
        for f in newest
    ]
    total = sum(counts.asked for found in newest for counts in found.classes.values())
    departing = sum(counts.departs for found in newest for counts in found.classes.values())
    newest_date = max(found.date for found in newest)
    summary = (
        f"{total:,} recorded calls of {len(newest)} systems, each in its newest release, "
        f"asked up to {newest_date}. "
        f"{departing:,} of them answer otherwise than the rule of the library says."
    )
    text = (
        f"<p class=sum>{summary}</p>{matrix('classes of operations', columns)}"
        "<p>A cell has the share of calls that the rule predicts, refusals among them. "
        '<a href="../operations.html">Operations</a> says what each class holds. '
        '<a href="conformance.json">The same as data</a>.</p>'
    )
    return html_page("Conformance", summary, text, "", "", "")


def library_page(name: str, found: Sequence[Conformance]) -> str:
    """The page of a library: the counts of each class, release by release."""
    columns = [
        (
            heading(escape(f.name), f.versions, f.date),
            {of_class: _counts(counts) for of_class, counts in f.classes.items()},
        )
        for f in found
    ]
    summary = f"What {name} was asked, and how often its rules are right."
    text = (
        f"<p class=sum>{escape(summary)}</p>{matrix(name, columns)}"
        f'<p><a href="../gallery/{escape(name)}.html">The page of this system</a> has its rules, and its '
        "departures with their reasons.</p>"
    )
    return html_page(f"Conformance of {name}", summary, text, "", f"{name}.svg", "")


def badge(found: Conformance) -> str:
    """A picture of a line: the release that was asked, how many calls, and how many depart from its rule."""
    asked = sum(counts.asked for counts in found.classes.values())
    departing = sum(counts.departs for counts in found.classes.values())
    said = f"{departing:,} depart from its rule" if departing else "all by its rule"
    shown = [
        (" ".join(next(iter(found.versions.items()), (found.name, ""))), COLOURS[UNASKED]),
        (f"{asked:,} calls asked {found.date}", COLOURS[RIGHT]),
        (said, COLOURS[DEPARTS if departing else RIGHT]),
    ]
    return badge_of(shown, ", ".join(text for text, _ in shown))


def _cell(counts: Counts) -> str:
    if not counts.asked:
        return chip("unasked", "never asked") if counts.never_asked else ""
    return share(counts.right + counts.refused, counts.asked)


def _counts(counts: Counts) -> str:
    parts = chips(
        (
            ("right", counts.right, "right by rule"),
            ("refused", counts.refused, "refused by rule"),
            ("departs", counts.departs, "depart"),
            ("unasked", counts.broken, "broke down"),
        )
    )
    if counts.never_asked:
        parts.append(f"<small>never asked: {', '.join(counts.never_asked)}</small>")
    return "<br>".join(parts)
