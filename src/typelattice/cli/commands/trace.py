"""The command `trace`: runs and follows a script, and replays its run under other systems."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from json import dumps
from os.path import abspath
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

import typelattice as tl
from typelattice.cli.command import (
    Command,
    Paragraphs,
    ScriptInterrupted,
    UsageError,
    count_own_words,
    describe_passed_options,
)
from typelattice.cli.interrupts import raise_on_interrupt
from typelattice.cli.output_checks import check_not_read
from typelattice.disk.write import check_folder, check_writable, write_text
from typelattice.rendering.terminal_output import OutputError, print_output, terminal_layout
from typelattice.support.gc_pause import pause_gc

if TYPE_CHECKING:
    from typelattice.programs.program import AnySystem
    from typelattice.tracing.entry_points.script import EndedScript
    from typelattice.tracing.run_data.run import Run


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--package", action="append", default=[], metavar="PKG",
        help="a package whose modules are followed; can be repeated (default: only the script, or the "
        "package of MODULE)",
    )  # fmt: skip
    parser.add_argument(
        "--system", action="append", default=[], metavar="NAME|FILE",
        help="report where this system differs from the run; can be repeated",
    )  # fmt: skip
    parser.add_argument("--html", metavar="DIR", help="write annotated source pages into this folder")
    parser.add_argument("--json", metavar="FILE", help="write the recorded run into this file")
    parser.add_argument(
        "--format", choices=REPORT_FORMATS, default="text",
        help="print the report as text (default), as JSON, as SARIF 2.1, or as GitHub's annotation lines",
    )  # fmt: skip
    parser.add_argument("--output", metavar="FILE", help="write the report into this file")
    parser.add_argument(
        "--all", action="store_true", dest="everything",
        help="show every place, and all code that was not followed",
    )  # fmt: skip
    parser.add_argument(
        "--values", action="store_true",
        help="also report what operations did to values: integers that wrap, numbers that become infinite or "
        "NaN, fractions that are cut off, sums that lose digits, updates that change nothing",
    )  # fmt: skip
    parser.add_argument(
        "--why", action="append", default=[], metavar="NAME|LINE",
        help="instead of the report, say why the array of this name, or of this line (12 or file.py:12), "
        "has its dtype; can be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--cache", metavar="DIR", help="keep compiled code in this folder, so that the next run starts sooner"
    )
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module, as python -m does")
    parser.add_argument(
        "command", nargs="*", metavar="SCRIPT ARG",
        help="a script, or the arguments of MODULE",
    )  # fmt: skip


OPTIONS_WITH_VALUE = ("--why", "--package", "--system", "--html", "--json", "--cache", "--format", "--output")
REPORT_FORMATS = ("text", "json", "sarif", "github")


def run(args: Namespace) -> Paragraphs:
    """Run the script, print the report on standard error, and end as the script ended.

    If standard error is closed, use standard output.
    """
    from typelattice.tracing.entry_points.pyproject_settings import read_settings
    from typelattice.tracing.entry_points.script import run_script, run_script_to_exit

    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if args.module is None and not command:
        raise UsageError("trace: give a script, or -m and a module; see typelattice trace --help")
    written = [abspath(path) for path in (args.json, args.html, args.output) if path]
    if len({*written}) < len(written):
        raise UsageError(
            "trace: --html is a folder, --json and --output are files; give each a path of its own"
        )
    if args.why and args.format != "text":
        raise UsageError("trace: --why answers as text; leave --format out")
    settings = read_settings(Path.cwd())
    packages = args.package or settings.packages
    systems = [tl.system(which) for which in args.system or settings.systems]
    for file in (args.json, args.output):
        if file is not None:
            check_not_read(file, *args.system, *([] if args.module else command[:1]))
            check_writable(file)
    for folder in (args.html, args.cache):
        if folder is not None:
            check_folder(folder)
    # The script may change the folder, and replace our streams.
    paths = (args.json, args.html, args.cache, args.output)
    json, html, cache, report_file = (given and abspath(given) for given in paths)
    width, errors, output = terminal_layout().width, sys.stderr, sys.stdout
    target, argv = (args.module, command) if args.module is not None else (command[0], command[1:])

    note = describe_passed_options(add_arguments, argv)

    def tell(ended: EndedScript) -> None:
        if json:
            from typelattice.tracing.report.run_as_data import run_data

            write_text(json, dumps(run_data(ended.run, systems), indent=1) + "\n")
        if html:
            from typelattice.tracing.report.html_report import write_pages

            write_pages(ended.run, systems, html)
        with pause_gc():
            lines = _print_report(ended.run, ended.status, systems, width, note, args)
        if report_file:
            write_text(report_file, "\n".join(lines) + "\n")
            return
        try:
            print_output(lines, errors)
        except OutputError as e:  # the script may have closed the stream
            if not e.is_pipe_closed:
                with suppress(OutputError):
                    print_output(lines, output)

    values = args.values or settings.values
    options = args.module is not None, cache and Path(cache)
    with raise_on_interrupt(args.ends_process):
        if args.ends_process:
            status = run_script_to_exit(target, argv, packages, tell, *options, values=values)
        else:
            status = _report_here(run_script(target, argv, packages, *options, tell, values=values), tell)
    _end_as(status)
    yield from ()


def _report_here(ended: EndedScript, tell: Callable[[EndedScript], None]) -> int | None:
    """Report a script that has ended in this process, unless it is a forked one. Return its status."""
    if not ended.forked:
        tell(ended)
    return ended.status


def _end_as(status: int | None) -> None:
    """End as the script did: raise ScriptInterrupted if it was interrupted, SystemExit if it failed."""
    if status is None:
        raise ScriptInterrupted
    if status:
        raise SystemExit(status)


def _print_report(
    run: Run,
    status: int | None,
    systems: Sequence[AnySystem],
    width: int,
    note: str,
    args: Namespace,
) -> list[str]:
    """Print the report of a run in the requested format, in lines; `note` is the last line, if any."""
    from typelattice.rendering.json import json_document
    from typelattice.tracing.findings.findings import collect_findings
    from typelattice.tracing.report.explain_result import explain_result
    from typelattice.tracing.report.report_entries import make_report
    from typelattice.tracing.report.sarif_and_github import (
        build_sarif,
        entry_data,
        scope_data,
        write_github_annotations,
    )
    from typelattice.tracing.report.text_report import write_report

    if args.why:
        return [line for name in args.why for line in explain_result(run, name).lines(width)]
    if args.format == "text":
        lines = [*write_report(run, systems, width, args.everything)]
        if status:
            what = f"the program ended with status {status}: an operation that raised is not part of the run"
            lines += ["", *wrap(f"{what}, under any system", width)]
        return [*lines, note] if note else lines
    made = make_report(collect_findings(run, systems), args.everything)
    if args.format == "github":
        return [*write_github_annotations(made)]
    if args.format == "sarif":
        return dumps(build_sarif(made, tl.__version__), indent=1).splitlines()
    data = {
        "summary": made.summary,
        "findings": [entry_data(entry) for entry in made.entries],
        "scope": scope_data(made),
    }
    return json_document("report", data).splitlines()


COMMAND = Command(
    "Run a script, and report where its floats widen.", add_arguments, run,
    (
        "script.py", "--system torch --system jax script.py --epochs 3", "--package mypkg -m mypkg.train",
        "--json run.json script.py",
    ),
    partial(count_own_words, OPTIONS_WITH_VALUE),
    exit_status="that of the script; 2 if the script could not be run",
)  # fmt: skip
