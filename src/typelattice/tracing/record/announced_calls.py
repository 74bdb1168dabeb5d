"""Calls that announce dtypes without computing, compared with calls of the same function that compute.

A call announces if its results have a dtype and no values: those of `jax.eval_shape`, tensors on PyTorch's
meta device, symbolic tensors of Keras. Of Polars a schema announces the columns of its lazy frame. Only
announcements that the program asked for are compared, so no code of the program runs more often.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any
from weakref import ref

from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE
from typelattice.programs.calls.steps import Excerpt
from typelattice.tracing.library_traits import ANNOUNCEMENT_TRAITS, announcement_traits
from typelattice.tracing.record.held_arrays import list_held_arrays
from typelattice.tracing.run_data.array_classes import CachePerClass, library_class
from typelattice.tracing.run_data.run import AnnouncedCall

MAX_REMEMBERED_CALLS = 1_000


@dataclass(frozen=True, slots=True)
class Announcement:
    """The dtypes that a call has announced, by the path in its result. `owner` returns what it was of."""

    owner: Callable[[], Any]
    excerpt: Excerpt
    dtypes: Mapping[str, str]


class AnnouncedCalls:
    """The announcements of a run, and the calls that computed another dtype.

    `is_active` is False as long as the program has met no object that only announces. Until then a call costs
    one look at it.
    """

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.is_active = False
        self.compares_methods = CachePerClass(lambda cls: bool(_traits_of_class(cls).announcing_methods))
        self.announcements: dict[Hashable, Announcement] = {}
        self.wrong: dict[Hashable, AnnouncedCall] = {}

    def close(self) -> None:
        """Compare nothing from now on, and keep no class of the program alive."""
        self.is_active = False
        self.compares_methods.close()
        self.announcements.clear()

    def note_array(self, array: Any, library: str) -> None:
        """Begin to compare calls if the array is one that only announces its dtype."""
        self.is_active = self.is_active or announcement_traits(library).is_stand_in(array)

    def note_call(self, witness: Any, function: Any, arguments_and_result: Sequence[Any]) -> None:
        """Remember a call that announces, or compare one that computes with what was announced."""
        *args, result = arguments_and_result
        owner, name, announces = function, "", False
        if type(function) is MethodType:
            owner, name = function.__self__, function.__func__.__name__
            traits = _traits_of_class(type(owner))
            announces = name in traits.announcing_methods
            if announces or name in traits.computing_methods:
                name = ""
            schema = traits.read_schema(result)
        elif args and self.announces_for_first_argument(function):
            owner, *args = args
            announces, schema = True, None
        else:
            schema = None
        dtypes = self.read_dtypes(result, announces) if schema is None else (schema, announces)
        if dtypes is None:
            return
        found, announces = dtypes
        key = id(owner), name, tuple(map(self.argument_part, args)), witness.operation.constants
        excerpt = self.recorder.excerpt_of(witness, "")
        if announces:
            self.remember(key, owner, excerpt, found)
        elif (known := self.announcements.get(key)) is not None and known.owner() is owner:
            self.compare(known, excerpt, found)
        elif known is None:
            for announcement in self.list_stated(owner):
                self.compare(announcement, excerpt, found)

    def announces_for_first_argument(self, function: Any) -> bool:
        """Return True for a function such as `jax.eval_shape`, which announces for the function it takes."""
        if type(function) is not FunctionType or type(function.__module__) is not str:
            return False
        root = function.__module__.partition(".")[0]
        return function.__name__ in announcement_traits(root).announcing_functions

    def remember(self, key: Hashable, owner: Any, excerpt: Excerpt, dtypes: Mapping[str, str]) -> None:
        """Remember an announcement, unless its function takes no weak reference."""
        try:
            proof = ref(owner)
        except TypeError:
            return
        if len(self.announcements) < MAX_REMEMBERED_CALLS or key in self.announcements:
            self.is_active = True
            self.announcements[key] = Announcement(proof, excerpt, dtypes)

    def list_stated(self, owner: Any) -> Iterator[Announcement]:
        """Yield what an object of a library states of its results, each by the step that announced it."""
        stated = _traits_of_class(type(owner)).read_outputs(owner)
        for i, x in enumerate(stated):
            number, dtypes = self.recorder.step_of(x), self.read_dtypes(x, True)
            if number is not None and dtypes is not None:
                step = self.recorder.builder.steps[number]
                path = f"[{i}]" if len(stated) > 1 else ""
                yield Announcement(lambda: owner, Excerpt(step.text, step.location), {path: dtypes[0][""]})

    def compare(self, known: Announcement, excerpt: Excerpt, computed: Mapping[str, str]) -> None:
        """Add each result whose computed dtype is not the announced one."""
        for path in (path for path in known.dtypes if path in computed):
            if known.dtypes[path] != computed[path]:
                key = known.excerpt.location, excerpt.location, path
                self.wrong.setdefault(
                    key,
                    AnnouncedCall(
                        known.excerpt.location, known.excerpt.text, path, known.dtypes[path], computed[path],
                        excerpt.location, excerpt.text,
                    ),
                )  # fmt: skip

    def read_dtypes(self, result: Any, announces: bool) -> tuple[dict[str, str], bool] | None:
        """Return the dtypes of the arrays in a result, and whether they only announce.

        Return None if there is none, or if some announce and others do not.
        """
        kinds, found = self.recorder.array_kinds, {}
        stands_in = set()
        arrays = [("", result)] if kinds[type(result)] is not None else list_held_arrays(result, kinds)
        for path, x in arrays:
            kind = kinds[type(x)]
            operand = self.recorder.array_reader.read_operand(x, kind) if kind.variable is None else None
            if operand is None or operand.dtype is None:
                return None
            found[path] = operand.dtype.name
            stands_in.add(announces or announcement_traits(kind.library).is_stand_in(x))
        return (found, stands_in.pop()) if len(stands_in) == 1 else None

    def argument_part(self, x: Any) -> Hashable:
        """Return the part of a key for an argument: the dtype of an array, the value of a number or text."""
        if type(x) in KIND_BY_PYTHON_TYPE or type(x) is str:
            return type(x), x
        if type(x) in (list, tuple):
            return type(x), tuple(map(self.argument_part, x[:MAX_REMEMBERED_CALLS]))
        kind = self.recorder.array_kinds[type(x)]
        operand = self.recorder.array_reader.read_operand(x, kind) if kind is not None else None
        if operand is None or operand.dtype is None:
            return id(type(x))
        return operand.dtype.name, operand.tier


def _traits_of_class(cls: type) -> Any:
    base = library_class(cls)
    module = type.__getattribute__(base, "__module__") if base is not None else ""
    return announcement_traits(module.partition(".")[0]) if module else ANNOUNCEMENT_TRAITS
