"""Changes that ask whether an argument was narrow when the function was called.

A function may bind its parameter anew: after `x = np.sqrt(x)` an array of integers is one of floats, and
`x.dtype` no longer tells narrow callers from those with integers. So the answer is kept in a variable first.
It never raises an error, whatever the argument is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from typelattice.tracing.remedies.change import Change
from typelattice.tracing.source.source_file import Edit, SourceFile

VARIABLE_NAMES = ("is_narrow", "has_narrow_argument", "was_narrow")
TEST_PATTERN = re.compile(r'getattr\((?P<name>\w+), "dtype", None\) == [\w.]+')


def keep_test_at_entry(change: Change, sources: Mapping[str, SourceFile]) -> Iterator[Change]:
    """Yield a change like another one that tests the dtype of a parameter before the function rebinds it.

    A change without such a test has none.
    """
    source = sources[change.file]
    tests = {match[0]: match["name"] for edit in change.edits for match in TEST_PATTERN.finditer(edit.text)}
    if len(tests) != 1:
        return
    ((test, name),) = tests.items()
    known = _find_kept_value(source, change, test)
    place = _find_place(source, change, name)
    if known is None and place is None:
        return
    variable, start, indent = place or ("", 0, "")
    edits = [replace(edit, text=edit.text.replace(test, known or variable)) for edit in change.edits]
    end = "\r\n" if b"\r\n" in source.content else "\n"
    kept = [] if known is not None else [Edit(start, start, f"{variable} = {test}{end}{indent}")]
    yield replace(change, edits=(*edits, *kept))


def _find_place(source: SourceFile, change: Change, name: str) -> tuple[str, int, str] | None:
    """Return a free variable, and the byte and the indent of the first statement of the function around.

    Return None if the function does not rebind the name, or if a change is above that statement.
    """
    function = _find_function(source, change.edits[0])
    if function is None or not _rebinds(function, name):
        return None
    first, variable = _first_statement(function), _find_free_name(source, function)
    if first is None or variable is None:
        return None
    decorators: list[ast.expr] = getattr(first, "decorator_list", [])
    line = decorators[0].lineno if decorators else first.lineno
    if line == function.lineno:
        return None
    start, _ = source.find_span(decorators[0] if decorators else first)
    head = source.content[source.line_starts[line - 1] : start].decode("utf-8")
    indent = head.rstrip().removesuffix("@") if decorators else head
    start -= len(head) - len(indent)
    if indent.strip() or any(edit.start < start for edit in change.edits):
        return None
    return variable, start, indent


def _find_kept_value(source: SourceFile, change: Change, value: str) -> str | None:
    """Return the variable in which the first statement of the function already keeps a value, or None."""
    function = _find_function(source, change.edits[0])
    first = _first_statement(function) if function is not None else None
    match first:
        case ast.Assign(targets=[ast.Name(id=name)], value=kept) if source.text(kept) == value:
            return name
    return None


def _find_function(source: SourceFile, edit: Edit) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Find the innermost function around an edit."""
    found: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    for node in source.functions:
        start, end = source.find_span(node)
        if start <= edit.start and edit.end <= end:
            found = node
    return found


def _rebinds(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    """Return True if a name is a parameter of a function, which binds it anew."""
    is_parameter = name in {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    return is_parameter and any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in ast.walk(function)
    )


def _first_statement(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt | None:
    """Return the first statement of a function after its docstring."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    return body[0] if body else None


def _find_free_name(source: SourceFile, function: ast.AST) -> str | None:
    """Return a name that neither the function nor the module around it uses."""
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    used |= {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    used |= {name for statement in source.tree.body for name in source.list_targets(statement)}
    used |= {name for name, _ in source.import_aliases}
    return next((name for name in VARIABLE_NAMES if name not in used), None)
