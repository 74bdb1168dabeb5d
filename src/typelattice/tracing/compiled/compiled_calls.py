"""Calls of compiled functions. Operations in them become steps, except operations that witnesses saw."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any

from typelattice.base.errors.outside_errors import raise_if_from_outside, run_locked
from typelattice.programs.calls.call_tables import OPERATION_BY_FUNCTION
from typelattice.programs.calls.equivalent_operations import operation_of
from typelattice.tracing.compiled.graph_to_steps import GraphStepBuilder, StepsOfCall, VariableStep
from typelattice.tracing.run_data.compilers import CompilerAdapter
from typelattice.tracing.run_data.producing_steps import StepNumber
from typelattice.tracing.steps.arguments import UnknownCallError, read_arguments

UNREADABLE_STEPS = "unread"  # replaces the steps of a call that cannot be read
MAX_STEP_SETS_PER_CALL = 2  # sets of steps of one call that differ in the steps of its arguments
MAX_STEPS = 200_000  # from this number of steps of a run on, calls of compiled functions add none
MAX_VARIABLES = 200_000  # variables that are remembered while functions are compiled


class CompiledCallReader:
    """Reads calls of compiled functions for a recorder, and remembers which step each variable is."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.variable_steps: dict[int, VariableStep] = {}
        self.logged_calls: set[Hashable] = set()

    def note_variable(self, variable: object, number: StepNumber) -> None:
        """Record the step that a witness saw during compilation."""
        if len(self.variable_steps) >= MAX_VARIABLES:
            for old in [*self.variable_steps][: MAX_VARIABLES // 2]:
                self.variable_steps.pop(old, None)
        self.variable_steps[id(variable)] = VariableStep(variable, number)

    def step_of(self, variable: object) -> StepNumber | None:
        """Return the step that was seen for a variable, or None if it has no step."""
        found = self.variable_steps.get(id(variable))
        return found.number if found is not None and found.variable is variable else None

    def add_call(
        self, witness: Any, library: CompilerAdapter, function: Any, arguments_and_result: Sequence[Any]
    ) -> bool:
        """Add the steps of a call that has returned. Return True if all its results are known now."""
        recorder = self.recorder
        if recorder.model is not None and not library.is_own(function):
            self.log_call(witness, library, function, arguments_and_result)
        if recorder.model is not None and library.LIBRARY in recorder.model.libraries:
            return False  # its dispatcher reports what ran
        name = getattr(function, "__name__", "")
        if library.is_own(function) and operation_of(name, 1, library.LIBRARY) in OPERATION_BY_FUNCTION:
            return False  # an operation has a rule, so its inner steps are not needed
        if not library.is_own(function):
            self.recorder.weak_arguments.record_call(witness, library, function, arguments_and_result)
        results = library.leaves(arguments_and_result[-1])
        kinds = [recorder.array_kinds[type(x)] for x in results]
        arrays = [x for x, kind in zip(results, kinds, strict=True) if kind is not None]
        if all(recorder.step_of(x) is not None for x in arrays) or not recorder.is_following:
            return True  # compilation is off, so witnesses saw all of it

        def read_steps() -> bool:
            try:
                args, named = read_arguments(witness.operation, arguments_and_result)
            except UnknownCallError:
                return False
            found = self.steps_of_call(witness, library, function, args, named, results)
            if found is None:
                return False
            for x, kind, number in zip(results, kinds, found.results, strict=False):
                if kind is not None and number is not None:
                    recorder.link_array(x, kind, number)
            return True

        return bool(run_locked(recorder.lock, read_steps))

    def log_call(
        self, witness: Any, library: CompilerAdapter, function: Any, arguments_and_result: Sequence[Any]
    ) -> None:
        """Log the operations of a call for a policy, once for each set of types of its arguments."""
        log = self.recorder.model.log
        try:
            args, named = read_arguments(witness.operation, arguments_and_result)
            leaves = library.leaves((args, named))
            types = tuple(library.weak_type(x) for x in leaves)
            key = function, library.state(function), types
            if key in self.logged_calls or any(library.is_tracer(type(x)) for x in leaves):
                return
            self.logged_calls.add(key)
            location = self.recorder.excerpt_of(witness, library.LIBRARY).location
            library.log_call(log, function, args, named, location)
        except UnknownCallError:
            log.note_not_seen("calls with arguments that are not read")
        except Exception as e:  # an unexpected graph must not stop the program
            raise_if_from_outside(e, partial(library.log_call, log, function, args, named, None))
            log.failure = log.failure or f"{type(e).__name__}: {e}"[:200]

    def steps_of_call(
        self,
        witness: Any,
        library: CompilerAdapter,
        function: Any,
        args: Sequence[Any],
        keywords: Mapping[str, Any],
        results: Sequence[Any] = (),
    ) -> StepsOfCall | None:
        """Count the steps of a call, and return them: the steps of an equivalent earlier call, or new ones.

        The result is None if the call cannot be read."""
        leaves = library.leaves((args, keywords))
        is_compiling = any(library.is_tracer(type(x)) for x in leaves)
        function_key = function, library.state(function), is_compiling
        key: Hashable = (*function_key, *map(self.argument_key, leaves))
        found = witness.tallies.get(key)
        if found is None and len({*map(id, witness.tallies.values())}) >= MAX_STEP_SETS_PER_CALL:
            key = (*function_key, *(self.argument_key(x, ignores_step=True) for x in leaves))
            found = witness.tallies.get(key)
            if isinstance(found, StepsOfCall):
                return found.count_again(has_other_operands=True)
        if isinstance(found, StepsOfCall):
            return found.count_again()
        if found is UNREADABLE_STEPS or len(self.recorder.tallies) >= MAX_STEPS:
            return None

        def read_call() -> StepsOfCall | None:
            history = self.recorder.histories.get(library.LIBRARY)
            graph = None
            if history is not None and history.is_here and library.is_own(function):
                graph = library.graph_of_history(history, function, (leaves, results))
            if graph is None:
                graph = library.graph(function, args, keywords)
            if graph is None:
                return None
            graph_steps = GraphStepBuilder(
                self.recorder, self.variable_steps, witness, library, graph, is_compiling
            )
            return graph_steps.read_call(leaves)

        try:
            new_steps = read_call()
            witness.tallies[key] = new_steps or UNREADABLE_STEPS
            if new_steps is not None:
                # Reading the call gave its arguments steps, so they now have another key.
                witness.tallies[*function_key, *map(self.argument_key, leaves)] = new_steps
        except Exception as e:  # an unexpected graph must not stop the program
            raise_if_from_outside(e, read_call)
            name = getattr(function, "__qualname__", type(function).__qualname__)
            why = f"what it computes inside cannot be read ({type(e).__name__}: {e})"
            self.recorder.not_followed[name] = why
            witness.tallies[key] = UNREADABLE_STEPS
            return None
        return new_steps

    def argument_key(self, argument: Any, ignores_step: bool = False) -> Hashable:
        """Return the part of a cache key that stands for an argument.

        The part for an array is the step that made it, or the array's own mark with `ignores_step` or without
        a step. The part for any other object is its class, with the value of an int, a bool or a str.
        """
        step: StepNumber | None = None if ignores_step else self.recorder.step_of(argument)
        if step is not None:
            return step
        cls: Any = type(argument)
        kind = self.recorder.array_kinds[cls]
        if kind is not None:
            cache_key: Hashable = kind.cache_key(argument)
            return cache_key
        # the value may be static, and select the operations
        return (cls, argument) if cls in (int, bool, str) else cls
