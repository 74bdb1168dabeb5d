"""The report of a port: what raises, what loses values, what differs in dtype alone, as text and as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from typelattice.base.rendering.paragraphs import Layout
from typelattice.programs.calls.steps import SourceLocation
from typelattice.tracing.report.formatting import count_text, location_text, package_path
from typelattice.tracing.run_data.release_difference import (
    DTYPE_ALONE,
    EFFECTS,
    LOSES,
    RAISES,
    ReleaseDifference,
)

HEADINGS = {
    RAISES: "raises an error in one release: {}",
    LOSES: "loses values in one release: {}",
    DTYPE_ALONE: "differs in dtype alone: {}",
}
EFFECT_NAMES = {RAISES: "raises", LOSES: "loses", DTYPE_ALONE: "dtype_alone"}
"""The names of the effects in documents."""


@dataclass(frozen=True, slots=True)
class PortReport:
    """The differences of a run between two releases, the worst first, and what was looked at.

    `own` and `other` name the systems of the installed release and of the other one, or are "" if no array
    of the library was seen. `checked_count` is the number of operations that were compared. `ending` says how
    the program failed, or is "". `notes` say what other runs looked at.
    """

    own: str
    other: str
    checked_count: int
    differences: tuple[ReleaseDifference, ...]
    status: int | None
    ending: str = ""
    notes: tuple[str, ...] = ()

    @property
    def by_effect(self) -> dict[str, list[ReleaseDifference]]:
        """The differences of each effect."""
        return {effect: [each for each in self.differences if each.effect == effect] for effect in EFFECTS}

    def data(self) -> dict[str, object]:
        """Return the report as JSON data."""
        return {
            "own": self.own,
            "other": self.other,
            "checked": self.checked_count,
            "status": self.status,
            "ending": self.ending,
            "notes": [*self.notes],
            "differences": [
                {
                    "effect": EFFECT_NAMES[each.effect],
                    "file": each.location.file,
                    "line": each.location.line,
                    "text": each.text,
                    "loser": each.loser,
                    "sentence": each.sentence,
                    "severity": each.severity,
                    "ends_program": each.ends_program,
                }
                for each in self.differences
            ],
        }


def read_report(data: Mapping[str, Any]) -> PortReport:
    """Read a report from the data that `PortReport.data` returns."""
    effects = {name: effect for effect, name in EFFECT_NAMES.items()}
    differences = tuple(
        ReleaseDifference(
            effects[each["effect"]], SourceLocation(each["file"], each["line"]), each["text"], each["loser"],
            each["sentence"], each["severity"], each["ends_program"],
        )
        for each in data["differences"]
    )  # fmt: skip
    return PortReport(
        data["own"], data["other"], data["checked"], differences, data["status"], data["ending"],
        tuple(data["notes"]),
    )  # fmt: skip


def merge_differences(differences: Iterable[ReleaseDifference]) -> tuple[ReleaseDifference, ...]:
    """Merge the differences of several runs, and put the worst first.

    Of one source text the worst difference is kept. The error that ended a program is kept only if no other
    difference names an error of its line.
    """
    found: dict[tuple[str, int, str], ReleaseDifference] = {}
    for each in sorted(differences, key=order_key):
        found.setdefault((*_place(each), each.text), each)
    named = {_place(each) for each in found.values() if each.effect == RAISES and not each.ends_program}
    return tuple(each for each in found.values() if not (each.ends_program and _place(each) in named))


def _place(difference: ReleaseDifference) -> tuple[str, int]:
    """Return the file and the line. An installed file is named by its package, wherever it is installed."""
    at = difference.location
    return str(package_path(at.file) or at.file), at.line


def order_key(difference: ReleaseDifference) -> tuple[int, bool, float, str, int]:
    """Return the key by which the differences of a report are ordered."""
    at = difference.location
    effect = EFFECTS.index(difference.effect)
    return effect, not difference.ends_program, -difference.severity, at.file, at.line


def merge_reports(own: PortReport, other: PortReport, python: str) -> PortReport:
    """Merge the report of a run with that of another interpreter, which has the other release or the same."""
    title = other.own or "no arrays"
    ending = f"; {other.ending}" if other.ending else ""
    note = f"{python}: {count_text(other.checked_count, 'operation')} under {title}{ending}"
    is_complete = not own.status or not other.status
    return replace(
        own,
        own=own.own or other.other,
        other=own.other or other.own,
        differences=merge_differences((*own.differences, *other.differences)),
        ending="" if is_complete else own.ending,
        notes=(*own.notes, note),
    )


def write_port_report(report: PortReport, width: int = 80) -> Iterator[str]:
    """Write a report in paragraphs, the worst differences first."""
    page = Layout(width)
    if not report.own:
        yield "no array of NumPy was seen in the lines that were followed: nothing was compared"
        return
    many = count_text(report.checked_count, "operation")
    yield page.fold_line(f"{many} under {report.own}, compared with {report.other}")
    yield from (page.fold_line(note) for note in report.notes)
    for effect, found in report.by_effect.items():
        yield ""
        yield page.bold(HEADINGS[effect].format(count_text(len(found), "place")))
        for each in found:
            yield page.fold_line(f"{location_text(each.location)}: {each.text}: {each.sentence}", margin=4)
    if report.ending:
        yield ""
        yield page.fold_line(report.ending)
