"""The limits of branches and of lines that a function may have."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from parsed_sources import parse_source

SOURCE = Path(__file__).parents[2] / "src" / "typelattice"
MOST, MOST_LINES = 20, 60
BRANCHES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef)
# The tracer calls one of them for each call. A function of its own would double the time.
WRITTEN_OUT = {
    ("tracing/record/witness.py", name)
    for name in ("record_call", "record_call_0", "record_call_1", "record_call_2")
}


def count_branches(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield each function with its branches: each condition, case, loop and handler, each `and` and `or`.

    Those of functions and classes in it are not its own.
    """
    counts: dict[ast.AST, int] = {}
    waiting: list[tuple[ast.AST, ast.AST]] = [(tree, tree)]
    while waiting:
        node, owner = waiting.pop()
        if isinstance(node, SCOPES):
            owner = node
        elif isinstance(node, BRANCHES):
            counts[owner] = counts.get(owner, 0) + 1
        elif isinstance(node, ast.BoolOp):
            counts[owner] = counts.get(owner, 0) + len(node.values) - 1
        waiting += [(child, owner) for child in ast.iter_child_nodes(node)]
    yield from ((node.name, count) for node, count in counts.items() if isinstance(node, FUNCTIONS))


def test_branches_are_counted() -> None:
    text = (
        "def f(x):\n    def g(): return 1 if x else 2\n"
        "    for y in x if x else ():\n        if y and x:\n            return [a for a in x if a]"
    )
    assert sorted(count_branches(ast.parse(text))) == [("f", 4), ("g", 1)]


def test_no_function_has_more_than_20_branches() -> None:
    found = {
        (path.relative_to(SOURCE).as_posix(), name)
        for path in SOURCE.rglob("*.py")
        for name, count in count_branches(parse_source(path))
        if count > MOST
    }
    assert found == WRITTEN_OUT, f"divide by ideas, or use a table: {sorted(found - WRITTEN_OUT)}"


def lines_of_code(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function without its docstring."""
    first = function.body[1 if ast.get_docstring(function, clean=False) and function.body[1:] else 0]
    return (function.end_lineno or 0) - first.lineno + 1


def test_a_function_of_more_than_60_lines_says_why_it_is_long() -> None:
    unexplained = [
        f"{path.relative_to(SOURCE)}: {node.name} has {lines_of_code(node)} lines"
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(parse_source(path))
        if isinstance(node, FUNCTIONS) and lines_of_code(node) > MOST_LINES
        if not path.read_text(encoding="utf-8").split("\n")[node.lineno - 2].lstrip().startswith("# Long: ")
    ]
    assert unexplained == []
