"""mypy and basedpyright: the types that they infer, for thousands of expressions in one run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from typelattice.conformance.library import CannotAskError, MissingLibraryError

NO_FILES: Mapping[str, str] = {}
NAMES, EXPRESSIONS = "operands.pyi", "expressions.py"
REVEALED = re.compile(r'[Rr]evealed type is "(.*)"|Type of ".*" is "(.*)"', re.DOTALL)
OF_MYPY = re.compile(rf"{re.escape(EXPRESSIONS)}:(\d+): (error|note): (.*)")


PREFIXES = re.compile(r"\b(?:builtins|stubs)\.")


class Inferred(NamedTuple):
    """The type of an expression, or the error that refuses it; the other field is ""."""

    type: str
    error: str


class _Message(NamedTuple):
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
    found = infer(checker, setup, names, [*expected], limit, {"stubs.pyi": text})
    return [
        f"{expression}: {one.error or shown or 'nothing'}, expected {type_ or 'an error'}"
        for (expression, type_), one in zip(expected.items(), found, strict=True)
        for shown in [PREFIXES.sub("", one.type)]
        if shown != PREFIXES.sub("", type_) or bool(one.error) == bool(type_)
    ]


def require_checker(checker: str) -> None:
    """Raise MissingLibraryError if a type checker is not installed."""
    if find_spec(checker) is None:
        raise MissingLibraryError(f"{checker} cannot be asked: it is not installed; pip install {checker}")


def infer(
    checker: str,
    setup: str,
    names: Sequence[str],
    expressions: Sequence[str],
    limit: float,
    files: Mapping[str, str] = NO_FILES,
) -> list[Inferred]:
    """Infer the types of expressions with a type checker.

    `setup` is a line of imports, `names` the lines of a stub file that declares the names in the expressions.
    `files` are further files in the same folder. `limit` is in seconds.
    """
    require_checker(checker)
    with TemporaryDirectory() as folder:
        for name, text in files.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        Path(folder, NAMES).write_text("\n".join([setup, *names]) + "\n", encoding="utf-8")
        lines = [f"{setup}; from operands import *"]
        lines += [f"def f{i}() -> None: reveal_type({each})" for i, each in enumerate(expressions)]
        Path(folder, EXPRESSIONS).write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = [sys.executable, "-m", checker, *ARGUMENTS[checker], EXPRESSIONS]
        try:
            ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            raise CannotAskError(f"{checker} gave no answer within {limit:g} seconds") from None
    messages = _READERS[checker](ran.stdout)
    types = dict[int, str]()
    errors = dict[int, str]()
    for line, is_error, message in messages:
        if found := REVEALED.match(message):
            types.setdefault(line, found[1] or found[2])
        elif is_error:
            errors.setdefault(line, message.split("\n")[0])
    if not types and not errors:
        words = " ".join((ran.stderr or ran.stdout).split())
        raise CannotAskError(f"{checker} cannot be asked: it says {words[:200] or 'nothing'}")
    lines_of = range(2, len(expressions) + 2)
    return [Inferred("", errors[n]) if n in errors else Inferred(types.get(n, ""), "") for n in lines_of]


def _read_mypy(printed: str) -> list[_Message]:
    found = map(OF_MYPY.match, printed.splitlines())
    return [_Message(int(each[1]), each[2] == "error", each[3]) for each in found if each]


def _read_pyright(printed: str) -> list[_Message]:
    try:
        diagnostics = json.loads(printed)["generalDiagnostics"]
    except (ValueError, KeyError):
        return []
    return [
        _Message(each["range"]["start"]["line"] + 1, each["severity"] == "error", each["message"])
        for each in diagnostics
        if each["file"].endswith(EXPRESSIONS)
    ]


_READERS: Mapping[str, Callable[[str], list[_Message]]] = {
    "mypy": _read_mypy,
    "basedpyright": _read_pyright,
}
CHECKERS = tuple(_READERS)
ARGUMENTS: Mapping[str, Sequence[str]] = {
    "mypy": (
        *("--no-error-summary", "--hide-error-context", "--no-color-output", "--no-pretty"),
        *("--cache-dir", "/dev/null"),
    ),
    "basedpyright": ("--outputjson", "--pythonpath", sys.executable),
}
