"""The parts of the keys by which a witness knows again what it saw: one for each operand and function."""

from __future__ import annotations

import builtins
from collections.abc import Hashable, Iterable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from typelattice.engine.guests import INDICES
from typelattice.facts.libraries import library_of
from typelattice.operands.operand import SCALARS
from typelattice.tracing.fields import Fields
from typelattice.tracing.kinds import ARRAY, ITEMS, LONG, NUMBER, TEXT, VALUE

SCALAR_TYPES = frozenset(SCALARS)
UNDESCRIBED = "undescribed"  # stands for the module of functions that no operation is: of Python, of objects
SMALL = range(-5, 257)  # the ints of which Python has one object each


class Keys(Fields):
    """Makes the parts of keys."""

    __slots__ = ()

    def part(self, x: Any, position: int) -> Any:
        """The step that made an operand; of a Python number its class and value; of a list its class and what
        stands for its items; None of anything else.
        """
        found = self.live.get(id(x))
        return found[1] if found is not None and found[0]() is x else self.unlinked(x, position)

    def unlinked(self, x: Any, position: int) -> Any:
        """The same of an operand that no step is known to have made."""
        kind = self.kinds[type(x)]
        if kind is None:
            if type(x) in SCALAR_TYPES:
                return type(x), x
            return self.token(x, position) if type(x) is list or type(x) is tuple else None
        if not kind.weak:
            found = self.links.kept.get(id(x))
            if found is not None and found[0] is x:
                return found[1]
        return self.recorder.input(self, x, kind, position)

    def tokens(self, given: Iterable[Any]) -> tuple[Hashable, ...]:
        """What stands for the arguments of a call in a key."""
        live = self.live
        made: list[Hashable] = []
        for position, x in enumerate(given, 1):
            found = live.get(id(x))
            known = found is not None and found[0]() is x
            made.append(found[1] if known else self.token(x, position))
        return tuple(made)

    def token(self, x: Any, position: int, deep: int = 0) -> Any:
        """What stands for an argument that no step made, in a key."""
        cls = type(x)
        how = self.arguments[cls]
        if how is ITEMS:
            if len(x) > LONG or deep > 2:
                return cls, frozenset(map(type, x))
            made = [cls]
            for each in x:
                found = self.live.get(id(each))
                known = found is not None and found[0]() is each
                made.append(found[1] if known else self.token(each, position, deep + 1))
            return tuple(made)
        if how is VALUE:
            self.links.constant(x, x)
            return x
        if how is TEXT:
            return x
        if how is NUMBER:
            if cls is int and x in SMALL:
                self.links.constant(x, (cls, x))
            return cls, x
        if how is ARRAY:
            return self.unlinked(x, position)
        if cls is dict and self.keywords and self.keywords[-1] is None:
            named = [*x.items()][:LONG]
            return cls, *[(key, self.token((value,), position)) for key, value in named]
        return cls.__name__

    def index(self, key: Any) -> Hashable:
        """The arrays of an index, which are parts of the step, and how lists stand in it."""
        if type(key) is not tuple:
            if type(key) is list:
                return INDICES[:1]
            return self.part(key, 1) if self.kinds[type(key)] is not None else ()
        found: tuple[Hashable, ...] = ()
        for x in key:
            if self.kinds[type(x)] is not None:
                found = *found, self.part(x, 1)
            elif type(x) is list:
                found = *found, INDICES[1]
        return found

    def callee(self, function: Any) -> Any:
        """What stands for a function in a key."""
        cls = type(function)
        if cls is FunctionType:
            return function.__module__, function.__qualname__
        if cls is MethodType or cls is BuiltinFunctionType:
            owner = function.__self__
            if self.kinds[type(owner)] is not None:
                return self.name or function.__name__, self.part(owner, 0)
            if cls is MethodType:
                inner = function.__func__
                if type(inner) is FunctionType:
                    return inner.__module__, inner.__qualname__
                return UNDESCRIBED, self.name or type(inner).__name__
            if owner is builtins and function is not abs:
                return UNDESCRIBED, function.__name__
            if owner is None or type(owner) is ModuleType:
                self.function = self.who = function
                return function
            known = self.recorder.is_function[type(owner)]
            return (function.__name__, owner) if known else (UNDESCRIBED, function.__name__)
        if isinstance(function, type) or self.recorder.is_function[cls]:
            owner = getattr(function, "__self__", None)
            if self.kinds[type(owner)] is not None:
                return function.__name__, self.part(owner, 0)
            if cls.__hash__ is not None:
                self.function = self.who = function
                return function
        return UNDESCRIBED, self.name or cls.__name__

    def is_of_library(self, function: Any) -> bool:
        """Whether a function is a library's; of objects of the program nothing is asked."""
        cls = type(function)
        if cls is FunctionType or cls is BuiltinFunctionType:
            return library_of((function.__module__ or "").partition(".")[0]) is not None
        known: bool = self.recorder.is_function[cls]
        return known


def described(who: Any) -> bool:
    """Whether what stands for a function is that of one that may be an operation."""
    return type(who) is not tuple or who[0] != UNDESCRIBED


def bounds(x: Any) -> Any:
    """The bounds of a slice, which can be part of a key; anything else as it is."""
    return (slice, x.start, x.stop, x.step) if type(x) is slice else x
