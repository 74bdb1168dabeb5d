"""Arguments with which a function compiles again: weak and then strong, or of another dtype."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import ref

from typelattice.programs.calls.steps import Excerpt, Number, Opaque
from typelattice.tracing.run_data.compilers import CompilerAdapter
from typelattice.tracing.run_data.producing_steps import StepNumber
from typelattice.tracing.run_data.run import WeaknessChange
from typelattice.tracing.steps.arguments import UnknownCallError, read_arguments

MAX_REMEMBERED_FUNCTIONS = 1_000
"""The most functions whose arguments are remembered."""


@dataclass(frozen=True, slots=True)
class FirstCall:
    """The first call with some arguments weak: its location, and the step of each array argument."""

    excerpt: Excerpt
    steps: tuple[StepNumber | None, ...]


@dataclass(slots=True)
class StateCalls:
    """The last call of a function: its location, the types of its arguments, and the arrays that it gave."""

    excerpt: Excerpt
    types: tuple[str, ...]
    results: tuple[Any, ...] = ()


class WeakArguments:
    """The calls of a run's compiled functions, grouped by the arguments that are weak in them."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.last_calls: dict[Hashable, StateCalls] = {}
        self.calls: dict[Hashable, dict[tuple[bool, ...], FirstCall]] = {}
        self.changes: dict[tuple[Any, str], WeaknessChange] = {}

    def record_call(
        self, witness: Any, library: CompilerAdapter, function: Any, arguments_and_result: Sequence[Any]
    ) -> None:
        """Record a call. The caller handles our failures."""
        try:
            args, named = read_arguments(witness.operation, arguments_and_result)
        except UnknownCallError:
            return
        leaves = library.leaves((args, named))
        types = [library.weak_type(x) for x in leaves]
        self.compare_with_last_call(witness, library, function, (args, named), arguments_and_result[-1])
        key = function, library.state(function), *(type_ for type_, _ in types)
        if key not in self.calls and len(self.calls) >= MAX_REMEMBERED_FUNCTIONS:
            return
        calls = self.calls.setdefault(key, {})
        weak = tuple(is_weak for _, is_weak in types)
        if weak in calls:
            return
        steps = tuple(self.recorder.step_of(x) for x in leaves)
        calls[weak] = now = FirstCall(self.recorder.excerpt_of(witness, library.LIBRARY), steps)
        for other, before in [*calls.items()][:-1]:
            for i in (i for i in range(len(weak)) if weak[i] != other[i]):
                weaker, stronger = (now, before) if weak[i] else (before, now)
                self.add_change(library, function, (args, named), i, str(types[i][0]), weaker, stronger)

    def compare_with_last_call(
        self, witness: Any, library: CompilerAdapter, function: Any,
        call_arguments: tuple[Sequence[Any], Mapping[str, Any]], result: Any,
    ) -> None:  # fmt: skip
        """Add each argument that the last call gave back, and that had another dtype in that call."""
        leaves = library.leaves(call_arguments)
        types = tuple(str(library.weak_type(x)[0]) for x in leaves)
        excerpt = self.recorder.excerpt_of(witness, library.LIBRARY)
        key = function, library.state(function)
        last = self.last_calls.get(key)
        if last is not None and len(last.types) == len(types):
            given = {id(x) for found in last.results if (x := found()) is not None}
            for i in (i for i, x in enumerate(leaves) if types[i] != last.types[i] and id(x) in given):
                if _shape_text(types[i]) == _shape_text(last.types[i]):
                    self.add_changed_dtype(library, function, call_arguments, i, (last, types[i], excerpt))
        elif last is None and len(self.last_calls) >= MAX_REMEMBERED_FUNCTIONS:
            return
        arrays = [x for x in library.leaves(result) if self.recorder.array_kinds[type(x)] is not None]
        results = tuple(ref(x) for x in arrays if not library.is_tracer(type(x)))
        self.last_calls[key] = StateCalls(excerpt, types, results)

    def add_changed_dtype(
        self, library: CompilerAdapter, function: Any,
        call_arguments: tuple[Sequence[Any], Mapping[str, Any]], leaf_number: int,
        change: tuple[StateCalls, str, Excerpt],
    ) -> None:  # fmt: skip
        """Add a part of a state whose dtype changed, unless it was added before."""
        last, type_, now = change
        name = library.leaf_name(function, *call_arguments, leaf_number)
        number = self.recorder.step_of(library.leaves(call_arguments)[leaf_number])
        made, package = self.describe_step(number) if number is not None else (last.excerpt, "")
        old = last.types[leaf_number].partition("[")[0]
        self.changes.setdefault(
            (function, name),
            WeaknessChange(
                function.__name__, name, old, made.location, made.text, last.excerpt.location, now.location,
                type_.partition("[")[0], package,
            ),
        )  # fmt: skip

    def add_change(
        self, library: CompilerAdapter, function: Any,
        call_arguments: tuple[Sequence[Any], Mapping[str, Any]], leaf_number: int,
        type_: str, weak_call: FirstCall, strong_call: FirstCall,
    ) -> None:  # fmt: skip
        """Add a leaf of the arguments that differs in two calls, unless it was added before."""
        name = library.leaf_name(function, *call_arguments, leaf_number)
        number = self.find_origin(weak_call.steps[leaf_number])
        made, package = self.describe_step(number) if number is not None else (weak_call.excerpt, "")
        places = weak_call.excerpt.location, strong_call.excerpt.location
        self.changes.setdefault(
            (function, name),
            WeaknessChange(
                function.__name__, name, type_, made.location, made.text, *places, package=package
            ),
        )

    def find_origin(self, number: int | None) -> int | None:
        """Find the step that made an array weak: the earliest weak one that it was computed from."""
        if number is None:
            return None
        steps, tallies = self.recorder.builder.steps, self.recorder.tallies
        while weak := [
            i for i in steps[number].inputs if not isinstance(steps[i], Number) and tallies[i].operand.weak
        ]:
            number = weak[0]
        return number

    def describe_step(self, number: int) -> tuple[Excerpt, str]:
        """Return the excerpt of a step, and the package of its call if that was not followed."""
        step = self.recorder.builder.steps[number]
        own = step.package if isinstance(step, Opaque) else ""
        return Excerpt(step.text, step.location), own or self.recorder.packages_of_inputs.get(number, "")


def _shape_text(type_: str) -> str:
    """Return the shape in the text of a type, such as "[3]" of "float32[3]"."""
    return type_.partition("[")[2]
