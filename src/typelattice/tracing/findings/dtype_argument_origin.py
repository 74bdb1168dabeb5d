"""The origin of a dtype argument that is a name: an assignment, a default, or the callers that pass it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from typelattice.calls.steps import SourceLocation, Step
from typelattice.facts.dtypes import DTYPES
from typelattice.programs.source.name_meanings import list_defaults

DTYPE_POSITIONS = {  # functions and methods, each with the position of a dtype among its arguments
    "asarray": 1, "asanyarray": 1, "ascontiguousarray": 1, "array": 1, "astype": 0, "zeros": 1, "ones": 1,
    "empty": 1, "full": 2, "zeros_like": 1, "ones_like": 1, "to": 0,
}  # fmt: skip
ARRAY_ATTRIBUTES = {"shape", "ndim", "dtype", "size", "T"}
"""Attributes of arrays: a name with one of these is taken for an array."""
MAX_PARSED_SOURCES = 32
MAX_SOURCE_LINES = 20_000  # longest source that is parsed
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class DTypeDecision:
    """A place that decides the dtype of a name: its source location, and words for what it does."""

    location: SourceLocation
    text: str


def find_dtype_origin(step: Step, sources: Mapping[str, str]) -> tuple[DTypeDecision, ...]:
    """Find the origin of the dtype name that a step uses, or nothing if the step states the dtype itself.

    Within a function, that is the last assignment before, with the calls that pass values to it. For a
    parameter it is its default, and the calls that pass another value. The search reads only the source text,
    so a call may be one that never ran.
    """
    at = step.location
    tree = _parse_tree(sources.get(at.file, "")) if at else None
    name = _find_named_dtype(step.text)
    if at is None or tree is None or name is None:
        return ()
    function = _find_enclosing(tree, at.line)
    if function is None:
        return tuple(_find_assignments(tree.body, name, at.file, at.line))
    assigned = [*_find_assignments(function.body, name, at.file, at.line)]
    if assigned:
        return tuple(
            dict.fromkeys([assigned[-1], *_find_passed_dtypes(function, assigned[-1].text, sources)])
        )
    if name in _list_parameters(function):
        return (*_find_default(function, name, at.file), *_find_passing_calls(function, name, sources))
    return tuple([*_find_assignments(tree.body, name, at.file, len(sources[at.file]))][-1:])


def is_cast_at_consumer(producer: Step, consumer: Step, sources: Mapping[str, str]) -> bool:
    """Return True if a wide array should be cast where a step uses it, and not where it was made.

    This holds if another function made it, or a module or a class, and that place has no array to take the
    dtype from.
    """
    if producer.location is None or consumer.location is None:
        return False
    trees = [_parse_tree(sources.get(at.file, "")) for at in (producer.location, consumer.location)]
    if trees[0] is None or trees[1] is None:
        return False
    producer_function, consumer_function = (
        _find_enclosing(tree, at.line) if tree else None
        for tree, at in zip(trees, (producer.location, consumer.location), strict=True)
    )
    if producer_function is consumer_function and producer.location.file == consumer.location.file:
        return False
    return producer_function is None or not list_arrays_at_hand(producer_function, producer.location.line)


def list_arrays_at_hand(function: FunctionNode, line: int) -> list[str]:
    """Return names that a function uses like arrays up to a line, such as `x.shape`, the last one first."""
    uses = [
        (inner.lineno, inner.value.id)
        for inner in _list_nodes_of_scope(function)
        if isinstance(inner, ast.Attribute)
        and isinstance(inner.value, ast.Name)
        and inner.attr in ARRAY_ATTRIBUTES
        and inner.lineno <= line
    ]
    return [*dict.fromkeys(name for _, name in sorted(uses, reverse=True))]


def _list_nodes_of_scope(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without the nodes of functions and classes in it."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from _list_nodes_of_scope(node)


def _find_named_dtype(text: str) -> str | None:
    """Return the name that a call of a text takes its dtype from."""
    try:
        call = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(call, ast.Call):
        return None
    argument = next((k.value for k in call.keywords if k.arg == "dtype"), None)
    position = DTYPE_POSITIONS.get(_name_of(call.func))
    if argument is None and position is not None and position < len(call.args):
        argument = call.args[position]
    return (
        argument.id
        if isinstance(argument, ast.Name) and argument.id not in ("float", "int", "complex")
        else None
    )


def _name_of(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


@lru_cache(MAX_PARSED_SOURCES)
def _parse_tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text) if text.count("\n") <= MAX_SOURCE_LINES else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _list_functions(tree: ast.Module) -> Iterator[FunctionNode]:
    return (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def _find_enclosing(tree: ast.Module, line: int) -> FunctionNode | None:
    """Find the innermost function around a line."""
    around = [f for f in _list_functions(tree) if f.lineno <= line <= (f.end_lineno or f.lineno)]
    return max(around, key=lambda f: f.lineno, default=None)


def _find_assignments(body: Sequence[ast.stmt], name: str, file: str, before: int) -> Iterator[DTypeDecision]:
    """Yield the assignments to a name before a line, in order."""
    nodes = (node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Assign))
    for node in sorted(nodes, key=lambda node: node.lineno):
        targets = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if name in targets and node.lineno < before:
            yield DTypeDecision(SourceLocation(file, node.lineno), f"{name} = {ast.unparse(node.value)}")


def _find_passed_dtypes(
    function: FunctionNode, assignment: str, sources: Mapping[str, str]
) -> Iterator[DTypeDecision]:
    """Yield the calls that pass what an assignment computes a dtype from, or none if it names a dtype."""
    used = [node for node in ast.walk(ast.parse(assignment)) if isinstance(node, (ast.Name, ast.Attribute))]
    if not any(isinstance(node, ast.Attribute) and node.attr in DTYPES for node in used):
        names = {node.id for node in used if isinstance(node, ast.Name)}
        for name in _list_parameters(function):
            yield from _find_passing_calls(function, name, sources) if name in names else ()


def _list_parameters(function: FunctionNode) -> list[str]:
    """Return the parameters. `*args` comes after the positional ones."""
    arguments = function.args
    starred = [arguments.vararg] if arguments.vararg else []
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args, *starred, *arguments.kwonlyargs)]


def _find_default(function: FunctionNode, name: str, file: str) -> Iterator[DTypeDecision]:
    defaults = list_defaults(function.args)
    if name in defaults:
        location = SourceLocation(file, function.lineno)
        yield DTypeDecision(
            location, f"{name}={ast.unparse(defaults[name])} is the default in {function.name}"
        )


def _find_passing_calls(
    function: FunctionNode, name: str, sources: Mapping[str, str]
) -> Iterator[DTypeDecision]:
    """Yield the calls of a function by its name that pass a parameter."""
    position = _list_parameters(function).index(name)
    for file, text in sources.items():
        tree = _parse_tree(text) if function.name in text else None
        calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call)) if tree else ()
        for call in calls:
            if _name_of(call.func) != function.name:
                continue
            value = next((k.value for k in call.keywords if k.arg == name), None)
            argument_index = position - (
                isinstance(call.func, ast.Attribute) and _list_parameters(function)[0] == "self"
            )
            if value is None and argument_index < len(call.args) and name not in _list_keyword_only(function):
                value = call.args[argument_index]
            if value is not None:
                yield DTypeDecision(SourceLocation(file, call.lineno), ast.unparse(call))


def _list_keyword_only(function: FunctionNode) -> list[str]:
    return [a.arg for a in function.args.kwonlyargs]
