"""The files of recordings, read within bounds and checked line by line (docs/recordings.md)."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from typelattice.disk.read import FileError, read_bytes
from typelattice.facts.releases import VERSION_SIGN
from typelattice.facts.suggestions import quote_short, spelling_hint
from typelattice.recorded.answers import SEPARATOR
from typelattice.recorded.recording import (
    Recording,
    RecordingError,
    decode_section,
    parse_line,
    refuse_line,
    short_text,
)
from typelattice.recorded.sections import Operands, Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# By os.path: importing pathlib costs as much as all else here.
RECORDINGS = os.path.join(os.path.dirname(__file__), "recordings")
FOREIGN = "foreign"  # the folder for recordings of foreign arrays among a library's own
ENDING = ".jsonl"
FORMAT = 3
LIMIT_BYTES = 20_000_000  # ten times the largest so far
LIMIT_CALLS = 5_000_000
LIMIT_CHAIN = 4  # operations that answer like one another, as `+=` like `+`
KEPT = 64  # recordings kept in memory
HEAD: Mapping[str, type] = {
    "library": str, "versions": dict, "python": str, "date": str, "how": str, "operands": list, "seed": int,
}  # fmt: skip
HEAD_ON_BASE: Mapping[str, type] = {
    "library": str, "versions": dict, "python": str, "date": str, "how": str,
    "base": str, "digest": str, "lacks": dict, "reworded": dict,
}  # fmt: skip
WORDS = {str: "a string", int: "an integer", dict: "an object", list: "a list"}


def recording_names() -> tuple[str, ...]:
    """List the names of the recordings that come along."""
    files = os.listdir(RECORDINGS)
    return tuple(sorted(file.removesuffix(ENDING) for file in files if file.endswith(ENDING)))


@lru_cache(KEPT)
def open_recording(name: str) -> Recording | None:
    """Open a recording that comes along; None if there is none of that name. Raises RecordingError."""
    path = os.path.join(RECORDINGS, f"{name}{ENDING}")
    advice = f"install typelattice again, or record {name} again"
    return _read_head(path, advice) if os.path.isfile(path) else None


def load_recording(name: str | os.PathLike[str]) -> Recording:
    """Read the recording of a name, or a file whose path ends in .jsonl. Raise RecordingError."""
    path = str(name)
    if not path.endswith(ENDING):
        known = recording_names()
        if path not in known:
            there = spelling_hint(path, known) or f"; there are {', '.join(known) or 'none'}"
            what = f"there is no recording {quote_short(path)}{there}"
            raise RecordingError(f"{what}; a path ends in {ENDING}")
        path = os.path.join(RECORDINGS, f"{name}{ENDING}")
    found = _read_head(path, "record it again")
    _check_lines(found)
    return found


def json_line(value: object) -> str:
    return json.dumps(value) + "\n"


def _read_head(path: str, advice: str) -> Recording:
    """Read the head and the messages of a file; the rows stay text. Raises RecordingError."""
    try:
        data = read_bytes(path, LIMIT_BYTES + 1)
        text = data.decode("utf-8")
    except FileError as error:
        raise RecordingError(str(error)) from error
    except UnicodeDecodeError as error:
        raise RecordingError(f"{path} is not UTF-8 at byte {error.start}") from error
    if len(data) > LIMIT_BYTES:
        raise RecordingError(f"{path} is larger than {LIMIT_BYTES:,} bytes")
    source = f"{path}\0{advice}"
    begin = text.find("\n[") + 1 or len(text)
    above = text[:begin].rstrip("\n").split("\n")
    draft = Recording({}, {}, "\n", source)
    head = parse_line(above[0], draft, 1)
    if not isinstance(head, dict) or "format" not in head:
        refuse_line(draft, 1, "is no head of a recording, an object with a `format`")
    if head["format"] != FORMAT:
        refuse_line(draft, 1, f"format is {short_text(head['format'])}, this version reads {FORMAT}")
    _check_head(head, draft)
    try:
        told = json.loads(f"[{','.join(above[1:])}]")
        errors = {each["error"]: each["message"] for each in told}
    except (ValueError, TypeError, LookupError, RecursionError):
        for number, line in enumerate(above[1:], 2):
            _check_message(parse_line(line, draft, number), draft, number)
        refuse_line(draft, 2, "and those below are no messages")
    base = None
    if "base" in head:
        base = None if VERSION_SIGN in head["base"] else open_recording(head["base"])
        if base is None:
            refuse_line(draft, 1, f"base: {short_text(head['base'])} is no recording that comes along")
    del head["format"]
    if not text.endswith("\n"):
        refuse_line(draft, text.count("\n") + 1, "does not end: the file was cut")
    return Recording(head, errors, "\n" + text[begin:], source, base, len(above) + 1)


def _check_head(head: Mapping[str, Any], of: Recording) -> None:
    """Refuse a head whose keys are missing or of other types."""
    for key, sort in (HEAD_ON_BASE if "base" in head else HEAD).items():
        if type(head.get(key)) is not sort:
            what = f"{short_text(head[key])} is not {WORDS[sort]}" if key in head else "is missing"
            refuse_line(of, 1, f"{key}: {what}")
    for key in ("versions", "reworded"):
        for name, value in head.get(key, {}).items():
            if not isinstance(value, str):
                refuse_line(of, 1, f"{key}.{quote_short(name)[1:-1]}: {short_text(value)} is not a string")
    for key in ("operands", "lacks.operations", "lacks.operands"):
        _check_names(head, key, of)


def _check_names(head: Mapping[str, Any], key: str, of: Recording) -> None:
    """Refuse a list that holds anything but strings, or one twice."""
    value: Any = head
    for part in key.split("."):
        if part not in value:
            if value is head:
                return
            refuse_line(of, 1, f"{key}: is missing")
        value = value[part]
    if not isinstance(value, list):
        refuse_line(of, 1, f"{key}: is not a list")
    seen: set[str] = set()
    for number, name in enumerate(value, 1):
        if not isinstance(name, str) or name in seen:
            what = "occurs twice" if isinstance(name, str) else "is not a string"
            refuse_line(of, 1, f"{key}, entry {number}: {short_text(name)} {what}")
        seen.add(name)


def _check_message(message: object, of: Recording, number: int) -> None:
    """Refuse a line above the rows that is not the message of an exception."""
    words = message.values() if isinstance(message, dict) and message.keys() == {"error", "message"} else ()
    if not words or not all(isinstance(word, str) for word in words):
        refuse_line(of, number, 'is neither {"error": …, "message": …} nor a row')


def _check_lines(of: Recording) -> None:
    """Check every line. Raises RecordingError for the first that is wrong."""
    if of.base:
        _check_head_on_base(of, of.base)
    for number, (name, message) in enumerate(of.own_errors.items(), 2):
        _check_message({"error": name, "message": message}, of, number)
    calls, chain = 0, Counter[str]()
    for op, number in of.sections_own().items():
        section = decode_section(of, op)
        if section.like and not chain[section.like]:
            refuse_line(of, number, f"{short_text(section.like)} is no operation above it")
        if of.base and op not in of.base.operations:
            refuse_line(of, number, f"{short_text(op)} is no operation of the recording that it rests on")
        chain[op] = chain[section.like] + 1
        calls += sum(map(section.count, section.rows)) + (len(of.operands) ** 2 if section.like else 0)
        if calls > LIMIT_CALLS or chain[op] > LIMIT_CHAIN:
            too_many = f"{LIMIT_CALLS:,} calls"
            limit = too_many if calls > LIMIT_CALLS else f"{LIMIT_CHAIN} operations in a chain"
            refuse_line(of, number, f"is beyond {limit}")
        _check_rows(of, op, section, number + bool(section.like))


def _check_rows(of: Recording, op: str, section: Section, first: int) -> None:
    """Check the operands and answers of an operation, whose rows begin at the file's line `first`."""
    place = {id(row): number for number, row in enumerate(section.rows, first)}
    for name in section.among:
        if name not in of.known:
            refuse_line(of, first - 1, f"there is no operand {short_text(name)}")
    theirs = of.base.answers(op) if of.base else {}
    seen: set[Operands] = set()
    for row, operands, kept in section.calls():
        question = f"{op}({', '.join(operands)})"
        if not of.known.issuperset(operands):
            name = next(o for o in operands if o not in of.known)
            refuse_line(of, place[id(row)], f"there is no operand {short_text(name)}")
        if operands in seen:
            refuse_line(of, place[id(row)], f"{question} occurs twice")
        if of.base and operands not in theirs:
            refuse_line(of, place[id(row)], f"the base was not asked {question}")
        if SEPARATOR in kept and kept not in of.errors:
            refuse_line(of, place[id(row)], f"there is no message {short_text(kept)}")
        seen.add(operands)


def _check_head_on_base(of: Recording, base: Recording) -> None:
    if of.head["digest"] != base.digest:
        refuse_line(of, 1, f"digest: the recording {of.head['base']} that it rests on is another by now")
    for key, asked in (("operations", base.operations), ("operands", base.operands)):
        for number, name in enumerate(of.head["lacks"][key], 1):
            if name not in asked:
                refuse_line(
                    of, 1, f"lacks.{key}, entry {number}: the base was not asked of {short_text(name)}"
                )
    for kept in of.head["reworded"].keys() - base.errors.keys():
        refuse_line(
            of, 1, f"reworded.{quote_short(kept)[1:-1]}: is no exception of the recording that it rests on"
        )
