"""Lists of departures: calls that depart from a library's rule, with reasons and sources.

docs/departures.md says how they are written. The files `departures/*.toml`, one of a library, hold those of
the recordings that come along. A cause that recordings of several libraries share is stated once, in the file
of the library that it comes from, which the files of the others extend.
"""
from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from typelattice.disk.parsed_toml import parse_toml
from typelattice.disk.read import read_bytes
from typelattice.facts.dtypes import DType
from typelattice.facts.libraries import recordings
from typelattice.facts.releases import SIGN
from typelattice.facts.suggestions import nearest, short
from typelattice.files.reader import system
from typelattice.files.text import systems
from typelattice.files.vocabulary import Words, items, text
from typelattice.recorded.departure import Departure, DepartureError
from typelattice.recorded.read_departures import DepartureEntries

# By os.path: importing pathlib costs as much as reading all departures of a library.
FOLDER = os.path.join(os.path.dirname(__file__), "departures")
LIMIT_BYTES, LIMIT_DOTS = 200_000, 200  # of a list, on one of its lines
KEYS, EXTENDS = ("sets", "departure"), "extends"


def departures(
    recording: str, path: str | os.PathLike[str] | None = None, own: Mapping[str, DType] = {}
) -> Sequence[Departure]:
    """The departures listed for a recording, here or in a file of your own; `own` are dtypes of your system.

    An older release has its own departures first, then those of the newest. These may cover fewer or more of
    its calls.

    Raises FileError for a file of your own that cannot be read, DepartureError for one that cannot be right.
    """
    if path is not None:
        return tuple(_of_recording(recording, os.path.basename(path), _read_values(path), own))
    if recording not in recordings():
        return ()
    newest, _, older = recording.partition(SIGN)
    own = system(newest).own_dtypes if newest in systems(functions=True) else {}
    kept = _read_files(recordings()[recording].library).items()
    found = tuple(each for file, values in kept for each in _of_recording(recording, file, values, own))
    return (*found, *departures(newest)) if older else found


def may_vary(recording: str) -> bool:
    """Return True if the files that list a recording's departures have one that varies."""
    entry = recordings().get(recording)
    listed = (values.get("departure") for values in _read_files(entry.library).values()) if entry else ()
    return any("varies" in each for entries in listed if isinstance(entries, list) for each in entries)


@cache
def _read_files(library: str) -> Mapping[str, Mapping[str, object]]:
    """Read the departure files of a library, by name: the file that its own extends, then its own."""
    path = os.path.join(FOLDER, f"{library}.toml")
    if not os.path.isfile(path):
        return {}
    values = _read_values(path)
    extended = str(values.pop(EXTENDS, ""))
    return {**(_read_files(extended) if extended else {}), os.path.basename(path): values}


def _of_recording(
    recording: str, file: str, values: Mapping[str, object], own: Mapping[str, DType] = {}
) -> Iterator[Departure]:
    """Yield the departures of one recording among those in a list. Raises DepartureError."""
    for key in values:
        if key not in KEYS:
            near = nearest(key, KEYS) or "; write [sets] and tables [[departure]]"
            raise DepartureError(f"{file}: unknown key {short(key)}{near}")
    listed = values.get("departure", [])
    if not isinstance(listed, list):
        raise DepartureError(f"{file}: departure is no list; write tables [[departure]]")
    entries = DepartureEntries(file, _read_words(file, values.get("sets", {}), own))
    for number, entry in enumerate(listed, 1):
        found = entries.departure(number, entry, recording)
        if found:
            yield found


def _read_words(file: str, sets: object, own: Mapping[str, DType]) -> Words:
    """Return the words of a list, its named sets of dtypes included. Raises DepartureError."""
    words = Words(own)
    try:
        for name, members in items(sets):
            words.sets[words.new(name, "set")] = text(members)
        for name in words.sets:
            words.nodes(name)
    except ValueError as e:
        raise DepartureError(f"{file}, sets: {e}") from None
    return words


def _read_values(path: str | os.PathLike[str]) -> dict[str, object]:
    """Read a TOML file. Raises FileError, DepartureError."""
    name = os.path.basename(path)
    data = read_bytes(path, LIMIT_BYTES + 1)
    if len(data) > LIMIT_BYTES:
        raise DepartureError(f"{name}: larger than {LIMIT_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise DepartureError(f"{name}: not UTF-8 text (byte {e.start}); save it as UTF-8") from None
    # tomllib takes time that grows with the square of the parts of a key, which stands on one line.
    if deep := next((n for n, line in enumerate(text.split("\n"), 1) if line.count(".") > LIMIT_DOTS), 0):
        raise DepartureError(f"{name}, line {deep}: more than {LIMIT_DOTS} dots; write several entries")
    try:
        return parse_toml(os.path.realpath(path), text)
    except RecursionError:
        raise DepartureError(f"{name}: not TOML: nested too deep") from None
    except ValueError as e:
        raise DepartureError(f"{name}: not TOML: {e}") from None
