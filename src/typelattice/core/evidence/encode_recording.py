"""Recordings made from answers.

Calls with equal answers share a row. An older release extends a newer one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from typelattice.base.disk.write import write_text
from typelattice.core.evidence.answer_notation import (
    MESSAGE_NUMBER_SEPARATOR,
    MISSING_IN_RELEASE,
    outline_message,
    split_message,
)
from typelattice.core.evidence.recorded_calls import REST_OF_OPERANDS, AnswerByOperands, OperandTexts
from typelattice.core.evidence.recording import Recording
from typelattice.core.evidence.recording_files import (
    MAX_REFERENCE_CHAIN,
    RECORDING_FORMAT_VERSION,
    TYPE_BY_HEADER_KEY,
    TYPE_BY_HEADER_KEY_ON_BASE,
    json_line,
    load_recording,
)
from typelattice.core.operations.operations import OPERATION_BY_NAME

MAX_NEAREST_OPERATIONS = 3  # most operations that are tried as the base of another one's rows


def encode_recording(
    head: Mapping[str, Any], messages: Mapping[str, str], answers: Mapping[str, Mapping[OperandTexts, str]]
) -> Recording:
    """Make a recording of answers by their operations and operands."""
    lines: list[str] = []
    pairs: dict[str, Mapping[OperandTexts, str]] = {}  # calls of two operands, by operation
    chain = Counter[str]()
    for op in sorted(answers, key=_is_operator):  # encode a function before its operators, which refer to it
        best, reference = _write_rows(op, answers[op], stars_rest=True), ""
        pairs[op] = {o: kept for o, kept in answers[op].items() if len(o) == 2}
        among = [o for o in head["operands"] if (o, o) in pairs[op]]
        if among and pairs[op].keys() == {*product(among, among)}:
            for like in _find_nearest(op, pairs, chain):
                changed = {o: k for o, k in answers[op].items() if len(o) != 2 or pairs[like][o] != k}
                covers_all_pairs = len(pairs[op]) == len(pairs[like])
                referring_rows = [
                    json_line([op, like, REST_OF_OPERANDS if covers_all_pairs else " ".join(among)]),
                    *_write_rows(op, changed),
                ]
                if sum(map(len, referring_rows)) < sum(map(len, best)):
                    best, reference = referring_rows, like
        chain[op] = chain[reference] + 1
        lines += best
    return _make_recording(head, messages, lines, str(head["library"]))


def save_recording(recording: Recording, path: str | os.PathLike[str]) -> None:
    """Write the file. A changed answer changes only its line. Raises FileError."""
    write_text(path, recording.text)


def encode_as_differences(recording: Recording, name: str) -> Recording:
    """Return a recording as its differences from a built-in one. Raises RecordingError."""
    base = load_recording(name)
    operations, operands = _collect_absent(recording)
    reworded = _find_reworded(recording, base)
    messages = {**base.messages, **reworded}
    known = {split_message(kept, messages): kept for kept in reversed(messages)}
    errors: dict[str, str] = {}
    lines: list[str] = []
    for op in base.operations:
        base_answers, own_answers = base.answers_of(op), recording.answers_of(op)
        changed = AnswerByOperands()
        for o, before in base_answers.items():
            is_missing = op in operations or not operands.isdisjoint(o)
            now = split_message(own_answers[o], recording.messages)
            if not _differs_from_base(
                now, MISSING_IN_RELEASE if is_missing else split_message(before, messages)
            ):
                continue
            if now not in known:
                number = len(base.messages) + len(errors) + 1
                known[now] = f"{now[0]}{MESSAGE_NUMBER_SEPARATOR}{number}" if now[1] else now[0]
                errors |= {known[now]: now[1]} if now[1] else {}
            changed[o] = known[now]
        lines += _write_rows(op, changed)
    head = {key: recording.header[key] for key in TYPE_BY_HEADER_KEY if key in TYPE_BY_HEADER_KEY_ON_BASE}
    head |= {"base": name, "digest": base.digest, "reworded": reworded}
    head["lacks"] = {
        "operations": sorted(operations), "operands": [o for o in base.operands if o in operands],
    }  # fmt: skip
    return _make_recording(head, errors, lines, name, base)


def _make_recording(
    head: Mapping[str, Any],
    messages: Mapping[str, str],
    rows: Sequence[str],
    source: str,
    base: Recording | None = None,
) -> Recording:
    """Make a recording of its head, its messages and its rows."""
    above = [{"format": RECORDING_FORMAT_VERSION, **head}]
    above += ({"error": name, "message": message} for name, message in messages.items())
    return Recording(head, "".join((*map(json_line, above), *rows)), source, base)


def _find_nearest(
    op_name: str, pairs: Mapping[str, Mapping[OperandTexts, str]], chain: Mapping[str, int]
) -> list[str]:
    """List the earlier operations with answers for two operands that are most like those of an operation."""
    ours = pairs[op_name]
    differing = {
        other: sum(theirs[o] != kept for o, kept in ours.items())
        for other, theirs in pairs.items()
        if other != op_name and chain[other] < MAX_REFERENCE_CHAIN and ours.keys() <= theirs.keys()
    }
    return sorted(differing, key=differing.__getitem__)[:MAX_NEAREST_OPERATIONS]


def _is_operator(op_name: str) -> bool:
    return op_name in OPERATION_BY_NAME and OPERATION_BY_NAME[op_name].is_operator


def _write_rows(op_name: str, all_answers: Mapping[OperandTexts, str], stars_rest: bool = False) -> list[str]:
    """Write answers as JSON lines. Operands with equal answers share a line.

    With `stars_rest`, `*` replaces the longest list of operands in each line with all operands.
    """
    rows: dict[OperandTexts, dict[str, str]] = {}
    for operands in sorted(all_answers, key=len):
        rows.setdefault(operands[:-1], {})[operands[-1]] = all_answers[operands]
    firsts = {before[0] for before in rows if len(before) == 1}
    alike: dict[tuple[object, ...], list[OperandTexts]] = {}
    for before, answers in rows.items():
        # Calls of three operands and more were drawn at random: they hardly ever share a row.
        alike.setdefault((before if len(before) > 1 else len(before), *answers.items()), []).append(before)
    lines = []
    for members in alike.values():
        answers = rows[members[0]]
        last: dict[str, list[str]] = {}
        for operand, answer in answers.items():
            last.setdefault(answer, []).append(operand)
        texts = {answer: " ".join(operands) for answer, operands in last.items()}
        if stars_rest and len(members[0]) == 1 and answers.keys() == firsts:
            most = max(texts, key=lambda answer: len(texts[answer]))
            texts = {answer: text for answer, text in texts.items() if answer != most} | {
                most: REST_OF_OPERANDS
            }
        before = members[0] if len(members) == 1 else (" ".join(m[0] for m in members),)
        lines.append(json_line([op_name, *before, texts]))
    return lines


def _collect_absent(recording: Recording) -> tuple[set[str], set[str]]:
    """Collect the operations and operands that a release lacks, so it has no recording of them."""
    planned: tuple[set[str], set[str]] = set(), set()
    asked: tuple[set[str], set[str]] = set(), set()
    lacked = {
        kept for kept in recording.messages if split_message(kept, recording.messages) == MISSING_IN_RELEASE
    }
    for op in recording.operations:
        for operands, kept in recording.answers_of(op).items():
            for operations, of_operands in (planned,) if kept in lacked else (planned, asked):
                operations.add(op)
                of_operands.update(operands)
    return planned[0] - asked[0], planned[1] - asked[1]


def _differs_from_base(new_answer: tuple[str, str], old_answer: tuple[str, str]) -> bool:
    """Return True if an answer or its message differs from the base.

    A message that only one of them kept does not count. Neither does a message that leaves out more of the
    varying parts.
    """
    (answer, message), (other, earlier) = new_answer, old_answer
    if answer != other:
        return True
    return bool(message and earlier) and message not in (earlier, outline_message(earlier))


def _find_reworded(recording: Recording, base: Recording) -> dict[str, str]:
    """Map the exceptions of a base to their commonest message in a release that words them otherwise."""
    message_counts: dict[str, Counter[str]] = {}
    for op in base.operations:
        ours = recording.answers_of(op)
        for operands, before in base.answers_of(op).items():
            now = split_message(ours[operands], recording.messages)
            other, earlier = split_message(before, base.messages)
            if now[1] and earlier and now[0] == other and now != MISSING_IN_RELEASE:
                message_counts.setdefault(before, Counter())[now[1]] += 1
    found = {kept: words.most_common(1)[0][0] for kept, words in message_counts.items()}
    return {
        kept: words
        for kept, words in found.items()
        if _differs_from_base((kept, words), (kept, base.messages[kept]))
    }
