"""Calls of compiled functions. Their operations become steps, except those that witnesses saw."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from typelattice.calls.call_signatures import FUNCTIONS
from typelattice.tracing.compiled.compilers import Compiler
from typelattice.tracing.compiled.reading import Reading, StepsOfCall, Traced
from typelattice.tracing.run_data.array_links import StepNumber
from typelattice.tracing.steps.arguments import UnknownCallError, arguments
from typelattice.tracing.steps.equivalent_operations import operation_of

UNREAD = "unread"  # in place of the steps of a call that cannot be read
MOST_AT_ONE = 2  # sets of steps of one call that differ in the steps of its arguments
MOST_STEPS = 200_000  # a run with so many gets none from calls of compiled functions
MOST_VARIABLES = 200_000  # of functions during compilation that are remembered


class CompiledCalls:
    """Reads calls of compiled functions for a recorder, and remembers which step each variable is."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.traced: dict[int, Traced] = {}

    def saw(self, variable: object, number: StepNumber) -> None:
        """Record the step that a witness saw during compilation."""
        if len(self.traced) >= MOST_VARIABLES:
            for old in [*self.traced][: MOST_VARIABLES // 2]:
                self.traced.pop(old, None)
        self.traced[id(variable)] = Traced(variable, number)

    def step_of(self, variable: object) -> StepNumber | None:
        """Return the step that was seen for a variable; None if there is none."""
        found = self.traced.get(id(variable))
        return found.number if found is not None and found.variable is variable else None

    def call(self, at: Any, library: Compiler, function: Any, given: Sequence[Any]) -> bool:
        """Add the steps of a call that has returned. Return True if all its results are known now."""
        recorder, links = self.recorder, self.recorder.links
        name = getattr(function, "__name__", "")
        if library.is_own(function) and operation_of(name, 1, library.LIBRARY) in FUNCTIONS:
            return False  # an operation: its inner steps would be of little help
        if not library.is_own(function):
            self.recorder.weak_arguments.record(at, library, function, given)
        results = library.leaves(given[-1])
        kinds = [recorder.kinds[type(x)] for x in results]
        arrays = [x for x, kind in zip(results, kinds, strict=True) if kind is not None]
        if all(links.step_of(x) is not None for x in arrays) or not recorder.following:
            return True  # if compilation is off, witnesses saw all of it
        with recorder.lock:
            try:
                args, named = arguments(at.written, given)
            except UnknownCallError:
                return False
            found = self.steps_of_call(at, library, function, args, named)
            if found is None:
                return False
            for x, kind, number in zip(results, kinds, found.results, strict=False):
                if kind is not None and number is not None:
                    recorder.link(x, kind, number)
        return True

    def steps_of_call(
        self, at: Any, library: Compiler, function: Any, args: Sequence[Any], named: Mapping[str, Any]
    ) -> StepsOfCall | None:
        """Count the steps of a call, and return them: those of an equivalent earlier call, or new ones.

        The result is None if the call cannot be read."""
        leaves = library.leaves((args, named))
        compiling = any(library.is_tracer(type(x)) for x in leaves)
        who = function, library.state(function), compiling
        key: Hashable = (*who, *map(self.token, leaves))
        found = at.known.get(key)
        if found is None and len({*map(id, at.known.values())}) >= MOST_AT_ONE:
            key = (*who, *(self.token(x, alike=True) for x in leaves))
            found = at.known.get(key)
            if isinstance(found, StepsOfCall):
                return found.count_again(alike=True)
        if isinstance(found, StepsOfCall):
            return found.count_again()
        if found is UNREAD or len(self.recorder.notes) >= MOST_STEPS:
            return None
        try:
            graph = library.graph(function, args, named)
            if graph is None:
                at.known[key] = UNREAD
                return None
            reading = Reading(self.recorder, self.traced, at, library, graph, compiling)
            at.known[key] = made = reading.read_call(leaves)
            at.known[*who, *map(self.token, leaves)] = made  # the arguments have steps by now
        except Exception as e:  # the program must go on, whatever form a library's graph has
            name = getattr(function, "__qualname__", type(function).__qualname__)
            why = f"what it computes inside cannot be read ({type(e).__name__}: {e})"
            self.recorder.left_alone[name] = why
            at.known[key] = UNREAD
            return None
        return made

    def token(self, x: Any, alike: bool = False) -> Hashable:
        """Return the part of a cache key that stands for an argument.

        For an array it is the step that made it. With `alike`, or without a step, it is the array's own mark.
        For any other object it is its class, with the value of an int, a bool or a str.
        """
        part: StepNumber | None = None if alike else self.recorder.links.step_of(x)
        if part is not None:
            return part
        cls: Any = type(x)
        kind = self.recorder.kinds[cls]
        if kind is not None:
            mark: Hashable = kind.mark(x)
            return mark
        return (cls, x) if cls in (int, bool, str) else cls  # it may be static, and select the operations
