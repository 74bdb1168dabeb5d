"""The commands `conform` and `record`, as the command line shows them."""
from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from typelattice.conformance.compare import Report, compare
from typelattice.conformance.library import SOURCES, MissingLibrary, UnknownLibrary
from typelattice.files.reader import system
from typelattice.recorded.deviations import DeviationError, deviations
from typelattice.recorded.recording import Recording
from typelattice.recorded.rows import RecordingError

ERRORS = (RecordingError, DeviationError, MissingLibrary, UnknownLibrary)
SHOWN = 3  # examples of each cause


def conform_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("library", metavar="LIBRARY", help=f"a recording's name: {', '.join(SOURCES)}; or module:attribute")
    parser.add_argument("--system", metavar="NAME|FILE", help="the system to compare (default: of the library's name)")
    parser.add_argument("--recording", metavar="FILE", help="a recording of your own (default: the one that comes along)")
    parser.add_argument("--live", type=int, metavar="CALLS", help="ask the installed library so many random calls instead")
    parser.add_argument("--seed", type=int, default=0, help="of the random calls (default: 0)")
    parser.add_argument("--deviations", metavar="FILE", help="a list of known deviations of your own")


def conform(args: Namespace) -> Iterator[str]:
    """Compares; what it prints ends in the count of mismatches, which decides the exit code."""
    found = system(args.system or args.library)
    listed = deviations(args.library, Path(args.deviations) if args.deviations else None)
    if args.live:
        from typelattice.conformance.library import library
        from typelattice.conformance.live import check

        asked = library(args.library)
        report = check(asked, found, args.live, args.seed, listed, progress_bar())
        about = f"{args.live:,} random calls, seed {args.seed}, of {versions(asked.versions)}"
    else:
        recording = Recording.load(args.recording or args.library)
        report = compare(found, recording.calls(), listed)
        about = f"recorded {recording.date} from {versions(recording.versions)}"
    yield f"{args.library} against the system {found.name}: {about}"
    yield from printed(report)
    if report.mismatches:
        raise SystemExit(1)


def printed(report: Report) -> Iterator[str]:
    """A report: causes with counts and examples, listed deviations, the sums."""
    for cause, mismatches in report.groups().items():
        yield f"  {len(mismatches):6}  {cause}"
        yield from (f"          {m}" for m in mismatches[:SHOWN])
    for deviation, mismatches in report.listed.items():
        if mismatches:
            yield f"  {len(mismatches):6}  listed: {deviation.reason}"
            yield f"          e.g. {mismatches[0]}; {deviation.source}"
    counts = [f"{report.compared:,} calls compared", f"{len(report.mismatches)} mismatches"]
    counts += [f"{sum(map(len, report.listed.values())):,} listed deviations"] * any(report.listed.values())
    counts += [f"{report.no_kernel:,} calls without a kernel left out"] * bool(report.no_kernel)
    yield ", ".join(counts)


def record_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("library", metavar="LIBRARY", help=f"one of {', '.join(SOURCES)}; or module:attribute for your own")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write (default: LIBRARY.json here)")
    parser.add_argument("--limit", type=float, default=10.0, metavar="SECONDS", help="time a call may take (default: 10)")


def record(args: Namespace) -> Iterator[str]:
    """Asks the installed library everything and writes down its answers."""
    from typelattice.conformance.asking import CannotRecord
    from typelattice.conformance.library import library
    from typelattice.conformance.record import record as recorded

    output = Path(args.output or f"{args.library}.json")
    try:
        found = recorded(partial(library, args.library), limit=args.limit, progress=progress_bar())
    except CannotRecord as e:
        raise RecordingError(str(e)) from None
    found.save(output)
    yield f"{output}: {len(list(found.calls())):,} calls of {versions(found.versions)}"


def versions(of: object) -> str:
    """`numpy 2.4.6, ml_dtypes 0.6.0`."""
    return ", ".join(f"{name} {version}" for name, version in dict(of).items())  # type: ignore[call-overload]


def progress_bar() -> Callable[[int, int, str], None]:
    """A bar on a terminal's stderr, silent elsewhere."""
    if not sys.stderr.isatty():
        return lambda done, of, what: None

    def bar(done: int, of: int, what: str) -> None:
        if done == of or done % max(1, of // 200) == 0:
            full = 30 * done // max(of, 1)
            line = f"\r[{'#' * full}{'.' * (30 - full)}] {done:,}/{of:,} {what[:20]:20}"
            print(line, end="\n" * (done == of), file=sys.stderr, flush=True)

    return bar
