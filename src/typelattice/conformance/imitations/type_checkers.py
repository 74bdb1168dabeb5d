"""mypy and basedpyright: the types that they infer, for thousands of expressions in one run."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from typelattice.conformance.recording.library import CannotAskError, MissingLibraryError

NO_EXTRA_FILES: Mapping[str, str] = {}
OPERANDS_FILE, EXPRESSIONS_FILE = "operands.pyi", "expressions.py"
REVEALED_TYPE_PATTERN = re.compile(r'[Rr]evealed type is "(.*)"|Type of ".*" is "(.*)"', re.DOTALL)
MYPY_LINE_PATTERN = re.compile(rf"{re.escape(EXPRESSIONS_FILE)}:(\d+): (error|note): (.*)")


EXPRESSIONS_PER_RUN = 5_000
"""Expressions of one run of a checker."""

MODULE_PREFIX_PATTERN = re.compile(r"\b(?:builtins|stubs)\.")


class InferredType(NamedTuple):
    """The type of an expression, or the error that refuses it; the other field is ""."""

    type: str
    error: str


class _CheckerMessage(NamedTuple):
    line: int
    is_error: bool
    message: str


def check_stubs(
    checker: str, text: str, names: Sequence[str], expected: Mapping[str, str], limit: float
) -> list[str]:
    """Check each expression with a stub file; return those without the expected type.

    An expression is expected to be refused if its type is "". Raises what `infer` raises.
    """
    setup = "from stubs import *"
    found = infer_types(checker, setup, names, [*expected], limit, {"stubs.pyi": text})
    return [
        f"{expression}: {one.error or shown or 'nothing'}, expected {type_ or 'an error'}"
        for (expression, type_), one in zip(expected.items(), found, strict=True)
        for shown in [MODULE_PREFIX_PATTERN.sub("", one.type)]
        if shown != MODULE_PREFIX_PATTERN.sub("", type_) or bool(one.error) == bool(type_)
    ]


def require_checker(checker: str) -> None:
    """Raise MissingLibraryError if a type checker is not installed."""
    if find_spec(checker) is None:
        raise MissingLibraryError(f"{checker} cannot be asked: it is not installed; pip install {checker}")


def infer_types(
    checker: str,
    setup: str,
    declarations: Sequence[str],
    expressions: Sequence[str],
    limit: float,
    files: Mapping[str, str] = NO_EXTRA_FILES,
    on_start: Callable[[subprocess.Popen[str]], object] = lambda process: None,
    folder: str | None = None,
) -> Iterator[InferredType]:
    """Yield the types that a type checker infers for expressions, in batches.

    `setup` is a line of imports, `declarations` the lines of a stub file that declares what the expressions
    name. `files` are further files beside these. `limit` is the number of seconds for a batch. `on_start`
    gets each process, which another thread may end with `end_checker`. The checker runs in `folder`, where it
    keeps what it has read for the next run, or in a temporary folder. Raises MissingLibraryError,
    CannotAskError.
    """
    require_checker(checker)
    with nullcontext(folder) if folder else TemporaryDirectory() as folder:
        for name, text in files.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        Path(folder, OPERANDS_FILE).write_text("\n".join([setup, *declarations]) + "\n", encoding="utf-8")
        for start in range(0, len(expressions), EXPRESSIONS_PER_RUN):
            yield from _infer_batch(
                checker, setup, expressions[start : start + EXPRESSIONS_PER_RUN], limit, folder, on_start
            )


def _infer_batch(
    checker: str,
    setup: str,
    expressions: Sequence[str],
    limit: float,
    folder: str,
    started: Callable[[subprocess.Popen[str]], object],
) -> list[InferredType]:
    """Run a type checker once in a folder, where it may keep what it has read for the next run."""
    lines = [f"{setup}; from operands import *"]
    lines += [f"def f{i}() -> None: reveal_type({each})" for i, each in enumerate(expressions)]
    Path(folder, EXPRESSIONS_FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", checker, *ARGUMENTS_BY_CHECKER[checker], EXPRESSIONS_FILE]
    try:
        printed, complaint = _run_checker(command, folder, limit, started)
    except subprocess.TimeoutExpired:
        raise CannotAskError(f"{checker} gave no answer within {limit:g} seconds") from None
    messages = _OUTPUT_READER_BY_CHECKER[checker](printed)
    types = dict[int, str]()
    errors = dict[int, str]()
    for line, is_error, message in messages:
        if found := REVEALED_TYPE_PATTERN.match(message):
            types.setdefault(line, found[1] or found[2])
        elif is_error:
            errors.setdefault(line, message.split("\n")[0])
    if not types and not errors:
        words = " ".join((complaint or printed).split())
        raise CannotAskError(f"{checker} cannot be asked: it says {words[:200] or 'nothing'}")
    lines_of = range(2, len(expressions) + 2)
    return [
        InferredType("", errors[n]) if n in errors else InferredType(types.get(n, ""), "") for n in lines_of
    ]


def end_checker(process: subprocess.Popen[str]) -> None:
    """End a checker with the processes that it has started."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _run_checker(
    command: Sequence[str], folder: str, limit: float, started: Callable[[subprocess.Popen[str]], object]
) -> tuple[str, str]:
    """Run a checker; return what it prints on its two streams. Raises TimeoutExpired."""
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        started(process)
        try:
            return process.communicate(timeout=limit)
        finally:
            end_checker(process)


def _read_mypy(printed: str) -> list[_CheckerMessage]:
    found = map(MYPY_LINE_PATTERN.match, printed.splitlines())
    return [_CheckerMessage(int(each[1]), each[2] == "error", each[3]) for each in found if each]


def _read_pyright(printed: str) -> list[_CheckerMessage]:
    try:
        diagnostics = json.loads(printed)["generalDiagnostics"]
    except (ValueError, KeyError):
        return []
    return [
        _CheckerMessage(each["range"]["start"]["line"] + 1, each["severity"] == "error", each["message"])
        for each in diagnostics
        if each["file"].endswith(EXPRESSIONS_FILE)
    ]


_OUTPUT_READER_BY_CHECKER: Mapping[str, Callable[[str], list[_CheckerMessage]]] = {
    "mypy": _read_mypy,
    "basedpyright": _read_pyright,
}
CHECKER_NAMES = tuple(_OUTPUT_READER_BY_CHECKER)
ARGUMENTS_BY_CHECKER: Mapping[str, Sequence[str]] = {
    "mypy": (
        *("--no-error-summary", "--hide-error-context", "--no-color-output", "--no-pretty"),
        *("--cache-dir", ".mypy_cache"),
    ),
    "basedpyright": ("--outputjson", "--pythonpath", sys.executable),
}
