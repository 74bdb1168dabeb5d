"""Expressions of Python code, which is parsed and never evaluated, as steps of a program."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any

from typelattice.facts.suggest import short
from typelattice.operands.notation import WIDEST
from typelattice.programs.dtype_questions import CLASSES, QUESTIONS, question
from typelattice.programs.functions import call_function
from typelattice.programs.makers import MAKERS, cast_to
from typelattice.programs.meanings import OPERATORS, Meanings
from typelattice.programs.methods import METHODS, call_method
from typelattice.programs.names import meaning
from typelattice.programs.python_functions import OF_PYTHON, UNKNOWN, of_math, of_python
from typelattice.programs.reading import Dotted, Function, Method, Read, Reading
from typelattice.programs.site import Site
from typelattice.programs.step import Argument, DTypeOf, NamedDType, ProgramError, Ref, Slice

REFUSED: Mapping[type[ast.AST], str] = {
    ast.Lambda: "a function without a name; define it with def",
    ast.ListComp: "a list made in a loop; write the list out, or use functions of whole arrays",
    ast.GeneratorExp: "values made in a loop; write them out, or use functions of whole arrays",
    ast.SetComp: "a set made in a loop; use functions of whole arrays",
    ast.DictComp: "a dictionary; give its values names",
    ast.Dict: "a dictionary; give its values names",
    ast.Set: "a set; write a list",
    ast.Starred: "arguments with a star, of which nobody knows how many there are; write them out",
    ast.Await: "await; call the function without it",
    ast.Yield: "yield; return the result",
    ast.NamedExpr: "a name given within an expression; give it on a line before",
}
NAMESPACES = ("__array_namespace__", "array_namespace", "get_namespace")  # what gives one of an array


class Expressions(Meanings):
    """Reads expressions into a draft; names mean what the scope says."""

    def inlined(
        self, function: Function, node: ast.Call, args: Sequence[Read], named: Mapping[str, Read]
    ) -> Reading:
        """What a call of a function that the source defines gives."""
        raise NotImplementedError

    def expression(self, node: ast.expr, scope: dict[str, Any]) -> Reading | Read:
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

    def compound(self, node: ast.expr, scope: dict[str, Any]) -> Reading:
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
            case ast.Compare():
                raise self.site(node).refuse(
                    "Python asks arrays one by one there; compare two, and join with & or |"
                )
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
                found = []
                for item in items:
                    found.append(self.argument(item, (yield self.expression(item, scope))))
                return tuple(found)
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
            case ast.JoinedStr():
                return ""
        raise self.refused(node)

    def refused(self, node: ast.expr) -> ProgramError:
        """The error of what no program is made of."""
        why = REFUSED.get(
            type(node), "nothing that promotion knows of; give operators, functions of arrays and numbers"
        )
        return self.site(node).refuse(f"it is {why}")

    # -- calls

    def called(self, node: ast.Call, scope: dict[str, Any]) -> Reading:
        """What a call gives."""
        owner: str | None = None
        if isinstance(node.func, ast.Attribute):
            of = yield self.expression(node.func.value, scope)
            owner = of.owner if isinstance(of, Dotted) else None
            function = self.method(node.func, of, node.func.attr)
        else:
            function = yield self.expression(node.func, scope)
        args: list[Read] = []
        for each in node.args:
            args.append((yield self.expression(each, scope)))
        named: dict[str, Read] = {}
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg in named:
                why = "a name is given twice; give it once" if keyword.arg else REFUSED[ast.Starred]
                raise self.site(node).refuse(why)
            named[keyword.arg] = yield self.expression(keyword.value, scope)
        if isinstance(function, Function):
            return (yield self.inlined(function, node, args, named))
        if isinstance(function, DTypeOf) and len(args) == 1:
            return cast_to(self.draft, self.site(node), self.argument(node, args[0]), function)
        if isinstance(function, Method):
            return self.called_method(node, function, args, named)
        name, owner = self.function_name(node, function, owner)
        return self.named_function(node, name, owner, args, named)

    def method(self, node: ast.Attribute, of: Read, name: str) -> Read:
        """What is called by `of.name(...)`: a method of an array, or a function."""
        if isinstance(of, Ref):
            return Method(of, name)
        return self.attribute(node, of, name) if isinstance(of, (Dotted, DTypeOf, NamedDType)) else None

    def called_method(
        self, node: ast.Call, method: Method, args: Sequence[Read], named: Mapping[str, Read]
    ) -> Read:
        """What a method of an array gives."""
        if method.name in NAMESPACES:
            return Dotted((method.name,))
        if method.name in QUESTIONS:
            return question(self.draft, self.site(node), method.name, [method.of])
        taken, said = self.arguments(node, method.name, [method.of, *args], named)
        owner = self.draft.steps[method.of.step].owner
        site = self.site(node)
        return call_method(
            self.draft, Site(site.text, site.place, owner), method.name, method.of, taken[1:], said
        )

    def function_name(self, node: ast.Call, function: Read, owner: str | None) -> tuple[str, str | None]:
        """What a function is called, and the library that it belongs to."""
        match function:
            case Dotted(path=path) if len(path) <= 3:
                return path[-1] if path[0] != "math" else f"math.{path[-1]}", owner or function.owner
            case NamedDType(name=name):
                return name, owner
        shown = (
            short(ast.unparse(node.func)[:60]) if isinstance(node.func, (ast.Name, ast.Attribute)) else "it"
        )
        raise self.site(node).refuse(
            f"{shown} is no function of the array API standard; define it in the source"
        )

    def named_function(
        self, node: ast.Call, name: str, owner: str | None, args: list[Read], named: dict[str, Read]
    ) -> Read:
        """What a function of a library's, a method, or one of Python's own gives."""
        site = self.site(node)
        known = [self.plain(x) for x in args]
        if name in OF_PYTHON and isinstance(node.func, ast.Name) and not named:
            found: Read = of_python(self.draft, site, name, known)
            if found is not UNKNOWN:
                return found
        if name.startswith("math."):
            return of_math(self.draft, site, name.removeprefix("math."), args, known)
        if name in QUESTIONS:
            asked = self.asked(node, args, named)
            return question(self.draft, Site(site.text, site.place, owner), name, asked)
        if name in NAMESPACES:
            return Dotted((name,))
        taken, said = self.arguments(node, name, args, named)
        return call_function(self.draft, Site(site.text, site.place, owner), name, taken, said)

    def asked(self, node: ast.Call, args: Sequence[Read], named: Mapping[str, Read]) -> list[Argument]:
        """The arguments of a question about dtypes, in which NumPy's classes of scalars are kinds."""
        given = [*args, *named.values()]
        return [
            CLASSES[x.path[-1]]
            if isinstance(x, Dotted) and x.path[-1] in CLASSES
            else self.argument(node, _named_dtype(x))
            for x in given
        ]

    def arguments(
        self, node: ast.Call, name: str, args: Sequence[Read], named: Mapping[str, Read]
    ) -> tuple[list[Argument], dict[str, Argument]]:
        """The arguments of a call as steps take them: a name that is bound to nothing may be a dtype's."""
        taken = [
            self.argument(node, _named_dtype(x) if self.may_be_dtype(name, i) else x)
            for i, x in enumerate(args)
        ]
        said = {
            key: self.argument(node, _named_dtype(x) if key == "dtype" else x) for key, x in named.items()
        }
        return taken, said

    def may_be_dtype(self, name: str, i: int) -> bool:
        """Whether an argument of a function may name a dtype: that of a cast, or of what makes arrays."""
        if name in ("result_type", "promote_types", "dtype"):
            return True
        return i > 0 and (name in MAKERS or name in METHODS or meaning("function", name, None) is not None)


def _named_dtype(x: Read) -> Read:
    """A name that is bound to nothing as that of a dtype, which a system's own file may define."""
    return NamedDType(x.path[-1]) if isinstance(x, Dotted) else x
