"""Texts in the place of expressions that NumPy 2 refuses, since a Python int is beyond a dtype.

NumPy 1 took them. With these texts both releases give what NumPy 1 gave.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind
from typelattice.core.system_files.reader import system as find_system

CONSTRUCTORS = ("array", "asarray", "full")  # functions that take numbers and a dtype
OLDER = "numpy1"
INTEGER_KINDS = (Kind.SIGNED, Kind.UNSIGNED)
PLAIN_NODES = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)
Evaluate = Callable[[ast.expr], Any]
TextOf = Callable[[ast.AST], str]
InRange = tuple[ast.expr, str]
"""An expression, and the text in its place."""


def list_in_range_texts(
    node: ast.AST, operation: str, alias: str, text_of: TextOf, evaluate: Evaluate
) -> Iterator[InRange]:
    """Yield texts with which an expression keeps the value that NumPy 1 gave it, the usual ones first.

    `operation` is that of an operator, and `alias` the file's name for NumPy. `evaluate` gives the value of
    an expression, or raises any exception.
    """
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        asked = DTYPES.get(node.func.attr)
        if asked is not None and len(node.args) == 1 and not node.keywords:
            yield from _convert_number(node, node.args[0], asked, text_of, evaluate)
        elif node.func.attr in CONSTRUCTORS:
            yield from _cast_after(node, text_of)
        else:
            yield from _convert_operands(node, node.args, node.func.attr, alias, text_of, evaluate)
    elif isinstance(node, ast.BinOp):
        yield from _convert_operands(node, (node.left, node.right), operation, alias, text_of, evaluate)


def _convert_number(
    node: ast.Call, number: ast.expr, dtype: DType, text_of: TextOf, evaluate: Evaluate
) -> Iterator[InRange]:
    """Yield `np.uint32(np.iinfo(np.uint32).max)` for -1, and a cast that wraps for other numbers."""
    value, name = evaluate(number), text_of(node.func)
    module = name.rpartition(".")[0]
    if type(value) is not int or dtype.kind not in INTEGER_KINDS:
        return
    if value == -1 and dtype.kind is Kind.UNSIGNED and isinstance(number, (ast.Constant, ast.UnaryOp)):
        yield node, f"{name}({module}.iinfo({name}).max)"
    yield node, f"{module}.int64({text_of(number)}).astype({name})"


def _cast_after(node: ast.Call, text_of: TextOf) -> Iterator[InRange]:
    """Yield a constructor without its dtype, and a cast after it."""
    asked = next((k for k in node.keywords if k.arg == "dtype"), None)
    if asked is None:
        return
    parts = [text_of(x) for x in node.args]
    parts += [f"{k.arg}={text_of(k.value)}" for k in node.keywords if k is not asked and k.arg is not None]
    yield node, f"{text_of(node.func)}({', '.join(parts)}).astype({text_of(asked.value)})"


def _convert_operands(
    node: ast.expr,
    operands: Sequence[ast.expr],
    operation: str,
    alias: str,
    text_of: TextOf,
    evaluate: Evaluate,
) -> Iterator[InRange]:
    """Yield `int(x)` for a scalar beside a Python int, and a cast of an array to the dtype of NumPy 1."""
    values: Mapping[ast.expr, Any] = {x: evaluate(x) for x in operands}
    if not any(type(value) is int for value in values.values()):
        return
    target = _find_older_dtype(operation, [*values.values()])
    scalar_class: type = sys.modules["numpy"].generic  # the values are those of a program that imported it
    for x, value in values.items():
        if getattr(getattr(value, "dtype", None), "kind", "") not in ("i", "u"):
            continue
        text = text_of(x) if isinstance(x, PLAIN_NODES) else f"({text_of(x)})"
        if isinstance(value, scalar_class) and isinstance(node, ast.BinOp):
            yield x, f"int({text_of(x)})"
        if target is None or not alias:
            continue
        cast = f"{text}.astype({alias}.{target})"
        yield x, cast
        if isinstance(x, ast.Name):  # other callers may pass numbers or lists
            yield x, f'({cast} if getattr({text}, "dtype", None) == {alias}.{value.dtype} else {text})'


def _find_older_dtype(operation: str, values: Sequence[Any]) -> DType | None:
    """Return the dtype in which NumPy 1 computes an operation, or None if that is unknown."""
    try:
        return find_system(OLDER).explain(*values, op=operation).compute
    except (TypelatticeError, TypeError):
        return None
