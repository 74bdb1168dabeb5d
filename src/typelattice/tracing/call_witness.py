"""A witness of calls: what one of a function or a method was given, and what it gave.

Where the same was seen before, a call of few arguments is known again without further calls of ours: this is
the most that following a program costs. So `called_0`, `called_1` and `called_2` are written out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any
from weakref import ref

from typelattice.tracing.alike import written
from typelattice.tracing.keys import UNDESCRIBED, Keys, described
from typelattice.tracing.kinds import LONG, MOST_CLASSES
from typelattice.tracing.links import MANY, MOST_KEPT

OF_PROGRAMS = (FunctionType, MethodType)  # the classes of functions whose source may be followed


class CallWitness(Keys):
    """What stands at one call. A key of `known` is made of the operands' steps and the result's mark."""

    __slots__ = ()

    def given(self, function: Any, result: Any) -> Any:
        """A call whose arguments could not be taken along."""
        return self.called(function, result)

    def called_0(self, function: Any, result: Any) -> Any:
        """A call without arguments but constants: what `called` does, sooner where it was seen before."""
        kind = self.kinds[type(result)]
        if kind is None:
            if self.compiles[type(function)] is None:
                if self.many[type(result)]:
                    self.several(function, (result,))
                return result
        elif function is self.function or type(function) is BuiltinFunctionType:
            live, own = self.live, id(result)
            found = live.get(own)
            if found is None or found[0]() is not result:
                if function is self.function:
                    who = self.who
                else:
                    owner = function.__self__
                    found = live.get(id(owner))
                    who = (self.name, found[1]) if found is not None and found[0]() is owner else None
                note = self.known.get((who, kind.mark(result)))
                if note is not None:
                    note.count += 1
                    note.bytes += kind.size(result)
                    if kind.direct and len(live) < MANY:
                        live[own] = ref(result), note.number
                    elif kind.kept and len(kept := self.kept) < MOST_KEPT:
                        kept[own] = result, note.number
                    else:
                        self.recorder.link(result, kind, note.number)
                    return result
        return self.called(function, result)

    def called_1(self, function: Any, a: Any, result: Any) -> Any:
        """A call of one argument, likewise."""
        kind = self.kinds[type(result)]
        if kind is None:
            if self.compiles[type(function)] is None:
                if self.many[type(result)]:
                    self.several(function, (a, result))
                return result
        elif function is self.function or type(function) is BuiltinFunctionType:
            live, own = self.live, id(result)
            found = live.get(own)
            if found is None or found[0]() is not result:
                if function is self.function:
                    who = self.who
                else:
                    owner = function.__self__
                    found = live.get(id(owner))
                    who = (self.name, found[1]) if found is not None and found[0]() is owner else None
                if type(a) is type:  # which stands for itself
                    first = a
                else:
                    found = live.get(id(a))
                    first = found[1] if found is not None and found[0]() is a else self.token(a, 1)
                note = self.known.get((who, first, kind.mark(result)))
                if note is not None:
                    note.count += 1
                    note.bytes += kind.size(result)
                    if kind.direct and len(live) < MANY:
                        live[own] = ref(result), note.number
                    elif kind.kept and len(kept := self.kept) < MOST_KEPT:
                        kept[own] = result, note.number
                    else:
                        self.recorder.link(result, kind, note.number)
                    return result
        return self.called(function, a, result)

    def called_2(self, function: Any, a: Any, b: Any, result: Any) -> Any:
        """A call of two arguments, likewise."""
        kind = self.kinds[type(result)]
        if kind is None:
            if self.compiles[type(function)] is None:
                if self.many[type(result)]:
                    self.several(function, (a, b, result))
                return result
        elif function is self.function or type(function) is BuiltinFunctionType:
            live, own = self.live, id(result)
            found = live.get(own)
            if found is None or found[0]() is not result:
                if function is self.function:
                    who = self.who
                else:
                    owner = function.__self__
                    found = live.get(id(owner))
                    who = (self.name, found[1]) if found is not None and found[0]() is owner else None
                if type(a) is type:  # which stands for itself
                    first = a
                else:
                    found = live.get(id(a))
                    first = found[1] if found is not None and found[0]() is a else self.token(a, 1)
                if type(b) is type:
                    second = b
                else:
                    found = live.get(id(b))
                    second = found[1] if found is not None and found[0]() is b else self.token(b, 2)
                note = self.known.get((who, first, second, kind.mark(result)))
                if note is not None:
                    note.count += 1
                    note.bytes += kind.size(result)
                    if kind.direct and len(live) < MANY:
                        live[own] = ref(result), note.number
                    elif kind.kept and len(kept := self.kept) < MOST_KEPT:
                        kept[own] = result, note.number
                    else:
                        self.recorder.link(result, kind, note.number)
                    return result
        return self.called(function, a, b, result)

    def called(self, function: Any, *given: Any) -> Any:
        """A call: the function, its arguments, and its result at the end."""
        result = given[-1]
        kind = self.kinds[type(result)]
        if function is not self.function:
            compiler = self.compiles[type(function)]
            if compiler is not None and self.recorder.inside.call(self, compiler, function, given):
                return result
        if kind is None:
            if self.many[type(result)]:
                self.several(function, given)
            return result
        live = self.live
        found = live.get(id(result))
        if found is not None and found[0]() is result and not self.writes(function, given[:-1], result):
            return result  # it was handed through
        who = self.who if function is self.function else self.callee(function)
        asked = function if described(who) else None  # an object of the program is asked nothing
        if not kind.weak and (type(function) in OF_PROGRAMS or asked is None):
            kept = self.kept.get(id(result))
            if kept is not None and kept[0] is result:
                return result  # as a scalar
        key = who, *self.tokens(given[:-1]), kind.mark(result)
        note = self.known.get(key) or self.recorder.call(self, key, asked, given)
        self.link(note, kind, result)
        return result

    def writes(self, function: Any, given: tuple[Any, ...], result: Any) -> bool:
        """Whether a call wrote its result into an array that it was given: by `out=`, by a ufunc's argument
        past its operands, or as a method such as PyTorch's `x.mul_(y)`.
        """
        if "out" in self.keywords:
            return True
        cls = type(function)
        if cls is BuiltinFunctionType:
            return function.__self__ is result and written(function.__name__) != ""
        if cls.__name__ != "ufunc" or not self.recorder.is_function[cls]:
            return False
        named = sum(type(keyword) is str and keyword != "*" for keyword in self.keywords)
        operands: int = function.nin
        return len(self.spot.all_of(given)) - named > operands

    def mapped(self, function: Any, *given: Any) -> Any:
        """A call of `map`, which itself calls a function later, from no line of the program's.

        Where that is a library's, what it gives is told. It runs in the map that the program made, so that
        its warnings and errors have the places that they had.
        """
        if function is not map or not self.is_of_library(given[0]):
            return self.called(function, *given)
        key = (UNDESCRIBED, map.__name__), *self.tokens(given[:-1])
        return map(partial(self.made, key), given[-1])

    def made(self, key: tuple[Any, ...], result: Any) -> Any:
        """What a function gave that Python called, of which no arguments were told."""
        kind = self.kinds[type(result)]
        if kind is not None:
            found = self.live.get(id(result))
            if found is None or found[0]() is not result:
                whole = *key, kind.mark(result)
                note = self.known.get(whole) or self.recorder.call(self, whole, None, (result,))
                self.link(note, kind, result)
        return result

    def several(self, function: Any, given: tuple[Any, ...]) -> None:
        """A call that gives several arrays: each is a step."""
        results = self.results(given[-1])
        if not results:
            return
        kinds, live = self.kinds, self.live
        new = []
        for i, result in enumerate(results):
            kind = kinds[type(result)]
            if kind is not None:
                found = live.get(id(result))
                if found is None or found[0]() is not result:
                    new.append((i, kind, result))
        if not new:
            return
        who = self.callee(function)
        if not described(who):
            function, new = None, [each for each in new if each[1].weak]  # list(x) gives many scalars
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
            found = [*x.values()] if len(x) <= LONG else ()
        else:
            found = [*tuple.__iter__(x)]  # past what a class of the program's says
        if len(found) > LONG or self.others.issuperset(map(type, found)):
            return ()
        classes = {*map(type, found)}
        arrays = any(map(self.kinds.__getitem__, classes))
        many = {cls for cls in classes if self.many[cls]}
        if many and deep > 1:
            return [each for x in found for each in (self.results(x, deep - 1) if type(x) in many else (x,))]
        if not arrays and len(self.others) < MOST_CLASSES:
            self.others.update(classes - many)
        return found if arrays else ()

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
        elif kind.kept and len(kept := self.kept) < MOST_KEPT:
            kept[id(result)] = result, note.number
        else:
            self.recorder.link(result, kind, note.number)
