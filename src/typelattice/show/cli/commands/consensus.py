"""The command `consensus`: where systems agree, and who contests the other pairs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import get_args

import typelattice as tl
from typelattice.base.rendering import GRID_FORMATS
from typelattice.base.rendering.terminal_output import terminal_layout
from typelattice.core.explanations.promotion_in_english import answer_text
from typelattice.show.cli.command import Command, Paragraphs, add_op_argument, list_examples
from typelattice.show.cli.commands.table import draw_table
from typelattice.study.tables.consensus import Consensus, find_contradicted, find_undefined
from typelattice.study.tables.study_scope import TierChoice
from typelattice.study.tables.table_labels import CODE_STYLES

MAX_UNDEFINED_PAIRS = 60  # undefined pairs to print


def add_arguments(parser: ArgumentParser) -> None:
    systems = "two systems or more: names or .toml files"
    tiers = "the tier of the rows (default: arrays)"
    standard = "a standard: show undefined pairs for which all systems agree"
    parser.add_argument("systems", nargs="+", metavar="SYSTEM", help=systems)
    add_op_argument(parser)
    parser.add_argument("--tier", choices=get_args(TierChoice), default="array", help=tiers)
    parser.add_argument(
        "--codes", choices=CODE_STYLES, default="bits", help="i32 counts bits (default), i4 bytes"
    )
    parser.add_argument("--format", choices=GRID_FORMATS, default="text", help="default: text")
    parser.add_argument("--standard", metavar="NAME|FILE", help=standard)


def run(args: Namespace) -> Paragraphs:
    """Return the grid of agreement, the contested pairs, and the comparison with a standard."""
    found = tl.consensus(*args.systems, op=args.op, tier=args.tier)
    standard = tl.system(args.standard) if args.standard is not None else None
    yield draw_table(found.grid(args.codes), args.format)
    if args.format != "text":
        return
    for sort in ("contested", "refused"):
        lines = [
            f"{len(pairs):4}  {who}: {list_examples(_addition_texts(pairs))}"
            for who, pairs in found.groups(sort).items()
        ]
        yield from ["", terminal_layout().join_columns(sort, lines)] if lines else []
    if standard is not None:
        yield from _compare_with_standard(standard, found)


def _compare_with_standard(standard: tl.System, consensus: Consensus) -> Paragraphs:
    """Print the pairs that a standard leaves undefined though all agree, and the contradictions."""
    pairs = find_undefined(standard, consensus)
    shown = list_examples(_addition_texts(pairs), MAX_UNDEFINED_PAIRS)
    yield f"\n{standard.name} leaves {len(pairs)} pairs undefined on which all of these agree: {shown}"
    for s in consensus.systems:
        broken = find_contradicted(standard, s)
        cells = [(" + ".join(map(str, p.operands)), answer_text(p), answer_text(q)) for p, q in broken]
        lines = [f"{operands} is {there} there, {here} here" for operands, there, here in cells]
        yield terminal_layout().join_columns(
            s.name, [f"contradicts {standard.name} in {len(cells)} cells", *lines]
        )


def _addition_texts(pairs: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{a} + {b}" for a, b in pairs]


COMMAND = Command(
    "Compare many systems: where they agree, and which of them disagree.", add_arguments, run,
    (
        "numpy jax torch", "numpy jax torch tensorflow-all --standard array-api",
        "numpy mine.toml --tier scalar",
    ),
)  # fmt: skip
