"""A witness: it stands at one operation of a program, is told of each time it runs, and counts what it saw.

This is what a traced program runs most. Where the same was seen before, a witness looks up the operands'
steps, counts, and links the result to its step; everything else is the recorder's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any
from weakref import ref

from typelattice.tracing.alike import written
from typelattice.tracing.keys import Keys, bounds
from typelattice.tracing.kinds import LONG
from typelattice.tracing.links import MANY, Part
from typelattice.tracing.silent import silent
from typelattice.tracing.spot import Row

NOT_COMPILED = frozenset(  # the classes of functions that no library has compiled
    (FunctionType, MethodType, BuiltinFunctionType, type)
)
OF_PROGRAMS = (FunctionType, MethodType)  # the classes of functions whose source may be followed


class Witness(Keys):
    """What stands at one operation: `spot` says where, `file` in which source, `known` what it saw before.

    A key of `known` is made of the steps of the operands and of the mark of the result.
    """

    __slots__ = ("known", "many")

    def __init__(self, recorder: Any, file: str, row: Row) -> None:
        super().__init__(recorder, file, row)
        self.many = recorder.is_many
        self.known: dict[Hashable, Any] = {}

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
        """Elements of an array; or what an object such as `np.r_` makes of an index."""
        kind = self.kinds[type(result)]
        if kind is None:
            return result
        if self.kinds[type(a)] is not None:
            arrays = () if type(index) is int or type(index) is slice else self.index(index)
            key = self.part(a, 0), kind.mark(result), arrays
            note = self.known.get(key) or self.recorder.item(self, key, result)
            self.link(note, kind, result)
        elif name := self.recorder.joining[type(a)]:
            entries = index if type(index) is tuple else (index,)
            key = ("", name), self.tokens(map(bounds, entries)), kind.mark(result)
            note = self.known.get(key) or self.recorder.joined(self, key, entries, result)
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

    def called_0(self, function: Any, result: Any) -> Any:
        """A call without arguments but constants: what `called` does, sooner where it was seen before."""
        kind = self.kinds[type(result)]
        if kind is None:
            if type(function) in NOT_COMPILED and not self.many[type(result)]:
                return result
        elif (who := self.who if function is self.function else self.method(function)) is not None:
            live, own = self.live, id(result)
            found = live.get(own)
            if found is None or found[0]() is not result:
                note = self.known.get((who, kind.mark(result)))
                if note is not None:
                    note.count += 1
                    note.bytes += kind.size(result)
                    if kind.direct and len(live) < MANY:
                        live[own] = ref(result), note.number
                    elif kind.kept:
                        self.links.keep(result, note.number)
                    else:
                        self.recorder.link(result, kind, note.number)
                    return result
        return self.called(function, result)

    def called_1(self, function: Any, a: Any, result: Any) -> Any:
        """A call of one argument, likewise."""
        kind = self.kinds[type(result)]
        if kind is None:
            if type(function) in NOT_COMPILED and not self.many[type(result)]:
                return result
        elif (who := self.who if function is self.function else self.method(function)) is not None:
            live, own = self.live, id(result)
            found = live.get(own)
            if found is None or found[0]() is not result:
                found = live.get(id(a))
                first = found[1] if found is not None and found[0]() is a else self.token(a, 1)
                note = self.known.get((who, first, kind.mark(result)))
                if note is not None:
                    note.count += 1
                    note.bytes += kind.size(result)
                    if kind.direct and len(live) < MANY:
                        live[own] = ref(result), note.number
                    elif kind.kept:
                        self.links.keep(result, note.number)
                    else:
                        self.recorder.link(result, kind, note.number)
                    return result
        return self.called(function, a, result)

    def called_2(self, function: Any, a: Any, b: Any, result: Any) -> Any:
        """A call of two arguments, likewise."""
        kind = self.kinds[type(result)]
        if kind is None:
            if type(function) in NOT_COMPILED and not self.many[type(result)]:
                return result
        elif (who := self.who if function is self.function else self.method(function)) is not None:
            live, own = self.live, id(result)
            found = live.get(own)
            if found is None or found[0]() is not result:
                found = live.get(id(a))
                first = found[1] if found is not None and found[0]() is a else self.token(a, 1)
                found = live.get(id(b))
                second = found[1] if found is not None and found[0]() is b else self.token(b, 2)
                note = self.known.get((who, first, second, kind.mark(result)))
                if note is not None:
                    note.count += 1
                    note.bytes += kind.size(result)
                    if kind.direct and len(live) < MANY:
                        live[own] = ref(result), note.number
                    elif kind.kept:
                        self.links.keep(result, note.number)
                    else:
                        self.recorder.link(result, kind, note.number)
                    return result
        return self.called(function, a, b, result)

    def method(self, function: Any) -> Any:
        """What stands for a method of an array that a step made, in a key; None for any other function."""
        if type(function) is BuiltinFunctionType:
            owner = function.__self__
            found = self.live.get(id(owner))
            if found is not None and found[0]() is owner and type(found[1]) is Part:
                return self.name or function.__name__, found[1]
        return None

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
        if found is not None and found[0]() is result and "out" not in self.keywords:
            method = type(function) is BuiltinFunctionType and function.__self__ is result
            if not method or not written(function.__name__):
                return result  # it was handed through
        if not kind.weak and type(function) in OF_PROGRAMS:
            kept = self.links.kept.get(id(result))
            if kept is not None and kept[0] is result:
                return result  # as a scalar
        who = self.who if function is self.function else self.method(function) or self.callee(function)
        if who is None:
            return result
        key = who, *self.tokens(given[:-1]), kind.mark(result)
        note = self.known.get(key) or self.recorder.call(self, key, function, given)
        self.link(note, kind, result)
        return result

    def several(self, function: Any, given: tuple[Any, ...]) -> None:
        """A call that gives several arrays: each is a step."""
        kinds, live = self.kinds, self.live
        new = []
        for i, result in enumerate(self.results(given[-1])):
            kind = kinds[type(result)]
            if kind is not None:
                found = live.get(id(result))
                if found is None or found[0]() is not result:
                    new.append((i, kind, result))
        if not new or (who := self.callee(function)) is None:
            return
        tokens = self.tokens(given[:-1])
        for i, kind, result in new:
            found = live.get(id(result))
            if found is not None and found[0]() is result:
                continue  # an argument, which was no step's until its token was made
            key = who, *tokens, kind.mark(result), i
            note = self.known.get(key) or self.recorder.call(self, key, function, (*given[:-1], result), i)
            self.link(note, kind, result)

    def results(self, x: Any, deep: int = 2) -> Sequence[Any]:
        """The several results in a tuple, a list or a dictionary, and in those within it.

        There are none in one that is long, or in which there is no array.
        """
        if type(x) is list:
            found: Sequence[Any] = x
        elif type(x) is dict:
            found = [*x.values()]
        else:
            found = [*tuple.__iter__(x)]  # past what a class of the program's says
        if len(found) > LONG:
            return ()
        classes = {*map(type, found)}
        nested = deep > 1 and any(self.many[cls] for cls in classes)
        if not nested:
            return found if any(self.kinds[cls] for cls in classes) else ()
        return [
            each for x in found for each in (self.results(x, deep - 1) if self.many[type(x)] else (x,))
        ]

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
        elif kind.kept:
            self.links.keep(result, note.number)
        else:
            self.recorder.link(result, kind, note.number)
