"""The report of a port in paragraphs: what raises, what loses values, what differs in dtype alone."""

from __future__ import annotations

from collections.abc import Iterator

from typelattice.base.rendering.paragraphs import Layout
from typelattice.repair.port.port_script import PortReport
from typelattice.tracing.report.formatting import count_text, location_text
from typelattice.tracing.run_data.release_difference import DTYPE_ALONE, LOSES, RAISES

HEADINGS = {
    RAISES: "raises an error in one release: {}",
    LOSES: "loses values in one release: {}",
    DTYPE_ALONE: "differs in dtype alone: {}",
}


def write_port_report(report: PortReport, width: int = 80) -> Iterator[str]:
    """Write a report in paragraphs, the worst differences first."""
    page = Layout(width)
    if not report.own:
        yield "no array of NumPy was seen in the lines that were followed: nothing was compared"
        return
    many = count_text(report.checked_count, "operation")
    yield page.fold_line(f"{many} under {report.own}, compared with {report.other}")
    for effect, found in report.by_effect.items():
        yield ""
        yield page.bold(HEADINGS[effect].format(count_text(len(found), "place")))
        for each in found:
            yield page.fold_line(f"{location_text(each.location)}: {each.text}: {each.sentence}", margin=4)
    if report.ending:
        yield ""
        yield page.fold_line(report.ending)
