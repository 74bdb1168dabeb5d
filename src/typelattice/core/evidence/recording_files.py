"""The files of recordings, read within bounds and checked line by line (docs/recordings.md)."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache

from typelattice.base.disk.read import FileError, read_bytes
from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.core.evidence.answer_notation import MESSAGE_NUMBER_SEPARATOR
from typelattice.core.evidence.recorded_calls import OperandTexts, RecordedCall, Section
from typelattice.core.evidence.recording import (
    Recording,
    RecordingError,
    check_message,
    decode_section,
    parse_line,
    refuse_line,
    short_text,
)
from typelattice.core.registry.releases import VERSION_SIGN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Uses os.path, since importing pathlib takes as long as everything else here.
RECORDINGS_FOLDER = os.path.join(os.path.dirname(__file__), "recordings")
FUNCTIONS_FOLDER = "functions"  # the folder for recordings of the functions of books
FOREIGN_FOLDER = "foreign"  # the folder for recordings of foreign arrays among a library's own
RECORDING_SUFFIX = ".jsonl"
RECORDING_FORMAT_VERSION = 3
MAX_RECORDING_BYTES = 20_000_000  # ten times the largest so far
MAX_CALLS = 5_000_000
MAX_REFERENCE_CHAIN = 4  # how many operations refer to one another: `+=` to `+`, and so on
MAX_OPEN_RECORDINGS = 256  # recordings kept in memory: one question may be asked of all systems
TYPE_BY_HEADER_KEY: Mapping[str, type] = {
    "library": str, "versions": dict, "python": str, "date": str, "how": str, "operands": list, "seed": int,
}  # fmt: skip
TYPE_BY_HEADER_KEY_ON_BASE: Mapping[str, type] = {
    "library": str, "versions": dict, "python": str, "date": str, "how": str,
    "base": str, "digest": str, "lacks": dict, "reworded": dict,
}  # fmt: skip
NAME_BY_TYPE = {str: "a string", int: "an integer", dict: "an object", list: "a list"}


def recording_names() -> tuple[str, ...]:
    """List the names of the built-in recordings."""
    files = os.listdir(RECORDINGS_FOLDER)
    return tuple(
        sorted(file.removesuffix(RECORDING_SUFFIX) for file in files if file.endswith(RECORDING_SUFFIX))
    )


@lru_cache(MAX_OPEN_RECORDINGS)
def open_recording(name: str) -> Recording | None:
    """Open a built-in recording, or return None if the name is unknown. Raises RecordingError."""
    path = os.path.join(RECORDINGS_FOLDER, f"{name}{RECORDING_SUFFIX}")
    advice = f"install typelattice again, or record {name} again"
    return _read_head(path, advice) if os.path.isfile(path) else None


def calls_of_functions(name: str) -> Iterator[RecordedCall]:
    """Yield the recorded calls of the functions of a library's book, or none. Raises RecordingError."""
    recording = open_recording(f"{FUNCTIONS_FOLDER}/{name}")
    yield from recording.calls() if recording else ()


def load_recording(name: str | os.PathLike[str]) -> Recording:
    """Read the recording with a name, or a file with a path that ends in .jsonl. Raises RecordingError."""
    path = str(name)
    if not path.endswith(RECORDING_SUFFIX):
        known = recording_names()
        if path not in known:
            there = spelling_hint(path, known) or f"; there are {', '.join(known) or 'none'}"
            what = f"there is no recording {quote_short(path)}{there}"
            raise RecordingError(f"{what}; a path ends in {RECORDING_SUFFIX}")
        path = os.path.join(RECORDINGS_FOLDER, f"{name}{RECORDING_SUFFIX}")
    found = _read_head(path, "record it again")
    _check_lines(found)
    return found


def json_line(value: object) -> str:
    return json.dumps(value) + "\n"


def _read_head(path: str, advice: str) -> Recording:
    """Read the head of a file. The messages and the rows stay text. Raises RecordingError."""
    try:
        data = read_bytes(path, MAX_RECORDING_BYTES + 1)
        text = data.decode("utf-8")
    except FileError as error:
        raise RecordingError(str(error)) from error
    except UnicodeDecodeError as error:
        raise RecordingError(f"{path} is not UTF-8 at byte {error.start}") from error
    if len(data) > MAX_RECORDING_BYTES:
        raise RecordingError(f"{path} is larger than {MAX_RECORDING_BYTES:,} bytes")
    source = f"{path}\0{advice}"
    draft = Recording({}, "\n", source)
    head = parse_line(text[: text.find("\n") if "\n" in text else None], draft, 1)
    if not isinstance(head, dict) or "format" not in head:
        refuse_line(draft, 1, "is no head of a recording, an object with a `format`")
    if head["format"] != RECORDING_FORMAT_VERSION:
        refuse_line(
            draft, 1, f"format is {short_text(head['format'])}, this version reads {RECORDING_FORMAT_VERSION}"
        )
    _check_head(head, draft)
    base = None
    if "base" in head:
        base = None if VERSION_SIGN in head["base"] else open_recording(head["base"])
        if base is None:
            refuse_line(draft, 1, f"base: {short_text(head['base'])} is no recording that comes along")
    del head["format"]
    if not text.endswith("\n"):
        refuse_line(draft, text.count("\n") + 1, "does not end: the file was cut")
    return Recording(head, text, source, base)


def _check_head(head: Mapping[str, Any], recording: Recording) -> None:
    """Refuse a head that lacks keys, or has keys of other types."""
    for key, sort in (TYPE_BY_HEADER_KEY_ON_BASE if "base" in head else TYPE_BY_HEADER_KEY).items():
        if type(head.get(key)) is not sort:
            what = f"{short_text(head[key])} is not {NAME_BY_TYPE[sort]}" if key in head else "is missing"
            refuse_line(recording, 1, f"{key}: {what}")
    for key in ("versions", "reworded"):
        for name, value in head.get(key, {}).items():
            if not isinstance(value, str):
                refuse_line(
                    recording, 1, f"{key}.{quote_short(name)[1:-1]}: {short_text(value)} is not a string"
                )
    for key in ("operands", "lacks.operations", "lacks.operands"):
        _check_names(head, key, recording)


def _check_names(head: Mapping[str, Any], key: str, recording: Recording) -> None:
    """Refuse a list that holds anything but strings, or one twice."""
    value: Any = head
    for part in key.split("."):
        if part not in value:
            if value is head:
                return
            refuse_line(recording, 1, f"{key}: is missing")
        value = value[part]
    if not isinstance(value, list):
        refuse_line(recording, 1, f"{key}: is not a list")
    seen: set[str] = set()
    for number, name in enumerate(value, 1):
        if not isinstance(name, str) or name in seen:
            what = "occurs twice" if isinstance(name, str) else "is not a string"
            refuse_line(recording, 1, f"{key}, entry {number}: {short_text(name)} {what}")
        seen.add(name)


def _check_lines(recording: Recording) -> None:
    """Check every line. Raises RecordingError for the first that is wrong."""
    for number, (name, message) in enumerate(recording.main_messages.items(), 2):
        check_message({"error": name, "message": message}, recording, number)
    if recording.base:
        _check_head_on_base(recording, recording.base)
    calls, chain = 0, Counter[str]()
    for op, number in recording.first_lines().items():
        section = decode_section(recording, op)
        if section.same_as_operation and not chain[section.same_as_operation]:
            refuse_line(
                recording, number, f"{short_text(section.same_as_operation)} is no operation above it"
            )
        if recording.base and op not in recording.base.operations:
            refuse_line(
                recording, number, f"{short_text(op)} is no operation of the recording that it rests on"
            )
        chain[op] = chain[section.same_as_operation] + 1
        calls += sum(map(section.count_calls_of_row, section.rows)) + (
            len(recording.operands) ** 2 if section.same_as_operation else 0
        )
        if calls > MAX_CALLS or chain[op] > MAX_REFERENCE_CHAIN:
            too_many = f"{MAX_CALLS:,} calls"
            limit = too_many if calls > MAX_CALLS else f"{MAX_REFERENCE_CHAIN} operations in a chain"
            refuse_line(recording, number, f"is beyond {limit}")
        _check_rows(recording, op, section, number + bool(section.same_as_operation))


def _check_rows(recording: Recording, op_name: str, section: Section, first: int) -> None:
    """Check the operands and answers of an operation. Its rows begin at the file's line `first`."""
    place = {id(row): number for number, row in enumerate(section.rows, first)}
    for name in section.same_for_operands:
        if name not in recording.operand_set:
            refuse_line(recording, first - 1, f"there is no operand {short_text(name)}")
    base_answers = recording.base.answers_of(op_name) if recording.base else {}
    seen: set[OperandTexts] = set()
    for row, operands, named_answer in section.calls():
        question = f"{op_name}({', '.join(operands)})"
        if not recording.operand_set.issuperset(operands):
            name = next(o for o in operands if o not in recording.operand_set)
            refuse_line(recording, place[id(row)], f"there is no operand {short_text(name)}")
        if operands in seen:
            refuse_line(recording, place[id(row)], f"{question} occurs twice")
        if recording.base and operands not in base_answers:
            refuse_line(recording, place[id(row)], f"the base was not asked {question}")
        if MESSAGE_NUMBER_SEPARATOR in named_answer and named_answer not in recording.messages:
            refuse_line(recording, place[id(row)], f"there is no message {short_text(named_answer)}")
        seen.add(operands)


def _check_head_on_base(recording: Recording, base: Recording) -> None:
    if recording.header["digest"] != base.digest:
        refuse_line(
            recording,
            1,
            f"digest: the recording {recording.header['base']} that it rests on is another by now",
        )
    for key, asked in (("operations", base.operations), ("operands", base.operands)):
        for number, name in enumerate(recording.header["lacks"][key], 1):
            if name not in asked:
                refuse_line(
                    recording, 1, f"lacks.{key}, entry {number}: the base was not asked of {short_text(name)}"
                )
    for kept in recording.header["reworded"].keys() - base.messages.keys():
        refuse_line(
            recording,
            1,
            f"reworded.{quote_short(kept)[1:-1]}: is no exception of the recording that it rests on",
        )
