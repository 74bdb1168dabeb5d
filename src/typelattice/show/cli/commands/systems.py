"""The command `systems`: the built-in systems, and the user's own files."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

import typelattice as tl
from typelattice.base.rendering.grid import printable
from typelattice.base.rendering.json import json_document
from typelattice.base.rendering.terminal_output import terminal_layout
from typelattice.core.evidence.recording_files import recording_names
from typelattice.show.cli.command import Command, Paragraphs, add_format_argument

MAX_NAME_COLUMNS = 30  # greatest width of the names


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="your own .toml file, to list as well")
    versions = "also each older release that was recorded, as NAME@RELEASE"
    parser.add_argument("--versions", action="store_true", help=versions)
    add_format_argument(parser)


def run(args: Namespace) -> Paragraphs:
    """Print each system with its title and the library that it describes."""
    found = [tl.system(which) for which in (*tl.systems(args.versions), *args.files)]
    if args.format == "json":
        yield json_document("systems", {"systems": [_system_as_data(s) for s in found]})
        return
    stub = min(max(len(printable(s.name)) for s in found), MAX_NAME_COLUMNS) + 2
    page = terminal_layout()
    for s in found:
        yield page.join_columns(
            printable(s.name), [f"{s.title} ({s.library})" if s.library else s.title], stub
        )


def _system_as_data(system: tl.System) -> dict[str, object]:
    """Return the facts of a system as JSON data; `recorded` says whether its library has a built-in
    recording.
    """
    return {
        "name": system.name, "title": system.title, "library": system.library,
        "dtypes": [d.name for d in system.dtypes],
        "tiers": list(system.tiers), "recorded": system.name in recording_names(),
    }  # fmt: skip


COMMAND = Command(
    "List the systems that come with typelattice.", add_arguments, run, ("", "--versions", "mine.toml")
)
