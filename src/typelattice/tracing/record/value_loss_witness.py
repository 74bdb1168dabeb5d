"""Witnesses that check values too: what each operation did to its numbers, by source location."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import BuiltinFunctionType
from typing import Any

from typelattice.calls.step import LONGEST, SourceLocation
from typelattice.tracing.libraries import value_losses, value_shadows
from typelattice.tracing.record.witness import Witness
from typelattice.tracing.run_data.run import LostAt, ValueLoss

LARGEST = 1 << 27  # bytes of a result that is checked


class ValueChecks:
    """The losses so far, by source location, text and rule."""

    def __init__(self) -> None:
        self.found: dict[tuple[SourceLocation, str, str], LostAt] = {}
        self.shadows: dict[str, Any] = {}  # of each library

    def check(
        self, at: ValueWitness, name: str, operands: Sequence[Any], named: Mapping[str, Any], result: Any
    ) -> None:
        """Check an operation that has run. A failure of ours never reaches the program."""
        kind = at.kinds[type(result)]
        if kind is None:
            return
        try:
            if kind.size(result) > LARGEST:
                return
            if kind.library not in self.shadows:
                self.shadows[kind.library] = value_shadows(kind.library)
            shadows = self.shadows[kind.library]
            losses = [*value_losses(kind.library, name, operands, named, result)]
            if shadows is not None and name != "put":
                carried = [*shadows.losses(name, operands, named, result)]
                losses += [each for each in carried if each.rule not in {one.rule for one in losses}]
        except Exception as e:
            at.recorder.failures[at] = f"{type(e).__name__}: {e}"
            return
        for loss in losses:
            self.add(at, loss)

    def add(self, at: ValueWitness, loss: ValueLoss) -> None:
        """Add a loss to those at the same place."""
        place = SourceLocation(at.module.file, at.written.line)
        text = at.recorder.sources[at.module.file].text(at.written)[:LONGEST]
        known = self.found.get((place, text, loss.rule))
        runs = known.runs + 1 if known else 1
        self.found[place, text, loss.rule] = LostAt(place, text, known.loss if known else loss, runs)


class ValueWitness(Witness):
    """An observer that checks the values of an operation before it records it."""

    __slots__ = ()

    def record_binary(self, a: Any, b: Any, result: Any) -> Any:
        """Check an operator of two operands."""
        self.recorder.values.check(self, self.written.name, (a, b), {}, result)
        return super().record_binary(a, b, result)

    def record_unary(self, a: Any, result: Any) -> Any:
        """Check an operator of one operand."""
        self.recorder.values.check(self, self.written.name, (a,), {}, result)
        return super().record_unary(a, result)

    def record_in_place(self, a: Any, b: Any, result: Any) -> Any:
        """Check what an operator such as `+=` was given; what it overwrote is gone."""
        name = self.written.name
        if result is a:
            self.recorder.values.check(self, f"{name}=", (b,), {}, result)
        else:
            self.recorder.values.check(self, name, (a, b), {}, result)
        return super().record_in_place(a, b, result)

    def record_put(self, value: Any, a: Any) -> Any:
        """Check a value that is about to be cast to the dtype of elements."""
        self.recorder.values.check(self, "put", (value,), {}, a)
        return super().record_put(value, a)

    def record_call(self, function: Any, *given: Any) -> Any:
        """Check a call of a library's function, or of an array's method."""
        owner = getattr(function, "__self__", None) if type(function) is BuiltinFunctionType else None
        if self.kinds[type(owner)] is not None or self.is_of_library(function) or isinstance(function, type):
            args = self.written.all_of(given[:-1])
            names = self.written.keywords
            split = len(args) - len(names)
            if all(type(name) is str and name != "*" for name in names):
                named = {str(name): x for name, x in zip(names, args[split:], strict=True)}
                operands = [*([] if self.kinds[type(owner)] is None else [owner]), *args[:split]]
                name = getattr(function, "__name__", "")
                self.recorder.values.check(self, name, operands, named, given[-1])
        return super().record_call(function, *given)

    record_call_0 = record_call_1 = record_call_2 = record_call  # type: ignore[assignment]
