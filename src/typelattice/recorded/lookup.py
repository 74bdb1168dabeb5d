"""One answer of a recording, looked up without reading the others.

A recording that comes along has one line for each key and row, as Recording.save writes it. So an operation
is found by its line, and its rows alone are decoded; reading every recording whole takes ten times as long.
"""
from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from os.path import isfile
from typing import Any

from typelattice.disk.read import read_bytes
from typelattice.recorded.messages import told
from typelattice.recorded.recording import LIMIT_BYTES, RECORDINGS, Call
from typelattice.recorded.rows import ALPHABET, RecordingError, width

KEPT = 64  # recordings whose text is kept
KEPT_OPERATIONS = 512  # operations whose rows are kept
SECTIONS = ("binary", "unary", "nary")  # in which calls stand, by how many operands they have


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """The text of a recording, and what stands above its calls."""

    name: str
    text: str
    versions: Mapping[str, str]
    index: Mapping[str, int]
    answers: Sequence[str]
    errors: Mapping[str, str]


def look_up(name: str, op: str, operands: Sequence[str]) -> Call | None:
    """What the library answered to one call; None if it was not asked, or if there is no such recording.

    Raises RecordingError for a recording that was damaged.

    >>> look_up("numpy", "add", ("int8", "uint8")).answer
    'int16'
    """
    page = opened(name)
    if page is None or not all(operand in page.index for operand in operands):
        return None
    try:
        found = _answer(page, op, tuple(page.index[operand] for operand in operands))
        return None if found is None else Call(op, tuple(operands), *told(page.answers[found], page.errors))
    except (ValueError, TypeError, LookupError) as error:
        raise _damaged(name, error) from error


@lru_cache(KEPT)
def opened(name: str) -> Page | None:
    """A recording that comes along, None if there is none of that name. Raises RecordingError."""
    path = RECORDINGS / f"{name}.json"
    if not isfile(path):
        return None
    text = read_bytes(path, LIMIT_BYTES).decode("utf-8")
    try:
        head = json.loads(text[: _start(text, "binary")].rstrip(" \n,") + "}")
        index = {operand: i for i, operand in enumerate(head["operands"])}
        return Page(name, text, head["versions"], index, head["answers"], head["errors"])
    except (ValueError, TypeError, LookupError) as error:
        raise _damaged(name, error) from error


def _answer(page: Page, op: str, operands: tuple[int, ...]) -> int | None:
    """The answer's index, None if the operation was not asked of these operands."""
    if len(operands) > 2:
        return _several(page).get((op, operands))
    chosen, rows = _rows(page, SECTIONS[2 - len(operands)], op)
    if not {*operands} <= chosen.keys():
        return None
    *first, last = (chosen[operand] for operand in operands)
    row = rows[first[0] if first else 0]
    text = row if isinstance(row, str) else str(rows[row])
    digits = width(page.answers)
    return _number(text[last * digits : (last + 1) * digits])


@lru_cache(KEPT_OPERATIONS)
def _rows(page: Page, section: str, op: str) -> tuple[Mapping[int, int], Sequence[str | int]]:
    """The place of each operand of which an operation was asked, and the rows; nothing if of none."""
    start = _start(page.text, section)
    place = page.text.find(f"\n  {json.dumps(op)}: ", start, page.text.find("\n }", start))
    if place < 0:
        return {}, ()
    value = _value(page.text, place)
    table = value if isinstance(value, dict) else {"row": value}
    operands = table.get("operands", range(len(page.index)))
    rows = table["rows"] if section == "binary" else [table["row"]]
    return {operand: i for i, operand in enumerate(operands)}, rows


@lru_cache(8)
def _several(page: Page) -> Mapping[tuple[str, tuple[int, ...]], int]:
    """The answers to calls of three operands and more."""
    calls = _value(page.text, _start(page.text, "nary"))
    return {(op, tuple(operands)): answer for op, operands, answer in calls}


def _start(text: str, key: str) -> int:
    """Where the line of a key of the whole begins. Raises ValueError."""
    return text.index(f'\n "{key}": ')


def _value(text: str, line: int) -> Any:
    """The JSON value behind the key of a line. Raises ValueError."""
    return json.JSONDecoder().raw_decode(text, text.index('": ', line) + 3)[0]


def _number(digits: str) -> int:
    """The number that digits write. Raises ValueError."""
    number = 0
    for digit in digits:
        number = number * len(ALPHABET) + ALPHABET.index(digit)
    return number


def _damaged(name: str, error: Exception) -> RecordingError:
    what = f"{RECORDINGS / name}.json is damaged ({error})"
    return RecordingError(f"{what}; install typelattice again, or record {name} again")
