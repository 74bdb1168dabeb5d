"""Witnesses of a program's operations: each sees one operation every time it runs, and counts the runs.

A traced program spends most of its tracing time here. If an operation was seen before, its witness looks up
the operands' steps, counts, and links the result to its step. The recorder does all the rest. For speed,
`record_binary`, `record_call_0`, `record_call_1` and `record_call_2` repeat their code. One method for any
number of arguments would make a call a third slower. A shared function for their common end would make it a
tenth slower. No failure here reaches the program, but each error that a signal handler or another thread
raises does.
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

from typelattice.base.errors.outside_errors import (
    DEPTH_MESSAGES,
    leave_out_own_frames,
    raise_if_from_outside,
    run_locked,
)
from typelattice.core.engine.foreign_arrays import INDEX_FORMS
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE
from typelattice.core.registry.libraries import library_of
from typelattice.programs.calls.equivalent_operations import max_arguments_without_cast, out_of_place_name
from typelattice.tracing.run_data.array_classes import (
    ARRAY,
    ITEMS,
    MAX_CLASSES,
    MAX_LIST_ITEMS,
    NUMBER,
    TEXT,
    VALUE,
    holds_results,
)
from typelattice.tracing.run_data.producing_steps import LINKS_BEFORE_CLEANUP, MAX_SCALARS, Link, StepNumber
from typelattice.tracing.run_data.written_operation import WrittenOperation

globals()["__builtins__"] = {**vars(builtins)}  # copied, because a program may replace some of them
FOLLOWABLE_CLASSES = (FunctionType, MethodType)  # functions of these classes may have source that is followed
PYTHON_FUNCTION_CLASSES = (FunctionType, BuiltinFunctionType)
SCALAR_TYPES = frozenset(KIND_BY_PYTHON_TYPE)
RESIZING_METHOD = "resize"  # NumPy's, which refuses an array with weak references
UNDESCRIBED = "undescribed"  # stands for the module of functions that are not operations, such as Python's
MAX_OBJECTS_READ = 16  # objects of a class at one source location that are searched for arrays
SMALL_INTS = range(-5, 257)  # Python keeps one object for each of these ints
METHODS_BEFORE_OPERATION = (
    "record_assignment",
    "note_elements_read",
    "note_iterated",
    "note_data_replaced",
    "forget",
    "forget_receiver",
)
"""Methods that run before their operation and return their first argument."""


@dataclass(frozen=True, slots=True)
class FollowedModule:
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
        "argument_sorts",
        "array_kinds",
        "arrayless_classes",
        "attribute_readers",
        "by_weak_reference",
        "compiler_of",
        "function",
        "function_key",
        "holds_results",
        "keywords",
        "links",
        "module",
        "name",
        "number",
        "object_counts",
        "operation",
        "recorder",
        "scalars",
        "tallies",
    )  # fmt: skip

    def __init__(self, module: FollowedModule, number: int) -> None:
        self.module, self.number = module, number

    def fill_fields(self) -> None:
        """Fill the other fields. `operation` describes the source text, `tallies` has what was seen there."""
        self.recorder = recorder = self.module.recorder
        self.operation = WrittenOperation(*marshal.loads(self.module.rows[self.number]))
        self.name, self.keywords = self.operation.name, self.operation.keywords
        self.array_kinds, self.argument_sorts = recorder.array_kinds, recorder.argument_sorts
        self.attribute_readers = recorder.attribute_readers
        self.holds_results, self.compiler_of = recorder.holds_results, recorder.compiler_of
        self.arrayless_classes, self.links = recorder.arrayless_classes, recorder.links
        self.by_weak_reference, self.scalars = self.links.by_weak_reference, self.links.scalars
        if any(type(x) is str and x == RESIZING_METHOD for _, x in self.operation.constants):
            recorder.stop_linking_resizable()  # such as `operator.methodcaller("resize", 4)`
        self.function: Any = None  # the last function called, followed by its part of a key
        self.function_key: Hashable = None
        self.tallies: dict[Hashable, Any] = {}
        self.object_counts: dict[int, int] = {}  # the objects that were searched for arrays, by their class


class Witness(WitnessBase):
    """An observer of one operation. `tallies` maps a key to the tally of a step.

    A key has the steps of the operands, the result's cache key, and all else that decides the result's dtype.
    """

    __slots__ = ()

    # -- operators, indices and attributes

    def record_binary(self, a: Any, b: Any, result: Any) -> Any:
        """Record an operator of two operands."""
        try:
            if type(result) in SCALAR_TYPES:  # first: a loop over Python numbers runs nothing else here
                return result
            kind = self.array_kinds[type(result)]
            if kind is None:
                self.record_operator_of_objects(a, b, result)
                return result
            live = self.by_weak_reference
            found = live.get(id(a))
            left = (
                found[1]
                if found is not None and found[0]() is a and (found[2] is None or found[2] is a.dtype)
                else self.unlinked_operand_key(a, 0)
            )
            found = live.get(id(b))
            right = (
                found[1]
                if found is not None and found[0]() is b and (found[2] is None or found[2] is b.dtype)
                else self.unlinked_operand_key(b, 1)
            )
            key = left, right, kind.cache_key(result)
            tally = self.tallies.get(key) or self.recorder.step_of_operator(self, key, result)
            if tally is not None:
                size = kind.size(result)
                tally.count += 1
                tally.bytes += size
                if kind.is_linked_weakly and len(live) < LINKS_BEFORE_CLEANUP:
                    live[id(result)] = Link(result), tally.number, tally.dtype
                elif kind.mark_of is not None and len(scalars := self.scalars) < MAX_SCALARS:
                    scalars[id(result)] = kind.mark_of(result), tally.number
                else:
                    self.recorder.link_array(result, kind, tally.number)
            return result
        except RecursionError as e:
            if not e.args or e.args[0][:14] not in DEPTH_MESSAGES:
                raise
            return result  # the program recursed too deeply: it handles that itself
        except Exception as e:
            return self.handle_error(e, result, Witness.record_binary, a, b, result)

    def record_unary(self, operand: Any, result: Any) -> Any:
        """Record an operator of one operand."""
        try:
            if type(result) in SCALAR_TYPES:
                return result
            kind = self.array_kinds[type(result)]
            if kind is not None:
                key = self.operand_key(operand, 0), kind.cache_key(result)
                tally = self.tallies.get(key) or self.recorder.step_of_operator(self, key, result)
                self.link_result(tally, kind, result)
            else:
                self.record_operator_of_objects(operand, result)
            return result
        except RecursionError as e:
            if not e.args or e.args[0][:14] not in DEPTH_MESSAGES:
                raise
            return result  # the program recursed too deeply: it handles that itself
        except Exception as e:
            return self.handle_error(e, result, Witness.record_unary, operand, result)

    def record_in_place(self, a: Any, b: Any, result: Any) -> Any:
        """Record an operator such as `+=`, which may write into its left operand."""
        try:
            if type(result) in SCALAR_TYPES:
                return result
            kind = self.array_kinds[type(result)]
            if kind is not None:
                key = self.operand_key(a, 0), self.operand_key(b, 1), kind.cache_key(result), result is a
                tally = self.tallies.get(key) or self.recorder.step_of_in_place(self, key, result)
                self.link_result(tally, kind, result)
            else:
                self.record_operator_of_objects(a, b, result)
            return result
        except RecursionError as e:
            if not e.args or e.args[0][:14] not in DEPTH_MESSAGES:
                raise
            return result  # the program recursed too deeply: it handles that itself
        except Exception as e:
            return self.handle_error(e, result, Witness.record_in_place, a, b, result)

    def record_item(self, array: Any, index: Any, result: Any) -> Any:
        """Record an index into an array, or into an object such as `np.r_`, which joins its entries."""
        try:
            if type(result) in SCALAR_TYPES:
                return result
            kind = self.array_kinds[type(result)]
            if kind is None:
                return result
            if self.array_kinds[type(array)] is not None:
                arrays = () if type(index) is int or type(index) is slice else self.index_key(index)
                key = self.operand_key(array, 0), kind.cache_key(result), arrays
                tally = self.tallies.get(key) or self.recorder.step_of_index(self, key, result)
                self.link_result(tally, kind, result)
            elif name := self.recorder.joining_operation[type(array)]:
                entries = index if type(index) is tuple else (index,)
                key = ("", name), self.argument_keys(map(hashable_slice, entries)), kind.cache_key(result)
                tally = self.tallies.get(key) or self.recorder.step_of_joined_entries(
                    self, key, entries, result
                )
                self.link_result(tally, kind, result)
            return result
        except RecursionError as e:
            if not e.args or e.args[0][:14] not in DEPTH_MESSAGES:
                raise
            return result  # the program recursed too deeply: it handles that itself
        except Exception as e:
            return self.handle_error(e, result, Witness.record_item, array, index, result)

    def note_elements_read(self, value: Any, array: Any) -> Any:
        """Note the array with the elements that `a[i] += value` has read, and return the value."""
        try:
            if self.array_kinds[type(array)] is not None:
                self.recorder.elements_read[get_ident()] = self, self.operand_key(array, 0)
            return value
        except RecursionError as e:
            if not e.args or e.args[0][:14] not in DEPTH_MESSAGES:
                raise
            return value  # the program recursed too deeply: it handles that itself
        except Exception as e:
            return self.handle_error(e, value, Witness.note_elements_read, value, array)

    def record_attribute(self, array: Any, result: Any) -> Any:
        """Record an attribute that computes an array, such as `x.T`."""
        try:
            kind = self.array_kinds[type(result)]
            if kind is not None and result is not array and self.array_kinds[type(array)] is not None:
                key = self.operand_key(array, 0), kind.cache_key(result)
                tally = self.tallies.get(key) or self.recorder.step_of_attribute(self, key, result)
                self.link_result(tally, kind, result)
            return result
        except RecursionError as e:
            if not e.args or e.args[0][:14] not in DEPTH_MESSAGES:
                raise
            return result  # the program recursed too deeply: it handles that itself
        except Exception as e:
            return self.handle_error(e, result, Witness.record_attribute, array, result)

    def record_numbers(self, array: Any, result: Any) -> Any:
        """Record an attribute that gives the numbers of an array of another class, such as a quantity."""
        try:
            is_other = self.array_kinds[type(array)] is not None and self.recorder.gives_numbers[type(array)]
        except Exception as e:
            return self.handle_error(e, result, Witness.record_numbers, array, result)
        return Witness.record_attribute(self, array, result) if is_other else result

    def record_assignment(self, value: Any, array: Any) -> Any:
        """Record a value that is about to be assigned to elements of `array`."""
        try:
            if (
                self.array_kinds[type(array)] is not None
                and type(value) is not int
                and type(value) is not bool
            ):
                key = self.operand_key(array, 0), self.operand_key(value, 1)
                if None not in key:
                    tally = self.tallies.get(key) or self.recorder.step_of_assignment(self, key, array)
                    if tally is not None:
                        tally.count += 1
            return value
        except RecursionError as e:
            if not e.args or e.args[0][:14] not in DEPTH_MESSAGES:
                raise
            return value  # the program recursed too deeply: it handles that itself
        except Exception as e:
            return self.handle_error(e, value, Witness.record_assignment, value, array)

    def record_assignment_to(self, value: Any, array: Any) -> Any:
        """Record an assignment to elements of an array that no name holds, and return the array."""
        Witness.record_assignment(self, value, array)
        return array

    def note_data_replaced(self, value: Any, array: Any) -> Any:
        """Note that `a.data = value` is about to give the array `array` a different dtype."""
        try:
            kind = self.array_kinds[type(array)]
            number = self.operand_key(value, 1) if kind is not None else None
            if type(number) is StepNumber:
                self.recorder.link_array(array, kind, number)
            return value
        except RecursionError as e:
            if not e.args or e.args[0][:14] not in DEPTH_MESSAGES:
                raise
            return value  # the program recursed too deeply: it handles that itself
        except Exception as e:
            return self.handle_error(e, value, Witness.note_data_replaced, value, array)

    def note_iterated(self, value: Any) -> Any:
        """Note the array that a loop is about to iterate over, by the loop's variable, and return it."""
        try:
            part = self.operand_key(value, 0) if self.array_kinds[type(value)] is not None else None
            if type(part) is StepNumber:
                key = self.module.file, self.name
                self.recorder.iterated_arrays[key] = part, self.operation.line, int(self.keywords[0] or 0)
            return value
        except RecursionError as e:
            if not e.args or e.args[0][:14] not in DEPTH_MESSAGES:
                raise
            return value  # the program recursed too deeply: it handles that itself
        except Exception as e:
            return self.handle_error(e, value, Witness.note_iterated, value)

    def forget_receiver(self, array: Any) -> Any:
        """Forget an array before `array.resize`. NumPy resizes it only if nothing else refers to it.

        If it is no array, it may be the class of arrays, whose method can resize any array.
        """
        if self.array_kinds[type(array)] is not None:
            self.links.forget_resized(array)
        elif isinstance(array, type):
            self.recorder.stop_linking_resizable()
        return array

    def forget(self, value: Any, array: Any) -> Any:
        """Forget an array in the same way, and return `value`, the first argument of the resizing."""
        self.forget_receiver(array)
        if self.array_kinds[type(value)] is not None:
            self.links.forget_resized(value)
        return value

    # -- calls of functions and methods

    def record_call_0(self, function: Any, result: Any) -> Any:
        """Record a call without arguments except constants: `record_call`, but faster if seen before."""
        try:
            if type(result) in SCALAR_TYPES and type(function) is BuiltinFunctionType:
                return result  # such as `math.sqrt`
            kind = self.array_kinds[type(result)]
            if kind is None:
                if self.compiler_of[type(function)] is None:
                    if self.holds_results[type(result)]:
                        self.record_each_result(function, (result,))
                    elif type(function) is MethodType:
                        self.note_other_result(function, result)
                    return result
            elif function is self.function or type(function) is BuiltinFunctionType:
                live, own = self.by_weak_reference, id(result)
                found = live.get(own)
                if found is None or found[0]() is not result:
                    if function is self.function:
                        who = self.function_key
                    else:
                        owner = function.__self__
                        found = live.get(id(owner))
                        who = (
                            (self.name, found[1])
                            if found is not None
                            and found[0]() is owner
                            and (found[2] is None or found[2] is owner.dtype)
                            else None
                        )
                    tally = self.tallies.get((who, kind.cache_key(result)))
                    if tally is not None:
                        tally.count += 1
                        tally.bytes += kind.size(result)
                        if kind.is_linked_weakly and len(live) < LINKS_BEFORE_CLEANUP:
                            live[own] = Link(result), tally.number, tally.dtype
                        elif kind.mark_of is not None and len(scalars := self.scalars) < MAX_SCALARS:
                            scalars[own] = kind.mark_of(result), tally.number
                        else:
                            self.recorder.link_array(result, kind, tally.number)
                        return result
            return Witness.record_call(self, function, result)
        except RecursionError as e:
            if not e.args or e.args[0][:14] not in DEPTH_MESSAGES:
                raise
            return result  # the program recursed too deeply: it handles that itself
        except Exception as e:
            return self.handle_error(e, result, Witness.record_call_0, function, result)

    def record_call_1(self, function: Any, argument: Any, result: Any) -> Any:
        """Record a call of one argument, in the same way."""
        try:
            if type(result) in SCALAR_TYPES and type(function) is BuiltinFunctionType:
                return result  # such as `math.sqrt`
            kind = self.array_kinds[type(result)]
            if kind is None:
                if self.compiler_of[type(function)] is None:
                    if self.holds_results[type(result)]:
                        self.record_each_result(function, (argument, result))
                    elif result is None:
                        self.note_compiled_call_arguments(function, (argument,))
                    elif type(function) is MethodType or type(result) is BuiltinFunctionType:
                        self.note_other_result(function, result)
                    return result
            elif function is self.function or type(function) is BuiltinFunctionType:
                live, own = self.by_weak_reference, id(result)
                found = live.get(own)
                if found is None or found[0]() is not result:
                    if function is self.function:
                        who = self.function_key
                    else:
                        owner = function.__self__
                        found = live.get(id(owner))
                        who = (
                            (self.name, found[1])
                            if found is not None
                            and found[0]() is owner
                            and (found[2] is None or found[2] is owner.dtype)
                            else None
                        )
                    if type(argument) is type:  # a type stands for itself
                        first = argument
                    else:
                        found = live.get(id(argument))
                        first = (
                            found[1]
                            if found is not None
                            and found[0]() is argument
                            and (found[2] is None or found[2] is argument.dtype)
                            else self.argument_key(argument, 1)
                        )
                    tally = self.tallies.get((who, first, kind.cache_key(result)))
                    if tally is not None:
                        tally.count += 1
                        tally.bytes += kind.size(result)
                        if kind.is_linked_weakly and len(live) < LINKS_BEFORE_CLEANUP:
                            live[own] = Link(result), tally.number, tally.dtype
                        elif kind.mark_of is not None and len(scalars := self.scalars) < MAX_SCALARS:
                            scalars[own] = kind.mark_of(result), tally.number
                        else:
                            self.recorder.link_array(result, kind, tally.number)
                        return result
            return Witness.record_call(self, function, argument, result)
        except RecursionError as e:
            if not e.args or e.args[0][:14] not in DEPTH_MESSAGES:
                raise
            return result  # the program recursed too deeply: it handles that itself
        except Exception as e:
            return self.handle_error(e, result, Witness.record_call_1, function, argument, result)

    # Long: written out, since a further call for each call of a program doubles the time
    def record_call_2(self, function: Any, a: Any, b: Any, result: Any) -> Any:
        """Record a call of two arguments, in the same way."""
        try:
            if type(result) in SCALAR_TYPES and type(function) is BuiltinFunctionType:
                return result  # such as `math.sqrt`
            kind = self.array_kinds[type(result)]
            if kind is None:
                if self.compiler_of[type(function)] is None:
                    if self.holds_results[type(result)]:
                        self.record_each_result(function, (a, b, result))
                    elif result is None:
                        self.note_compiled_call_arguments(function, (a, b))
                    elif type(function) is MethodType or type(result) is BuiltinFunctionType:
                        self.note_other_result(function, result)
                    return result
            elif function is self.function or type(function) is BuiltinFunctionType:
                live, own = self.by_weak_reference, id(result)
                found = live.get(own)
                if found is None or found[0]() is not result:
                    if function is self.function:
                        who = self.function_key
                    else:
                        owner = function.__self__
                        found = live.get(id(owner))
                        who = (
                            (self.name, found[1])
                            if found is not None
                            and found[0]() is owner
                            and (found[2] is None or found[2] is owner.dtype)
                            else None
                        )
                    if type(a) is type:  # a type stands for itself
                        first = a
                    else:
                        found = live.get(id(a))
                        first = (
                            found[1]
                            if found is not None
                            and found[0]() is a
                            and (found[2] is None or found[2] is a.dtype)
                            else self.argument_key(a, 1)
                        )
                    if type(b) is type:
                        second = b
                    else:
                        found = live.get(id(b))
                        second = (
                            found[1]
                            if found is not None
                            and found[0]() is b
                            and (found[2] is None or found[2] is b.dtype)
                            else self.argument_key(b, 2)
                        )
                    tally = self.tallies.get((who, first, second, kind.cache_key(result)))
                    if tally is not None:
                        tally.count += 1
                        tally.bytes += kind.size(result)
                        if kind.is_linked_weakly and len(live) < LINKS_BEFORE_CLEANUP:
                            live[own] = Link(result), tally.number, tally.dtype
                        elif kind.mark_of is not None and len(scalars := self.scalars) < MAX_SCALARS:
                            scalars[own] = kind.mark_of(result), tally.number
                        else:
                            self.recorder.link_array(result, kind, tally.number)
                        return result
            return Witness.record_call(self, function, a, b, result)
        except RecursionError as e:
            if not e.args or e.args[0][:14] not in DEPTH_MESSAGES:
                raise
            return result  # the program recursed too deeply: it handles that itself
        except Exception as e:
            return self.handle_error(e, result, Witness.record_call_2, function, a, b, result)

    def record_call(self, function: Any, *arguments_and_result: Any) -> Any:
        """Record a call: the function, its arguments as far as they are known, and its result at the end."""
        try:
            result = arguments_and_result[-1]
            kind = self.array_kinds[type(result)]
            if self.recorder.announced_calls.is_active:
                self.recorder.announced_calls.note_call(self, function, arguments_and_result)
            if function is not self.function:
                compiler = self.compiler_of[type(function)]
                if compiler is not None and self.recorder.compiled_calls.add_call(
                    self, compiler, function, arguments_and_result
                ):
                    return result
            if kind is None:
                if self.holds_results[type(result)]:
                    self.record_each_result(function, arguments_and_result)
                elif result is None:
                    self.note_compiled_call_arguments(function, arguments_and_result[:-1])
                elif type(function) is MethodType or type(result) is BuiltinFunctionType:
                    self.note_other_result(function, result)
                return result
            live = self.by_weak_reference
            found = live.get(id(result))
            if (
                found is not None
                and found[0]() is result
                and not self.is_step(function, arguments_and_result, result)
            ):
                return result  # the function returned an argument
            who = self.function_key if function is self.function else self.function_key_of(function)
            asked = function if may_be_operation(who) else None  # never call an object of the program
            mark_of = kind.mark_of if type(function) in FOLLOWABLE_CLASSES or asked is None else None
            if mark_of is not None and self.links.step_of_scalar(result, mark_of(result)) is not None:
                return result  # a scalar that was returned unchanged
            key = who, *self.argument_keys(arguments_and_result[:-1]), kind.cache_key(result)
            tally = self.tallies.get(key) or self.recorder.step_of_call(
                self, key, asked, arguments_and_result,
                origin={"package": self.recorder.objects.name_package(function, type(result))},
            )  # fmt: skip
            self.link_result(tally, kind, result)
            return result
        except RecursionError as e:
            if not e.args or e.args[0][:14] not in DEPTH_MESSAGES:
                raise
            return arguments_and_result[-1]  # the program recursed too deeply: it handles that itself
        except Exception as e:
            result = arguments_and_result[-1]
            return self.handle_error(e, result, Witness.record_call, function, *arguments_and_result)

    def note_other_result(self, function: Any, result: Any) -> None:
        """Note a call that gave no array: `getattr(x, "resize")`, or a method that casts arrays in place."""
        if type(result) is BuiltinFunctionType:
            if result.__name__ == RESIZING_METHOD:
                self.forget_receiver(result.__self__)
        elif function.__self__ is result and self.name in self.recorder.converting_methods:
            self.recorder.note_converted_arrays(self, result)

    def note_compiled_call_arguments(self, function: Any, args: tuple[Any, ...]) -> None:
        """Note array arguments of a compiled function that returns None: it may have written into them."""
        cls = type(function)
        if cls is BuiltinFunctionType:
            home = function.__self__
            known = type(home) is not ModuleType or home is builtins or is_module_of_library(home.__name__)
        else:
            known = not self.recorder.is_function[cls] or is_module_of_library(cls.__module__)
        for x in () if known else args:
            found = self.by_weak_reference.get(id(x))
            if found is None or found[0]() is not x or type(found[1]) is not StepNumber:
                continue
            if len(self.recorder.compiled_call_arguments) < MAX_SCALARS:
                self.recorder.compiled_call_arguments[found[1], self] = None

    def is_step(self, function: Any, arguments_and_result: tuple[Any, ...], result: Any) -> bool:
        """Decide whether a call that returned one of its arguments is still a step.

        It is a step if it wrote into the array, or if it is a cast that changed nothing.
        """
        name = self.name
        if not name and (
            type(function) in PYTHON_FUNCTION_CLASSES or self.recorder.is_function[type(function)]
        ):
            name = getattr(function, "__name__", "")  # never call an object of the program
        operation = self.operation
        count = len(arguments_and_result) + len(operation.constants) - len(operation.dtype_owners)
        if count > max_arguments_without_cast(name):
            return True
        return self.has_written_result(function, arguments_and_result[:-1], result)

    def has_written_result(self, function: Any, args: tuple[Any, ...], result: Any) -> bool:
        """Return True if a call wrote its result into one of its arguments.

        It writes through `out=`, through a ufunc's argument past its operands, or as a method such as
        PyTorch's `x.mul_(y)`.
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
        return len(self.operation.list_arguments(args)) - named > operands

    def record_map(self, function: Any, *arguments_and_result: Any) -> Any:
        """Record a call of `map`, which calls its function later, and not from a line of the program.

        If that function belongs to a library, an outer map records each result as it is produced. The
        function still runs in the program's own map, so its warnings and errors keep their source locations.
        """
        try:
            if function is not map or not self.is_of_library(arguments_and_result[0]):
                return self.record_call(function, *arguments_and_result)
            key = (UNDESCRIBED, map.__name__), *self.argument_keys(arguments_and_result[:-1])
            return map(partial(self.record_mapped_result, key), arguments_and_result[-1])
        except RecursionError as e:
            if not e.args or e.args[0][:14] not in DEPTH_MESSAGES:
                raise
            return arguments_and_result[-1]  # the program recursed too deeply: it handles that itself
        except Exception as e:
            result = arguments_and_result[-1]
            return self.handle_error(e, result, Witness.record_map, function, *arguments_and_result)

    def record_mapped_result(self, key: tuple[Any, ...], result: Any) -> Any:
        """Record the result of a function that Python itself called, with unknown arguments."""
        try:
            kind = self.array_kinds[type(result)]
            if kind is not None:
                found = self.by_weak_reference.get(id(result))
                if found is None or found[0]() is not result:
                    result_key = *key, kind.cache_key(result)
                    tally = self.tallies.get(result_key) or self.recorder.step_of_call(
                        self, result_key, None, (result,)
                    )
                    self.link_result(tally, kind, result)
            return result
        except RecursionError as e:
            if not e.args or e.args[0][:14] not in DEPTH_MESSAGES:
                raise
            return result  # the program recursed too deeply: it handles that itself
        except Exception as e:
            return self.handle_error(e, result, Witness.record_mapped_result, key, result)

    def record_each_result(self, function: Any, arguments_and_result: tuple[Any, ...]) -> None:
        """Record a call with several arrays as results: each is a step. Note the arrays in an object."""
        if not holds_results(type(arguments_and_result[-1])):
            if type(function) is MethodType:
                self.note_other_result(function, arguments_and_result[-1])  # before its arrays are read
                announced = self.recorder.announced_calls
                if announced.compares_methods[type(function.__self__)]:
                    announced.note_call(self, function, arguments_and_result)
            self.record_object(function, arguments_and_result)
            return
        results = self.list_results(arguments_and_result[-1])
        if not results:
            return
        announced = self.recorder.announced_calls
        if announced.is_active or announced.announces_for_first_argument(function):
            announced.note_call(self, function, arguments_and_result)
        kinds, live = self.array_kinds, self.by_weak_reference
        new = []
        for i, result in enumerate(results):
            kind = kinds[type(result)]
            if kind is not None:
                found = live.get(id(result))
                if found is None or found[0]() is not result:
                    new.append((i, kind, result))
        if not new:
            return
        if type(function) in FOLLOWABLE_CLASSES:  # it may have returned scalars of followed lines
            scalars = self.links.step_of_scalar
            new = [
                (i, kind, x)
                for i, kind, x in new
                if kind.mark_of is None or scalars(x, kind.mark_of(x)) is None
            ]
        who = self.function_key_of(function)
        if not may_be_operation(who):
            function, new = (
                None,
                [each for each in new if each[1].takes_weak_references],
            )  # list(x) gives many scalars
        tokens = self.argument_keys(arguments_and_result[:-1])
        whole = arguments_and_result[-1]
        for i, kind, result in new:
            found = live.get(id(result))
            if found is not None and found[0]() is result:
                continue  # an argument without a step until its key was made
            key = who, *tokens, kind.cache_key(result), i
            tally = self.tallies.get(key) or self.recorder.step_of_result(
                self, key, function, (*arguments_and_result[:-1], whole), i, result
            )
            self.link_result(tally, kind, result)

    def record_operator_of_objects(self, *operands_and_result: Any) -> None:
        """Record the arrays in the result of an operator, if objects of its class hold any."""
        if self.attribute_readers[type(operands_and_result[-1])] is not None:
            self.record_object(None, operands_and_result)

    def record_object(self, function: Any, arguments_and_result: tuple[Any, ...]) -> None:
        """Record the arrays in an object, unless many objects of its class were read here."""
        counts, key = self.object_counts, id(type(arguments_and_result[-1]))  # an id keeps no class alive
        count = counts.get(key, 0)
        if count < MAX_OBJECTS_READ:
            counts[key] = count + 1
            self.recorder.record_object(self, function, arguments_and_result)

    def list_results(self, result: Any, max_depth: int = 2) -> Sequence[Any]:
        """Return the results in a tuple, a list or a dictionary, and in nested ones.

        Return none if it is long, or if it has no array.
        """
        if type(result) is list:
            found: Sequence[Any] = result
        elif type(result) is dict:
            found = [*result.values()] if len(result) <= MAX_LIST_ITEMS else ()
        else:
            found = [*tuple.__iter__(result)]  # bypasses the iterator of a program's class
        if len(found) > MAX_LIST_ITEMS or self.arrayless_classes.issuperset(map(type, found)):
            return ()
        classes = {*map(type, found)}
        arrays = any(map(self.array_kinds.__getitem__, classes))
        many = {cls for cls in classes if holds_results(cls)}
        if many and max_depth > 1:
            return [
                each
                for result in found
                for each in (self.list_results(result, max_depth - 1) if type(result) in many else (result,))
            ]
        if not arrays and len(self.arrayless_classes) < MAX_CLASSES:
            self.arrayless_classes.update(classes - many)
        return found if arrays else ()

    def link_result(self, tally: Any, kind: Any, result: Any) -> None:
        """Count a step, and record that it made the result."""
        if tally is None:
            return
        size = kind.size(result)
        tally.count += 1
        tally.bytes += size
        live = self.by_weak_reference
        if kind.is_linked_weakly and len(live) < LINKS_BEFORE_CLEANUP and not self.links.resized:
            live[id(result)] = Link(result), tally.number, tally.dtype
        elif kind.mark_of is not None and len(scalars := self.scalars) < MAX_SCALARS:
            scalars[id(result)] = kind.mark_of(result), tally.number
        else:
            self.recorder.link_array(result, kind, tally.number)

    def handle_error(self, error: Exception, value: Any, method: Callable[..., Any], *arguments: Any) -> Any:
        """Raise an error from outside. If our own work fails, note that, and return the program's value.

        The work of the method is repeated to tell them apart. What fails again is then recorded as an opaque
        step.
        """
        recorder, thread = self.recorder, get_ident()
        if thread in recorder.repeating_threads:
            raise error
        recorder.repeating_threads.add(thread)
        record = partial(method, self, *arguments)
        try:
            raise_if_from_outside(error, record)
            if self not in recorder.failures:
                recorder.failures[self] = describe_error(error)
                try:
                    record()
                except Exception as e:
                    raise_if_from_outside(e, record)
        except BaseException as e:
            leave_out_own_frames(e)
            raise
        finally:
            recorder.repeating_threads.discard(thread)
        return value

    # -- the parts of keys

    def operand_key(self, operand: Any, position: int) -> Any:
        """Return the part of a key for an operand: the step that made it, if one did.

        For a Python number the part is its class and value, for a list or a tuple its class and the parts of
        its items. It is None for anything else.
        """
        found = self.by_weak_reference.get(id(operand))
        return (
            found[1]
            if found is not None and found[0]() is operand and (found[2] is None or found[2] is operand.dtype)
            else self.unlinked_operand_key(operand, position)
        )

    def unlinked_operand_key(self, operand: Any, position: int) -> Any:
        """Return the part of a key for an operand that has no step in `live`."""
        if type(operand) in SCALAR_TYPES:
            return type(operand), operand
        kind = self.array_kinds[type(operand)]
        if kind is None:
            return (
                self.argument_key(operand, position)
                if type(operand) is list or type(operand) is tuple
                else None
            )
        if kind.mark_of is not None:
            found = self.scalars.get(id(operand))
            if found is not None and found[0] == kind.mark_of(operand):
                return found[1]
        return self.recorder.step_of_input(self, operand, kind, position)

    def argument_keys(self, args: Iterable[Any]) -> tuple[Hashable, ...]:
        """Return the parts of a key for the arguments of a call."""
        live = self.by_weak_reference
        keys: list[Hashable] = []
        for position, x in enumerate(args, 1):
            found = live.get(id(x))
            known = found is not None and found[0]() is x and (found[2] is None or found[2] is x.dtype)
            keys.append(found[1] if known else self.argument_key(x, position))
        return tuple(keys)

    def argument_key(self, argument: Any, position: int, depth: int = 0) -> Any:
        """Return the part of a key for an argument that no step made."""
        cls = type(argument)
        sort = self.argument_sorts[cls]
        if sort is ITEMS:
            if len(argument) > MAX_LIST_ITEMS or depth > 2:
                return cls, frozenset(map(type, argument))
            keys = [cls]
            for each in argument:
                found = self.by_weak_reference.get(id(each))
                known = (
                    found is not None and found[0]() is each and (found[2] is None or found[2] is each.dtype)
                )
                keys.append(found[1] if known else self.argument_key(each, position, depth + 1))
            return tuple(keys)
        if sort is VALUE:
            if isinstance(argument, type) and not self.recorder.is_lasting_class[argument]:
                return cls, argument.__qualname__  # a class of the program may be deleted
            self.links.record_constant(argument, argument)
            return argument
        if sort is TEXT:
            return argument
        if sort is NUMBER:
            if cls is int and argument in SMALL_INTS:
                self.links.record_constant(argument, (cls, argument))
            return cls, argument
        if sort is ARRAY:
            return self.unlinked_operand_key(argument, position)
        if cls is dict and self.keywords and self.keywords[-1] is None:
            named = [*argument.items()][:MAX_LIST_ITEMS]
            return cls, *[(key, self.argument_key((value,), position)) for key, value in named]
        return cls.__name__

    def index_key(self, key: Any) -> Hashable:
        """Return the part of a key for an index: its arrays, which are operands, and marks for its lists."""
        if type(key) is not tuple:
            if type(key) is list:
                return INDEX_FORMS[:1]
            return self.operand_key(key, 1) if self.array_kinds[type(key)] is not None else ()
        found: tuple[Hashable, ...] = ()
        for x in key:
            if self.array_kinds[type(x)] is not None:
                found = *found, self.operand_key(x, 1)
            elif type(x) is list:
                found = *found, INDEX_FORMS[1]
        return found

    def function_key_of(self, function: Any) -> Any:
        """Return the part of a key for a function."""
        cls = type(function)
        if cls is FunctionType:
            return function.__module__, function.__qualname__
        if cls is MethodType or cls is BuiltinFunctionType:
            owner = function.__self__
            if self.array_kinds[type(owner)] is not None:
                return self.name or function.__name__, self.operand_key(owner, 0)
            if cls is MethodType:
                inner = function.__func__
                if type(inner) is FunctionType:
                    return inner.__module__, inner.__qualname__
                return UNDESCRIBED, self.name or type(inner).__name__
            if owner is builtins and function is not abs:
                return UNDESCRIBED, function.__name__
            if owner is None or type(owner) is ModuleType:
                self.function = self.function_key = function
                return function
            known = self.recorder.is_function[type(owner)]
            return (function.__name__, owner) if known else (UNDESCRIBED, function.__name__)
        if issubclass(cls, type) or self.recorder.is_function[cls]:
            owner = getattr(function, "__self__", None)
            if self.array_kinds[type(owner)] is not None:
                return function.__name__, self.operand_key(owner, 0)
            if issubclass(cls, type) and not self.recorder.is_lasting_class[function]:
                return UNDESCRIBED, function.__qualname__  # a class of the program may be deleted
            if cls.__hash__ is not None:
                self.function = self.function_key = function
                return function
        return UNDESCRIBED, self.name or cls.__name__

    def is_of_library(self, function: Any) -> bool:
        """Return True if a function belongs to a library. This runs no code of the program's objects."""
        cls = type(function)
        if cls is FunctionType or cls is BuiltinFunctionType:
            return is_module_of_library(function.__module__ or "")
        known: bool = self.recorder.is_function[cls]
        return known


class LazyWitness(WitnessBase):
    """A placeholder that turns into a Witness when its operation first runs. Most operations never run."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            if type(self) is LazyWitness:
                run_locked(self.module.recorder.lock, partial(LazyWitness.become_witness, self))
            return object.__getattribute__(self, name)
        except RecursionError as e:
            if not e.args or e.args[0][:14] not in DEPTH_MESSAGES:
                raise
            return give_first if name in METHODS_BEFORE_OPERATION else give_last

    def become_witness(self) -> None:
        """Fill the fields, unless another thread has done so, and take the class of a witness."""
        if type(self) is LazyWitness:
            self.fill_fields()
            self.__class__ = self.recorder.witness_class  # allowed: both classes have the same fields


def give_first(*arguments: Any) -> Any:
    """Return the first argument, like the witness methods that run before their operation."""
    return arguments[0]


def give_last(*arguments_and_result: Any) -> Any:
    """Return the last argument, like the witness methods that get the operands and the result."""
    return arguments_and_result[-1]


def describe_error(error: Exception) -> str:
    """Return the class and the text of an error. The text of a class of the program may run its code."""
    text = str(error) if type(error).__module__ in ("builtins", "typelattice") else ""
    return f"{type(error).__name__}: {text}"


def is_module_of_library(module: str) -> bool:
    """Return True if a module belongs to a library with rules."""
    return library_of(module.partition(".")[0]) is not None


def may_be_operation(function_key: Any) -> bool:
    """Return True if an operation may have `function_key`, the part of a key for a function."""
    return type(function_key) is not tuple or function_key[0] != UNDESCRIBED


def hashable_slice(x: Any) -> Any:
    """Return the bounds of a slice, which can be part of a key. Return anything else unchanged."""
    return (slice, x.start, x.stop, x.step) if type(x) is slice else x
