"""Documents of runs, as `trace --json` writes them: read, compared and combined."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os.path import basename
from typing import Any

from typelattice.base.disk.read import read_bytes
from typelattice.base.errors.error_texts import clip_text
from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.rendering.grid import printable
from typelattice.core.dtypes.dtypes import DTypeError, dtype
from typelattice.core.operands.operand import KIND_BY_NAME
from typelattice.tracing.report.formatting import shown_path
from typelattice.tracing.report.run_as_data import RUN_FORMAT_VERSION
from typelattice.tracing.run_data.float_widths import dtype_width

MAX_DOCUMENT_BYTES = 1 << 30  # bytes of a document
LIST_KEYS = ("steps", "mismatches", "departures", "findings", "summarised")
COUNT_KEYS = ("opaque", "child_processes", "followed_processes")
TYPE_BY_KEY: dict[str, type] = dict.fromkeys(LIST_KEYS, list) | dict.fromkeys(COUNT_KEYS, int)
TYPE_BY_KEY |= {"libraries": dict, "not_followed": dict}
STEP_KEYS: dict[str, type | tuple[type, ...]] = {
    "file": (str, type(None)), "line": (int, type(None)), "observed": (str, type(None)),
    "code": str, "operands": list, "bytes": int,
}  # fmt: skip
FINDING_KEYS: dict[str, type | tuple[type, ...]] = {
    "file": (str, type(None)), "line": (int, type(None)), "step": (int, type(None)),
    "rule": str, "code": str, "message": str, "sections": dict,
}  # fmt: skip


MAX_COUNT = 10**18  # of runs, bytes, lines; a sum of them is still a float


class RunFileError(TypelatticeError, ValueError):
    """The error of a file that is not the document of a run."""


@dataclass(frozen=True, slots=True, order=True)
class Upcast:
    """A float that became wider at a source text, the same in any folder."""

    file: str
    code: str
    narrow: str
    wide: str

    def __str__(self) -> str:
        return f"{self.code}: {self.narrow} becomes {self.wide}"

    def data(self, place: str) -> dict[str, object]:
        """Return the upcast at a place, FILE:LINE, as JSON data."""
        return {"place": place, "code": self.code, "from": self.narrow, "to": self.wide}


@dataclass(frozen=True, slots=True)
class RunDifference:
    """The upcasts that only one of two runs has, each with its place, and the bytes of all arrays in both."""

    added: tuple[tuple[str, Upcast], ...]
    removed: tuple[tuple[str, Upcast], ...]
    kept: int
    bytes: tuple[int, int]

    def data(self) -> dict[str, object]:
        """Return the difference as JSON data, with the source text of each upcast."""
        return {
            "added": [upcast.data(place) for place, upcast in sorted(self.added)],
            "removed": [upcast.data(place) for place, upcast in sorted(self.removed)],
            "kept": self.kept,
            "bytes_before": self.bytes[0],
            "bytes_after": self.bytes[1],
        }


def read_run(path: str) -> dict[str, Any]:
    """Read the document of a run. Raises RunFileError or FileError if it cannot be read."""
    try:
        found = json.loads(read_bytes(path, MAX_DOCUMENT_BYTES))
    except (ValueError, RecursionError) as e:
        raise RunFileError(
            f"{clip_text(path, 200)} is no JSON ({clip_text(str(e), 100)}); {HOW_TO_MAKE_ONE}"
        ) from None
    try:
        _check_document(found)
    except (KeyError, TypeError, ValueError, IndexError) as e:
        why = clip_text(f"{type(e).__name__}: {e}", 100)
        raise RunFileError(
            f"{clip_text(path, 200)} is no document of a run ({why}); {HOW_TO_MAKE_ONE}"
        ) from None
    return dict(found)


HOW_TO_MAKE_ONE = "write one with typelattice trace --json"


def _check_document(document: Any) -> None:
    if document["typelattice"] != "run" or document["version"] != RUN_FORMAT_VERSION:
        raise ValueError(f"it is {document['typelattice']!r}, version {document['version']!r}")
    for key, kind in TYPE_BY_KEY.items():
        _check_kind(document, key, kind)
    for each in (*document["mismatches"], *document["departures"]):
        _check_kind(each, "step", int)
    for each in document["findings"]:
        for name, kinds in FINDING_KEYS.items():
            _check_kind(each, name, kinds)
    for value in (*document["libraries"].values(), *document["summarised"]):
        if not isinstance(value, str):
            raise TypeError(f"{value!r} is no text")
    for step in document["steps"]:
        for name, kinds in STEP_KEYS.items():
            _check_kind(step, name, kinds)
        if not all(isinstance(part, int) and 0 <= part < len(document["steps"]) for part in step["operands"]):
            raise ValueError("a step has an operand that is no step")


def _check_kind(document: Any, key: str, kind: type | tuple[type, ...]) -> None:
    value = document[key]
    if not isinstance(value, kind):
        raise TypeError(f"{key} is {type(value).__name__}")
    if isinstance(value, int) and abs(value) > MAX_COUNT:
        raise ValueError(f"{key} is beyond {MAX_COUNT:,}")


def compare_documents(old_document: dict[str, Any], new_document: dict[str, Any]) -> RunDifference:
    """Compare the upcasts of two runs. Places move between two versions, so lines do not count."""
    old, new = _list_upcasts(old_document), _list_upcasts(new_document)
    fewer, more = Counter(u for _, u in old), Counter(u for _, u in new)
    kept = (fewer & more).total()
    return RunDifference(
        tuple(_drop_repeated(new, more - fewer)),
        tuple(_drop_repeated(old, fewer - more)),
        kept,
        (_count_bytes(old_document), _count_bytes(new_document)),
    )


def _drop_repeated(
    places: Sequence[tuple[str, Upcast]], counts: Counter[Upcast]
) -> Iterator[tuple[str, Upcast]]:
    """Yield the last places of each upcast: as many as its count."""
    left = Counter(counts)
    for place, upcast in reversed(places):
        if left[upcast] > 0:
            left[upcast] -= 1
            yield place, upcast


def _list_upcasts(document: dict[str, Any]) -> list[tuple[str, Upcast]]:
    """List each place where a float became wider, with its upcast."""
    steps = document["steps"]
    places: dict[tuple[str, Upcast], None] = {}
    for step in steps:
        own = _count_bits(step["observed"])
        narrower = [
            steps[p]["observed"] for p in step["operands"] if 0 < _count_bits(steps[p]["observed"]) < own
        ]
        if narrower and step["file"]:
            narrow = max(narrower, key=_count_bits)
            upcast = Upcast(basename(step["file"]), step["code"], narrow, step["observed"])
            places[printable(f"{shown_path(step['file'])}:{step['line']}"), upcast] = None
    return [*places]


def _count_bits(text: str | None) -> int:
    """Return the width of a float dtype, or 0 for anything else."""
    if text is None or text in KIND_BY_NAME or text.endswith("*"):
        return 0
    with suppress(DTypeError):
        return dtype_width(dtype(text)) or 0
    return 0


def _count_bytes(document: dict[str, Any]) -> int:
    return sum(step["bytes"] for step in document["steps"])


def combine_documents(documents: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Combine the runs of several processes: their steps one after the other, with the sums of all counts.

    Raises RunFileError if two of them give a library different systems.
    """
    made: dict[str, Any] = {
        "typelattice": "run",
        "version": RUN_FORMAT_VERSION,
        "libraries": {},
        "not_followed": {},
    }
    made |= {key: [] for key in LIST_KEYS} | dict.fromkeys(COUNT_KEYS, 0)
    for each in documents:
        for library, system in each["libraries"].items():
            known = made["libraries"].setdefault(library, system)
            if known != system:
                what = f"{library} has the rules of {known} in one run and of {system} in another"
                raise RunFileError(f"{clip_text(what, 200)}; combine runs of one environment")
        start = len(made["steps"])
        made["steps"] += [s | {"operands": [p + start for p in s["operands"]]} for s in each["steps"]]
        for key in ("mismatches", "departures"):
            made[key] += [m | {"step": m["step"] + start} for m in each[key]]
        made["findings"] += [
            f | {"step": None if f["step"] is None else f["step"] + start} for f in each["findings"]
        ]
        made["not_followed"] |= each["not_followed"]
        for key in COUNT_KEYS:
            made[key] += each[key]
        made["summarised"] += [line for line in each["summarised"] if line not in made["summarised"]]
    return made
