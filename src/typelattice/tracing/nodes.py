"""Nodes of a syntax tree that a rewriting puts in: placed where others are, and marks."""

from __future__ import annotations

import ast
from typing import Any, TypeVar

COPY = "\0typelattice.copy."  # a constant that stands for one of the values on the stack
COPY_IN_PLACE = "in-place"  # what the mark says of an operator that may write into its left operand
TARGET = "target"  # what the mark says of the value that an operator in place has read already
COMPARED = "compared"  # what the mark says that stands for no value, but for the end of a comparison
WITNESS = "\0typelattice.witness."  # a constant that stands for a witness, by its number
LOAD, MINUS = ast.Load(), ast.USub()
Placed = TypeVar("Placed", bound=Any)


def copied(node: ast.AST, count: int, number: int, how: str = "") -> ast.expr:
    """A mark for the value `number` of the `count` that lie on the stack, placed where the node is.

    The minus sign keeps the compiler from folding it, and from warning that a string cannot be called.
    """
    return placed(node, ast.UnaryOp(MINUS, placed(node, ast.Constant(f"{COPY}{count}.{number}.{how}"))))


def compared(node: ast.Compare, told: ast.expr) -> ast.Compare:
    """A comparison, of which `bytecode` leaves what is told of another, placed where that is.

    Python 3.11 places the test of a comparison's truth where it places the comparison, and the test of
    anything else where it places the whole statement; a traceback shows which.
    """
    return placed(node, ast.Compare(told, [ast.Eq()], [placed(node, ast.Constant(f"{COPY}0.0.{COMPARED}"))]))


def placed(node: Any, made: Placed) -> Placed:
    """A node that was made, placed where another is."""
    made.lineno, made.col_offset = node.lineno, node.col_offset
    made.end_lineno, made.end_col_offset = node.end_lineno, node.end_col_offset
    return made
