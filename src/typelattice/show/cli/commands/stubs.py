"""The command `stubs`: type stubs of arrays that promote like a system, and the proof that they are exact."""
from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

import typelattice as tl
from typelattice.base.disk.write import write_text
from typelattice.base.rendering.grid import printable
from typelattice.conformance.imitations.type_checkers import CHECKER_NAMES, check_stubs
from typelattice.show.cli import interrupts
from typelattice.show.cli.command import Command, DifferencesFound, Paragraphs, parse_duration
from typelattice.show.cli.output_checks import check_not_read
from typelattice.study.codegen.stubs import stub_file

MAX_DIFFERENCES = 10  # differences to print


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("system", metavar="SYSTEM", help="a system's name, or a .toml file")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write (default: print it)")
    parser.add_argument("--ops", metavar="LIST", help="functions of one or two operands, such as add,sqrt")
    parser.add_argument("--check", choices=CHECKER_NAMES, help="check every expression with a type checker")
    about_limit = "time for each run of the checker, of 5,000 expressions (default: 600)"
    parser.add_argument("--limit", type=parse_duration, default=600.0, metavar="SECONDS", help=about_limit)


def run(args: Namespace) -> Paragraphs:
    """Write the stubs. Raises DifferencesFound if a checker infers another type than the system's dtype."""
    system = tl.system(args.system)
    stubs = stub_file(system, (args.ops or "").replace(",", " ").split())
    if args.output:
        check_not_read(args.output, args.system)
        write_text(Path(args.output), stubs.text)
        yield f"{printable(args.output)}: {stubs.overloads:,} overloads of {system.name}"
        yield "types cannot say:"
        yield from map(printable, stubs.omitted_names)
    elif not args.check:
        yield stubs.text.rstrip("\n")
    if args.check:
        with interrupts.raise_on_interrupt():
            wrong = check_stubs(args.check, stubs.text, stubs.names, stubs.expected, args.limit)
        exact = len(stubs.expected) - len(wrong)
        yield f"{args.check}: {exact:,} of {len(stubs.expected):,} expressions exact"
        yield from (f"  {printable(each)}" for each in wrong[:MAX_DIFFERENCES])
        if wrong:
            raise DifferencesFound


COMMAND = Command(
    "Write type stubs for arrays that promote as a system does.", add_arguments, run,
    ("jax -o arrays.pyi", "mine.toml --ops add,sqrt -o arrays.pyi --check mypy"),
    exit_status=(
        "0 if the stubs are written, 1 if --check finds a wrong type,\n"
        "  2 if there is none"
    ),
)  # fmt: skip
