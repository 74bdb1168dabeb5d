"""Witnesses that check values too: what each operation did to its numbers, by source location."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from types import BuiltinFunctionType
from typing import Any
from weakref import ref

from typelattice.calls.steps import MAX_STEP_CHARS, SourceLocation
from typelattice.tracing.libraries import loss_checks
from typelattice.tracing.record.witness import Witness
from typelattice.tracing.run_data.array_classes import AnswersByClass, library_class
from typelattice.tracing.run_data.run import NOT_FINITE, LossLocation, ValueLoss

globals()["__builtins__"] = {**vars(builtins)}  # as in witness.py
LARGEST = 1 << 27  # bytes of a result that is checked
MOST_FINITE = 4_096  # arrays of which it is known


class ValueChecks:
    """The losses so far, by source location, text and rule."""

    def __init__(self) -> None:
        self.found: dict[tuple[SourceLocation, str, str], LossLocation] = {}
        self.checks: dict[str, list[Any]] = {}  # of each library
        self.finite: dict[int, ref[Any]] = {}  # arrays that had no infinite number and no NaN, by their ids
        self.is_plain = AnswersByClass(is_plain)

    def check(
        self, at: ValueWitness, name: str, operands: Sequence[Any], named: Mapping[str, Any], result: Any
    ) -> None:
        """Check an operation that has run."""
        kind = at.kinds[type(result)]
        if kind is None or not self.is_plain[type(result)] or kind.size(result) > LARGEST:
            return
        for x in operands:
            if not self.is_plain[type(x)]:
                return
        checks = self.checks.get(kind.library)
        if checks is None:
            checks = self.checks[kind.library] = loss_checks(kind.library)
        rules: set[str] = set()
        for losses in checks if name != "put" else checks[:1]:
            for rule, describe in losses(name, operands, named, result):
                known = rule != NOT_FINITE or name[-1:] != "=" or self.was_finite(result)
                if describe is not None and rule not in rules and known:
                    self.add(at, rule, describe)
                rules.add(rule)
        if kind.direct:
            if NOT_FINITE in rules:
                self.finite.pop(id(result), None)
            elif name != "put":
                if len(self.finite) > MOST_FINITE:
                    self.finite.clear()
                self.finite[id(result)] = ref(result)

    def was_finite(self, x: Any) -> bool:
        """Return True if all numbers of an array were finite when it was last seen."""
        found = self.finite.get(id(x))
        return found is not None and found() is x

    def add(self, at: ValueWitness, rule: str, describe: Callable[[], ValueLoss]) -> None:
        """Add a loss to those at the same place."""
        place = SourceLocation(at.module.file, at.written.line)
        text = at.recorder.sources[at.module.file].text(at.written)[:MAX_STEP_CHARS]
        known = self.found.get((place, text, rule))
        loss, runs = (known.loss, known.runs + 1) if known else (describe(), 1)
        self.found[place, text, rule] = LossLocation(place, text, loss, runs)


def is_plain(cls: type) -> bool:
    """Return True if a class is Python's or a library's own: checks run no code of the program."""
    return library_class(cls) is cls or type.__getattribute__(cls, "__module__") == "builtins"


def check_binary(at: ValueWitness, a: Any, b: Any, result: Any) -> None:
    """Check an operator of two operands."""
    at.recorder.values.check(at, at.written.name, (a, b), {}, result)


def check_unary(at: ValueWitness, a: Any, result: Any) -> None:
    """Check an operator of one operand."""
    at.recorder.values.check(at, at.written.name, (a,), {}, result)


def check_in_place(at: ValueWitness, a: Any, b: Any, result: Any) -> None:
    """Check what an operator such as `+=` was given; what it overwrote is gone."""
    name = at.written.name
    if result is a:
        at.recorder.values.check(at, f"{name}=", (b,), {}, result)
    else:
        at.recorder.values.check(at, name, (a, b), {}, result)


def check_put(at: ValueWitness, value: Any, a: Any) -> None:
    """Check a value that is about to be cast to the dtype of elements."""
    at.recorder.values.check(at, "put", (value,), {}, a)


def check_call(at: ValueWitness, function: Any, *given: Any) -> None:
    """Check a call of a library's function, or of an array's method."""
    if at.kinds[type(given[-1])] is None:
        return
    owner = function.__self__ if type(function) is BuiltinFunctionType else None
    of_array = at.kinds[type(owner)] is not None
    if not of_array and type(function) is not type and not at.is_of_library(function):
        return
    args, names = at.written.all_of(given[:-1]), at.written.keywords
    if None in names or "*" in names:
        return
    split = len(args) - len(names)
    named = dict(zip(names, args[split:], strict=True))
    operands = [owner, *args[:split]] if of_array else args[:split]
    at.recorder.values.check(at, getattr(function, "__name__", ""), operands, named, given[-1])


def checked(check: Callable[..., None], record: Callable[..., Any], returned: int = -1) -> Any:
    """Return a method that checks an operation before it records it. No failure here reaches the program."""

    def check_and_record(at: ValueWitness, *given: Any) -> Any:
        try:
            try:
                check(at, *given)
            except RecursionError:
                raise
            except Exception as e:
                at.go_on(e, None)
            return record(at, *given)
        except RecursionError:  # the program's own depth: what comes next is its affair
            return given[returned]

    return check_and_record


class ValueWitness(Witness):
    """An observer that checks the values of an operation before it records it."""

    __slots__ = ()
    record_binary = checked(check_binary, Witness.record_binary)
    record_unary = checked(check_unary, Witness.record_unary)
    record_in_place = checked(check_in_place, Witness.record_in_place)
    record_put = checked(check_put, Witness.record_put, 0)
    record_call_0 = checked(check_call, Witness.record_call_0)
    record_call_1 = checked(check_call, Witness.record_call_1)
    record_call_2 = checked(check_call, Witness.record_call_2)
    record_call = checked(check_call, Witness.record_call)
