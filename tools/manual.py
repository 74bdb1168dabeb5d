"""Writes docs/typelattice.1, the manual page of the command line, which pip installs."""
from __future__ import annotations

import os
import re
from pathlib import Path
from unittest.mock import patch

from argparse_manpage.manpage import Manpage
from generated import write_pages

from typelattice.show.cli.commands.completion import build_full_parser

PAGE = Path(__file__).parents[1] / "docs" / "typelattice.1"


def manual() -> str:
    """The page, with a section for each command. It has no date: it changes only if a command does."""
    with patch.dict(os.environ, COLUMNS="80"):
        page = Manpage(build_full_parser(), {"description": "data type promotion of array libraries"})
    page.date, page.manual = "", "typelattice"
    return re.sub(r"(?m)[ \t]+$", "", str(page))


if __name__ == "__main__":
    write_pages({PAGE: manual()})
