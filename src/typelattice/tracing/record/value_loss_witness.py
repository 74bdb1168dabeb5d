"""Witnesses that also check values, and keep the losses by source location."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import BuiltinFunctionType
from typing import Any
from weakref import ref

from typelattice.calls.steps import MAX_STEP_CHARS, SourceLocation
from typelattice.support.outside_errors import DEPTH_MESSAGES, raise_if_from_outside
from typelattice.tracing.library_traits import loss_checks
from typelattice.tracing.record.witness import Witness, describe_error
from typelattice.tracing.run_data.array_classes import CachePerClass, library_class
from typelattice.tracing.run_data.run import NOT_FINITE, LocatedLoss, ValueLoss

globals()["__builtins__"] = {**vars(builtins)}  # witness.py explains this copy
MAX_RESULT_BYTES = 1 << 27  # a larger result is not checked: that would slow the program down
MAX_FINITE_ARRAYS = 4_096  # most arrays that are remembered as finite


class ValueChecks:
    """The losses so far, by source location, text and rule."""

    def __init__(self) -> None:
        self.losses: dict[tuple[SourceLocation, str, str], LocatedLoss] = {}
        self.checks: dict[str, list[Any]] = {}  # the checks of each library, by its name
        self.finite_arrays: dict[
            int, ref[Any]
        ] = {}  # arrays without infinite numbers and NaN, by their ids
        self.is_plain = CachePerClass(is_plain)

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
        if kind is None or not self.is_plain[type(result)] or kind.size(result) > MAX_RESULT_BYTES:
            return
        for x in operands:
            if not self.is_plain[type(x)]:
                return
        checks = self.checks.get(kind.library)
        if checks is None:
            checks = self.checks[kind.library] = loss_checks(kind.library)
        rules: set[str] = set()
        for find_losses in checks if name != "put" else checks[:1]:
            for rule, describe in find_losses(name, operands, keywords, result):
                known = rule != NOT_FINITE or name[-1:] != "=" or self.was_finite(result)
                if describe is not None and rule not in rules and known:
                    self.add_loss(witness, rule, describe)
                rules.add(rule)
        if kind.is_linked_weakly:
            if NOT_FINITE in rules:
                self.finite_arrays.pop(id(result), None)
            elif name != "put":
                if len(self.finite_arrays) > MAX_FINITE_ARRAYS:
                    self.finite_arrays.clear()
                self.finite_arrays[id(result)] = ref(result)

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
    """Return True if a class is Python's or a library's own: checks never run code of the program."""
    return library_class(cls) is cls or type.__getattribute__(cls, "__module__") == "builtins"


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
    if witness.array_kinds[type(arguments_and_result[-1])] is None:
        return
    owner = function.__self__ if type(function) is BuiltinFunctionType else None
    of_array = witness.array_kinds[type(owner)] is not None
    if not of_array and type(function) is not type and not witness.is_of_library(function):
        return
    args, names = witness.operation.list_arguments(arguments_and_result[:-1]), witness.operation.keywords
    if None in names or "*" in names:
        return
    split = len(args) - len(names)
    named = dict(zip(names, args[split:], strict=True))
    operands = [owner, *args[:split]] if of_array else args[:split]
    witness.recorder.value_checks.observe_operation(
        witness, getattr(function, "__name__", ""), operands, named, arguments_and_result[-1]
    )


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
    record_binary = checking_method(check_binary, Witness.record_binary)
    record_unary = checking_method(check_unary, Witness.record_unary)
    record_in_place = checking_method(check_in_place, Witness.record_in_place)
    record_assignment = checking_method(check_assignment, Witness.record_assignment, 0)
    record_call_0 = checking_method(check_call, Witness.record_call_0)
    record_call_1 = checking_method(check_call, Witness.record_call_1)
    record_call_2 = checking_method(check_call, Witness.record_call_2)
    record_call = checking_method(check_call, Witness.record_call)
