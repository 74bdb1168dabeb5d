"""Rewriting of a module's syntax tree: each operation is followed by a call that tells its witness of it.

`a + b` becomes `witness.binary(a, b, COPY + COPY)`. The copies are marks, which `bytecode` turns into
instructions that take what lies on the stack already. So the operation itself runs where the program wrote
it, in the same frame, on the same line, and neither names nor frames are added: tracebacks, warnings,
`locals()` and `super()` are as they were.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from typelattice.programs.meanings import OPERATORS
from typelattice.tracing.cautions import (
    REBINDING,
    SIMPLE,
    compiled_by,
    compilers,
    conditions,
    declared,
    in_order,
    same_twice,
)

WITNESS = "\0typelattice.witness."  # a constant that stands for a witness, by its number
COPY = "\0typelattice.copy."  # a constant that stands for one of the values on the stack
IN_PLACE = "in-place"
ATTRIBUTES = ("T", "mT", "H", "mH", "real", "imag")  # attributes that compute an array


@dataclass(frozen=True, slots=True)
class Spot:
    """Where an operation stands in a module, and what it is.

    `name` is the operation, the attribute or the method. Of a call `keywords` are the names of its last
    arguments: None stands for `**`, and `*` for `*args`.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    name: str = ""
    keywords: tuple[str | None, ...] = ()


class Rewriter(ast.NodeTransformer):
    """Rewrites a tree. `spots` are the operations that it found, `alone` the functions left as they are."""

    def __init__(self, tree: ast.Module) -> None:
        self.spots: list[Spot] = []
        self.alone: list[tuple[str, str]] = []
        self.rebound = set(declared(tree))
        self.compilers = dict(compilers(tree))
        self.conditions = set(conditions(tree)) if sys.version_info < (3, 12) else set()

    # -- what is put in place of an operation

    def told(
        self,
        node: ast.AST,
        method: str,
        items: Sequence[ast.expr],
        inner: ast.expr | None,
        name: str = "",
        keywords: tuple[str | None, ...] = (),
    ) -> ast.expr:
        """A call of a witness's method with the items and, where there is one, the result of `inner`."""
        place = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        self.spots.append(Spot(*place, name, keywords))
        witness = ast.Constant(f"{WITNESS}{len(self.spots) - 1}")
        given = [*items, inner] if inner is not None else [*items]
        call = ast.Call(ast.Attribute(witness, method, ast.Load()), given, [])
        return _at(node, call, {id(item) for item in items})

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        plain = isinstance(node.left, ast.Constant) and (
            isinstance(node.right, ast.Constant) or isinstance(node.left.value, (str, bytes))
        )
        self.generic_visit(node)
        if plain or isinstance(node.left, ast.JoinedStr):
            return node
        inner = ast.BinOp(_copy(2, 0), node.op, _copy(2, 1))
        return self.told(node, "binary", [node.left, node.right], inner, OPERATORS[type(node.op)])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) or isinstance(node.operand, ast.Constant):
            return node
        inner = ast.UnaryOp(node.op, _copy(1, 0))
        return self.told(node, "unary", [node.operand], inner, OPERATORS[type(node.op)])

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        parts = [node.left, *node.comparators]
        values = [x.value for x in parts if isinstance(x, ast.Constant)]
        plain = any(isinstance(value, (str, bytes, type(None))) for value in values)
        self.generic_visit(node)
        if plain or id(node) in self.conditions or len(node.ops) > 1 or type(node.ops[0]) not in OPERATORS:
            return node
        inner = ast.Compare(_copy(2, 0), node.ops, [_copy(2, 1)])
        items = [node.left, node.comparators[0]]
        return self.told(node, "binary", items, inner, OPERATORS[type(node.ops[0])])

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        plain = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
        self.generic_visit(node)
        if plain or not isinstance(node.ctx, ast.Load):
            return node
        inner = ast.Subscript(_copy(2, 0), _copy(2, 1), ast.Load())
        return self.told(node, "item", [node.value, node.slice], inner)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if node.attr not in ATTRIBUTES or not isinstance(node.ctx, ast.Load):
            return node
        inner = ast.Attribute(_copy(1, 0), node.attr, ast.Load())
        return self.told(node, "attribute", [node.value], inner, node.attr)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Attribute):  # the method of an attribute named real is no number
            node.func.value = self.visit(node.func.value)
        else:
            node.func = self.visit(node.func)
        node.args = [self.visit(x) for x in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        if isinstance(node.func, ast.Name) and node.func.id in SIMPLE:
            return node
        if isinstance(node.func, ast.Attribute) and node.func.attr == "resize":
            node.func.value = self.told(node, "forgotten", [node.func.value], None)
            return node
        if not in_order(node):
            inner = ast.Call(_copy(1, 0), node.args, node.keywords)
            return self.told(node, "given", [node.func], inner)
        values = [x.value if isinstance(x, ast.Starred) else x for x in node.args]
        items = [node.func, *values, *(keyword.value for keyword in node.keywords)]
        count = len(items)
        names: list[str | None] = ["*"] if any(isinstance(x, ast.Starred) for x in node.args) else []
        inner = ast.Call(
            _copy(count, 0),
            [
                ast.Starred(_copy(count, i), ast.Load()) if isinstance(x, ast.Starred) else _copy(count, i)
                for i, x in enumerate(node.args, 1)
            ],
            [ast.keyword(k.arg, _copy(count, i)) for i, k in enumerate(node.keywords, 1 + len(node.args))],
        )
        keywords = (*names, *(k.arg for k in node.keywords))
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return self.told(node, "called", items, inner, name, keywords)

    # -- statements

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        target, value = node.target, self.visit(node.value)
        node.value = value
        rebinds = any(isinstance(x, REBINDING) for x in ast.walk(node.value))
        if rebinds or not same_twice(target, self.rebound):
            return node
        left = _loaded(target)
        inner = ast.BinOp(_copy(2, 0), node.op, _copy(2, 1, IN_PLACE))
        told = self.told(node, "in_place", [left, value], inner, OPERATORS[type(node.op)])
        return ast.copy_location(ast.Assign([target], told), node)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        match node.targets:
            case [ast.Subscript(value=ast.Name() as name)] if name.id not in self.rebound:
                node.value = self.told(node, "put", [node.value, ast.Name(name.id, ast.Load())], None)
                ast.copy_location(node.value.args[1], name)  # type: ignore[attr-defined]
        return node

    # -- what is left as it is: annotations, decorators, patterns, functions that others compile

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return self.function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return self.function(node)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
        """A function, whose body is rewritten unless its decorator reads bytecode."""
        for decorator in node.decorator_list:
            why = compiled_by(decorator, self.compilers)
            if why:
                self.alone.append((node.name, why))
                return node
        node.body = [self.visit(line) for line in node.body]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        node.body = [self.visit(line) for line in node.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        node.value = node.value and self.visit(node.value)
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        node.guard = node.guard and self.visit(node.guard)
        node.body = [self.visit(line) for line in node.body]
        return node

    def visit_TypeAlias(self, node: ast.AST) -> ast.AST:
        return node


def _copy(count: int, number: int, how: str = "") -> ast.expr:
    """A mark for the value `number` of the `count` that lie on the stack.

    The minus sign keeps the compiler from folding it, and from warning that a string cannot be called.
    """
    return ast.UnaryOp(ast.USub(), ast.Constant(f"{COPY}{count}.{number}.{how}"))


def _at(node: ast.AST, made: ast.expr, skip: set[int]) -> ast.expr:
    """An expression that was made for a node, placed where the node is, but for parts that have a place."""
    waiting: list[ast.AST] = [made]
    while waiting:
        each = waiting.pop()
        if id(each) in skip or hasattr(each, "lineno"):
            continue
        if isinstance(each, (ast.expr, ast.keyword)):
            ast.copy_location(each, node)
        waiting += ast.iter_child_nodes(each)
    return made


def _loaded(target: ast.expr) -> ast.expr:
    """A target as an expression that reads it."""
    match target:
        case ast.Name(id=name):
            made: ast.expr = ast.Name(name, ast.Load())
        case ast.Attribute(value=value, attr=name):
            made = ast.Attribute(value, name, ast.Load())
        case ast.Subscript(value=value, slice=key):
            made = ast.Subscript(value, key, ast.Load())
        case _:
            raise TypeError(f"a {type(target).__name__} is no target")
    return ast.copy_location(made, target)
