"""The files that list departures, with their keys and values: `departures/*.toml`, or one of your own."""
from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Mapping
from functools import cache

from typelattice.base.disk.preparsed_toml import parse_toml
from typelattice.base.disk.read import read_bytes
from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.registry.libraries import recordings

# Uses os.path: importing pathlib takes as long as reading all departures of a library.
DEPARTURES_FOLDER = os.path.join(os.path.dirname(__file__), "departures")
MAX_DEPARTURES_BYTES, MAX_DOTS = 200_000, 200  # bytes of a list of departures, and dots on one of its lines
EXTENDS_KEY = "extends"


class DepartureError(TypelatticeError, ValueError):
    """A list of departures that cannot be read."""


def may_vary(recording: str) -> bool:
    """Return True if the files that list a recording's departures have one that varies."""
    if recording not in recordings():
        return False
    files = read_departure_files(recordings()[recording].library)
    listed = (values.get("departure") for values in files.values())
    return any("varies" in each for entries in listed if isinstance(entries, list) for each in entries)


@cache
def read_departure_files(library: str) -> Mapping[str, Mapping[str, object]]:
    """Read the departure files of a library, by name: first the file that its own extends, then its own."""
    path = os.path.join(DEPARTURES_FOLDER, f"{library}.toml")
    if not os.path.isfile(path):
        return {}
    values = read_departure_file(path)
    extended = str(values.pop(EXTENDS_KEY, ""))
    return {**(read_departure_files(extended) if extended else {}), os.path.basename(path): values}


def read_departure_file(path: str | os.PathLike[str]) -> dict[str, object]:
    """Read a TOML file. Raises FileError, DepartureError."""
    name = os.path.basename(path)
    data = read_bytes(path, MAX_DEPARTURES_BYTES + 1)
    if len(data) > MAX_DEPARTURES_BYTES:
        raise DepartureError(f"{name}: larger than {MAX_DEPARTURES_BYTES:,} bytes")
    try:
        text = data.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError as e:
        raise DepartureError(f"{name}: not UTF-8 text (byte {e.start}); save it as UTF-8") from None
    # tomllib takes time that grows with the square of the parts of a key. A key is always on one line.
    if deep := next((n for n, line in enumerate(text.split("\n"), 1) if line.count(".") > MAX_DOTS), 0):
        raise DepartureError(f"{name}, line {deep}: more than {MAX_DOTS} dots; write several entries")
    try:
        return parse_toml(os.path.realpath(path), text)
    except RecursionError:
        raise DepartureError(f"{name}: not TOML: nested too deep") from None
    except ValueError as e:
        raise DepartureError(f"{name}: not TOML: {e}") from None
