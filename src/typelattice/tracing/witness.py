"""A witness: it stands at one operation of a program, is told of each time it runs, and counts what it saw.

This is what a traced program runs most. Where the same was seen before, a witness looks up the operands'
steps, counts, and links the result to its step; everything else is the recorder's.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Hashable, Iterable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import ref

from typelattice.operands.operand import SCALARS
from typelattice.tracing.alike import written
from typelattice.tracing.kinds import ARRAY, ITEMS, LONG, NUMBER, TEXT, VALUE, items
from typelattice.tracing.links import MANY, Part
from typelattice.tracing.rewriting import Spot
from typelattice.tracing.silent import silent

SCALAR_TYPES = frozenset(SCALARS)
SMALL = range(-5, 257)  # the ints of which Python has one object each
OF_PYTHON = builtins
OF_PROGRAMS = (FunctionType, MethodType)  # the classes of functions whose source may be followed


class Witness:
    """What stands at one operation: `spot` says where, `file` in which source, `known` what it saw before.

    A key of `known` is made of the steps of the operands and of the mark of the result.
    """

    __slots__ = (
        "arguments", "file", "function", "kinds", "known", "links", "live", "many", "recorder", "spot", "who",
    )  # fmt: skip

    def __init__(self, recorder: Any, file: str, spot: Spot) -> None:
        self.recorder, self.file, self.spot = recorder, file, spot
        self.kinds, self.arguments, self.many = recorder.kinds, recorder.arguments, recorder.is_many
        self.links, self.live = recorder.links, recorder.links.live
        self.known: dict[Hashable, Any] = {}
        self.function: Any = None  # that was called last, and what stands for it
        self.who: Hashable = None

    def __reduce__(self) -> tuple[Callable[[], Any], tuple[()]]:
        return silent, ()  # a function that is pickled by value is not followed where it is unpickled

    # -- what the rewritten program calls

    def binary(self, a: Any, b: Any, result: Any) -> Any:
        """An operator of two operands."""
        kind = self.kinds[type(result)]
        if kind is None:
            return result
        live = self.live
        found = live.get(id(a))
        left = found[1] if found is not None and found[0]() is a else self.unlinked(a, 0)
        found = live.get(id(b))
        right = found[1] if found is not None and found[0]() is b else self.unlinked(b, 1)
        key = left, right, kind.mark(result)
        note = self.known.get(key) or self.recorder.operator(self, key, result)
        if note is not None:
            size = kind.size(result)
            note.count += 1
            note.bytes += size
            if kind.direct and len(live) < MANY:
                live[id(result)] = ref(result), note.number
            else:
                self.recorder.link(result, kind, note.number)
        return result

    def unary(self, a: Any, result: Any) -> Any:
        """An operator of one operand."""
        kind = self.kinds[type(result)]
        if kind is not None:
            key = self.part(a, 0), kind.mark(result)
            note = self.known.get(key) or self.recorder.operator(self, key, result)
            self.link(note, kind, result)
        return result

    def in_place(self, a: Any, b: Any, result: Any) -> Any:
        """An operator such as `+=`, which may write into its left operand."""
        kind = self.kinds[type(result)]
        if kind is not None:
            key = self.part(a, 0), self.part(b, 1), kind.mark(result), result is a
            note = self.known.get(key) or self.recorder.in_place(self, key, result)
            self.link(note, kind, result)
        return result

    def item(self, a: Any, index: Any, result: Any) -> Any:
        """Elements of an array."""
        kind = self.kinds[type(result)]
        if kind is not None and self.kinds[type(a)] is not None:
            arrays = () if type(index) is int or type(index) is slice else self.index(index)
            key = self.part(a, 0), kind.mark(result), arrays
            note = self.known.get(key) or self.recorder.item(self, key, result)
            self.link(note, kind, result)
        return result

    def attribute(self, a: Any, result: Any) -> Any:
        """An attribute that computes an array, such as `x.T`."""
        kind = self.kinds[type(result)]
        if kind is not None and result is not a and self.kinds[type(a)] is not None:
            key = self.part(a, 0), kind.mark(result)
            note = self.known.get(key) or self.recorder.attribute(self, key, result)
            self.link(note, kind, result)
        return result

    def put(self, value: Any, a: Any) -> Any:
        """A value that is about to be assigned to elements of `a`."""
        if self.kinds[type(a)] is not None and type(value) is not int and type(value) is not bool:
            key = self.part(a, 0), self.part(value, 1)
            if None not in key:
                note = self.known.get(key) or self.recorder.put(self, key, a)
                if note is not None:
                    note.count += 1
        return value

    def forgotten(self, a: Any) -> Any:
        """An array that is about to be resized, which NumPy does only where nothing else refers to it."""
        self.live.pop(id(a), None)
        return a

    def given(self, function: Any, result: Any) -> Any:
        """A call whose arguments could not be taken along."""
        return self.called(function, result)

    def called(self, function: Any, *given: Any) -> Any:
        """A call: the function, its arguments, and its result at the end."""
        result = given[-1]
        kind = self.kinds[type(result)]
        if function is not self.function:
            compiler = self.recorder.compiles[type(function)]
            if compiler is not None and self.recorder.inside.call(self, compiler, function, given):
                return result
        if kind is None:
            if self.many[type(result)]:
                self.several(function, given)
            return result
        live = self.live
        found = live.get(id(result))
        if found is not None and found[0]() is result and "out" not in self.spot.keywords:
            method = type(function) is BuiltinFunctionType and function.__self__ is result
            if not method or not written(function.__name__):
                return result  # it was handed through
        if not kind.weak and type(function) in OF_PROGRAMS:
            kept = self.links.kept.get(id(result))
            if kept is not None and kept[0] is result:
                return result  # as a scalar
        who = self.who if function is self.function else self.callee(function)
        if who is None:
            return result
        tokens: list[Hashable] = []
        for x in given[:-1]:
            found = live.get(id(x))
            tokens.append(
                found[1] if found is not None and found[0]() is x else self.token(x, len(tokens) + 1)
            )
        key = who, tuple(tokens), kind.mark(result)
        note = self.known.get(key) or self.recorder.call(self, key, function, given)
        self.link(note, kind, result)
        return result

    def several(self, function: Any, given: tuple[Any, ...]) -> None:
        """A call that gives several arrays: each is a step."""
        results = [*items(given[-1], 2)]
        if len(results) > LONG:
            return
        kinds = [self.kinds[type(x)] for x in results]
        if not any(kinds) or (who := self.callee(function)) is None:
            return
        tokens = self.tokens(given[:-1])
        for i, (kind, result) in enumerate(zip(kinds, results, strict=True)):
            found = self.live.get(id(result))
            if kind is None or (found is not None and found[0]() is result):
                continue
            key = who, tokens, kind.mark(result), i
            note = self.known.get(key) or self.recorder.call(self, key, function, (*given[:-1], result), i)
            self.link(note, kind, result)

    # -- of which operands

    def link(self, note: Any, kind: Any, result: Any) -> None:
        """Counts a step, and notes that it made the result."""
        if note is None:
            return
        size = kind.size(result)
        note.count += 1
        note.bytes += size
        live = self.live
        if kind.direct and len(live) < MANY:
            live[id(result)] = ref(result), note.number
        else:
            self.recorder.link(result, kind, note.number)

    def part(self, x: Any, position: int) -> Any:
        """The step that made an operand; of a Python number its class and value; None of anything else."""
        found = self.live.get(id(x))
        return found[1] if found is not None and found[0]() is x else self.unlinked(x, position)

    def unlinked(self, x: Any, position: int) -> Any:
        """The same of an operand that no step is known to have made."""
        kind = self.kinds[type(x)]
        if kind is None:
            return (type(x), x) if type(x) in SCALAR_TYPES else None
        if not kind.weak:
            found = self.links.kept.get(id(x))
            if found is not None and found[0] is x:
                return found[1]
        return self.recorder.input(self, x, kind, position)

    def tokens(self, given: Iterable[Any]) -> tuple[Hashable, ...]:
        """What stands for the arguments of a call in a key."""
        live = self.live
        made: list[Hashable] = []
        for x in given:
            found = live.get(id(x))
            made.append(found[1] if found is not None and found[0]() is x else self.token(x, len(made) + 1))
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
            return self.part(x, position)
        if how is ITEMS:
            if len(x) > LONG or deep > 2:
                return cls, frozenset(map(type, x))
            return cls, *[self.token(each, position, deep + 1) for each in x]
        if cls is dict and self.spot.keywords and self.spot.keywords[-1] is None:
            return cls, *[(key, self.token(value, position, 1)) for key, value in [*x.items()][:LONG]]
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
                if owner is OF_PYTHON and function is not abs:
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
