"""Rows for functions of a library that its book lacks, each with a class that gives the library's answers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from typelattice.conformance.recording.book_functions import BookFunction, BookOperand, find_call
from typelattice.conformance.recording.book_library import BookLibrary
from typelattice.conformance.recording.questions import COMMON_DTYPE_PATTERN
from typelattice.core.books.read_book import BookRow
from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.core.engine.system import System
from typelattice.programs.calls.calls_to_steps import is_function
from typelattice.programs.calls.compositions import is_composition

NAMES_WITH_EFFECTS = re.compile(  # functions that are never called: they may write files, or change settings
    r"(?i).*(save|load|write|read|file|dump|export|seed|set|exit|init|close|able|manual|register|compile|cuda|"
    r"dist|thread|import|eval|exec|open|print|device|context|memmap|url|profile|pickle|clear|delete|path|inspect|show).*"
)
REFUSED = "!"


def propose_rows(library: BookLibrary, system: System) -> Iterator[str]:
    """Yield a row for each function that follows a class of the system, as a book writes it.

    A function that follows none is a comment, with the dtypes of its answers.
    """
    classes = {
        count: [name for name, op in system.custom_operations.items() if _is_class(system, name, count)]
        for count in (1, 2)
    }
    for name, function in list_unknown_functions(library.library, library.book):
        asked = ask_function(library.library, library.book, name, function)
        if asked is None:
            continue
        made, answers = asked
        names = ",".join(made.operands)
        rule = next((c for c in classes[len(made.operands)] if answers_of(system, c, answers) == answers), "")
        parameters = ",".join((*made.row.parameters, "..."))
        if rule:
            yield f"{f'{name}({parameters})':<44} {rule}({names})"
        else:
            given = dict.fromkeys(answers.values())
            yield f"# {name}({parameters}): {', '.join(given)}"


def list_unknown_functions(library: Any, book: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public functions of a library's modules that no table describes."""
    seen: set[str] = set()
    for space in library.namespaces or ():
        for name in dir(space):
            found = getattr(space, name, None)
            if name in seen or name.startswith("_") or not callable(found) or inspect.isclass(found):
                continue
            seen.add(name)
            known = is_function(name, book) or is_composition(name, book) or name.endswith("_")
            if not known and not NAMES_WITH_EFFECTS.fullmatch(name):
                yield name, found


def ask_function(
    library: Any, book: str, name: str, function: Callable[..., Any]
) -> tuple[BookFunction, Mapping[tuple[str, ...], str]] | None:
    """Return a function with its answers by dtypes, or None if it gives no array for arrays."""
    parameters = _required_parameters(function)
    for operands in (parameters[:2], parameters[:1]) if len(parameters) == 2 else (parameters[:1],):
        row = BookRow(book, 0, name, parameters, (f"keeps({','.join(operands)})",))
        made = find_call(library, row, 0, operands)
        if made is None:
            continue
        known = [d for d in library.dtypes() if COMMON_DTYPE_PATTERN.fullmatch(d)]
        answers = {dtypes: _ask(made, dtypes) for dtypes in product(known, repeat=len(operands))}
        if {*answers.values()} != {REFUSED}:
            return made, answers
    return None


def answers_of(
    system: System, rule: str, asked: Mapping[tuple[str, ...], str]
) -> Mapping[tuple[str, ...], str]:
    """Return the answers of a system's rule to the same calls."""
    found = {dtypes: system.explain(*dtypes, op=rule) for dtypes in asked}
    return {
        dtypes: REFUSED if p.dtype is None else f"{p.dtype}{'*' * p.weak}" for dtypes, p in found.items()
    }


def _is_class(system: System, name: str, count: int) -> bool:
    operation = system.custom_operations[name]
    return name in system.ops and len(operation.operand_names) == count


def _ask(made: BookFunction, dtypes: Sequence[str]) -> str:
    try:
        answer = str(made.library.read(made(*map(BookOperand, dtypes))))
    except BaseException:  # a library may raise anything
        return REFUSED
    return answer if answer.removesuffix("*") in DTYPES else REFUSED


def _required_parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters that must be given, or one if the function has no signature."""
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        return ("x",)
    sorts = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [p.name for p in parameters if p.kind in sorts and p.default is inspect.Parameter.empty]
    return tuple(names[:3]) or ("x",)
