"""The command `check`: judges a system file, its contents and its costs."""
from __future__ import annotations

from argparse import ArgumentParser, Namespace

from typelattice.base.rendering.json import json_document
from typelattice.base.rendering.terminal_output import terminal_layout
from typelattice.core.engine.system import System
from typelattice.show.cli.command import (
    MAX_EXAMPLES,
    Command,
    DifferencesFound,
    Paragraphs,
    add_format_argument,
)
from typelattice.study.laws.system_check import Check, check
from typelattice.study.tables.answers_outside_dtypes import Closedness, find_escapes

LOSSY_STATUS = 3  # accumulators lose values, and no dtype leaves the file's
MAX_REPAIR_SECONDS = 10  # time limit of the search for repairs


def add_arguments(parser: ArgumentParser) -> None:
    closed_help = (
        "try every operation; exit with 1 if a result, a default or a literal leaves the dtypes, "
        "with 3 if an accumulator loses values"
    )
    parser.add_argument("file", metavar="FILE.toml", help="a system file, or the name of a system")
    parser.add_argument("--closed", action="store_true", help=closed_help)
    add_format_argument(parser)


def run(args: Namespace) -> Paragraphs:
    """Print the parts of a system, the laws it breaks, and the nearest orders that break fewer."""
    found = check(args.file)
    proved = find_escapes(found.system) if args.closed else None
    if args.format == "json":
        more = {"closed": proved.data()} if proved is not None else {}
        repaired = _find_repairs_or_reason(found.system) if found.has_several_bounds else []
        yield json_document("check", {**found.data(), "repairs": repaired, **more})
    else:
        yield from _describe_check(args.file, found, proved)
    if proved is not None and not proved:
        raise DifferencesFound
    if proved is not None and proved.lossy_accumulators:
        raise SystemExit(LOSSY_STATUS)


def _describe_check(file: str, check: Check, proved: Closedness | None) -> Paragraphs:
    page = terminal_layout()
    yield page.bold(f"{file}: a valid system")
    yield ""
    yield from (page.join_columns(*section) for section in check.sections())
    if check.has_several_bounds:
        yield page.join_columns("repairs", _find_repairs_or_reason(check.system))
    if proved is not None:
        yield from (page.join_columns(*section) for section in proved.sections())


def _find_repairs_or_reason(system: System) -> list[str]:
    """Return the nearest repaired orders, or the reason why none was found.

    In a repaired order, every pair with an upper bound has a least one.
    """
    from typelattice.study.designer import DESIGN_ERRORS, find_repairs

    try:
        found = find_repairs(system, limit=MAX_EXAMPLES, seconds=MAX_REPAIR_SECONDS)
    except (*DESIGN_ERRORS, TimeoutError) as e:
        return [str(e).split("\n", 1)[0]]
    return [f"{r}: {len(r.changed_pairs)} answers change" for r in found]


COMMAND = Command(
    "Check a system file: show its contents, its laws and its costs.", add_arguments, run,
    ("mine.toml", "numpy", "mine.toml --closed"),
    exit_status=(
        "0 if there is an answer, 1 with --closed if a dtype leaves the file's,\n"
        "  2 if there is none, 3 with --closed if an accumulator loses values"
    ),
)  # fmt: skip
