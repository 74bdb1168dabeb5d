"""The command `table`: what a system answers to every pair of dtypes."""
from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import get_args

import typelattice as tl
from typelattice.cli.command import Command, Paragraphs, op_argument
from typelattice.rendering import FORMATS, Grid
from typelattice.rendering.terminal import layout
from typelattice.study.asked import Asked
from typelattice.study.diffs import Diff
from typelattice.study.labels import CODES
from typelattice.study.tables import Table


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--system", default="numpy", metavar="NAME|FILE", help="(default: numpy)")
    grid_arguments(parser, "array")


def run(args: Namespace) -> Paragraphs:
    """The table in the format that was asked for."""
    yield drawn(asked(args, lambda **keys: tl.table(args.system, **keys)), args.format)


def grid_arguments(parser: ArgumentParser, tier: str) -> None:
    """What `table` and `diff` take alike; they have different default tiers."""
    tiers = f"what the rows are: arrays, 0-d arrays, Python scalars, or all told apart (default: {tier})"
    codes = "i32 counts bits (default), i4 bytes, int32 is a name"
    dtypes = "operands, such as int8,uint8,float (default: all of the system)"
    narrow = "also integers of less than 8 bits, floats of 8 or less"
    op_argument(parser)
    parser.add_argument("--tier", choices=get_args(Asked), default=tier, help=tiers)
    parser.add_argument("--codes", choices=CODES, default="bits", help=codes)
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--dtypes", metavar="LIST", help=dtypes)
    parser.add_argument("--small", action="store_true", help=narrow)


def asked(args: Namespace, make: Callable[..., Table | Diff]) -> Grid:
    """The grid of the operands, the operation and the tier that the arguments name."""
    dtypes = None if args.dtypes is None else [x for x in re.split(r"[,\s]+", args.dtypes) if x]
    return make(op=args.op, tier=args.tier, dtypes=dtypes, small=args.small).grid(args.codes)


def drawn(grid: Grid, format: str) -> str:
    """A grid in a format; as text it is fitted to the terminal."""
    return layout().grid(grid) if format == "text" else tl.render(grid, format)


COMMAND = Command(
    "What a system answers to every pair of dtypes.", arguments, run,
    (
        "--system jax", "--op divide --codes names --dtypes int8,int32,float16,float",
        "--system mine.toml --format markdown",
    ),
)  # fmt: skip
