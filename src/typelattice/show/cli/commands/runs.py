"""The command `runs`: compares or combines documents of runs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from json import dumps

from typelattice.base.disk.write import check_writable, write_text
from typelattice.show.cli.command import (
    Command,
    DifferencesFound,
    Paragraphs,
    UsageError,
    add_format_argument,
)
from typelattice.show.cli.output_checks import check_not_read


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("what", choices=("diff", "combine"), help="compare two runs, or merge several")
    parser.add_argument("files", nargs="+", metavar="RUN.json", help="a file of typelattice trace --json")
    add_format_argument(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="where combine writes its run")


def run(args: Namespace) -> Paragraphs:
    """Print the upcasts that only one of two runs has, and end with 1 if the second has new ones."""
    from typelattice.base.rendering.grid import printable
    from typelattice.base.rendering.json import json_document
    from typelattice.tracing.report.formatting import count_text, size_text
    from typelattice.tracing.report.run_files import combine_documents, compare_documents, read_run

    if args.what == "combine":
        if args.output is None:
            raise UsageError("runs combine: name the file to write with -o")
        check_not_read(args.output, *args.files)
        check_writable(args.output)
        made = combine_documents([read_run(path) for path in args.files])
        write_text(args.output, dumps(made, indent=1) + "\n")
        steps, runs = count_text(len(made["steps"]), "step"), count_text(len(args.files), "run")
        yield f"wrote {steps} of {runs} to {printable(args.output)}"
        return
    if len(args.files) != 2 or args.output is not None:
        raise UsageError("runs diff: give two files, the run before and the run after")
    found = compare_documents(*map(read_run, args.files))
    if args.format == "json":
        yield json_document("run_difference", found.data())
        if found.added:
            raise DifferencesFound
        return
    yield from (printable(f"+ {place}: {upcast}") for place, upcast in sorted(found.added))
    yield from (printable(f"- {place}: {upcast}") for place, upcast in sorted(found.removed))
    added, removed, kept = len(found.added), len(found.removed), found.kept
    before, after = map(size_text, found.bytes)
    yield f"adds {count_text(added, 'upcast')}, removes {removed:,}, keeps {kept:,}"
    yield f"all arrays took {before} before and {after} after"
    if found.added:
        raise DifferencesFound


COMMAND = Command(
    "Compare two runs by their upcasts, or combine runs of processes.", add_arguments, run,
    ("diff before.json after.json", "combine part1.json part2.json -o run.json"),
    exit_status="0, or with diff 1 if the runs differ; 2 if there is no answer",
)  # fmt: skip
