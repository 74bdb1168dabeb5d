"""The command `table`: a system's answer to every pair of dtypes."""
from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import TypeVar, get_args

import typelattice as tl
from typelattice.base.objects.gc_pause import pause_gc
from typelattice.base.rendering import GRID_FORMATS, Grid
from typelattice.base.rendering.terminal_output import print_error, terminal_layout
from typelattice.core.dtypes.dtypes import DType
from typelattice.show.cli.command import Command, Paragraphs, add_op_argument
from typelattice.study.tables.diffs import Diff
from typelattice.study.tables.study_scope import TierChoice
from typelattice.study.tables.table_labels import CODE_STYLES, SHOW_SMALL, describe_left_out
from typelattice.study.tables.tables import Table

FORMATS_WITHOUT_NOTES = ("csv",)  # formats of tables that cannot have notes
TableOrDiff = TypeVar("TableOrDiff", Table, Diff)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--system", default="numpy", metavar="NAME|FILE", help="the system (default: numpy)")
    grid_arguments(parser, "array")


def run(args: Namespace) -> Paragraphs:
    """Return the table in the requested format."""
    with pause_gc():
        found = make_table(args, lambda **keys: tl.table(args.system, **keys))
        text = draw_table(found.grid(args.codes), args.format)
    yield text
    print_left_out_dtypes(found.left_out, args.format)


def grid_arguments(parser: ArgumentParser, tier: str) -> None:
    """Add the options that `table` and `diff` share; their default tiers differ."""
    tiers = f"the rows: arrays, 0-d arrays, Python scalars, or all tiers separately (default: {tier})"
    codes = "i32 counts bits (default), i4 bytes, int32 is a name"
    dtypes = "operands, such as int8,uint8,float (default: all of the system)"
    narrow = "also show integers below 8 bits and floats of at most 8 (your own system always shows them)"
    add_op_argument(parser)
    parser.add_argument("--tier", choices=get_args(TierChoice), default=tier, help=tiers)
    parser.add_argument("--codes", choices=CODE_STYLES, default="bits", help=codes)
    parser.add_argument("--format", choices=GRID_FORMATS, default="text", help="default: text")
    parser.add_argument("--dtypes", metavar="LIST", help=dtypes)
    parser.add_argument("--small", action="store_true", help=narrow)


def make_table(args: Namespace, make: Callable[..., TableOrDiff]) -> TableOrDiff:
    """Return the table or diff of the operands, the operation and the tier in the arguments."""
    dtypes = None if args.dtypes is None else [x for x in re.split(r"[,\s]+", args.dtypes) if x]
    return make(op=args.op, tier=args.tier, dtypes=dtypes, small=args.small)


def print_left_out_dtypes(dtypes: tuple[DType, ...], format: str) -> None:
    """Print the dtypes that are not shown on standard error, if the format has no notes."""
    if format in FORMATS_WITHOUT_NOTES:
        for note in describe_left_out(dtypes, SHOW_SMALL):
            print_error(f"typelattice: {note}")


def draw_table(grid: Grid, format: str) -> str:
    """Return a grid in a format; text fits the terminal."""
    return terminal_layout().grid(grid) if format == "text" else tl.render(grid, format)


COMMAND = Command(
    "Show a system's answer to every pair of dtypes.", add_arguments, run,
    (
        "--system jax", "--op divide --codes names --dtypes int8,int32,float16,float",
        "--system mine.toml --format markdown",
    ),
)  # fmt: skip
