"""Lists of departures: calls that depart from a library's rule, with reasons and sources.

docs/departures.md explains the format. The files `departures/*.toml`, one for each library, describe the
built-in recordings. A cause that several libraries share is stated once, in the file of the library where it
originates. The files of the others extend that file.
"""
from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.core.dtypes.dtypes import DType
from typelattice.core.evidence.departure import Departure
from typelattice.core.evidence.departure_entries import DepartureEntryReader
from typelattice.core.evidence.departure_files import (
    DepartureError,
    read_departure_file,
    read_departure_files,
)
from typelattice.core.registry.libraries import recordings
from typelattice.core.registry.releases import VERSION_SIGN
from typelattice.core.system_files.reader import system
from typelattice.core.system_files.system_text import systems
from typelattice.core.system_files.value_reader import Vocabulary, require_text, table_items

TOP_LEVEL_KEYS = ("sets", "departure")


def list_departures(
    recording: str, path: str | os.PathLike[str] | None = None, custom_dtypes: Mapping[str, DType] = {}
) -> Sequence[Departure]:
    """Return the departures for a recording, listed here or in your own file, with your system's dtypes.

    An older release has its own departures first, and then the departures of the newest. The latter may cover
    fewer or more of its calls.

    Raises FileError for your own file if it cannot be read, DepartureError if it has mistakes.
    """
    if path is not None:
        return tuple(
            _list_departures_of_recording(
                recording, os.path.basename(path), read_departure_file(path), custom_dtypes
            )
        )
    if recording not in recordings():
        return ()
    newest, _, older = recording.partition(VERSION_SIGN)
    custom_dtypes = system(newest).custom_dtypes if newest in systems(functions=True) else {}
    kept = read_departure_files(recordings()[recording].library).items()
    found = tuple(
        each
        for file, values in kept
        for each in _list_departures_of_recording(recording, file, values, custom_dtypes)
    )
    return (*found, *list_departures(newest)) if older else found


def _list_departures_of_recording(
    recording: str, file: str, values: Mapping[str, object], custom_dtypes: Mapping[str, DType]
) -> Iterator[Departure]:
    """Yield the departures of one recording among those in a list. Raises DepartureError."""
    for key in values:
        if key not in TOP_LEVEL_KEYS:
            near = spelling_hint(key, TOP_LEVEL_KEYS) or "; write [sets] and tables [[departure]]"
            raise DepartureError(f"{file}: unknown key {quote_short(key)}{near}")
    listed = values.get("departure", [])
    if not isinstance(listed, list):
        raise DepartureError(f"{file}: departure is no list; write tables [[departure]]")
    entries = DepartureEntryReader(file, _read_words(file, values.get("sets", {}), custom_dtypes))
    for number, entry in enumerate(listed, 1):
        found = entries.read_departure(number, entry, recording)
        if found:
            yield found


def _read_words(file: str, sets: object, custom_dtypes: Mapping[str, DType]) -> Vocabulary:
    """Return the words of a list, its named sets of dtypes included. Raises DepartureError."""
    words = Vocabulary(custom_dtypes)
    try:
        for name, members in table_items(sets):
            words.sets[words.check_new_name(name, "set")] = require_text(members)
        for name in words.sets:
            words.read_nodes(name)
    except ValueError as e:
        raise DepartureError(f"{file}, sets: {e}") from None
    return words
