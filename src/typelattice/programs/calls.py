"""Calls in Python code: of a library's functions, of methods, of Python's own, of those that it defines."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from typelattice.facts.operations import operation
from typelattice.facts.suggest import short
from typelattice.programs.dictionaries import of_dictionary
from typelattice.programs.dtype_questions import CLASSES, QUESTIONS, question
from typelattice.programs.functions import call_function
from typelattice.programs.loops import Loops
from typelattice.programs.makers import MAKERS, cast_to
from typelattice.programs.methods import METHODS, call_method
from typelattice.programs.names import meaning
from typelattice.programs.python_functions import OF_PYTHON, UNKNOWN, of_math, of_python
from typelattice.programs.reading import Dotted, Elements, Function, Method, Read, Reading, Scope
from typelattice.programs.site import Site
from typelattice.programs.step import Argument, DTypeOf, NamedDType, ProgramError, Ref
from typelattice.programs.ufuncs import is_ufunc_method, ufunc_method

REFUSED: Mapping[type[ast.AST], str] = {
    ast.SetComp: "a set made in a loop; use functions of whole arrays",
    ast.Set: "a set; write a list",
    ast.Starred: "arguments with a star, of which nobody knows how many there are; write them out",
    ast.Await: "await; call the function without it",
    ast.Yield: "yield; return the result",
    ast.NamedExpr: "a name given within an expression; give it on a line before",
}
WRITING = {  # what `x.at[key]` computes with elements, by its method
    "add": "add",
    "multiply": "multiply",
    "mul": "multiply",
    "divide": "divide",
    "power": "pow",
    "min": "minimum",
    "max": "maximum",
}
NAMESPACES = ("__array_namespace__", "array_namespace", "get_namespace")  # what gives one of an array


class Calls(Loops):
    """Reads calls into a draft."""

    @abstractmethod
    def inlined(
        self, function: Function, node: ast.Call, args: Sequence[Read], named: Mapping[str, Read]
    ) -> Reading:
        """What a call of a function that the source defines gives."""

    def refused(self, node: ast.expr) -> ProgramError:
        """The error of what no program is made of."""
        why = REFUSED.get(
            type(node), "nothing that promotion knows of; give operators, functions of arrays and numbers"
        )
        return self.site(node).refuse(f"it is {why}")

    def called(self, node: ast.Call, scope: Scope) -> Reading:
        """What a call gives."""
        owner: str | None = None
        if isinstance(node.func, ast.Attribute):
            of = yield self.expression(node.func.value, scope)
            owner = of.owner if isinstance(of, Dotted) else None
            if isinstance(of, Mapping):
                return (yield self.looked_up(node, of, node.func.attr, scope))
            if isinstance(of, Elements):
                args = yield self.items(node.args, scope)
                return self.written(node, of, node.func.attr, [self.argument(node, x) for x in args])
            function = self.method(node.func, of, node.func.attr)
        else:
            function = yield self.expression(node.func, scope)
        args = yield self.items(node.args, scope)
        named = yield self.keywords(node, scope)
        if isinstance(function, Function):
            return (yield self.inlined(function, node, args, named))
        if isinstance(function, DTypeOf) and len(args) == 1:
            return cast_to(self.draft, self.site(node), self.argument(node, args[0]), function)
        if isinstance(function, Method):
            return self.called_method(node, function, args, named)
        if isinstance(function, Dotted) and is_ufunc_method(function.path):
            taken, said = self.arguments(node, "", args, named)
            *_, ufunc, method = function.path
            site = Site(self.site(node).text, self.site(node).place, owner)
            return ufunc_method(self.draft, site, ufunc, method, taken, said)
        name, owner = self.function_name(node, function, owner)
        return self.named_function(node, name, owner, args, named)

    def items(self, nodes: Sequence[ast.expr], scope: Scope) -> Reading:
        """What expressions in a row give; one with a star, before a list that is known, gives its items."""
        found: list[Read] = []
        for each in nodes:
            if not isinstance(each, ast.Starred):
                found.append((yield self.expression(each, scope)))
                continue
            items = yield self.expression(each.value, scope)
            if not isinstance(items, tuple):
                raise self.refused(each)
            found.extend(items)
        return found

    def keywords(self, node: ast.Call, scope: Scope) -> Reading:
        """The arguments of a call by name; those of a known dictionary with two stars are its items."""
        found: dict[str, Read] = {}
        for keyword in node.keywords:
            value = yield self.expression(keyword.value, scope)
            given = {keyword.arg: value} if keyword.arg else value
            if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
                raise self.site(node).refuse(REFUSED[ast.Starred])
            if {*found} & {*given}:
                raise self.site(node).refuse("a name is given twice; give it once")
            found |= given
        return found

    def looked_up(
        self, node: ast.Call, of: Mapping[Any, Read], method: str, scope: Scope
    ) -> Reading:
        """What a method of a dictionary gives."""
        args = yield self.items(node.args, scope)
        return of_dictionary(self.site(node), of, method, [self.plain(x) for x in args])

    def written(self, node: ast.Call, to: Elements, method: str, args: Sequence[Argument]) -> Ref:
        """The array that `x.at[key].set(y)` gives: with other elements, of its own dtype."""
        site = self.site(node)
        if method not in ("set", *WRITING) or len(args) != 1:
            raise site.refuse(f"elements are written by set, {', '.join(WRITING)}, of one value")
        if method == "set":
            return self.draft.put(site, to.of, to.key, args[0])
        elements = self.draft.index(site, to.of, to.key)
        made = self.draft.call(site, operation(WRITING[method]), [elements, args[0]])
        return self.draft.put(site, to.of, to.key, made)

    def method(self, node: ast.Attribute, of: Read, name: str) -> Read:
        """What is called by `of.name(...)`: a method of an array, or a function."""
        if isinstance(of, Ref):
            return Method(of, name)
        if isinstance(of, tuple):
            raise self.site(node).refuse("a list that changes; write it out at once: [f(x) for x in (a, b)]")
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
        if name in ("filter", "map"):
            raise site.refuse(f"a loop within {name}; write it out: [f(x) for x in (a, b)]")
        if name.startswith("math."):
            return of_math(self.draft, site, name.removeprefix("math."), args, known)
        if name == "at" and args and isinstance(args[0], Ref):  # array-api-extra's
            of = args[0]
            return Elements(of, self.argument(node, known[1])) if len(args) > 1 else Method(of, name)
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
