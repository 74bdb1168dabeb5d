"""The command `check`: judges a system file, what is in it and what it costs."""
from __future__ import annotations

from argparse import ArgumentParser, Namespace

from typelattice.cli.command import FEW, Command, Paragraphs, format_argument
from typelattice.engine.system import System
from typelattice.rendering.json import document
from typelattice.rendering.terminal import layout
from typelattice.study.check import check

SECONDS = 10  # that the search for repairs may take


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE.toml", help="a system file, or the name of a system")
    format_argument(parser)


def run(args: Namespace) -> Paragraphs:
    """The parts of a system one by one, the laws it breaks, and the nearest orders that break fewer."""
    found = check(args.file)
    if args.format == "json":
        yield document("check", {**found.data(), "repairs": _repairs(found.system) if found.split else []})
        return
    page = layout()
    yield page.bold(f"{args.file}: a valid system")
    yield ""
    yield from (page.beside(*section) for section in found.sections())
    if found.split:
        yield page.beside("repairs", _repairs(found.system))


def _repairs(s: System) -> list[str]:
    """Return the nearest repaired orders, or the reason why there are none.

    In a repaired order every pair with a bound has a least one.
    """
    from typelattice.designer import ERRORS, repairs

    try:
        found = repairs(s, limit=FEW, seconds=SECONDS)
    except (*ERRORS, TimeoutError) as e:
        return [str(e).split("\n", 1)[0]]
    return [f"{r}: {len(r.changed)} answers change" for r in found]


COMMAND = Command(
    "Check a system file: say what it has, and what it costs.", arguments, run, ("mine.toml", "numpy"),
)  # fmt: skip
