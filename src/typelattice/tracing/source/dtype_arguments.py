"""The argument of a call that names a dtype, and the expression that the call casts."""

from __future__ import annotations

import ast
from typing import TypeGuard

from typelattice.core.dtypes.dtypes import DTYPES

DTYPE_POSITIONS = {  # functions and methods, each with the position of a dtype among its arguments
    "asarray": 1, "asanyarray": 1, "ascontiguousarray": 1, "array": 1, "astype": 0, "zeros": 1, "ones": 1,
    "empty": 1, "full": 2, "zeros_like": 1, "ones_like": 1, "empty_like": 1, "full_like": 2, "eye": 3,
    "identity": 1, "tri": 3, "arange": 3, "frombuffer": 1, "fromiter": 1, "fromfile": 1, "loadtxt": 1,
    "to": 0, "type": 0,
}  # fmt: skip
CASTING_METHODS = ("astype", "to", "type")


class _MethodCall(ast.Call):
    """A call of an attribute."""

    func: ast.Attribute


def name_of_called(call: ast.Call) -> str:
    """Return the name of the function or method that a call calls, or "" if it has none."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def find_dtype_argument(call: ast.Call) -> ast.expr | None:
    """Find the argument that names a dtype, by its keyword or its position."""
    for keyword in call.keywords:
        if keyword.arg == "dtype":
            return keyword.value
    position = DTYPE_POSITIONS.get(name_of_called(call))
    found = call.args[position] if position is not None and position < len(call.args) else None
    is_number = isinstance(found, ast.Constant) and type(found.value) in (int, float)  # `torch.ones(2, 8)`
    return None if is_number else found


def find_cast_source(call: ast.Call) -> ast.expr | None:
    """Find the expression that a call casts: the object of `astype`, or the first argument."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in CASTING_METHODS:
        return call.func.value
    return call.args[0] if call.args else None


def is_dtype(function: ast.expr) -> bool:
    """Return True if a function is a dtype, as `np.float64` is."""
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in DTYPES or name in ("double", "longdouble")


def is_casting_method(node: ast.AST) -> TypeGuard[_MethodCall]:
    """Return True for a call of a method that is named after a dtype and takes nothing, as `x.double()`."""
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return False
    return isinstance(node.func, ast.Attribute) and is_dtype(node.func)
