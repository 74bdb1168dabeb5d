"""The file of known differences: the calls of each cause, which may only become fewer.

Calls that form a product stand in one line. These are eight calls:

    {"another dtype: arithmetic: a narrower signed": {"+, add": ["int8 uint8, int16 int8"]}}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from typelattice.base.disk.read import FileError, read_bytes
from typelattice.conformance.imitations.compare_implementation import ComparisonError
from typelattice.conformance.imitations.implementation_differences import Difference, DifferenceCause
from typelattice.conformance.recording.questions import Question

MAX_FILE_BYTES = 1_000_000
LIST_SEPARATOR = ", "
"""Between the operations of a line, and between the places of its operands."""

OperandSets = tuple[frozenset[str], ...]
"""The operands that may stand at each place of a call."""

KnownDifferences = Mapping[str, Mapping[str, Sequence[OperandSets]]]
"""Cause → operation → patterns of its calls."""


def read_known_differences(path: str | Path) -> KnownDifferences:
    """Read a file of known differences. Raises ComparisonError."""
    try:
        found = json.loads(read_bytes(Path(path), MAX_FILE_BYTES))
    except (ValueError, FileError) as e:
        raise ComparisonError(f"{path} cannot be read: {e}; write it with --update") from None
    known: dict[str, dict[str, list[OperandSets]]] = {}
    try:
        for cause, lines in found.items():
            for names, patterns in lines.items():
                for op in names.split(LIST_SEPARATOR):
                    read = known.setdefault(cause, {}).setdefault(op, [])
                    read += [tuple(map(frozenset, map(str.split, p.split(LIST_SEPARATOR)))) for p in patterns]
    except (AttributeError, TypeError):
        what = "must be an object of causes and their calls"
        raise ComparisonError(f"{path} {what}; remove it, and write it with --update") from None
    return known


def select_unknown(
    causes: Sequence[DifferenceCause], known_differences: KnownDifferences
) -> list[DifferenceCause]:
    """Return the causes that have unknown calls, with only these calls."""
    left = [
        replace(
            cause,
            differences=tuple(each for each in cause.differences if not _is_known(each, known_differences)),
        )
        for cause in causes
    ]
    return [cause for cause in left if cause.differences]


def known_differences_json(
    causes: Iterable[DifferenceCause], known_differences: KnownDifferences | None = None
) -> str:
    """Write the calls of causes that are known, or all calls if no file was read."""
    calls: dict[str, set[Question]] = {}
    for cause in causes:
        for each in cause.differences:
            if known_differences is None or _is_known(each, known_differences):
                calls.setdefault(_cause_of(each), set()).add((each.found.op, each.found.operands))
    lines = {cause: _write_pattern_lines(questions) for cause, questions in calls.items()}
    return json.dumps(lines, indent=1, sort_keys=True) + "\n"


def _is_known(difference: Difference, known_differences: KnownDifferences) -> bool:
    operands = difference.found.operands
    return any(
        len(pattern) == len(operands) and all(o in at for o, at in zip(operands, pattern, strict=True))
        for pattern in known_differences.get(_cause_of(difference), {}).get(difference.found.op, ())
    )


def _cause_of(difference: Difference) -> str:
    """Name the cause of a single call. The classes that share a cause vary with the calls."""
    return f"{difference.difference_type}: {difference.cause}"


def _write_pattern_lines(questions: Iterable[Question]) -> Mapping[str, Sequence[str]]:
    """Write calls as patterns. Operations with the same patterns share a line."""
    operands: dict[str, set[OperandSets]] = {}
    for op, names in questions:
        operands.setdefault(op, set()).add(tuple(frozenset([name]) for name in names))
    shared: dict[tuple[str, ...], list[str]] = {}
    for op, calls in operands.items():
        shared.setdefault(tuple(sorted(map(_pattern_text, _join_patterns(calls)))), []).append(op)
    return {LIST_SEPARATOR.join(sorted(ops)): patterns for patterns, ops in shared.items()}


def _join_patterns(patterns: set[OperandSets]) -> set[OperandSets]:
    """Join patterns that differ at one place, place by place from the last."""
    for at in reversed(range(max(map(len, patterns)))):
        joined: dict[tuple[OperandSets, OperandSets], frozenset[str]] = {}
        shorter = {pattern for pattern in patterns if len(pattern) <= at}
        for pattern in patterns - shorter:
            rest = pattern[:at], pattern[at + 1 :]
            joined[rest] = joined.get(rest, frozenset()) | pattern[at]
        patterns = shorter | {(*before, names, *after) for (before, after), names in joined.items()}
    return patterns


def _pattern_text(pattern: OperandSets) -> str:
    return LIST_SEPARATOR.join(" ".join(sorted(names)) for names in pattern)
