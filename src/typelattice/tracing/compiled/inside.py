"""Calls of compiled functions: what they compute becomes steps, but for those that witnesses saw in them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from typelattice.programs.functions import FUNCTIONS
from typelattice.tracing.alike import alike
from typelattice.tracing.arguments import UnknownCallError, arguments
from typelattice.tracing.compiled.compilers import Compiler
from typelattice.tracing.compiled.reading import Reading, Told, Traced
from typelattice.tracing.links import StepNumber

UNREAD = "unread"  # in place of the steps of a call that cannot be read
MOST_AT_ONE = 2  # sets of steps of one call that differ in where its arguments come from
MOST_STEPS = 200_000  # from then on a call of a compiled function adds none
MOST_VARIABLES = 200_000  # that are remembered of functions while they are compiled


class Inside:
    """Reads calls of compiled functions for a recorder, and remembers which step each variable is."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.traced: dict[int, Traced] = {}

    def saw(self, variable: object, number: StepNumber) -> None:
        """Notes the step that a witness saw while a function was compiled."""
        if len(self.traced) >= MOST_VARIABLES:
            for old in [*self.traced][: MOST_VARIABLES // 2]:
                self.traced.pop(old, None)
        self.traced[id(variable)] = Traced(variable, number)

    def step_of(self, variable: object) -> StepNumber | None:
        """The step that was seen for a variable; None where none was."""
        found = self.traced.get(id(variable))
        return found.number if found is not None and found.variable is variable else None

    def call(self, at: Any, library: Compiler, function: Any, given: Sequence[Any]) -> bool:
        """A call of a compiled function, which has returned; whether all that it gave is known now."""
        recorder, links = self.recorder, self.recorder.links
        name = getattr(function, "__name__", "")
        if library.is_own(function) and alike(name, 0, 1, library.LIBRARY) in FUNCTIONS:
            return False  # an operation, which it is of little help to take apart
        results = library.leaves(given[-1])
        kinds = [recorder.kinds[type(x)] for x in results]
        arrays = [x for x, kind in zip(results, kinds, strict=True) if kind is not None]
        if all(links.step_of(x) is not None for x in arrays) or not recorder.following:
            return True  # where compiling is off, witnesses saw all of it
        with recorder.lock:
            try:
                args, named = arguments(at.spot, given)
            except UnknownCallError:
                return False
            told = self.told(at, library, function, args, named)
            if told is None:
                return False
            for x, kind, number in zip(results, kinds, told.results, strict=False):
                if kind is not None and number is not None:
                    recorder.link(x, kind, number)
        return True

    def told(
        self, at: Any, library: Compiler, function: Any, args: Sequence[Any], named: Mapping[str, Any]
    ) -> Told | None:
        """What a call comes to, counted: as an earlier one that was alike, or with steps of its own."""
        leaves = library.leaves((args, named))
        compiling = any(library.is_tracer(type(x)) for x in leaves)
        who = function, library.state(function), compiling
        key: Hashable = (*who, *map(self.token, leaves))
        found = at.known.get(key)
        if found is None and len({*map(id, at.known.values())}) >= MOST_AT_ONE:
            key = (*who, *(self.token(x, alike=True) for x in leaves))
            found = at.known.get(key)
            if isinstance(found, Told):
                return found.counted(alike=True)
        if isinstance(found, Told):
            return found.counted()
        if found is UNREAD or len(self.recorder.notes) >= MOST_STEPS:
            return None
        try:
            graph = library.graph(function, args, named)
            if graph is None:
                at.known[key] = UNREAD
                return None
            reading = Reading(self.recorder, self.traced, at, library, graph, compiling)
            at.known[key] = made = reading.told(leaves)
            at.known[*who, *map(self.token, leaves)] = made  # with its arguments known
        except Exception as e:  # the program goes on, whatever a library keeps of its functions
            name = getattr(function, "__qualname__", type(function).__qualname__)
            why = f"what it computes inside cannot be read ({type(e).__name__}: {e})"
            self.recorder.left_alone[name] = why
            at.known[key] = UNREAD
            return None
        return made

    def token(self, x: Any, alike: bool = False) -> Hashable:
        """What stands for an argument in a key; `alike` leaves out which step made it."""
        part: StepNumber | None = None if alike else self.recorder.links.step_of(x)
        if part is not None:
            return part
        cls: Any = type(x)
        kind = self.recorder.kinds[cls]
        if kind is not None:
            mark: Hashable = kind.mark(x)
            return mark
        return (cls, x) if cls in (int, bool, str) else cls  # which may be static, and choose what is done
