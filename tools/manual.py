"""Writes docs/typelattice.1, the manual page of the command line, which pip installs."""
from __future__ import annotations

import os
import re
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from unittest.mock import patch

from argparse_manpage.manpage import Manpage
from generated import write_pages

from typelattice.show.cli.main import COMMAND_NAMES, Parser, find_command

PAGE = Path(__file__).parents[1] / "docs" / "typelattice.1"


def build_full_parser() -> ArgumentParser:
    """Return a parser with each command as a subcommand."""
    about = "What dtype does x + y have, in every array library, and why?"
    root = ArgumentParser(prog="typelattice", description=about)
    commands = root.add_subparsers(metavar="COMMAND")
    for name in COMMAND_NAMES:
        parser = Parser(name)
        commands.add_parser(
            name, help=find_command(name).description, parents=[parser], add_help=False,
            description=parser.description, formatter_class=RawDescriptionHelpFormatter,
        )  # fmt: skip
    return root


def manual() -> str:
    """The page, with a section for each command. It has no date: it changes only if a command does."""
    with patch.dict(os.environ, COLUMNS="80"):
        page = Manpage(build_full_parser(), {"description": "data type promotion of array libraries"})
    page.date, page.manual = "", "typelattice"
    return re.sub(r"(?m)[ \t]+$", "", str(page))


if __name__ == "__main__":
    write_pages({PAGE: manual()})
