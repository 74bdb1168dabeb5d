"""Steps of a file with known dtypes, and the findings: from a traced run, or from annotations."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.explanations.explanation_text import write_explanation
from typelattice.core.operands.notation import parse_operand
from typelattice.core.system_files.reader import system


@dataclass(frozen=True, slots=True)
class ExpressionDType:
    """An expression of a line, counted from 0, with its dtype and an explanation to show on request.

    `start` and `end` are its columns in the line.
    """

    line: int
    start: int
    end: int
    dtype: str
    hover_text: str


@dataclass(frozen=True, slots=True)
class KnownFinding:
    """A finding in the report of a run: its rule, its location, and its message."""

    line: int
    start: int
    end: int
    rule: str
    message: str


def location_range(text: str, lines: Sequence[str], line: int | None) -> tuple[int, int] | None:
    """Find the columns of a text in a line, counted from 1, or return None if the line has changed since.

    >>> location_range("x + y", ["z = x + y"], 1), location_range("x * y", ["z = x + y"], 1)
    ((4, 9), None)
    """
    first = text.partition("\n")[0].strip()
    if line is None or not first or not 0 < line <= len(lines):
        return None
    start = lines[line - 1].find(first)
    return None if start < 0 else (start, start + len(first))


def list_steps_of_run(run: Mapping[str, Any], path: str, lines: Sequence[str]) -> Iterator[ExpressionDType]:
    """Yield the steps of a run in a file, for the lines that have not changed since."""
    every = run["steps"]
    rules = [*run["libraries"].values()]
    for step in every:
        if step.get("op") is None or step["observed"] is None or not _is_file(step["file"], path):
            continue
        columns = location_range(step["code"], lines, step["line"])
        if columns is None:
            continue
        operands = [every[i]["observed"] for i in step["operands"]]
        taken = ", ".join(str(o) for o in operands)
        about = f"{step['op']}({taken}) gave {step['observed']} in the last traced run"
        rule = _explain_by_rule(step, operands, rules) if all(operands) else ""
        yield ExpressionDType(step["line"] - 1, *columns, step["observed"], f"{about}\n\n{rule}".rstrip())


def list_findings_of_run(run: Mapping[str, Any], path: str, lines: Sequence[str]) -> Iterator[KnownFinding]:
    """Yield the findings of a run in a file, for the lines that have not changed since."""
    for found in run.get("findings", ()):
        columns = (
            location_range(found["code"], lines, found["line"]) if _is_file(found["file"], path) else None
        )
        if columns:
            remedy = " ".join(found["sections"].get("remedy", ()))
            message = f"{found['code']}: {found['message']}{f'; remedy: {remedy}' if remedy else ''}"
            yield KnownFinding(found["line"] - 1, *columns, found["rule"], message)


def _is_file(file: str | None, path: str) -> bool:
    return file is not None and os.path.realpath(file) == os.path.realpath(path)


def _explain_by_rule(step: Mapping[str, Any], operands: Sequence[str], rules: Sequence[str]) -> str:
    """Explain a step by the first of the run's systems that predicts the observed dtype, or return nothing.

    A run does not distinguish 0-d arrays from others, so the rule for arrays may give another dtype.
    """
    written = [o.replace("*", ":weak") for o in operands]
    for name in rules:
        try:
            p = system(name).explain(*map(parse_operand, written), op=step["op"])
        except TypelatticeError:
            continue
        if p.dtype is not None and str(p.dtype) == step["observed"].removesuffix("*"):
            return write_explanation(p)
    return ""


def list_hints(steps: Iterable[ExpressionDType]) -> dict[int, str]:
    """Return the hint of each line: the dtypes of its last expression, each once.

    >>> list_hints([ExpressionDType(0, 4, 9, "float64", ""), ExpressionDType(0, 4, 13, "float32", "")])
    {0: 'float32'}
    """
    found: dict[int, tuple[int, list[str]]] = {}
    for step in steps:
        width, dtypes = found.get(step.line, (-1, []))
        if step.end - step.start > width:
            found[step.line] = step.end - step.start, [step.dtype]
        elif step.end - step.start == width and step.dtype not in dtypes:
            dtypes.append(step.dtype)
    return {line: " or ".join(dtypes) for line, (_, dtypes) in found.items()}


def find_step(steps: Iterable[ExpressionDType], line: int, column: int) -> ExpressionDType | None:
    """Return the smallest known expression around a place."""
    around = [s for s in steps if s.line == line and s.start <= column <= s.end]
    return min(around, key=lambda s: s.end - s.start, default=None)
