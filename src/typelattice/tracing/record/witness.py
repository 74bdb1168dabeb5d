"""Witnesses of a program's operations: each sees one operation every time it runs, and counts the runs.

A traced program spends most of its tracing time here. If an operation was seen before, its witness looks up
the operands' steps, counts, and links the result to its step. The recorder does all the rest. For speed,
`record_binary`, `record_call_0`, `record_call_1` and `record_call_2` repeat their code. One method for any
number of arguments adds a third to what a call costs, and one for the end that they share adds a tenth.
No failure here reaches the program.
"""

from __future__ import annotations

import builtins
import marshal
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import get_ident
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import ref

from typelattice.engine.foreign_arrays import INDEX_FORMS
from typelattice.facts.libraries import library_of
from typelattice.operands.operand import PYTHON_KINDS
from typelattice.tracing.run_data.array_classes import (
    ARRAY,
    ITEMS,
    MAX_LIST_ITEMS,
    MOST_CLASSES,
    NUMBER,
    TEXT,
    VALUE,
)
from typelattice.tracing.run_data.array_links import LINKS_BEFORE_CLEANUP, MOST_KEPT, StepNumber
from typelattice.tracing.run_data.written_operation import WrittenOperation
from typelattice.tracing.steps.equivalent_operations import casts_from, out_of_place_name

globals()["__builtins__"] = {**vars(builtins)}  # where the functions below look: a program may replace some
OF_PROGRAMS = (FunctionType, MethodType)  # the classes of functions whose source may be followed
OF_PYTHON = (FunctionType, BuiltinFunctionType)
SCALAR_TYPES = frozenset(PYTHON_KINDS)
UNDESCRIBED = "undescribed"  # in place of the module of functions that are no operations: Python's, objects'
SMALL = range(-5, 257)  # the ints of which Python has one object each
GIVE_FIRST = ("record_put", "record_base", "record_contents", "forget", "forget_receiver")
"""Methods that run before their operation and return their first argument."""
UNPICKLED = (  # a witness that sees nothing, made of Python alone: typelattice need not be installed there
    "type('Unfollowed', (), {"  # it can be hashed, as code is by its constants
    "**dict.fromkeys('record_binary record_unary record_in_place record_item record_attribute "
    "record_call_0 record_call_1 record_call_2 record_call record_map'.split(), "
    "staticmethod(lambda *given: given[-1])), "
    f"**dict.fromkeys({GIVE_FIRST}, staticmethod(lambda *given: given[0]))}})()"
)
FOLLOWED_ELSEWHERE = (
    "getattr(__import__('sys').modules.get('typelattice.tracing.record.child_runs'), 'witness', "
    "lambda *given: None)({file!r}, {number})"
)


@dataclass(frozen=True, slots=True)
class Module:
    """A followed module: its source file, and a row for each operation, packed by marshal.

    Most operations never run, and their rows are not unpacked.
    """

    recorder: Any = field(repr=False)
    file: str
    rows: Sequence[bytes] = field(repr=False)


class WitnessBase:
    """The fields of a witness at operation `number` of `module`.

    The other fields are computed from these two when the operation first runs.
    """

    __slots__ = (
        "arguments",
        "compiles",
        "function",
        "kept",
        "keywords",
        "kinds",
        "known",
        "links",
        "live",
        "many",
        "module",
        "name",
        "number",
        "others",
        "recorder",
        "who",
        "written",
    )  # fmt: skip

    def __init__(self, module: Module, number: int) -> None:
        self.module, self.number = module, number

    def fill(self) -> None:
        """Fill the other fields: `written` describes the operation; `known` has all that was seen there."""
        self.recorder = recorder = self.module.recorder
        self.written = WrittenOperation(*marshal.loads(self.module.rows[self.number]))
        self.name, self.keywords = self.written.name, self.written.keywords
        self.kinds, self.arguments = recorder.kinds, recorder.arguments
        self.many, self.compiles, self.others = recorder.is_many, recorder.compiles, recorder.others
        self.links, self.live, self.kept = recorder.links, recorder.links.live, recorder.links.kept
        self.function: Any = None  # that was called last, and its part of a key
        self.who: Hashable = None
        self.known: dict[Hashable, Any] = {}

    def __reduce__(self) -> tuple[Callable[[str], Any], tuple[str]]:
        """Become the witness of the process that reads it; one that sees nothing where none is followed."""
        found = FOLLOWED_ELSEWHERE.format(file=self.module.file, number=self.number)
        return eval, (f"{found} or {UNPICKLED}",)


class Witness(WitnessBase):
    """An observer of one operation. `known` maps a key to the note of a step.

    A key has the steps of the operands, all else that decides the result's dtype, and the result's mark.
    """

    __slots__ = ()

    # -- operators, indices and attributes

    def record_binary(self, a: Any, b: Any, result: Any) -> Any:
        """Record an operator of two operands."""
        try:
            kind = self.kinds[type(result)]
            if kind is None:
                return result
            live = self.live
            found = live.get(id(a))
            left = found[1] if found is not None and found[0]() is a else self.key_of_unlinked(a, 0)
            found = live.get(id(b))
            right = found[1] if found is not None and found[0]() is b else self.key_of_unlinked(b, 1)
            key = left, right, kind.mark(result)
            note = self.known.get(key) or self.recorder.operator(self, key, result)
            if note is not None:
                size = kind.size(result)
                note.count += 1
                note.bytes += size
                if kind.direct and len(live) < LINKS_BEFORE_CLEANUP:
                    live[id(result)] = ref(result), note.number
                else:
                    self.recorder.link(result, kind, note.number)
            return result
        except RecursionError:  # the program's own depth: what comes next is its affair
            return result
        except Exception as e:  # whatever we make of it, the program goes on
            return self.go_on(e, result)

    def record_unary(self, a: Any, result: Any) -> Any:
        """Record an operator of one operand."""
        try:
            kind = self.kinds[type(result)]
            if kind is not None:
                key = self.part(a, 0), kind.mark(result)
                note = self.known.get(key) or self.recorder.operator(self, key, result)
                self.link(note, kind, result)
            return result
        except RecursionError:  # the program's own depth: what comes next is its affair
            return result
        except Exception as e:  # whatever we make of it, the program goes on
            return self.go_on(e, result)

    def record_in_place(self, a: Any, b: Any, result: Any) -> Any:
        """Record an operator such as `+=`, which may write into its left operand."""
        try:
            kind = self.kinds[type(result)]
            if kind is not None:
                key = self.part(a, 0), self.part(b, 1), kind.mark(result), result is a
                note = self.known.get(key) or self.recorder.in_place(self, key, result)
                self.link(note, kind, result)
            return result
        except RecursionError:  # the program's own depth: what comes next is its affair
            return result
        except Exception as e:  # whatever we make of it, the program goes on
            return self.go_on(e, result)

    def record_item(self, a: Any, index: Any, result: Any) -> Any:
        """Record an index into an array, or into an object such as `np.r_`, which joins its entries."""
        try:
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
                note = self.known.get(key) or self.recorder.join(self, key, entries, result)
                self.link(note, kind, result)
            return result
        except RecursionError:  # the program's own depth: what comes next is its affair
            return result
        except Exception as e:  # whatever we make of it, the program goes on
            return self.go_on(e, result)

    def record_base(self, value: Any, a: Any) -> Any:
        """Note the array whose elements `a[i] += value` has read; return the value."""
        try:
            if self.kinds[type(a)] is not None:
                self.recorder.read_from[get_ident()] = self, self.part(a, 0)
            return value
        except RecursionError:  # the program's own depth: what comes next is its affair
            return value
        except Exception as e:  # whatever we make of it, the program goes on
            return self.go_on(e, value)

    def record_attribute(self, a: Any, result: Any) -> Any:
        """Record an attribute that computes an array, such as `x.T`."""
        try:
            kind = self.kinds[type(result)]
            if kind is not None and result is not a and self.kinds[type(a)] is not None:
                key = self.part(a, 0), kind.mark(result)
                note = self.known.get(key) or self.recorder.attribute(self, key, result)
                self.link(note, kind, result)
            return result
        except RecursionError:  # the program's own depth: what comes next is its affair
            return result
        except Exception as e:  # whatever we make of it, the program goes on
            return self.go_on(e, result)

    def record_put(self, value: Any, a: Any) -> Any:
        """Record a value that is about to be assigned to elements of `a`."""
        try:
            if self.kinds[type(a)] is not None and type(value) is not int and type(value) is not bool:
                key = self.part(a, 0), self.part(value, 1)
                if None not in key:
                    note = self.known.get(key) or self.recorder.record_put(self, key, a)
                    if note is not None:
                        note.count += 1
            return value
        except RecursionError:  # the program's own depth: what comes next is its affair
            return value
        except Exception as e:  # whatever we make of it, the program goes on
            return self.go_on(e, value)

    def record_contents(self, value: Any, a: Any) -> Any:
        """Note that `a.data = value` is about to make the array `a` one of another dtype."""
        try:
            kind = self.kinds[type(a)]
            number = self.part(value, 1) if kind is not None else None
            if type(number) is StepNumber:
                self.recorder.link(a, kind, number)
            return value
        except RecursionError:  # the program's own depth: what comes next is its affair
            return value
        except Exception as e:  # whatever we make of it, the program goes on
            return self.go_on(e, value)

    def forget_receiver(self, a: Any) -> Any:
        """Forget an array that is about to be resized: NumPy resizes it only if nothing else refers to it."""
        self.live.pop(id(a), None)
        return a

    def forget(self, value: Any, a: Any) -> Any:
        """Forget the array `a` likewise, and return `value`, the first argument of the resizing."""
        self.live.pop(id(a), None)
        return value

    # -- calls of functions and methods

    def record_call_0(self, function: Any, result: Any) -> Any:
        """Record a call without arguments except constants: `record_call`, but faster if seen before."""
        try:
            kind = self.kinds[type(result)]
            if kind is None:
                if self.compiles[type(function)] is None:
                    if self.many[type(result)]:
                        self.record_several(function, (result,))
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
                        if kind.direct and len(live) < LINKS_BEFORE_CLEANUP:
                            live[own] = ref(result), note.number
                        elif kind.kept and len(kept := self.kept) < MOST_KEPT:
                            kept[own] = result, note.number
                        else:
                            self.recorder.link(result, kind, note.number)
                        return result
            return Witness.record_call(self, function, result)
        except RecursionError:  # the program's own depth: what comes next is its affair
            return result
        except Exception as e:  # whatever we make of it, the program goes on
            return self.go_on(e, result)

    def record_call_1(self, function: Any, a: Any, result: Any) -> Any:
        """Record a call of one argument, likewise."""
        try:
            kind = self.kinds[type(result)]
            if kind is None:
                if self.compiles[type(function)] is None:
                    if self.many[type(result)]:
                        self.record_several(function, (a, result))
                    elif result is None:
                        self.note_taken(function, (a,))
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
                        if kind.direct and len(live) < LINKS_BEFORE_CLEANUP:
                            live[own] = ref(result), note.number
                        elif kind.kept and len(kept := self.kept) < MOST_KEPT:
                            kept[own] = result, note.number
                        else:
                            self.recorder.link(result, kind, note.number)
                        return result
            return Witness.record_call(self, function, a, result)
        except RecursionError:  # the program's own depth: what comes next is its affair
            return result
        except Exception as e:  # whatever we make of it, the program goes on
            return self.go_on(e, result)

    def record_call_2(self, function: Any, a: Any, b: Any, result: Any) -> Any:
        """Record a call of two arguments, likewise."""
        try:
            kind = self.kinds[type(result)]
            if kind is None:
                if self.compiles[type(function)] is None:
                    if self.many[type(result)]:
                        self.record_several(function, (a, b, result))
                    elif result is None:
                        self.note_taken(function, (a, b))
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
                        if kind.direct and len(live) < LINKS_BEFORE_CLEANUP:
                            live[own] = ref(result), note.number
                        elif kind.kept and len(kept := self.kept) < MOST_KEPT:
                            kept[own] = result, note.number
                        else:
                            self.recorder.link(result, kind, note.number)
                        return result
            return Witness.record_call(self, function, a, b, result)
        except RecursionError:  # the program's own depth: what comes next is its affair
            return result
        except Exception as e:  # whatever we make of it, the program goes on
            return self.go_on(e, result)

    def record_call(self, function: Any, *given: Any) -> Any:
        """Record a call: the function, its arguments as far as they are known, and its result at the end."""
        try:
            result = given[-1]
            kind = self.kinds[type(result)]
            if function is not self.function:
                compiler = self.compiles[type(function)]
                if compiler is not None and self.recorder.compiled_calls.call(
                    self, compiler, function, given
                ):
                    return result
            if kind is None:
                if self.many[type(result)]:
                    self.record_several(function, given)
                elif result is None:
                    self.note_taken(function, given[:-1])
                return result
            live = self.live
            found = live.get(id(result))
            if found is not None and found[0]() is result and not self.is_step(function, given, result):
                return result  # it was handed through
            who = self.who if function is self.function else self.callee(function)
            asked = function if is_described(who) else None  # an object of the program is asked nothing
            if not kind.weak and (type(function) in OF_PROGRAMS or asked is None):
                kept = self.kept.get(id(result))
                if kept is not None and kept[0] is result:
                    return result  # as a scalar
            key = who, *self.tokens(given[:-1]), kind.mark(result)
            note = self.known.get(key) or self.recorder.call(self, key, asked, given)
            self.link(note, kind, result)
            return result
        except RecursionError:  # the program's own depth: what comes next is its affair
            return given[-1]
        except Exception as e:  # whatever we make of it, the program goes on
            return self.go_on(e, given[-1])

    def note_taken(self, function: Any, given: tuple[Any, ...]) -> None:
        """Note the arrays that a compiled function takes which returns None; it may write into others."""
        cls = type(function)
        if cls is BuiltinFunctionType:
            home = function.__self__
            known = type(home) is not ModuleType or home is builtins or is_of_library(home.__name__)
        else:
            known = not self.recorder.is_function[cls] or is_of_library(cls.__module__)
        for x in () if known else given:
            found = self.live.get(id(x))
            if found is None or found[0]() is not x or type(found[1]) is not StepNumber:
                continue
            if len(self.recorder.taken) < MOST_KEPT:
                self.recorder.taken[found[1], self] = None

    def is_step(self, function: Any, given: tuple[Any, ...], result: Any) -> bool:
        """Decide whether a call that gave back an array that it was given is a step all the same.

        It is one if it wrote into the array, or if it is a cast that changed nothing.
        """
        name = self.name
        if not name and (type(function) in OF_PYTHON or self.recorder.is_function[type(function)]):
            name = getattr(function, "__name__", "")  # an object of the program is asked nothing
        if len(given) + len(self.written.constants) > casts_from(name):
            return True
        return self.writes(function, given[:-1], result)

    def writes(self, function: Any, given: tuple[Any, ...], result: Any) -> bool:
        """Return True if a call wrote its result into one of its arguments.

        It does so by `out=`, by a ufunc's argument past its operands, or as a method such as PyTorch's
        `x.mul_(y)`.
        """
        if "out" in self.keywords:
            return True
        cls = type(function)
        if cls is BuiltinFunctionType:
            return function.__self__ is result and out_of_place_name(function.__name__) != ""
        if cls.__name__ != "ufunc" or not self.recorder.is_function[cls]:
            return False
        named = sum(type(keyword) is str and keyword != "*" for keyword in self.keywords)
        operands: int = function.nin
        return len(self.written.all_of(given)) - named > operands

    def record_map(self, function: Any, *given: Any) -> Any:
        """Record a call of `map`, which calls its function later, and not from a line of the program.

        If that function belongs to a library, an outer map records each result as it is produced. The
        function still runs in the program's own map, so its warnings and errors keep their source locations.
        """
        try:
            if function is not map or not self.is_of_library(given[0]):
                return self.record_call(function, *given)
            key = (UNDESCRIBED, map.__name__), *self.tokens(given[:-1])
            return map(partial(self.record_late, key), given[-1])
        except RecursionError:  # the program's own depth: what comes next is its affair
            return given[-1]
        except Exception as e:  # whatever we make of it, the program goes on
            return self.go_on(e, given[-1])

    def record_late(self, key: tuple[Any, ...], result: Any) -> Any:
        """Record the result of a function that Python itself called, with unknown arguments."""
        try:
            kind = self.kinds[type(result)]
            if kind is not None:
                found = self.live.get(id(result))
                if found is None or found[0]() is not result:
                    whole = *key, kind.mark(result)
                    note = self.known.get(whole) or self.recorder.call(self, whole, None, (result,))
                    self.link(note, kind, result)
            return result
        except RecursionError:  # the program's own depth: what comes next is its affair
            return result
        except Exception as e:  # whatever we make of it, the program goes on
            return self.go_on(e, result)

    def record_several(self, function: Any, given: tuple[Any, ...]) -> None:
        """Record a call with several arrays as results: each is a step."""
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
        if not is_described(who):
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
        """Return the results in a tuple, a list or a dictionary, and in nested ones.

        Return none if it is long, or if it has no array.
        """
        if type(x) is list:
            found: Sequence[Any] = x
        elif type(x) is dict:
            found = [*x.values()] if len(x) <= MAX_LIST_ITEMS else ()
        else:
            found = [*tuple.__iter__(x)]  # bypasses the iterator of a program's class
        if len(found) > MAX_LIST_ITEMS or self.others.issuperset(map(type, found)):
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
        """Count a step, and record that it made the result."""
        if note is None:
            return
        size = kind.size(result)
        note.count += 1
        note.bytes += size
        live = self.live
        if kind.direct and len(live) < LINKS_BEFORE_CLEANUP:
            live[id(result)] = ref(result), note.number
        elif kind.kept and len(kept := self.kept) < MOST_KEPT:
            kept[id(result)] = result, note.number
        else:
            self.recorder.link(result, kind, note.number)

    def go_on(self, e: Exception, result: Any) -> Any:
        """Record a failure of ours, and return the program's result."""
        try:
            self.recorder.failures[self] = f"{type(e).__name__}: {e}"
        except Exception:  # the text of the exception may fail
            return result
        return result

    # -- the parts of keys

    def part(self, x: Any, position: int) -> Any:
        """Return the part of a key for an operand: the step that made it, if there is one.

        For a Python number the part is its class and value, for a list or a tuple its class and the parts of
        its items. It is None for anything else.
        """
        found = self.live.get(id(x))
        return found[1] if found is not None and found[0]() is x else self.key_of_unlinked(x, position)

    def key_of_unlinked(self, x: Any, position: int) -> Any:
        """Return the part of a key for an operand that has no step in `live`."""
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
        """Return the parts of a key for the arguments of a call."""
        live = self.live
        made: list[Hashable] = []
        for position, x in enumerate(given, 1):
            found = live.get(id(x))
            known = found is not None and found[0]() is x
            made.append(found[1] if known else self.token(x, position))
        return tuple(made)

    def token(self, x: Any, position: int, deep: int = 0) -> Any:
        """Return the part of a key for an argument that no step made."""
        cls = type(x)
        how = self.arguments[cls]
        if how is ITEMS:
            if len(x) > MAX_LIST_ITEMS or deep > 2:
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
            return self.key_of_unlinked(x, position)
        if cls is dict and self.keywords and self.keywords[-1] is None:
            named = [*x.items()][:MAX_LIST_ITEMS]
            return cls, *[(key, self.token((value,), position)) for key, value in named]
        return cls.__name__

    def index(self, key: Any) -> Hashable:
        """Return the part of a key for an index: its arrays, which are operands, and marks for its lists."""
        if type(key) is not tuple:
            if type(key) is list:
                return INDEX_FORMS[:1]
            return self.part(key, 1) if self.kinds[type(key)] is not None else ()
        found: tuple[Hashable, ...] = ()
        for x in key:
            if self.kinds[type(x)] is not None:
                found = *found, self.part(x, 1)
            elif type(x) is list:
                found = *found, INDEX_FORMS[1]
        return found

    def callee(self, function: Any) -> Any:
        """Return the part of a key for a function."""
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
        if issubclass(cls, type) or self.recorder.is_function[cls]:
            owner = getattr(function, "__self__", None)
            if self.kinds[type(owner)] is not None:
                return function.__name__, self.part(owner, 0)
            if cls.__hash__ is not None:
                self.function = self.who = function
                return function
        return UNDESCRIBED, self.name or cls.__name__

    def is_of_library(self, function: Any) -> bool:
        """Return True if a function belongs to a library. This runs no code of the program's objects."""
        cls = type(function)
        if cls is FunctionType or cls is BuiltinFunctionType:
            return is_of_library(function.__module__ or "")
        known: bool = self.recorder.is_function[cls]
        return known


class LazyWitness(WitnessBase):
    """A placeholder that turns into a Witness when its operation first runs. Most operations never run."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            with self.module.recorder.lock:  # one thread fills the fields, so that `known` is made once
                if type(self) is LazyWitness:
                    self.fill()
                    self.__class__ = self.recorder.witness_class  # its fields are the same
            return object.__getattribute__(self, name)
        except RecursionError:
            return give_first if name in GIVE_FIRST else give_last


def give_first(*given: Any) -> Any:
    """Return the first argument, as the witness methods do that run before their operation."""
    return given[0]


def give_last(*given: Any) -> Any:
    """Return the last argument, as the witness methods do that get the operands and the result."""
    return given[-1]


def is_of_library(module: str) -> bool:
    """Return True if a module belongs to a library with rules."""
    return library_of(module.partition(".")[0]) is not None


def is_described(who: Any) -> bool:
    """Return True if `who`, the part of a key for a function, may be that of an operation."""
    return type(who) is not tuple or who[0] != UNDESCRIBED


def bounds(x: Any) -> Any:
    """Return the bounds of a slice, which can be part of a key; return anything else unchanged."""
    return (slice, x.start, x.stop, x.step) if type(x) is slice else x
