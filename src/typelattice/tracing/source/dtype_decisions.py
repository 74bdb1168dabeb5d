"""Decisions about a dtype argument that is a name: an assignment, a default, or callers that pass it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.programs.calls.steps import SourceLocation, Step
from typelattice.programs.readers.source.expressions import list_defaults
from typelattice.tracing.source.dtype_arguments import find_dtype_argument
from typelattice.tracing.source.function_calls import list_parameters, list_passed_arguments
from typelattice.tracing.source.source_file import FunctionNode, SourceFile

PYTHON_DTYPES = ("float", "int", "complex")  # classes that name a dtype, which no assignment decides


@dataclass(frozen=True, slots=True)
class DTypeDecision:
    """A place that decides the dtype of a name: its source location, and words for what it does."""

    location: SourceLocation
    text: str


def find_dtype_decisions(step: Step, sources: Mapping[str, SourceFile]) -> tuple[DTypeDecision, ...]:
    """Find what decides the dtype name that a step uses, or nothing if the step states the dtype itself.

    Within a function, that is the last assignment before, with the calls that pass values to it. For a
    parameter it is its default, and the calls that pass another value. The search reads only the source text,
    so a call may be one that never ran.
    """
    at = step.location
    source = sources.get(at.file) if at else None
    call = next(iter(source.find_nodes(at.line, step.text)), None) if source and at else None
    asked = find_dtype_argument(call) if isinstance(call, ast.Call) else None
    if at is None or source is None or call is None or not isinstance(asked, ast.Name):
        return ()
    if asked.id in PYTHON_DTYPES:
        return ()
    function = source.find_function(call)
    if function is None:
        return tuple(_list_assignments(source.tree.body, asked.id, at.file, call.lineno))
    assigned = [*_list_assignments(function.body, asked.id, at.file, call.lineno)]
    if assigned:
        passed = _list_passed_dtypes(function, assigned[-1].text, sources)
        return tuple(dict.fromkeys([assigned[-1], *passed]))
    if asked.id in list_parameters(function):
        return (*_list_defaults(function, asked.id, at.file), *_list_callers(function, asked.id, sources))
    end = len(source.line_starts)
    return tuple([*_list_assignments(source.tree.body, asked.id, at.file, end)][-1:])


def _list_assignments(body: Sequence[ast.stmt], name: str, file: str, before: int) -> Iterator[DTypeDecision]:
    """Yield the assignments to a name before a line, in order."""
    nodes = (node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Assign))
    for node in sorted(nodes, key=lambda node: node.lineno):
        targets = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if name in targets and node.lineno < before:
            yield DTypeDecision(SourceLocation(file, node.lineno), f"{name} = {ast.unparse(node.value)}")


def _list_passed_dtypes(
    function: FunctionNode, assignment: str, sources: Mapping[str, SourceFile]
) -> Iterator[DTypeDecision]:
    """Yield the calls that pass what an assignment computes a dtype from, or none if it names a dtype."""
    used = [node for node in ast.walk(ast.parse(assignment)) if isinstance(node, (ast.Name, ast.Attribute))]
    if not any(isinstance(node, ast.Attribute) and node.attr in DTYPES for node in used):
        names = {node.id for node in used if isinstance(node, ast.Name)}
        for name in list_parameters(function):
            yield from _list_callers(function, name, sources) if name in names else ()


def _list_defaults(function: FunctionNode, name: str, file: str) -> Iterator[DTypeDecision]:
    defaults = list_defaults(function.args)
    if name in defaults:
        location = SourceLocation(file, function.lineno)
        yield DTypeDecision(
            location, f"{name}={ast.unparse(defaults[name])} is the default in {function.name}"
        )


def _list_callers(
    function: FunctionNode, name: str, sources: Mapping[str, SourceFile]
) -> Iterator[DTypeDecision]:
    """Yield the calls of a function by its name that pass a parameter."""
    for passed in list_passed_arguments(function, name, sources):
        if passed.value is not None:
            location = SourceLocation(passed.file, passed.call.lineno)
            yield DTypeDecision(location, ast.unparse(passed.call))
