"""The parts of the keys by which a witness knows again what it saw: one for each operand and function."""

from __future__ import annotations

import builtins
from collections.abc import Hashable, Iterable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from typelattice.operands.operand import SCALARS
from typelattice.tracing.kinds import ARRAY, ITEMS, LONG, NUMBER, TEXT, VALUE
from typelattice.tracing.links import Part
from typelattice.tracing.rewriting import Spot

SCALAR_TYPES = frozenset(SCALARS)
SMALL = range(-5, 257)  # the ints of which Python has one object each


class Keys:
    """Makes the parts of keys, for the operation at `spot` in the source `file`."""

    __slots__ = ("arguments", "file", "function", "kinds", "links", "live", "recorder", "spot", "who")

    def __init__(self, recorder: Any, file: str, spot: Spot) -> None:
        self.recorder, self.file, self.spot = recorder, file, spot
        self.kinds, self.arguments = recorder.kinds, recorder.arguments
        self.links, self.live = recorder.links, recorder.links.live
        self.function: Any = None  # that was called last, and what stands for it
        self.who: Hashable = None

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

    def tokens(self, given: Iterable[Any], position: int = 0, deep: int = 0) -> tuple[Hashable, ...]:
        """What stands for the arguments of a call in a key; or for the items of the one at a position."""
        live = self.live
        made: list[Hashable] = []
        for x in given:
            found = live.get(id(x))
            made.append(
                found[1]
                if found is not None and found[0]() is x
                else self.token(x, position or len(made) + 1, deep)
            )
        return tuple(made)

    def token(self, x: Any, position: int, deep: int = 0) -> Any:
        """What stands for an argument that no step made, in a key."""
        cls = type(x)
        how = self.arguments[cls]
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
        if how is ITEMS:
            if len(x) > LONG or deep > 2:
                return cls, frozenset(map(type, x))
            return cls, *self.tokens(x, position, deep + 1)
        if cls is dict and self.spot.keywords and self.spot.keywords[-1] is None:
            named = [*x.items()][:LONG]
            return cls, *[(key, *self.tokens((value,), position, 1)) for key, value in named]
        return cls.__name__

    def index(self, key: Any) -> Hashable:
        """The arrays of an index, which are parts of the step."""
        if type(key) is not tuple:
            return self.part(key, 1) if self.kinds[type(key)] is not None else ()
        found: tuple[Hashable, ...] = ()
        for x in key:
            if self.kinds[type(x)] is not None:
                found = *found, self.part(x, 1)
        return found

    def callee(self, function: Any) -> Any:
        """What stands for a function in a key; None for one whose result is no new array."""
        cls = type(function)
        if cls is BuiltinFunctionType:
            owner = function.__self__
            found = self.live.get(id(owner))
            if found is not None and found[0]() is owner and type(found[1]) is Part:
                return self.spot.name or function.__name__, found[1]
        if cls is FunctionType:
            self.function, self.who = function, (function.__module__, function.__qualname__)
            return self.who
        if cls is MethodType or cls is BuiltinFunctionType:
            owner = function.__self__
            if self.kinds[type(owner)] is not None:
                return function.__name__, self.part(owner, 0)
            if cls is MethodType:
                inner = function.__func__
                return (inner.__module__, inner.__qualname__) if type(inner) is FunctionType else None
            if owner is None or type(owner) is ModuleType:
                if owner is builtins and function is not abs:
                    return None
                self.function = self.who = function
                return function
            return (function.__name__, owner) if self.recorder.is_function[type(owner)] else None
        if isinstance(function, type) or self.recorder.is_function[cls]:
            owner = getattr(function, "__self__", None)
            if self.kinds[type(owner)] is not None:
                return function.__name__, self.part(owner, 0)
            if cls.__hash__ is None:
                return None
            self.function = self.who = function
            return function
        return None


def bounds(x: Any) -> Any:
    """The bounds of a slice, which can be part of a key; anything else as it is."""
    return (slice, x.start, x.stop, x.step) if type(x) is slice else x
