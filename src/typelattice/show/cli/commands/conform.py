"""The command `conform`: compares a system with its library, as recorded or as installed."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path

import typelattice as tl
from typelattice.base.rendering.grid import printable
from typelattice.base.rendering.json import json_document
from typelattice.base.rendering.terminal_output import progress_bar
from typelattice.conformance.recording.compare_with_system import ConformanceReport, Mismatch, compare_calls
from typelattice.conformance.recording.library import versions_text
from typelattice.core.evidence.departure import Departure
from typelattice.core.evidence.list_departures import list_departures
from typelattice.core.evidence.recorded_calls import RecordedCall
from typelattice.core.evidence.recording import Recording
from typelattice.core.evidence.recording_files import calls_of_functions, load_recording
from typelattice.core.operations.missing_operations import find_missing_operations
from typelattice.core.operations.operations import OPERATIONS
from typelattice.core.registry.releases import installed_release
from typelattice.show.cli import interrupts
from typelattice.show.cli.command import (
    Command,
    DifferencesFound,
    Paragraphs,
    UsageError,
    add_format_argument,
    list_examples,
    parse_count,
    parse_seed,
)

MAX_SHOWN_EXAMPLES = 3  # examples of each cause


def add_arguments(parser: ArgumentParser) -> None:
    names = "a library as `typelattice systems --versions` names it, with its release; or module:attribute"
    system = "the system to compare (default: the library's; with --live, that of the installed release)"
    recording = "a recording of your own (default: the built-in one)"
    live = "make N random calls of the installed library instead"
    parser.add_argument("library", metavar="LIBRARY", help=names)
    parser.add_argument("--system", metavar="NAME|FILE", help=system)
    parser.add_argument("--recording", metavar="FILE", help=recording)
    parser.add_argument("--live", type=parse_count, metavar="N", help=live)
    parser.add_argument("--seed", type=parse_seed, default=0, help="random seed for the calls (default: 0)")
    parser.add_argument("--departures", metavar="FILE", help="a list of known departures of your own")
    add_format_argument(parser)


def run(args: Namespace) -> Paragraphs:
    """Report the compared calls, the mismatches by cause, and their number.

    Raises DifferencesFound if there are any mismatches.
    """
    if args.live:
        from typelattice.conformance.recording.compare_random_calls import compare_live
        from typelattice.conformance.recording.library_process import LibraryProcess
        from typelattice.conformance.recording.load_library import load_library

        with interrupts.raise_on_interrupt(), LibraryProcess(partial(load_library, args.library)) as asked:
            name = installed_release(args.library, asked.catalogue.versions)
            found = tl.system(args.system or name)
            listed = _read_departures(args, name, found)
            report = compare_live(asked, found, args.live, args.seed, listed, progress_bar())
        of = versions_text(asked.catalogue.versions)
        misnamed = _compare_absent_operations(asked.catalogue.absent_operations, name)
        about = f"{args.live:,} random calls, seed {args.seed}, of {of}"
    else:
        misnamed = []
        recording = load_recording(args.recording or args.library)
        found = tl.system(args.system or args.library)
        listed = _read_departures(args, args.library, found)
        functions = () if args.recording else calls_of_functions(args.library)
        report = compare_calls(found, chain(_calls_with_progress(recording), functions), listed)
        about = f"recorded {recording.date} from {versions_text(recording.versions)}"
    if not report.compared_count and not report.broken_count:
        what = f"no call of {args.library} can be compared: {about}"
        raise UsageError(f"{what}; it needs an operation of two operands, such as add")
    if args.format == "json":
        compared = {"library": args.library, "system": found.name, "asked": about}
        yield json_document("conform", {**compared, **_report_as_data(report), "absent": misnamed})
    else:
        yield printable(f"{args.library} against the system {found.name}: {about}")
        yield from _describe_report(report)
        yield from map(printable, misnamed)
    if report.mismatches or misnamed:
        raise DifferencesFound


def _calls_with_progress(recording: Recording) -> Iterator[RecordedCall]:
    """Yield the recorded calls; a terminal's standard error names the present operation."""
    show_progress, operations = progress_bar(), len(recording.operations)
    for done, (op, calls) in enumerate(groupby(recording.calls(), attrgetter("op"))):
        show_progress(done, operations, op)
        yield from calls
    show_progress(operations, operations, "")


def _compare_absent_operations(absent_now: Sequence[str] | None, name: str) -> list[str]:
    """Compare the operations that a library lacks now with those that are listed as missing."""
    if absent_now is None:
        return []
    listed = find_missing_operations(name)
    lacking = [op for op in absent_now if op not in listed]
    present = [op for op in OPERATIONS if op in listed and op not in absent_now]
    unlisted = (
        f"{name} does not have {list_examples(lacking)}, and missing_operations.txt does not say so"
    )
    wrong = f"{name} has {list_examples(present)}, though missing_operations.txt says that it does not"
    return [*([unlisted] if lacking else ()), *([wrong] if present else ())]


def _read_departures(args: Namespace, name: str, system: tl.System) -> Sequence[Departure]:
    """Return the departures to leave out: of a system, or of the user's list."""
    return (
        list_departures(name, Path(args.departures), system.custom_dtypes)
        if args.departures
        else list_departures(name)
    )


def _report_as_data(report: ConformanceReport) -> dict[str, object]:
    """Return a report as JSON data, with every mismatch."""
    return {
        "compared": report.compared_count,
        "broken_down": report.broken_count,
        "unknown_operations": list(report.unknown_operations),
        "mismatches": [{"cause": m.cause, **_mismatch_data(m)} for m in report.mismatches],
        "listed": [
            {"reason": departure.reason, "source": departure.source, "calls": [*map(_mismatch_data, found)]}
            for departure, found in report.mismatches_by_departure.items() if found
        ],
    }  # fmt: skip


def _mismatch_data(m: Mismatch) -> dict[str, object]:
    call = m.call
    return {"op": call.op, "operands": list(call.operands), "library": call.answer, "system": m.system_answer}


def _describe_report(report: ConformanceReport) -> Paragraphs:
    """Write a report: causes with counts and examples, listed departures, and totals."""
    for cause, mismatches in report.group_by_cause().items():
        yield f"  {len(mismatches):6}  {printable(cause)}"
        yield from (f"          {printable(str(m))}" for m in mismatches[:MAX_SHOWN_EXAMPLES])
    for departure, listed in report.mismatches_by_departure.items():
        if listed:
            yield f"  {len(listed):6}  listed: {printable(departure.reason)}"
            yield f"          {printable(f'e.g. {listed[0]}; {departure.source}')}"
    counts = [f"{report.compared_count:,} calls compared", f"{len(report.mismatches)} mismatches"]
    if any(report.mismatches_by_departure.values()):
        counts.append(f"{sum(map(len, report.mismatches_by_departure.values())):,} listed departures")
    if report.broken_count:
        counts.append(f"{report.broken_count:,} calls left out because the library broke down")
    yield ", ".join(counts)
    if report.unknown_operations:
        yield printable(
            f"left out, since no operations are called so: {list_examples(report.unknown_operations)}"
        )
    yield f"{report.excused_share:.2%} of the calls are excused"


COMMAND = Command(
    "Compare a system with its library, recorded or installed.", add_arguments, run,
    ("numpy", "numpy@2.4", "jax --live 10000 --seed 3", "numpy --system mine.toml"),
    exit_status=(
        "0 if every call agrees or is a listed departure, 1 if one does not,\n"
        "  2 if the comparison cannot be made"
    ),
)  # fmt: skip
