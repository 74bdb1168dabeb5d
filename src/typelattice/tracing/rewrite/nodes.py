"""Nodes that a rewriting adds to a syntax tree: marks, and nodes at the source location of another."""

from __future__ import annotations

import ast
from typing import Any, TypeVar

COPY_PREFIX = "\0typelattice.copy."  # a constant that stands for one of the values on the stack
COPY_IN_PLACE = "in-place"  # marks an operator that may write into its left operand
COPY_TARGET = "target"  # marks a value that an in-place operator has read already
COPY_TOP = "top"  # marks the value that was laid on the stack last
COMPARISON_END = "compared"  # marks the end of a comparison, without a value
WITNESS_PREFIX = "\0typelattice.witness."  # a constant that stands for a witness, by its number
LOAD, MINUS = ast.Load(), ast.USub()
PlacedNode = TypeVar("PlacedNode", bound=Any)


def copy_mark(node: ast.AST, count: int, number: int, variant: str = "") -> ast.expr:
    """Return a mark for value `number` of the `count` values on the stack, at the node's source location.

    The minus sign stops the compiler from folding the mark, and from a warning about a call of a string.
    """
    return place_node(
        node, ast.UnaryOp(MINUS, place_node(node, ast.Constant(f"{COPY_PREFIX}{count}.{number}.{variant}")))
    )


def wrap_in_comparison(node: ast.Compare, inner: ast.expr) -> ast.Compare:
    """Wrap an expression in a dummy comparison, so that Python 3.11 reports the right line.

    `bytecode` removes it again.

    Python 3.11 gives the truth test of a comparison the location of the comparison. Any other truth test gets
    the location of the whole statement. A traceback shows the difference.
    """
    return place_node(
        node,
        ast.Compare(
            inner, [ast.Eq()], [place_node(node, ast.Constant(f"{COPY_PREFIX}0.0.{COMPARISON_END}"))]
        ),
    )


def place_node(node: Any, new_node: PlacedNode) -> PlacedNode:
    """Return a new node, at the source location of another."""
    new_node.lineno, new_node.col_offset = node.lineno, node.col_offset
    new_node.end_lineno, new_node.end_col_offset = node.end_lineno, node.end_col_offset
    return new_node
