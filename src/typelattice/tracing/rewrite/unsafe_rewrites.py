"""Code that a rewriting must leave unchanged, so that the program behaves as before."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

MAX_ARGUMENTS = 28
"""The most arguments of a call that are reported.

A witness gets 30 values, the function and the result included. For more values Python makes a list first
(STACK_USE_GUIDELINE in CPython's compile.c) that no copy reaches.
"""
ARRAYLESS_BUILTINS = (  # Python's functions that make no array, if no function of arrays has their name
    "super", "locals", "globals", "vars", "dir", "isinstance", "issubclass", "hasattr", "callable", "len",
    "range", "print", "zip", "enumerate", "type", "str", "repr", "int", "float", "complex", "bool", "list",
    "dict", "set", "tuple", "frozenset", "id", "iter", "format", "open", "ord", "chr", "hash", "property",
    "staticmethod", "classmethod", "object", "slice", "bytes", "setattr", "delattr", "exec", "eval",
    "compile", "breakpoint",
)  # fmt: skip


def keeps_evaluation_order(node: ast.Call) -> bool:
    """Return True if arguments can be laid on the stack before the call, with the same order of execution."""
    values = [*node.args, *(k.value for k in node.keywords)]
    spread = [isinstance(x, ast.Starred) for x in node.args] + [k.arg is None for k in node.keywords]
    if len(values) > MAX_ARGUMENTS or sum(isinstance(x, ast.Starred) for x in node.args) > 1:
        return False
    if any(k.arg is None for k in node.keywords[:-1]):
        return False
    if any(isinstance(x, ast.Starred) for x in node.args[:-1]):
        return False
    first = spread.index(True) if True in spread else len(values)
    return all(isinstance(x, (ast.Name, ast.Constant)) for x in values[first + 1 :])


def keeps_resizing_method(tree: ast.Module) -> bool:
    """Return True if a module keeps a method `resize` for later, so that any name may call it.

    NumPy resizes an array only if nothing else refers to it, so that no argument may be copied.
    """
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return any(
        isinstance(node, ast.Attribute) and node.attr == "resize" and id(node) not in called
        for node in ast.walk(tree)
    )


def node_at_call_line(node: ast.Call) -> ast.expr:
    """Return a node with the line that a traceback names for a call.

    For a method that is the line of its name (CPython's compile.c, update_start_location_to_match_attr).
    """
    func = node.func
    if not isinstance(func, ast.Attribute) or func.lineno == func.end_lineno:
        return node
    placed = ast.copy_location(ast.Name(""), node)
    placed.lineno, placed.col_offset = func.end_lineno or 0, (func.end_col_offset or 0) - len(func.attr)
    return placed


def constants_of(arguments: Sequence[ast.expr], line: int) -> Iterator[tuple[int, Any]]:
    """Yield the arguments that are constants or negative numbers, with their positions.

    Arguments on other lines than the call's first are ignored. Python reports each line to a trace function,
    in the order of the arguments on the stack.
    """
    for i, node in enumerate(arguments):
        match node:
            case ast.Constant(value=value) if node.lineno == line:
                yield i, value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)) if (
                node.end_lineno == line
            ):
                yield i, -value


def lists_of(node: ast.Call, line: int) -> Iterator[tuple[int, int, bool]]:
    """Yield the arguments written as lists or tuples: the position, the number of items, True for a tuple.

    The call makes the list that the function gets from these items. Arguments on other lines than the call's
    first are ignored, as constants are. All are ignored if there are too many items.
    """
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    if sum(len(list_items(x)) or 1 for x in arguments) > MAX_ARGUMENTS:
        return
    for i, x in enumerate(arguments):
        if list_items(x) and x.lineno == x.end_lineno == line:
            yield i, len(list_items(x)), isinstance(x, ast.Tuple)


def list_items(node: ast.expr) -> list[ast.expr]:
    """Return the items of a written list or tuple, or none if it has a star. Other nodes have none."""
    if not isinstance(node, (ast.List, ast.Tuple)) or any(
        isinstance(each, ast.Starred) for each in node.elts
    ):
        return []
    return node.elts
