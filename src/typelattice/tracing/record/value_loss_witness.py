"""Witnesses that also check values, and keep the losses by source location."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import BuiltinFunctionType, MethodType
from typing import Any
from weakref import ref

from typelattice.base.errors.outside_errors import DEPTH_MESSAGES, raise_if_from_outside
from typelattice.core.registry.libraries import library_of
from typelattice.programs.calls.steps import MAX_STEP_CHARS, SourceLocation
from typelattice.programs.calls.ufunc_methods import REDUCTION_BY_UFUNC_METHOD
from typelattice.tracing.library_traits import ValueChecksOfLibrary, value_checks
from typelattice.tracing.library_traits.array_subclasses import has_own_arithmetic
from typelattice.tracing.library_traits.checked_call import (
    NO_CHECKS,
    NO_RESULT,
    OPTIONS,
    OTHER_PACKAGE,
    OWN_CLASS,
    SEVERAL_RESULTS,
    TOO_LARGE,
    WHILE_COMPILING,
    Unchecked,
)
from typelattice.tracing.record.witness import (
    PYTHON_FUNCTION_CLASSES,
    RESIZING_METHOD,
    Witness,
    describe_error,
    is_module_of_library,
)
from typelattice.tracing.run_data.array_classes import (
    MAX_LIST_ITEMS,
    CachePerClass,
    holds_results,
    library_class,
)
from typelattice.tracing.run_data.run import (
    NOT_FINITE,
    LocatedLoss,
    UncheckedResults,
    ValueLoss,
    ValueScope,
)
from typelattice.tracing.run_data.written_operation import OMITTED_ARGUMENTS

globals()["__builtins__"] = {**vars(builtins)}  # witness.py explains this copy
MAX_RESULT_BYTES = 1 << 27  # a larger result is not checked: that would slow the program down
MAX_UNCHECKED_SUBJECTS = 1_000  # functions and classes that are named in the report of what was not checked
KEEPING_CALLS = {"sort", "partition", "shuffle", "setflags", "tofile", "save", "savez", "savetxt", "dump"}
"""Calls that return nothing, and write no new numbers into arrays."""
MAX_FINITE_ARRAYS = 4_096  # most arrays that are remembered as finite


class ValueChecks:
    """The losses so far by source location, text and rule, and how many results were checked."""

    def __init__(self) -> None:
        self.losses: dict[tuple[SourceLocation, str, str], LocatedLoss] = {}
        self.checks: dict[str, ValueChecksOfLibrary | None] = {}  # the checks of each library, by its name
        # arrays without infinite numbers and NaN, by their ids
        self.finite_arrays: dict[int, ref[Any]] = {}
        self.is_plain = CachePerClass(is_plain)
        self.checked_count = 0
        self.libraries_with_log: frozenset[str] = frozenset()  # a dispatcher checks their values, too
        self.unchecked: dict[tuple[str, str], list[int]] = {}  # their number and the largest, by the reason

    def observe_operation(
        self,
        witness: ValueWitness,
        name: str,
        operands: Sequence[Any],
        keywords: Mapping[str, Any],
        result: Any,
    ) -> None:
        """Check an operation that has run."""
        kind = witness.array_kinds[type(result)]
        if kind is None:
            return
        if kind.library not in self.checks:
            self.checks[kind.library] = value_checks(kind.library)
        checks = self.checks[kind.library]
        strange = next((x for x in (result, *operands) if not self.is_plain[type(x)]), None)
        size = kind.size(result)
        if checks is None:
            self.note_unchecked(NO_CHECKS, kind.library, size, kind.library)
        elif kind.variable is not None:
            self.note_unchecked(WHILE_COMPILING, kind.library, size, kind.library)
        elif strange is not None:
            name = type.__getattribute__(type(strange), "__name__")
            self.note_unchecked(OWN_CLASS, name, size, kind.library)
        elif size > MAX_RESULT_BYTES:
            self.note_unchecked(TOO_LARGE, "", size, kind.library)
        elif (plain := checks.plain_call(name, operands, keywords)) is None:
            self.note_unchecked(OPTIONS, name, size, kind.library)
        else:
            with checks.without_warnings():
                self.check_plain_call(witness, checks, *plain, result)

    def observe_call(
        self,
        witness: ValueWitness,
        function: Any,
        name: str,
        operands: Sequence[Any],
        keywords: Mapping[str, Any],
        result: Any,
    ) -> None:
        """Check a call that has returned an array."""
        self.observe_operation(witness, name, operands, keywords, result)

    def observe_part(self, array: Any, part: Any) -> None:
        """Take note of a part of an array, or of an attribute such as `x.T`. These lose no values."""

    def observe_other_result(
        self, witness: ValueWitness, function: Any, arguments: Sequence[Any], result: Any
    ) -> None:
        """Take note of a call that has returned no array, but an object that may hold some, or nothing."""

    def check_plain_call(
        self,
        witness: ValueWitness,
        checks: ValueChecksOfLibrary,
        name: str,
        operands: Sequence[Any],
        keywords: Mapping[str, Any],
        result: Any,
    ) -> None:
        """Check an operation that is written as NumPy writes it."""
        kind = witness.array_kinds[type(result)]
        assert kind is not None
        links = witness.links
        may_refer = id(result) not in links.resized and not (
            links.resizes_anything and hasattr(type(result), RESIZING_METHOD)
        )
        rules: set[str] = set()
        is_checked = True
        over_steps = (checks.over_steps,) if name != "put" and may_refer else ()
        for find_losses in (checks.of_operation, *over_steps):
            for found in find_losses(name, operands, keywords, result):
                if isinstance(found, Unchecked):
                    is_checked = False
                    size = largest_size(witness, result, operands)
                    self.note_unchecked(found.reason, found.subject, size, kind.library)
                    continue
                rule, describe = found
                known = rule != NOT_FINITE or name[-1:] != "=" or self.was_finite(result)
                if describe is not None and rule not in rules and known:
                    self.add_loss(witness, rule, describe)
                rules.add(rule)
        self.checked_count += is_checked
        if kind.is_linked_weakly and may_refer:
            if NOT_FINITE in rules:
                self.finite_arrays.pop(id(result), None)
            elif name != "put":
                if len(self.finite_arrays) > MAX_FINITE_ARRAYS:
                    self.finite_arrays.clear()
                self.finite_arrays[id(result)] = ref(result)

    def note_unchecked(self, reason: str, subject: str, size: int, library: str = "") -> None:
        """Count a result that was not checked, unless a dispatcher of its library checks all results."""
        if library in self.libraries_with_log:
            return
        if (reason, subject) not in self.unchecked and len(self.unchecked) >= MAX_UNCHECKED_SUBJECTS:
            subject = ""
        counts = self.unchecked.setdefault((reason, subject), [0, 0])
        counts[:] = counts[0] + 1, max(counts[1], size)

    @property
    def scope(self) -> ValueScope:
        """The number of results that were checked, and those that were not."""
        unchecked = (UncheckedResults(*key, *counts) for key, counts in self.unchecked.items())
        return ValueScope(self.checked_count, tuple(unchecked))

    def forget(self, array: Any) -> None:
        """Forget an array that is about to be resized. A class stands for all its arrays."""
        known = [found() for found in self.finite_arrays.values()] if isinstance(array, type) else [array]
        for i in [id(x) for x in known if x is not None]:
            self.finite_arrays.pop(i, None)
            for checks in self.checks.values():
                if checks is not None:
                    checks.forget(i)

    def was_finite(self, x: Any) -> bool:
        """Return True if all numbers of an array were finite in the last check."""
        found = self.finite_arrays.get(id(x))
        return found is not None and found() is x

    def add_loss(self, witness: ValueWitness, rule: str, describe: Callable[[], ValueLoss]) -> None:
        """Add a loss to those at the same place."""
        place = SourceLocation(witness.module.file, witness.operation.line)
        text = witness.recorder.sources[witness.module.file].text_at(witness.operation)[:MAX_STEP_CHARS]
        known = self.losses.get((place, text, rule))
        loss, runs = (known.loss, known.runs + 1) if known else (describe(), 1)
        self.losses[place, text, rule] = LocatedLoss(place, text, loss, runs)


def is_plain(cls: type) -> bool:
    """Return True if a class is Python's or a plain one of a library: checks never run other code."""
    if type.__getattribute__(cls, "__module__") == "builtins":
        return True
    return library_class(cls) is cls and not has_own_arithmetic(cls)


def check_binary(witness: ValueWitness, a: Any, b: Any, result: Any) -> None:
    """Check an operator of two operands."""
    witness.recorder.value_checks.observe_operation(witness, witness.operation.name, (a, b), {}, result)


def check_unary(witness: ValueWitness, a: Any, result: Any) -> None:
    """Check an operator of one operand."""
    witness.recorder.value_checks.observe_operation(witness, witness.operation.name, (a,), {}, result)


def check_in_place(witness: ValueWitness, a: Any, b: Any, result: Any) -> None:
    """Check an operator such as `+=` from its operands and result. The overwritten values are gone."""
    name = witness.operation.name
    if result is a:
        witness.recorder.value_checks.observe_operation(witness, f"{name}=", (b,), {}, result)
    else:
        witness.recorder.value_checks.observe_operation(witness, name, (a, b), {}, result)


def check_assignment(witness: ValueWitness, value: Any, a: Any) -> None:
    """Check a value that an assignment is about to cast to the dtype of elements."""
    witness.recorder.value_checks.observe_operation(witness, "put", (value,), {}, a)


def check_call(witness: ValueWitness, function: Any, *arguments_and_result: Any) -> None:
    """Check a call of a library's function, or of an array's method."""
    result = arguments_and_result[-1]
    if witness.array_kinds[type(result)] is None:
        check_other_result(witness, function, *arguments_and_result)
        return
    owner, is_known = find_owner(witness, function)
    if not is_known:
        check_unknown_result(witness, OTHER_PACKAGE, function, result)
        return
    args, names = witness.operation.list_arguments(arguments_and_result[:-1]), witness.operation.keywords
    if not {None, "*", OMITTED_ARGUMENTS}.isdisjoint(names):
        check_unknown_result(witness, OPTIONS, function, result)
        return
    split = len(args) - len(names)
    named = dict(zip(names, args[split:], strict=True))
    name, operands = getattr(function, "__name__", "") or witness.name, args[:split]
    if type(owner).__name__ == "ufunc":
        if name in REDUCTION_BY_UFUNC_METHOD and len(operands) == 1:
            named.setdefault("axis", 0)
        name = REDUCTION_BY_UFUNC_METHOD.get(name, {}).get(owner.__name__, f"{owner.__name__}.{name}")
    elif witness.array_kinds[type(owner)] is not None:
        name = name.lstrip("_")  # JAX's method sum is called _sum
        operands = [owner, *operands]
    witness.recorder.value_checks.observe_call(witness, function, name, operands, named, result)


def check_item(witness: ValueWitness, array: Any, index: Any, result: Any) -> None:
    """Take note of a part of an array."""
    check_attribute(witness, array, result)


def check_attribute(witness: ValueWitness, array: Any, result: Any) -> None:
    """Take note of an attribute that is an array, such as `x.T`."""
    kinds = witness.array_kinds
    if kinds[type(result)] is not None and kinds[type(array)] is not None:
        witness.recorder.value_checks.observe_part(array, result)


def check_other_result(witness: ValueWitness, function: Any, *arguments_and_result: Any) -> None:
    """Check a call that returns no array: count the arrays in its result, or note that it may write."""
    *given, result = arguments_and_result
    witness.recorder.value_checks.observe_other_result(
        witness, function, witness.operation.list_arguments(tuple(given)), result
    )
    if holds_results(type(result)):
        reason = SEVERAL_RESULTS if witness.is_of_library(function) else OTHER_PACKAGE
        for x in witness.list_results(result):
            check_unknown_result(witness, reason, function, x)
    elif result is None:
        owner, is_known = find_owner(witness, function)
        arguments = [owner, *witness.operation.list_arguments(tuple(given))]
        values = [y for x in arguments for y in (x[:MAX_LIST_ITEMS] if type(x) in (list, tuple) else [x])]
        arrays = [x for x in values if witness.array_kinds[type(x)] is not None]
        name = getattr(function, "__name__", "") if is_known else witness.name
        if is_checked_by_dispatcher(witness, function, owner):
            return
        if is_known and arrays and name == "fill" and len(arguments) == 2:
            witness.recorder.value_checks.observe_operation(witness, "put", arguments[1:], {}, owner)
        elif (is_known and arrays and name not in KEEPING_CALLS) or has_library_receiver(function):
            witness.recorder.value_checks.note_unchecked(NO_RESULT, name or witness.name, 0)


def is_checked_by_dispatcher(witness: ValueWitness, function: Any, owner: Any) -> bool:
    """Return True for a method of a library whose dispatcher checks all that it computes."""
    libraries = witness.recorder.value_checks.libraries_with_log
    kind = witness.array_kinds[type(owner)]
    if kind is not None:
        return kind.library in libraries
    if type(function) is not MethodType or not libraries:
        return False
    module: str = type.__getattribute__(type(function.__self__), "__module__")
    return library_of(module.partition(".")[0]) in libraries


def has_library_receiver(function: Any) -> bool:
    """Return True for a method of an object of a library, such as an optimizer, which may hold arrays."""
    if type(function) is not MethodType:
        return False
    return is_module_of_library(type.__getattribute__(type(function.__self__), "__module__"))


def find_owner(witness: ValueWitness, function: Any) -> tuple[Any, bool]:
    """Return the object of a library of which a function is a method, and True if it is a library's function.

    The object is an array, or another one such as `np.add` of `np.add.reduce`. A plain function has none.
    """
    cls = type(function)
    if cls is BuiltinFunctionType:
        owner = function.__self__
        if witness.array_kinds[type(owner)] is not None or witness.recorder.is_function[type(owner)]:
            return owner, True
    elif cls is MethodType and witness.array_kinds[type(function.__self__)] is not None:
        return function.__self__, is_module_of_library(function.__module__ or "")
    elif cls is MethodType and witness.recorder.is_function[type(function.__self__)]:
        return None, True  # such as a method of NumPy's generator of random numbers
    return None, cls is type or witness.is_of_library(function)


def check_unknown_result(witness: ValueWitness, reason: str, function: Any, result: Any) -> None:
    """Count a result of a function that no check knows, unless followed code has computed it."""
    kind = witness.array_kinds[type(result)]
    if kind is None or witness.recorder.step_of(result) is not None:
        return
    is_function = type(function) in PYTHON_FUNCTION_CLASSES  # never read a name of the program's object
    name = getattr(function, "__name__", "") if is_function else witness.name
    witness.recorder.value_checks.note_unchecked(reason, name, kind.size(result), kind.library)


def largest_size(witness: ValueWitness, result: Any, operands: Sequence[Any]) -> int:
    """Return the bytes of the largest array of an operation."""
    found = ((witness.array_kinds[type(x)], x) for x in (result, *operands))
    sizes: list[int] = [kind.size(x) for kind, x in found if kind is not None]
    return max(sizes)


def checking_method(check: Callable[..., None], record: Callable[..., Any], result_index: int = -1) -> Any:
    """Return a method that checks an operation before it records it. No failure here reaches the program."""

    def check_and_record(witness: ValueWitness, *arguments: Any) -> Any:
        try:
            try:
                check(witness, *arguments)
            except RecursionError:
                raise
            except Exception as e:
                raise_if_from_outside(e, partial(check, witness, *arguments))
                witness.recorder.check_failures[witness] = describe_error(e)
            return record(witness, *arguments)
        except RecursionError as e:
            if not e.args or e.args[0][:14] not in DEPTH_MESSAGES:
                raise
            return arguments[result_index]  # the program recursed too deeply: it handles that itself

    return check_and_record


class ValueWitness(Witness):
    """An observer that checks the values of an operation before it records it."""

    __slots__ = ()

    def forget_receiver(self, array: Any) -> Any:
        """Forget an array before it is resized, also in the checks of values."""
        self.recorder.value_checks.forget(array)
        return Witness.forget_receiver(self, array)

    def forget(self, value: Any, array: Any) -> Any:
        """Forget both arguments of a resizing, also in the checks of values."""
        self.recorder.value_checks.forget(value)
        return Witness.forget(self, value, array)

    record_binary = checking_method(check_binary, Witness.record_binary)
    record_unary = checking_method(check_unary, Witness.record_unary)
    record_in_place = checking_method(check_in_place, Witness.record_in_place)
    record_item = checking_method(check_item, Witness.record_item)
    record_attribute = checking_method(check_attribute, Witness.record_attribute)
    record_assignment = checking_method(check_assignment, Witness.record_assignment, 0)
    record_assignment_to = checking_method(check_assignment, Witness.record_assignment_to)
    record_call_0 = checking_method(check_call, Witness.record_call_0)
    record_call_1 = checking_method(check_call, Witness.record_call_1)
    record_call_2 = checking_method(check_call, Witness.record_call_2)
    record_call = checking_method(check_call, Witness.record_call)
