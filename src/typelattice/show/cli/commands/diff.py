"""The command `diff`: where two systems differ, in one operation or in all."""
from __future__ import annotations

from argparse import ArgumentParser, Namespace

import typelattice as tl
from typelattice.show.cli.command import Command, DifferencesFound, Paragraphs, UsageError, exit_code_argument
from typelattice.show.cli.commands.table import draw_table, grid_arguments, make_table, print_left_out_dtypes
from typelattice.study.tables.changed_calls import find_changes
from typelattice.study.tables.differing_integers import find_value_changes

EVERYTHING_WORD = "all"  # all operations, or all tiers
EPILOG = f"--op {EVERYTHING_WORD}: what changes from SYSTEM to OTHER in every operation, with counts"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("a", metavar="SYSTEM", help="a system's name, or a .toml file")
    parser.add_argument("b", metavar="OTHER", help="another system's name, or a .toml file")
    grid_arguments(parser, EVERYTHING_WORD)
    exit_code_argument(parser, "the systems differ")
    parser.epilog = f"{EPILOG}\n\n{parser.epilog}"


def run(args: Namespace) -> Paragraphs:
    """Return the table of differences; if a system looks at values, also the differing values."""
    if args.op == EVERYTHING_WORD:
        if args.dtypes is not None or args.small or args.tier != EVERYTHING_WORD:
            what = f"diff: --op {EVERYTHING_WORD} counts calls of all operands"
            raise UsageError(f"{what}; leave out --dtypes, --tier, --small")
        every = find_changes(tl.system(args.a), tl.system(args.b)).grid()
        alike = not every.rows and args.format == "text"  # print only the notes of an empty table
        yield "\n".join(every.notes) if alike else draw_table(every, args.format)
        if args.exit_code and every.rows:
            raise DifferencesFound
        return
    found = make_table(args, lambda **keys: tl.diff(args.a, args.b, **keys))
    yield draw_table(found.grid(args.codes), args.format)
    print_left_out_dtypes(found.left.left_out, args.format)
    a, b = tl.system(args.a), tl.system(args.b)
    alone = args.op is not None and a.find_operation(args.op).has_one_promoting_operand
    by_value = "value" in (a.combine, b.combine) and not alone
    if by_value and args.format == "text":
        op = args.op or "add"
        lines = [str(change) for change in find_value_changes(a, b, op)] or ["the same for every value"]
        yield f"\nAn array and a Python int, by the int's value, in {op}: {a.name}, then {b.name}"
        yield from (f"  {line}" for line in lines)
    if args.exit_code and found.differing:
        raise DifferencesFound


COMMAND = Command(
    "Compare two systems: a cell a|b has both answers where they differ.", add_arguments, run,
    (
        "numpy jax", "numpy mine.toml --op add --format html", "numpy torch --tier 0d",
        "numpy1 numpy --op all",
    ),
    exit_status=(
        "0 if there is an answer, 1 with --exit-code if the systems differ,\n"
        "  2 if there is none"
    ),
)  # fmt: skip
