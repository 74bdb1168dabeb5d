"""Writes the rows of the TOML files that come with typelattice, parsed beforehand for a quicker start.

    python tools/parsed_toml.py          # writes parsed.txt beside the files
    python tools/parsed_toml.py --check  # exit 1 if one is not what it would write
"""
from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from typelattice.disk.parsed_toml import TABLE, row_of
from typelattice.files.text import SHIPPED
from typelattice.recorded.departures import FOLDER


def table(folder: Path) -> str:
    """The rows of all TOML files in a folder."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.toml"))}
    return "".join(row_of(name, text, tomllib.loads(text)) for name, text in texts.items())


def main(words: list[str]) -> int:
    """Write the tables that have changed, or name them; the exit status."""
    stale = False
    for path in (Path(SHIPPED) / TABLE, Path(FOLDER) / TABLE):
        now = table(path.parent)
        if path.is_file() and path.read_text(encoding="ascii") == now:
            continue
        stale = True
        if "--check" in words:
            print(f"{path} is stale; run make pages")
        else:
            path.write_text(now, encoding="ascii")
    return int(stale and "--check" in words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
