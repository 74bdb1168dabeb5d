"""Loops over what is known, written out pass by pass: those of `for`, and comprehensions."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Any

from typelattice.programs.meanings import Meanings
from typelattice.programs.reading import ASKS, Read, Reading, Scope
from typelattice.programs.several import Several

MOST_PASSES = 1_000_000  # of all loops of a source together


class Loops(Meanings):
    """Reads loops into a draft, pass by pass."""

    passed = 0

    @abstractmethod
    def expression(self, node: ast.expr, scope: Scope) -> Reading | Read:
        """What an expression is."""

    def over(self, node: ast.AST, over: Read) -> Sequence[Any]:
        """What a loop runs over. Raises ProgramError of an array, and past MOST_PASSES."""
        if isinstance(over, (bool, int, float, complex)) or over is None:
            raise self.site(node).refuse("nothing to loop over; give a list, or range(n)")
        if not isinstance(over, (tuple, Mapping, str)):
            raise self.site(node).refuse(f"a loop over an array {ASKS}; use functions of whole arrays")
        self.passed += len(over)
        if self.passed > MOST_PASSES:
            raise self.site(node).refuse(f"more than {MOST_PASSES:,} passes of loops; take it apart")
        return tuple(over)

    def comprehended(
        self, items: Sequence[ast.expr], generators: Sequence[ast.comprehension], scope: Scope
    ) -> Reading:
        """What each pass of a comprehension gives: a value for each of `items`."""
        found: list[tuple[Read, ...]] = []
        yield self.passes(items, generators, ChainMap({}, scope), found)
        return found

    def passes(
        self,
        items: Sequence[ast.expr],
        generators: Sequence[ast.comprehension],
        scope: Scope,
        found: list[tuple[Read, ...]],
    ) -> Reading:
        """The passes of the first loop, with those of the loops within it; `found` takes what they give."""
        if not generators:
            values = []
            for item in items:
                values.append((yield self.expression(item, scope)))
            found.append(tuple(values))
            return
        loop, *within = generators
        for each in self.over(loop.iter, (yield self.expression(loop.iter, scope))):
            self.assign(loop.target, each, scope)
            taken = True
            for test in loop.ifs:
                taken = taken and self.truth(test, (yield self.expression(test, scope)))
            if taken:
                yield self.passes(items, within, scope, found)

    def assign(self, target: ast.expr, value: Read, scope: Scope) -> None:
        """Binds a name, or several names to as many values."""
        match target:
            case ast.Name(id=name):
                scope[name] = value
            case ast.Tuple(elts=names) | ast.List(elts=names) if (
                isinstance(value, tuple) and len(value) == len(names)
            ):
                for each, part in zip(names, value, strict=True):
                    self.assign(each, part, scope)
            case ast.Tuple(elts=names) | ast.List(elts=names) if (
                isinstance(value, Several) and value.count in (None, len(names))
            ):
                for i, each in enumerate(names):
                    self.assign(each, value[i], scope)
            case ast.Tuple() | ast.List():
                raise self.site(target).refuse("as many names as there are values; give each its own line")
            case _:
                raise self.site(target).refuse("an attribute that is set; give the value a name")
