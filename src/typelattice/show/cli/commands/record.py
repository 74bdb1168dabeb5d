"""The command `record`: calls a library with everything and writes its answers."""
from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import gettempdir

import typelattice as tl
from typelattice.base.disk.read import FileError
from typelattice.base.disk.write import check_writable
from typelattice.base.rendering.grid import printable
from typelattice.base.rendering.terminal_output import print_error, progress_bar
from typelattice.core.evidence.encode_recording import encode_as_differences, save_recording
from typelattice.core.evidence.recording import Recording, RecordingError
from typelattice.core.evidence.recording_files import RECORDING_SUFFIX, load_recording, recording_names
from typelattice.core.registry.releases import VERSION_SIGN
from typelattice.show.cli import interrupts
from typelattice.show.cli.command import (
    STANDARD_OUTPUT,
    Command,
    Paragraphs,
    UsageError,
    add_workers_arguments,
    error_line,
    parse_duration,
)

REQUIRED_DISK_BYTES = 1_000_000  # bytes; the largest recording so far has a fifth of them
UNFINISHED_ANSWERS_SUFFIX = ".answers"  # the ending of the file beside a recording that is not finished


def add_arguments(parser: ArgumentParser) -> None:
    names = "a library as `typelattice systems --versions` names it; or module:attribute for your own"
    again = "a recording of the same versions: its calls are not made again"
    seconds = "time limit for a call (default: 10)"
    parser.add_argument("library", metavar="LIBRARY", help=names)
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write (default: LIBRARY.jsonl here)")
    parser.add_argument("--earlier", metavar="FILE", help=again)
    book = "ask the functions of the library's book, and not its operations"
    parser.add_argument("--book", action="store_true", help=book)
    rows = "print rows for functions that the library's book lacks, for a person to review"
    parser.add_argument("--functions", action="store_true", help=rows)
    parser.add_argument("--limit", type=parse_duration, default=10.0, metavar="SECONDS", help=seconds)
    add_workers_arguments(parser)


def run(args: Namespace) -> Paragraphs:
    """Write a recording; report the file and its number of calls.

    Answers are kept in a file beside it as they come, until all are there.

    The file of an older release, `numpy@2.4`, has only the differences from the recording of the newest one.
    """
    from typelattice.conformance.recording.book_library import load_book_library
    from typelattice.conformance.recording.library import versions_text
    from typelattice.conformance.recording.load_library import load_library
    from typelattice.conformance.recording.recorder import record_everything, repeat_recording, start_askers

    if args.functions:
        yield from _propose_rows(args.library)
        return
    if args.output == STANDARD_OUTPUT:
        raise UsageError("record: a recording is not printed; name a file with -o")
    output = Path(args.output or f"{args.library}{RECORDING_SUFFIX}")
    answers = Path(f"{output}{UNFINISHED_ANSWERS_SUFFIX}")
    newest, _, older = args.library.partition(VERSION_SIGN)
    base = newest if older and newest in recording_names() and not args.book else None
    with interrupts.raise_on_interrupt():
        check_writable(output, REQUIRED_DISK_BYTES)  # the calls take minutes, so refuse before them
        like = load_recording(base) if base else None
        earlier = load_recording(args.earlier) if args.earlier else None
        make = partial(load_book_library if args.book else load_library, args.library)
        with start_askers(make, args.limit, args.jobs, args.scheduler, answers) as asked:
            if asked.resumed_count:
                there = f"{asked.resumed_count:,} answers are there, and are not asked again"
                print_error(error_line(f"{answers}: {there}; delete the file to ask all"))
            if like:
                found = repeat_recording(asked, like, progress_bar(), earlier)
            else:
                found = record_everything(asked, progress=progress_bar(), earlier=earlier)
            _save_recording(found, output, base)
            asked.delete_answers()
    yield printable(f"{output}: {len(list(found.calls())):,} calls of {versions_text(found.versions)}")


def _propose_rows(library: str) -> Paragraphs:
    """Yield a row for each function of a library without one, under the head of a book.

    Raises UnknownLibraryError, MissingLibraryError, CannotAskError.
    """
    from typelattice.conformance.recording.book_library import load_book_library
    from typelattice.conformance.recording.library import versions_text
    from typelattice.conformance.recording.propose_rows import propose_rows

    asked = load_book_library(library)
    versions = versions_text(asked.versions)
    yield printable(f"# Functions of {versions} without a row; review each before you use it")
    yield from map(printable, propose_rows(asked, tl.system(library)))


def _save_recording(recording: Recording, output: Path, base: str | None) -> None:
    """Write a recording. Raises FileError, or RecordingError if it could only be written elsewhere."""
    kept = encode_as_differences(recording, base) if base else recording
    try:
        save_recording(kept, output)
    except FileError as e:
        with suppress(OSError):  # the folder may be full
            spare = Path(gettempdir()) / output.name
            save_recording(kept, spare)
            raise RecordingError(f"{e}; the answers are in {spare}") from None
        raise


COMMAND = Command(
    "Record a library's answers to every call.", add_arguments, run,
    ("numpy", "numpy --jobs 2", "torch --book -o torch-functions.jsonl", "mine:MyLibrary -o mine.jsonl"),
)  # fmt: skip
