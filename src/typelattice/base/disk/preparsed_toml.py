"""The TOML files of typelattice, parsed in advance, since `tomllib` is slow to load and to run.

`parsed.txt`, in the same folder as the files, has a row for each: its name, the checksum of its text, and its
values. `tools/parsed_toml.py` writes it. The parts of a row stand between tabs. A part begins with its sort:
`{2` is a table of the two names and values that follow, `[2` a list of two values, `"` a text.

It is no JSON, since importing `json` takes as long as reading the files of several systems.
"""
from __future__ import annotations

import os
from binascii import crc32
from collections.abc import Iterator
from functools import cache

from typelattice.base.own_folders import REAL_PACKAGE_FOLDER

PREPARSED_TABLE_FILE = "parsed.txt"
TABLE, LIST, TEXT, BOOL, NUMBER, FRACTION = '{["?#~'  # the sorts of the parts of a row
LINE_END = "\\n"  # the end of a line in a text


def parse_toml(path: str | None, text: str) -> dict[str, object]:
    """Parse the text of a TOML file, with its real path if it has one. Raises like `tomllib.loads`.

    If a file of typelattice has changed since its row was written, it is parsed again, like any other text.
    """
    folder, name = os.path.split(path or "")
    if folder.startswith(REAL_PACKAGE_FOLDER + os.sep):
        checksum, values = _read_rows(folder).get(name, ("", ""))
        if checksum == str(crc32(text.encode())):
            found = _read_value(iter(values.rstrip("\n").split("\t")))
            assert isinstance(found, dict)
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
        columns = (row.split("\t", 2) for row in rows)
        return {name: (checksum, values) for name, checksum, values in columns}


def row_of(name: str, text: str, values: dict[str, object]) -> str:
    """Write the row of a file from its text and its values. Raises ValueError for values that do not fit."""
    parts = [*_list_parts(values)]
    row = "\t".join((name, str(crc32(text.encode())), *parts))
    if "\n" in row or _read_value(iter(row.split("\t")[2:])) != values:
        raise ValueError(f"a row cannot hold the values of {name}; write them without tabs and backslashes")
    return f"{row}\n"


def _list_parts(value: object) -> Iterator[str]:
    """Yield the parts of a row for a value."""
    if isinstance(value, dict):
        yield f"{TABLE}{len(value)}"
        for name, inner in value.items():
            yield name
            yield from _list_parts(inner)
    elif isinstance(value, list):
        yield f"{LIST}{len(value)}"
        for inner in value:
            yield from _list_parts(inner)
    elif isinstance(value, str):
        yield TEXT + value.replace("\n", LINE_END)
    elif isinstance(value, bool):
        yield BOOL + str(value)
    else:
        yield (NUMBER if isinstance(value, int) else FRACTION) + str(value)


def _read_value(parts: Iterator[str]) -> object:
    """Read the next value from the parts of a row."""
    part = next(parts)
    sort, given = part[0], part[1:]
    if sort == TABLE:
        return {next(parts): _read_value(parts) for _ in range(int(given))}
    if sort == LIST:
        return [_read_value(parts) for _ in range(int(given))]
    if sort == TEXT:
        return given.replace(LINE_END, "\n")
    if sort == BOOL:
        return given == str(True)
    return int(given) if sort == NUMBER else float(given)
