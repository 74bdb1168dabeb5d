"""The command `watch`: calls installed libraries again, and reports the changes since their recording."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from typelattice.base.disk.write import check_writable
from typelattice.base.rendering.grid import printable
from typelattice.base.rendering.json import json_document
from typelattice.base.rendering.terminal_output import print_error, progress_bar
from typelattice.conformance.recording.changes_since_recording import LibraryChanges, changes_since_recording
from typelattice.conformance.recording.library import (
    BrokenLibraryError,
    CannotAskError,
    MissingLibraryError,
    versions_text,
)
from typelattice.conformance.recording.library_process import LibraryProcess
from typelattice.conformance.recording.load_library import load_library
from typelattice.conformance.recording.recorder import record_everything
from typelattice.core.evidence.encode_recording import encode_as_differences, save_recording
from typelattice.core.evidence.recording_files import RECORDING_SUFFIX, load_recording, recording_names
from typelattice.core.registry.libraries import libraries, recordings
from typelattice.core.registry.releases import VERSION_SIGN, installed_release
from typelattice.show.cli import interrupts
from typelattice.show.cli.command import (
    Command,
    DifferencesFound,
    Paragraphs,
    UsageError,
    add_format_argument,
    error_line,
    list_examples,
    parse_duration,
)
from typelattice.show.cli.commands.record import REQUIRED_DISK_BYTES
from typelattice.show.cli.commands.table import draw_table
from typelattice.show.cli.output_checks import check_not_read

MAX_SHOWN_NAMES = 12  # names of new or removed things to print


def add_arguments(parser: ArgumentParser) -> None:
    names = "recorded libraries, by name, or module:attribute (default: all installed ones)"
    recording = "a recording of your own to compare with (default: that of the installed release)"
    seconds = "time limit for a call (default: 10)"
    output = "write new recordings of changed libraries there, as NAME.jsonl"
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help=names)
    parser.add_argument("--recording", metavar="FILE", help=recording)
    parser.add_argument("-o", "--output", metavar="FOLDER", help=output)
    parser.add_argument("--limit", type=parse_duration, default=10.0, metavar="SECONDS", help=seconds)
    add_format_argument(parser)


def run(args: Namespace) -> Paragraphs:
    """Report the changes in each library.

    Raises DifferencesFound if anything has changed, UsageError if no library is installed, BrokenLibraryError
    if an installed library cannot be imported.
    """
    if args.recording and len(args.libraries) != 1:
        raise UsageError("watch: --recording compares one library; name only that library")
    if args.output is not None:
        check_writable(
            Path(args.output) / "any.jsonl", REQUIRED_DISK_BYTES
        )  # check before the calls, which take minutes
    changed, lines, documents = False, list[str](), list[dict[str, object]]()
    for name in args.libraries or _find_installed():
        try:
            found, proposed = _find_library_changes(name, args)
        except (CannotAskError, MissingLibraryError) as e:
            if args.libraries or isinstance(e, BrokenLibraryError):
                raise
            print_error(error_line(f"left out: {e}"))
            continue
        changed = changed or bool(found)
        documents.append(_changes_as_data(name, found, proposed))
        if args.format == "text":
            lines += _describe_news(name, found, proposed)
    if not documents:
        what = "watch: no library that was recorded is installed, so nothing was asked"
        raise UsageError(f"{what}; install one, such as numpy, or run watch in its environment")
    # Print only after the last library has answered, so that an error never follows half a report.
    yield from [json_document("news", {"libraries": documents})] if args.format == "json" else lines
    if changed:
        raise DifferencesFound


def _find_installed() -> Iterator[str]:
    """Return the recordings of installed libraries, without importing any."""
    for name in recording_names():
        entry = recordings().get(name)
        modules = libraries()[entry.library].modules if entry else ()
        if VERSION_SIGN not in name and modules and find_spec(modules[0]):
            yield name


def _find_library_changes(name: str, args: Namespace) -> tuple[LibraryChanges, Path | None]:
    """Return the changes in one library, and the file of the proposed recording or None."""
    with interrupts.raise_on_interrupt(), LibraryProcess(partial(load_library, name), args.limit) as asked:
        release = installed_release(name, asked.catalogue.versions)
        if not args.recording and release not in recording_names():
            what = f"watch: {name} has no built-in recording"
            raise UsageError(f"{what}; make one with `typelattice record`, and name it with --recording")
        path = Path(args.output) / f"{release.replace(':', '.')}{RECORDING_SUFFIX}" if args.output else None
        if path:
            check_not_read(str(path), args.recording)
        old_recording = load_recording(args.recording or release)
        found = changes_since_recording(asked, release, old_recording, progress_bar())
        if not found or path is None:
            return found, None
        plain, _, older = release.partition(VERSION_SIGN)
        if older and not args.recording:
            save_recording(encode_as_differences(found.new_recording, plain), path)
        else:
            save_recording(record_everything(asked, progress=progress_bar()), path)
        return found, path


def _describe_news(name: str, news: LibraryChanges, proposed: Path | None) -> Paragraphs:
    """Return the news of one library in words."""
    then, now = versions_text(news.old_recording.versions), versions_text(news.new_recording.versions)
    if not news:
        calls = f"{sum(news.changes.call_counts.values()):,} calls"
        yield printable(f"{name}: {now} answers as {then} did on {news.old_recording.date} ({calls})")
        return
    yield printable(f"{name}: {now} has changed since {then} was recorded on {news.old_recording.date}")
    if news.changes.changes_by_operation:
        yield draw_table(news.changes.grid(), "text")
    for what, names in (("gone", news.removed_names), ("new", news.added_names)):
        if names:
            yield printable(f"{what}: {list_examples(names, MAX_SHOWN_NAMES)}")
    if proposed:
        yield printable(f"proposed recording: {proposed}")


def _changes_as_data(name: str, news: LibraryChanges, proposed: Path | None) -> dict[str, object]:
    """Return the changes of one library as JSON data, with every changed call."""
    return {
        "library": name,
        "recorded": {"date": news.old_recording.date, "versions": dict(news.old_recording.versions)},
        "installed": dict(news.new_recording.versions),
        "compared": sum(news.changes.call_counts.values()),
        "changed": [
            {
                "op": op, "operands": [*change.operands],
                "before": change.old_answer, "after": change.new_answer,
            }
            for op, calls in news.changes.changes_by_operation.items() for change in calls
        ],
        "gone": [*news.removed_names],
        "new": [*news.added_names],
        "proposed": str(proposed) if proposed else None,
    }  # fmt: skip


COMMAND = Command(
    "Report what has changed in a library since it was recorded.", add_arguments, run,
    ("numpy", "numpy@2.4 -o proposed", "mine:MyLibrary --recording mine.jsonl"),
    exit_status="0 if nothing has changed, 1 if a call has, 2 if there is no answer",
)  # fmt: skip
