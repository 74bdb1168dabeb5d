"""Lines of Python code as steps of a program; functions that they define are read where they are called."""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Any

from typelattice.facts.suggest import clipped, nearest
from typelattice.programs.draft import Draft
from typelattice.programs.expressions import Expressions
from typelattice.programs.meanings import OPERATORS
from typelattice.programs.reading import ASKS, WHERE, Dotted, Function, Read, Reading, Scope
from typelattice.programs.site import Site
from typelattice.programs.step import LONGEST, WRITES, Place, ProgramError

DEEPEST = 200  # calls of functions within one another
UNRETURNED: Any = object()  # what a block of lines gives that returns nothing
NAMELESS = "elements of what has no name; give it one first"
ELEMENTS: Mapping[type[ast.expr], str] = {
    ast.Subscript: "elements of elements; give all indices at once: x[i, j] = y",
    ast.Attribute: "elements of an attribute; write into the array itself",
}
REFUSED_LINES: Mapping[type[ast.stmt], str] = {
    ast.While: f"a loop that {ASKS}; write the passes out",
    ast.Try: "what depends on errors; write the lines without try",
    ast.ClassDef: "a class; write functions",
    ast.Raise: "an error that is raised whatever the arrays are; give other values",
    ast.Global: "a name of a module; give it as an argument",
    ast.Nonlocal: "a name of another function; give it as an argument",
    ast.Delete: "a name that goes; leave it",
    ast.Match: f"a choice that {ASKS}; {WHERE}",
    ast.AsyncFunctionDef: "a function to be awaited; define it without async",
}


class Lines(Expressions):
    """Source text that is read into a draft: its lines, and the names that are bound to operands."""

    def __init__(self, draft: Draft, text: str, file: str, bound: Mapping[str, object]) -> None:
        super().__init__(draft, self.site_of)
        self.text, self.file, self.bound = text, file, bound
        self.lines = [line.encode("utf-8", "surrogatepass") for line in text.split("\n")]
        self.several = len(self.lines) > 1 or file != ""
        self.calls = 0

    def site_of(self, node: ast.AST) -> Site:
        """The text of a node, and its place."""
        line: int = getattr(node, "lineno", 1)
        start: int = getattr(node, "col_offset", 0)
        end = getattr(node, "end_col_offset", start) if getattr(node, "end_lineno", line) == line else None
        most = start + 4 * LONGEST
        text = self.lines[line - 1][start : most if end is None else min(end, most)].decode(
            "utf-8", "replace"
        )
        place = Place(self.file or "<source>", line) if self.several else None
        return Site(f"{text} ..." if end is None else text, place)

    def unbound(self, node: ast.AST, name: str) -> ProgramError:
        names = [clipped(each, 40) for each in self.bound]
        name = clipped(name, 40)
        some = f"; bound are {', '.join(names)}" if names else ""
        return ProgramError(
            f"{name} is bound to nothing{nearest(name, names)}{some}: names need operands, e.g. {name}=int8"
        )

    # -- lines

    def block(self, lines: Sequence[ast.stmt], scope: Scope) -> Reading:
        """What lines return; UNRETURNED if nothing."""
        for line in lines:
            match line:
                case ast.Return(value=None):
                    return None
                case ast.Return(value=x) if x is not None:
                    return self.argument(x, (yield self.expression(x, scope)))
                case ast.If(test=test, body=body, orelse=other):
                    chosen = body if self.truth(test, (yield self.expression(test, scope))) else other
                    found = yield self.block(chosen, scope)
                case ast.For(target=target, iter=over, body=body, orelse=[]):
                    found = yield self.loop(line, target, (yield self.expression(over, scope)), body, scope)
                case ast.With(body=body):
                    found = yield self.block(body, scope)
                case _:
                    yield self.line(line, scope)
                    found = UNRETURNED
            if found is not UNRETURNED:
                return found
        return UNRETURNED

    def loop(
        self, line: ast.For, target: ast.expr, over: Read, body: Sequence[ast.stmt], scope: Scope
    ) -> Reading:
        """The passes of a loop over what is known."""
        for each in self.over(line, over):
            self.assign(target, each, scope)
            found = yield self.block(body, scope)
            if found is not UNRETURNED:
                return found
        return UNRETURNED

    def line(self, line: ast.stmt, scope: Scope) -> Reading:
        """A line that returns nothing."""
        match line:
            case ast.Expr(value=x):
                yield self.expression(x, scope)
            case ast.Assign(targets=targets, value=x):
                value = yield self.expression(x, scope)
                for target in targets:
                    yield self.assigned(target, value, scope)
            case ast.AnnAssign(target=target, value=x) if x is not None:
                yield self.assigned(target, (yield self.expression(x, scope)), scope)
            case ast.AugAssign(target=target, op=op, value=x):
                yield self.in_place(
                    line, target, OPERATORS[type(op)], (yield self.expression(x, scope)), scope
                )
            case ast.Import(names=names):
                for alias in names:
                    root = alias.name.partition(".")[0]
                    scope[alias.asname or root] = Dotted((root,))
            case ast.ImportFrom(module=module, names=names):
                for alias in names:
                    scope[alias.asname or alias.name] = Dotted(((module or "").partition(".")[0], alias.name))
            case ast.FunctionDef(name=name):
                scope[name] = Function(line, scope)
            case ast.Pass() | ast.Assert() | ast.AnnAssign():
                return
            case _:
                why = REFUSED_LINES.get(
                    type(line), "nothing that a program is made of; write assignments and return"
                )
                raise self.site(line).refuse(f"it is {why}")

    def assigned(self, target: ast.expr, value: Read, scope: Scope) -> Reading | None:
        """An assignment to a name, to several, or to elements of an array."""
        if isinstance(target, ast.Subscript):
            return self.put(target, value, scope)
        self.assign(target, value, scope)
        return None

    def put(self, target: ast.Subscript, value: Read, scope: Scope) -> Reading:
        """An assignment to elements of an array."""
        if not isinstance(target.value, ast.Name):
            raise self.site(target).refuse(ELEMENTS.get(type(target.value), NAMELESS))
        of = yield self.expression(target.value, scope)
        if isinstance(of, (Mapping, tuple)):
            raise self.site(target).refuse("a list or a dictionary that changes; write it out at once")
        x = self.argument(target, of)
        key = self.argument(target, self.plain((yield self.expression(target.slice, scope))))
        given = self.argument(target, value)
        scope[target.value.id] = self.draft.put(self.site(target), x, key, given)

    def in_place(
        self, line: ast.stmt, target: ast.expr, name: str, value: Read, scope: Scope
    ) -> Reading:
        """`x += y`, and `x[i] += y`, which computes with elements of x and puts them back."""
        if isinstance(target, ast.Attribute):
            raise self.site(line).refuse("an attribute that is set; give the value a name")
        x = yield self.expression(target, scope)
        y = self.argument(line, value)
        if isinstance(target, ast.Name):
            site, left = self.site(line), self.argument(line, x)
            plain = isinstance(left, tuple) or name not in WRITES.values()
            made = self.operated(line, name, [left, y]) if plain else self.draft.in_place(site, name, left, y)
            scope[target.id] = made
        else:
            yield self.assigned(target, self.operated(line, name, [x, y]), scope)

    # -- functions

    def inlined(
        self, function: Function, node: ast.Call, args: Sequence[Read], named: Mapping[str, Read]
    ) -> Reading:
        """What a call of a function that the source defines gives: its lines, read with its arguments."""
        if self.calls >= DEEPEST:
            raise self.site(node).refuse(f"more than {DEEPEST} calls within one another; write a loop out")
        known = parameters(function.node)
        given: dict[str, Any] = dict(zip(known, args, strict=False))
        if function.node.args.vararg or function.node.args.kwarg:
            raise self.site(node).refuse(f"{function.name} has parameters with a star; name each")
        if len(given) < len(args) or {*named} - {*known}:
            raise self.site(node).refuse(f"{function.name} takes {', '.join(known) or 'nothing'}; give those")
        given |= {**(yield self.defaults(function)), **given, **named}
        missing = [name for name in known if name not in given]
        if missing:
            raise self.site(node).refuse(f"{function.name} needs {missing[0]}; give it")
        self.calls += 1
        found = yield self.block(function.lines, ChainMap(given, function.scope))
        self.calls -= 1
        return None if found is UNRETURNED else found

    def defaults(self, function: Function) -> Reading:
        """The default values of a function's parameters, by name."""
        args = function.node.args
        names = [a.arg for a in (*args.posonlyargs, *args.args)]
        found: dict[str, Any] = {}
        pairs = [*zip(names[len(names) - len(args.defaults) :], args.defaults, strict=True)]
        pairs += [(a.arg, x) for a, x in zip(args.kwonlyargs, args.kw_defaults, strict=True) if x is not None]
        for name, x in pairs:
            found[name] = yield self.expression(x, function.scope)
        return found


def parameters(node: ast.FunctionDef | ast.Lambda) -> list[str]:
    """The names of a function's parameters."""
    return [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
