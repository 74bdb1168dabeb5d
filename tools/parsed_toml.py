"""Writes the rows of the TOML files that come with typelattice, parsed beforehand for a quicker start."""
from __future__ import annotations

import tomllib
from pathlib import Path

from generated import write_pages

from typelattice.base.disk.preparsed_toml import PREPARSED_TABLE_FILE, row_of
from typelattice.core.evidence.departure_files import DEPARTURES_FOLDER
from typelattice.core.system_files.system_text import SYSTEMS_FOLDER


def table(folder: Path) -> str:
    """The rows of all TOML files in a folder."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.toml"))}
    return "".join(row_of(name, text, tomllib.loads(text)) for name, text in texts.items())


if __name__ == "__main__":
    write_pages(
        {
            Path(folder) / PREPARSED_TABLE_FILE: table(Path(folder))
            for folder in (SYSTEMS_FOLDER, DEPARTURES_FOLDER)
        }
    )
