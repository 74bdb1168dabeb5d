"""The command `laws`: which laws of algebra a system keeps, and what its casts lose."""
from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from typing import get_args

import typelattice as tl
from typelattice.base.rendering import GRID_FORMATS
from typelattice.base.rendering.json import json_document
from typelattice.base.rendering.terminal_output import show_progress_of, terminal_layout
from typelattice.show.cli.command import (
    MAX_EXAMPLES,
    Command,
    DifferencesFound,
    Paragraphs,
    UsageError,
    exit_code_argument,
)
from typelattice.show.cli.commands.table import draw_table
from typelattice.study.laws.laws_overview import laws_overview
from typelattice.study.tables.study_scope import TierChoice, common_dtypes, has_arrays

MAX_HEADING_COLUMNS = 16


def add_arguments(parser: ArgumentParser) -> None:
    systems = "one system in full, several as a table (default: all)"
    tiers = "the operands: arrays (default), 0-d arrays, Python scalars, or all together"
    dtypes = "dtypes, such as int8,uint8, or a system with these dtypes (default: all of each system)"
    every = "list all pairs that break a criterion; with --casts, all such chains"
    casts = "count casts a -> b -> c with the same values as a -> c (one system, or --format json)"
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help=systems)
    parser.add_argument("--tier", choices=get_args(TierChoice), default="array", help=tiers)
    parser.add_argument("--dtypes", metavar="LIST|SYSTEM", help=dtypes)
    parser.add_argument("--common", action="store_true", help="only dtypes that all systems have")
    parser.add_argument("--format", choices=GRID_FORMATS, default="text", help="default: text")
    parser.add_argument("--casts", action="store_true", help=casts)
    parser.add_argument("--all", action="store_true", help=every)
    exit_code_argument(parser, "a system breaks a law")


def run(args: Namespace) -> Paragraphs:
    """Print one system's verdicts in words, or those of several in a grid."""
    found = [tl.system(which) for which in args.systems or tl.systems()]
    if args.casts and args.format != "json" and (len(args.systems) != 1 or args.format != "text"):
        raise UsageError("laws: --casts needs one system and --format text, or --format json")
    dtypes = _read_dtypes(args, found)
    for system in show_progress_of(found, lambda s: s.name):  # verdicts are kept for the grid
        with suppress(tl.DTypeError):
            tl.laws(system, args.tier, dtypes)
            tl.criteria(system, args.tier, dtypes)
    if args.format == "json":
        yield json_document(
            "laws", {"systems": [_verdicts_as_data(s, args.tier, dtypes, args.casts) for s in found]}
        )
    elif len(args.systems) != 1 or args.format != "text":
        yield draw_table(laws_overview(found, args.tier, dtypes), args.format)
    else:
        yield from _print_in_full(found[0], args, dtypes)
    if args.exit_code and any(_breaks_a_law(s, args.tier, dtypes) for s in found):
        raise DifferencesFound


def _print_in_full(system: tl.System, args: Namespace, dtypes: list[object] | None) -> Paragraphs:
    """Print each law and criterion of one system with its first counterexamples."""
    judged, cost = tl.laws(system, args.tier, dtypes), tl.criteria(system, args.tier, dtypes)
    title = f"Laws and criteria of {system.name}, {len(judged.operands)} operands"
    page = terminal_layout()
    yield page.bold(title)
    yield page.dim(system.title)
    for sections in (judged.sections(), cost.sections(cost.pair_count if args.all else MAX_EXAMPLES)):
        yield ""
        yield from (page.join_columns(*section, MAX_HEADING_COLUMNS) for section in sections)
    if args.casts:
        chains = tl.cast_chains(system, dtypes)
        yield ""
        yield page.join_columns(
            *chains.section(len(chains) if args.all else MAX_EXAMPLES), MAX_HEADING_COLUMNS
        )


def _breaks_a_law(system: tl.System, tier: TierChoice, dtypes: list[object] | None) -> bool:
    """Return True if a law fails; a system without such operands breaks none."""
    with suppress(tl.DTypeError):
        return any(verdict.holds is False for verdict in tl.laws(system, tier, dtypes).values())
    return False


def _verdicts_as_data(
    system: tl.System, tier: TierChoice, dtypes: list[object] | None, casts: bool
) -> dict[str, object]:
    """Return the verdicts on one system as JSON data, or the reason if it has no such operands."""
    try:
        priced = tl.criteria(system, tier, dtypes).data()["criteria"]
        chains = {"casts": tl.cast_chains(system, dtypes).data()} if casts else {}
        return {**tl.laws(system, tier, dtypes).data(), "criteria": priced, **chains}
    except tl.DTypeError as e:
        return {"system": system.name, "not_judged": str(e)}


def _read_dtypes(args: Namespace, systems: list[tl.System]) -> list[object] | None:
    """Return the dtypes that the arguments name, or None for each system's own."""
    if args.common and args.dtypes is not None:
        raise UsageError("--common and --dtypes both name dtypes; give one of them")
    if args.common:
        having = [s for s in systems if has_arrays(s)]
        if not having:
            raise UsageError(f"{systems[0].name} has no dtypes to have in common; name another system")
        return [*common_dtypes(having)]
    if args.dtypes is None:
        return None
    if args.dtypes in tl.systems() or args.dtypes.endswith(".toml"):
        return [*tl.system(args.dtypes).dtypes]
    return [x for x in re.split(r"[,\s]+", args.dtypes) if x]


COMMAND = Command(
    "Show which laws a system keeps, and what its casts lose.", add_arguments, run,
    ("numpy", "numpy jax torch --common", "numpy --casts", "--dtypes jep9407-3-bf16", "mine.toml --tier all"),
    exit_status=(
        "0 if there is an answer, 1 with --exit-code if a law fails,\n"
        "  2 if there is none"
    ),
)  # fmt: skip
