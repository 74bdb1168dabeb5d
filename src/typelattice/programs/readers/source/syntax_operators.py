"""Python's operators: the operation of each, by its class of syntax."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from typelattice.core.operations.operations import OPERATIONS


def _find_syntax(sign: str) -> type[ast.AST] | None:
    """Return the syntax class of an operator: `Add` for `+`, `USub` for `-x`. Return None for `+=`."""
    for text in (sign, f"x {sign} x", f"{sign} x"):
        try:
            tree = ast.parse(text, mode="eval").body
        except SyntaxError:
            continue
        match tree:
            case ast.BinOp(op=op) | ast.UnaryOp(op=op) | ast.Compare(ops=[op]):
                return type(op)
    return None


OPERATOR_BY_SYNTAX: dict[type[ast.AST], str] = {
    syntax: op.name for op in OPERATIONS.values() if op.operator and (syntax := _find_syntax(op.operator))
}
SYNTAX_BY_OPERATOR = {name: syntax for syntax, name in OPERATOR_BY_SYNTAX.items()}
PYTHON_TEST_BY_COMPARISON: Mapping[type[ast.AST], Callable[[Any, Any], bool]] = {
    ast.Is: operator.is_, ast.IsNot: operator.is_not, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
PYTHON_OPERATOR_BY_SYNTAX: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Mult: operator.mul, ast.Mod: operator.mod, ast.Sub: operator.sub,
    ast.BitOr: operator.or_, ast.BitAnd: operator.and_, ast.BitXor: operator.xor,
}  # fmt: skip
METHOD_BY_SYNTAX: Mapping[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmul", ast.LShift: "lshift", ast.RShift: "rshift",
    ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
    ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert",
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip
REFLECTED_METHOD_BY_COMPARISON: Mapping[type[ast.AST], str] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "gt", ast.LtE: "ge", ast.Gt: "lt", ast.GtE: "le",
}  # fmt: skip
