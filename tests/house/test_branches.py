"""The limit of branches that a function may have."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from parsed_sources import parse_source

SOURCE = Path(__file__).parents[2] / "src" / "typelattice"
MOST = 20
BRANCHES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# The tracer calls one of them for each call. A function of its own would double the time.
WRITTEN_OUT = {
    ("tracing/record/witness.py", name)
    for name in ("record_call", "record_call_0", "record_call_1", "record_call_2")
}


def within(node: ast.AST) -> Iterator[ast.AST]:
    """The syntax nodes of a function, without those of functions and classes in it."""
    waiting = [*ast.iter_child_nodes(node)]
    while waiting:
        child = waiting.pop()
        if not isinstance(child, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            yield child
            waiting += ast.iter_child_nodes(child)


def branches(function: ast.AST) -> int:
    """Count the branches: each condition, case, loop and handler, each `and` and `or`."""
    nodes = list(within(function))
    words = sum(len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp))
    return words + sum(isinstance(node, BRANCHES) for node in nodes)


def test_branches_are_counted() -> None:
    text = (
        "def f(x):\n    for y in x if x else ():\n        if y and x:\n            return [a for a in x if a]"
    )
    assert branches(ast.parse(text).body[0]) == 4


def test_no_function_has_more_than_20_branches() -> None:
    found = {
        (path.relative_to(SOURCE).as_posix(), node.name)
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(parse_source(path))
        if isinstance(node, FUNCTIONS) and branches(node) > MOST
    }
    assert found == WRITTEN_OUT, f"divide by ideas, or use a table: {sorted(found - WRITTEN_OUT)}"
