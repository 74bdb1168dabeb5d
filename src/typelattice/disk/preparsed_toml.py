"""The TOML files of typelattice, parsed in advance, since `tomllib` is slow to load and to run.

`parsed.txt`, in the same folder as the files, has a row for each: its name, the checksum of its text, and its
values as JSON. `tools/parsed_toml.py` writes it.
"""
from __future__ import annotations

import json
import os
from binascii import crc32
from functools import cache

PREPARSED_TABLE_FILE = "parsed.txt"
PACKAGE_FOLDER = os.path.realpath(os.path.dirname(os.path.dirname(__file__)))


def parse_toml(path: str | None, text: str) -> dict[str, object]:
    """Parse the text of a TOML file, with its real path if it has one. Raises like `tomllib.loads`.

    If a file of typelattice has changed since its row was written, it is parsed again, like any other text.
    """
    folder, name = os.path.split(path or "")
    if folder.startswith(PACKAGE_FOLDER + os.sep):
        checksum, values = _read_rows(folder).get(name, ("", ""))
        if checksum == str(crc32(text.encode())):
            found: dict[str, object] = json.loads(values)
            return found
    import tomllib  # needed only for a text without a row

    return tomllib.loads(text)


@cache
def _read_rows(folder: str) -> dict[str, tuple[str, str]]:
    """Read the rows of a folder of the package, by the name of the file. Most folders have no rows."""
    path = os.path.join(folder, PREPARSED_TABLE_FILE)
    if not os.path.isfile(path):
        return {}
    with open(path, encoding="utf-8") as rows:
        columns = (row.split("\t") for row in rows)
        return {name: (checksum, values) for name, checksum, values in columns}


def row_of(name: str, text: str, values: dict[str, object]) -> str:
    """Write the row of a file from its text and its values."""
    return "\t".join((name, str(crc32(text.encode())), json.dumps(values, separators=(",", ":")))) + "\n"
