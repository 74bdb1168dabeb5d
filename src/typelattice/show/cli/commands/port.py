"""The command `port`: compares what a program computes with NumPy 1 and with NumPy 2."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from typelattice.show.cli.command import Command, Paragraphs, UsageError, exit_code_argument
from typelattice.show.cli.interrupts import raise_on_interrupt

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
    exit_code_argument(parser, "a place raises an error or loses a value in one release", FAILED_STATUS)
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module, as python -m does")
    parser.add_argument(
        "command", nargs="*", metavar="SCRIPT ARG",
        help="a script, or pytest, and its arguments; our options stand before it; after -- all are its own",
    )  # fmt: skip


def run(args: Namespace) -> Paragraphs:
    """Print what raises, what loses values, and what differs in dtype alone."""
    from typelattice.base.rendering.terminal_output import terminal_layout
    from typelattice.repair.port.port_report import write_port_report
    from typelattice.repair.port.port_script import port_script
    from typelattice.tracing.entry_points.named_places import check_packages
    from typelattice.tracing.entry_points.script import find_project
    from typelattice.tracing.run_data.release_difference import DTYPE_ALONE

    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if args.module is None and not command:
        raise UsageError("port: give a script, or -m and a module; see typelattice port --help")
    target, argv = (args.module, command) if args.module is not None else (command[0], command[1:])
    as_module = args.module is not None or target == TEST_RUNNER
    check_packages(args.package, target)
    project = "" if args.only_script else find_project(target, as_module)
    with raise_on_interrupt(args.ends_process):
        report = port_script(target, argv, args.package, as_module, project)
    yield from write_port_report(report, terminal_layout().width)
    if args.exit_code and any(each.effect != DTYPE_ALONE for each in report.differences):
        raise SystemExit(FAILED_STATUS)


COMMAND = Command(
    "Compare what a program computes with NumPy 1 and with NumPy 2.", add_arguments,
    run, ("script.py", "-- pytest tests", "--exit-code -m mypkg.train"),
    runs_program=True,
    exit_status="0; 2 if the program could not be run; with --exit-code\n"
    "  3 if a place raises an error or loses a value in one release",
)  # fmt: skip
