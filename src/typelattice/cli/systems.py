"""The command `systems`: the systems that come with typelattice, and files of one's own."""
from __future__ import annotations

from argparse import ArgumentParser, Namespace

import typelattice as tl
from typelattice.cli.command import Command, Paragraphs
from typelattice.rendering.grid import printable
from typelattice.rendering.terminal import layout

WIDEST = 30  # columns that the names may take


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="a .toml file of your own, to list too")
    versions = "also each older release that was recorded, as NAME@RELEASE"
    parser.add_argument("--versions", action="store_true", help=versions)


def run(args: Namespace) -> Paragraphs:
    """Each system with its title and the library that it describes."""
    found = [tl.system(which) for which in (*tl.systems(args.versions), *args.files)]
    stub = min(max(len(printable(s.name)) for s in found), WIDEST) + 2
    page = layout()
    for s in found:
        yield page.beside(printable(s.name), [f"{s.title} ({s.library})" if s.library else s.title], stub)


COMMAND = Command("The systems that come with typelattice.", arguments, run, ("", "--versions", "mine.toml"))
