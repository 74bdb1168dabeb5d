"""The command `port`: compares what a program computes with NumPy 1 and with NumPy 2."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from typelattice.show.cli.command import (
    Command,
    Paragraphs,
    UsageError,
    add_format_argument,
    exit_code_argument,
)
from typelattice.show.cli.interrupts import raise_on_interrupt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typelattice.repair.port.port_report import PortReport

TEST_RUNNER = "pytest"
FAILED_STATUS = 3


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--package", action="append", default=[], metavar="PKG",
        help="a package whose modules are followed, beside the script and the modules of its project; can be "
        "repeated",
    )  # fmt: skip
    parser.add_argument(
        "--only-script", action="store_true",
        help="follow no module of the project around the script: only the script, or the package of MODULE",
    )  # fmt: skip
    parser.add_argument(
        "--python", metavar="OTHER",
        help="another interpreter, with the other release of NumPy: run the program there, too, and report "
        "the differences that either run shows",
    )  # fmt: skip
    parser.add_argument(
        "--windows", action="store_true",
        help="compare with NumPy 1 on Windows, where the default integer is int32",
    )  # fmt: skip
    add_format_argument(parser)
    parser.add_argument("--output", metavar="FILE", help="write the report into this file")
    exit_code_argument(parser, "a place raises an error or loses a value in one release", FAILED_STATUS)
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module, as python -m does")
    parser.add_argument(
        "command", nargs="*", metavar="SCRIPT ARG",
        help="a script, or pytest, and its arguments; our options stand before it; after -- all are its own",
    )  # fmt: skip


def run(args: Namespace) -> Paragraphs:
    """Print what raises, what loses values, and what differs in dtype alone."""
    from typelattice.base.disk.write import check_writable, write_text
    from typelattice.base.rendering.json import json_document
    from typelattice.base.rendering.terminal_output import terminal_layout
    from typelattice.repair.port.port_report import write_port_report
    from typelattice.tracing.run_data.release_difference import DTYPE_ALONE

    if args.output is not None:
        check_writable(args.output)
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if args.module is None and not command:
        raise UsageError("port: give a script, or -m and a module; see typelattice port --help")
    with raise_on_interrupt(args.ends_process):
        report = _run_program(args, command)
    if args.format == "json":
        lines = [json_document("port", report.data())]
    else:
        lines = [*write_port_report(report, terminal_layout().width)]
    if args.output is None:
        yield from lines
    else:
        write_text(args.output, "".join(f"{line}\n" for line in lines))
    if args.exit_code and any(each.effect != DTYPE_ALONE for each in report.differences):
        raise SystemExit(FAILED_STATUS)


def _run_program(args: Namespace, command: Sequence[str]) -> PortReport:
    """Run the program here, and in the other interpreter if one is named."""
    from typelattice.repair.copies.other_python import find_python
    from typelattice.repair.port.port_elsewhere import port_with_python
    from typelattice.repair.port.port_report import merge_reports
    from typelattice.repair.port.port_script import port_script
    from typelattice.tracing.entry_points.named_places import check_packages
    from typelattice.tracing.entry_points.script import find_project

    target, argv = (args.module, command) if args.module is not None else (command[0], command[1:])
    as_module = args.module is not None or target == TEST_RUNNER
    check_packages(args.package, target)
    python = find_python(args.python) if args.python is not None else ""
    project = "" if args.only_script else find_project(target, as_module)
    report = port_script(target, argv, args.package, as_module, project, args.windows)
    if not python:
        return report
    options = [word for package in args.package for word in ("--package", package)]
    options += [
        name for name, is_on in (("--only-script", args.only_script), ("--windows", args.windows)) if is_on
    ]
    options += ["-m", args.module] if args.module is not None else []
    return merge_reports(report, port_with_python(python, options, command), args.python)


COMMAND = Command(
    "Compare what a program computes with NumPy 1 and with NumPy 2.", add_arguments,
    run, ("script.py", "-- pytest tests", "--exit-code -m mypkg.train", "--python old/bin/python script.py"),
    runs_program=True,
    exit_status="0; 2 if the program could not be run; with --exit-code\n"
    "  3 if a place raises an error or loses a value in one release",
)  # fmt: skip
