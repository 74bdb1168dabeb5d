"""Python's numbers among themselves: what literals come to, and the kind that an operator gives. No system has a say there."""
from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from typelattice.facts.dtypes import Kind
from typelattice.facts.range import Value
from typelattice.operands.operand import SCALARS

WIDEST = 4096  # bits of a number that is computed with
FOLDED: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
}  # fmt: skip


def number_of(node: ast.expr) -> Value | None:
    """The Python number that a literal is, and arithmetic of literals, which is Python's own whatever the system."""
    match node:
        case ast.Constant(value=value) if type(value) in SCALARS:
            return value  # type: ignore[return-value]
        case ast.UnaryOp(op=op, operand=inner) if type(op) in FOLDED:
            a = number_of(inner)
            return None if a is None else _folded(op, a)
        case ast.BinOp(left=left, right=right, op=op) if type(op) in FOLDED:
            a, b = number_of(left), number_of(right)
            return None if a is None or b is None else _folded(op, a, b)
    return None


def _folded(op: ast.operator | ast.unaryop, *numbers: Value) -> Value | None:
    """What Python's operator gives for small numbers; None for large ones, and where it raises."""
    bits = [x.bit_length() if isinstance(x, int) else 0 for x in numbers]
    power = isinstance(op, ast.Pow)
    if sum(bits) > WIDEST or (power and not (abs(numbers[1]) <= 64 and bits[0] * 64 <= WIDEST)):
        return None
    try:
        found = FOLDED[type(op)](*numbers)
    except (ArithmeticError, TypeError, ValueError):
        return None
    return found if type(found) in SCALARS else None


def kind_of(op: str, kinds: Sequence[Kind]) -> Kind | None:
    """The kind that Python's own operator gives for numbers of these kinds; None where it raises TypeError."""
    highest = max(kinds, key=lambda kind: kind.rank)
    if op in ("equal", "not_equal"):
        return Kind.BOOL
    most = 1 if op.startswith("bitwise") else 3 if op in WIDE else 2
    if op == "matmul" or highest.rank > most:
        return None
    if op in ("less", "less_equal", "greater", "greater_equal"):
        return Kind.BOOL
    if op == "divide" and highest.rank < Kind.FLOAT.rank:
        return Kind.FLOAT
    whole = highest is Kind.BOOL and op not in ("bitwise_and", "bitwise_or", "bitwise_xor")
    return Kind.SIGNED if whole else highest


WIDE = ("add", "subtract", "multiply", "divide", "pow", "negative", "positive")  # Python's operators of complex numbers
