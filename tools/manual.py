"""Writes docs/typelattice.1, the manual page of the command line, which pip installs.

    python tools/manual.py          # writes the page
    python tools/manual.py --check  # exit 1 if it is not what it would write
"""
from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from unittest.mock import patch

from argparse_manpage.manpage import Manpage

from typelattice.cli.completion import all_commands

PAGE = Path(__file__).parents[1] / "docs" / "typelattice.1"


def manual() -> str:
    """The page, with a section for each command. It has no date: it changes only if a command does."""
    with patch.dict(os.environ, COLUMNS="80"):
        page = Manpage(all_commands(), {"description": "data type promotion of array libraries"})
    page.date, page.manual = "", "typelattice"
    return re.sub(r"(?m)[ \t]+$", "", str(page))


def run(check: bool) -> int:
    """Write the page, or say that it is stale; the exit status."""
    now = manual()
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == now:
        return 0
    print(f"{PAGE.name} {'is stale; run make pages' if check else 'written'}")
    if not check:
        PAGE.write_text(now, encoding="utf-8")
    return int(check)


if __name__ == "__main__":
    sys.exit(run("--check" in sys.argv[1:]))
