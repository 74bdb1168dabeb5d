"""One answer of a recording, looked up without reading the others.

A recording that comes along has one line for each key and row, as Recording.save writes it. So an operation
is found by its line, and its rows alone are decoded; reading every recording whole takes ten times as long.
"""
from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from os.path import isfile
from typing import Any

from typelattice.disk.read import read_bytes
from typelattice.recorded.changes import BASE, numbered_on
from typelattice.recorded.lacking import NOTHING, Lacking
from typelattice.recorded.messages import told
from typelattice.recorded.recording import LIMIT_BYTES, RECORDINGS, Call
from typelattice.recorded.rows import ALPHABET, AS, RecordingError, width

KEPT = 64  # recordings whose text is kept
KEPT_OPERATIONS = 512  # operations whose rows are kept
SECTIONS = ("unary", "binary", "nary")  # in which calls stand, by how many operands they have

Place = tuple[str, int, int]  # a section, a row of an operation there, a column; of `nary` a call and nothing


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """The text of a recording, and what stands above its calls.

    One that rests on another, its `base`, says only what differs from that, and what operations and operands
    of that it `lacks`; the base may rest on a third. The `answers` are those of the base and then its own;
    `numbers` are those of LACKED and of each that its rows write. An answer takes `digits` there.
    """

    name: str
    text: str
    versions: Mapping[str, str]
    digits: int
    index: Mapping[str, int]
    answers: Sequence[str]
    errors: Mapping[str, str]
    base: Page | None = None
    lacks: Lacking = NOTHING
    numbers: Sequence[int] = ()

    @property
    def whole(self) -> Page:
        """The recording beneath all others, which has every call."""
        return self if self.base is None else self.base.whole


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
        numbers = tuple(page.index[operand] for operand in operands)
        place = _place(page.whole, op, numbers)
        if place is None:
            return None
        kept = page.answers[_answer_on(page, op, numbers, place)]
        return Call(op, tuple(operands), *told(kept, page.errors))
    except (ValueError, TypeError, LookupError) as error:
        raise _damaged(name, error) from error


def of_several(name: str, op: str) -> Iterator[Call]:
    """The calls of three operands and more in an operation, with what the library answered.

    Raises RecordingError for a recording that was damaged.

    >>> next(of_several("numpy", "result_type")).answer
    'float64'
    """
    page = opened(name)
    if page is None:
        return
    names = tuple(page.index)
    try:
        for number, (asked, operands, _) in enumerate(_calls(page.whole)):
            if asked == op:
                kept = page.answers[_answer_on(page, op, operands, (SECTIONS[-1], number, 0))]
                yield Call(op, tuple(names[i] for i in operands), *told(kept, page.errors))
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
        head = json.loads(text[: min(_start(text, "unary"), _start(text, "binary"))].rstrip(" \n,") + "}")
        own, messages = head["answers"], head["errors"]
        base = opened(head[BASE]) if BASE in head else None
        if base is None:
            index = {operand: i for i, operand in enumerate(head["operands"])}
            return Page(name, text, head["versions"], width(own), index, own, messages)
        answers, errors, numbers = numbered_on(
            base.answers, {**base.errors, **head["reworded"]}, [told(kept, messages) for kept in own]
        )
        lacks = Lacking(
            frozenset(head["lacks"]["operations"]),
            frozenset(base.index[operand] for operand in head["lacks"]["operands"]),
        )
        return Page(
            name, text, head["versions"], width(own), base.index, answers, errors, base, lacks, numbers
        )
    except (ValueError, TypeError, LookupError) as error:
        raise _damaged(name, error) from error


def _place(page: Page, op: str, operands: tuple[int, ...]) -> Place | None:
    """Where the answer to a call stands, None if the operation was not asked of these operands."""
    section = SECTIONS[min(len(operands), len(SECTIONS)) - 1]
    if section == "nary":
        number = _several(page).get((op, operands))
        return None if number is None else (section, number, 0)
    chosen = _chosen(page, section, op)
    if not all(operand in chosen for operand in operands):
        return None
    *first, last = map(chosen.index, operands)
    return section, first[0] if first else 0, last


def _chosen(page: Page, section: str, op: str) -> Sequence[int]:
    """The operands of which an operation was asked; those of the operation as which it is written."""
    table = _operation(page, section, op)
    if AS in table and "operands" not in table:
        return _chosen(page, section, table[AS])
    chosen: Sequence[int] = table.get("operands", range(len(page.index))) if table else ()
    return chosen


def _answer_on(page: Page, op: str, operands: Sequence[int], place: Place) -> int:
    """The answer of a page to a call, by its index: its own, or that of the page on which it rests."""
    if page.base is None:
        return _answer(page, op, place)
    lacked, *numbers = page.numbers
    if page.lacks.covers(op, operands):
        return lacked
    changed = _changed(page, op, place)
    return _answer_on(page.base, op, operands, place) if changed is None else numbers[changed]


def _answer(page: Page, op: str, place: Place) -> int:
    """The answer that stands somewhere in a whole recording, by its index."""
    section, number, column = place
    if section == "nary":
        return int(_calls(page)[number][2])
    table = _operation(page, section, op)
    if AS in table:
        cells = (_cell(text, column, page).strip() for text, numbers in table["rows"] if number in numbers)
        written = next((_number(cell) for cell in cells if cell), None)
        if written is not None:
            return written
        chosen, others = _chosen(page, section, op), _chosen(page, section, table[AS])
        there = section, others.index(chosen[number]), others.index(chosen[column])
        return _answer(page, table[AS], there)
    row = table["rows"][number] if section == "binary" else table["row"]
    text = row if isinstance(row, str) else table["rows"][row]
    return _number(_cell(text, column, page))


def _changed(page: Page, op: str, place: Place) -> int | None:
    """The answer that stands there, None if it is the base's."""
    section, number, column = place
    if section == "nary":
        return _changed_calls(page).get(number)
    rows = _operation(page, section, op).get("rows", ())
    cells = (_cell(text, column, page).strip() for text, numbers in rows if number in numbers)
    return next((_number(cell) for cell in cells if cell), None)


@lru_cache(KEPT_OPERATIONS)
def _operation(page: Page, section: str, op: str) -> dict[str, Any]:
    """What a section has of an operation: its operands if they are not all, and its rows; nothing if none."""
    start = _start(page.text, section)
    line = page.text.find(f"\n  {json.dumps(op)}: ", start, page.text.find("\n }", start))
    if line < 0:
        return {}
    value = _value(page.text, line)
    return value if isinstance(value, dict) else {"row": value}


@lru_cache(8)
def _calls(page: Page) -> Sequence[Any]:
    """The calls of three operands and more."""
    calls: list[Any] = _value(page.text, _start(page.text, "nary"))
    return calls


@lru_cache(8)
def _changed_calls(page: Page) -> Mapping[int, int]:
    """The changed answers to calls of three operands and more, by the place of the call in the base."""
    return dict(_calls(page))


@lru_cache(8)
def _several(page: Page) -> Mapping[tuple[str, tuple[int, ...]], int]:
    """Where each call of three operands and more stands."""
    return {(op, tuple(operands)): number for number, (op, operands, _) in enumerate(_calls(page))}


def _start(text: str, key: str) -> int:
    """Where the line of a key of the whole begins. Raises ValueError."""
    return text.index(f'\n "{key}": ')


def _value(text: str, line: int) -> Any:
    """The JSON value behind the key of a line. Raises ValueError."""
    return json.JSONDecoder().raw_decode(text, text.index('": ', line) + 3)[0]


def _cell(row: str, column: int, page: Page) -> str:
    """The digits in a column of a row, as wide as the page writes its answers."""
    return row[column * page.digits : (column + 1) * page.digits]


def _number(digits: str) -> int:
    """The number that digits write. Raises ValueError."""
    if not digits:
        raise ValueError("a row that is too short")
    number = 0
    for digit in digits:
        number = number * len(ALPHABET) + ALPHABET.index(digit)
    return number


def _damaged(name: str, error: Exception) -> RecordingError:
    what = f"{RECORDINGS / name}.json is damaged ({error})"
    return RecordingError(f"{what}; install typelattice again, or record {name} again")
