"""Expressions of Python code, which is parsed and never evaluated, as steps of a program."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any

from typelattice.operands.notation import WIDEST
from typelattice.programs.calls import Calls
from typelattice.programs.dictionaries import key_of
from typelattice.programs.meanings import OPERATORS
from typelattice.programs.reading import Function, Read, Reading, Scope
from typelattice.programs.step import Slice


class Expressions(Calls):
    """Reads expressions into a draft; names mean what the scope says."""

    def expression(self, node: ast.expr, scope: Scope) -> Reading | Read:
        """What an expression is: a name or a constant at once, else as a reading of its parts.

        Raises ProgramError at its place.
        """
        if isinstance(node, ast.Name):
            return self.name(node, node.id, scope)
        return self.constant(node) if isinstance(node, ast.Constant) else self.compound(node, scope)

    def constant(self, node: ast.Constant) -> Read:
        """The value that is written out. Raises ProgramError of one that no dtype holds, and of bytes."""
        match node.value:
            case int() as value if value.bit_length() > WIDEST:
                raise self.site(node).refuse(f"a number of more than {WIDEST:,} bits; no dtype holds it")
            case int() | float() | complex() | str() | None | EllipsisType() as value:
                return value
        raise self.refused(node)

    def compound(self, node: ast.expr, scope: Scope) -> Reading:
        """What an expression of several parts is. Raises ProgramError at its place."""
        match node:
            case ast.BinOp(left=a, right=b, op=op):
                return self.operated(
                    node,
                    OPERATORS[type(op)],
                    [(yield self.expression(a, scope)), (yield self.expression(b, scope))],
                )
            case ast.UnaryOp(op=ast.Not(), operand=x):
                given = yield self.expression(x, scope)
                return not self.truth(node, given, "join with & or |, negate with ~")
            case ast.UnaryOp(op=op, operand=x):
                return self.operated(node, OPERATORS[type(op)], [(yield self.expression(x, scope))])
            case ast.Compare(left=a, comparators=[b], ops=[op]):
                left = yield self.expression(a, scope)
                return self.compared(node, op, left, (yield self.expression(b, scope)))
            case ast.Compare(left=a, comparators=others, ops=ops):
                return (yield self.chained(node, [a, *others], ops, scope))
            case ast.BoolOp(op=op, values=values):
                last: Any = None
                for each in values:
                    last = yield self.expression(each, scope)
                    if self.truth(node, last, "join with & or |") is isinstance(op, ast.Or):
                        break
                return last
            case ast.IfExp(test=test, body=body, orelse=other):
                chosen = body if self.truth(node, (yield self.expression(test, scope))) else other
                return (yield self.expression(chosen, scope))
            case ast.Tuple(elts=items) | ast.List(elts=items):
                found = yield self.items(items, scope)
                return tuple(self.argument(node, x) for x in found)
            case ast.Slice(lower=start, upper=stop, step=step):
                bounds = []
                for bound in (start, stop, step):
                    bounds.append(
                        None if bound is None else self.plain((yield self.expression(bound, scope)))
                    )
                return Slice(*bounds)
            case ast.Attribute(value=x, attr=attribute):
                return self.attribute(node, (yield self.expression(x, scope)), attribute)
            case ast.Subscript(value=x, slice=key):
                of = yield self.expression(x, scope)
                return self.subscript(node, of, (yield self.expression(key, scope)))
            case ast.Call():
                return (yield self.called(node, scope))
            case ast.ListComp(elt=item, generators=loops) | ast.GeneratorExp(elt=item, generators=loops):
                values = yield self.comprehended([item], loops, scope)
                return tuple(self.argument(item, value) for (value,) in values)
            case ast.DictComp(key=key, value=value, generators=loops):
                pairs = yield self.comprehended([key, value], loops, scope)
                return {key_of(self.site(key), self.plain(k)): v for k, v in pairs}
            case ast.Dict():
                return (yield self.dictionary(node, scope))
            case ast.Lambda():
                return Function(node, scope)
            case ast.JoinedStr(values=values):
                return (yield self.text_of(values, scope))
        raise self.refused(node)

    def chained(
        self, node: ast.Compare, parts: Sequence[ast.expr], ops: Sequence[ast.cmpop], scope: Scope
    ) -> Reading:
        """`a < x < b`: Python asks whether `a < x` is true, and only then compares x with b."""
        left = yield self.expression(parts[0], scope)
        found: Read = True
        for op, part in zip(ops, parts[1:], strict=True):
            right = yield self.expression(part, scope)
            if not self.truth(node, found, "compare two, and join with &: (a < x) & (x < b)"):
                return found
            found, left = self.compared(node, op, left, right), right
        return found

    def dictionary(self, node: ast.Dict, scope: Scope) -> Reading:
        """A dictionary that is written out, others within it with two stars."""
        found: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            read = yield self.expression(value, scope)
            if key is not None:
                found[key_of(self.site(key), self.plain((yield self.expression(key, scope))))] = read
            elif isinstance(read, Mapping):
                found |= read
            else:
                raise self.site(node).refuse("two stars before what is no dictionary; write its keys out")
        return found

    def text_of(self, parts: Sequence[ast.expr], scope: Scope) -> Reading:
        """A text with values in it; of one whose value is not known there is nothing in it."""
        found = ""
        for part in parts:
            within = part.value if isinstance(part, ast.FormattedValue) else part
            value = self.plain((yield self.expression(within, scope)))
            found += str(value) if isinstance(value, (str, bool, int, float, complex)) else ""
        return found
