"""Links from each array to the step that made it, as long as the array lives. No link keeps it alive."""

from __future__ import annotations

import _weakref
import threading
import weakref
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from typing import Any
from weakref import ref

from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, Operand

MAX_CONSTANTS = 1_024  # dtypes and similar objects that are remembered
MAX_SCALARS = 2_048  # scalars, which have no weak references, with a remembered step
LINKS_BEFORE_CLEANUP = 50_000  # number of links that starts the removal of links of deleted arrays
MAX_STEPS_PER_OPERATION = 8  # steps at one source location that differ only in their operands' steps
MAX_LINKS = 1_000_000  # arrays with a remembered step


class Link(ref[Any]):
    """A weak reference of ours. A program that lists the weak references of its object does not see it."""

    __slots__ = ()


@cache
def hide_links() -> None:
    """Leave our links out where a program lists or counts the weak references of an object."""
    list_references = weakref.getweakrefs

    def getweakrefs(object: Any, /) -> list[Any]:
        return [each for each in list_references(object) if type(each) is not Link]

    def getweakrefcount(object: Any, /) -> int:
        return len(getweakrefs(object))

    modules: tuple[Any, ...] = weakref, _weakref
    for module in modules:
        module.getweakrefs, module.getweakrefcount = getweakrefs, getweakrefcount


class SameObject:
    """A mark of an object that has neither weak references nor a hash of its value. It keeps it alive."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameObject) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


class StepNumber(int):
    """The number of a step, in a key. Any other number in a key is a plain int."""

    __slots__ = ()


@dataclass(slots=True)
class StepTally:
    """A step: its number, operand and cache key, how often it ran, and the bytes of its results.

    `dtype` is the library's own dtype of the result, or None if the dtype of an object cannot change.
    `merged_tally` counts the results that are added to the step although their operands come from other
    steps.
    """

    number: StepNumber
    operand: Operand
    cache_key: Hashable
    count: int = 0
    bytes: int = 0
    merged_tally: StepTally | None = None
    dtype: Any = None

    @property
    def totals(self) -> tuple[int, int]:
        """The number of times it ran, and the bytes of its results. Both include `merged_tally`."""
        if self.merged_tally is None:
            return self.count, self.bytes
        return self.count + self.merged_tally.count, self.bytes + self.merged_tally.bytes


class ArrayLinks:
    """The step of each array, by the array's id.

    `by_weak_reference` has a weak reference, which shows that the id still belongs to the array, the step,
    and the dtype that the array had, or None if it cannot change. It also holds the parts of keys for
    dtypes and similar objects. `scalars` has a mark of each scalar, such as its hash, and the step. `resized`
    has the ids of arrays that may be resized, and therefore have no link: NumPy refuses to resize an array
    with weak references. `forgotten` counts the arrays that lost their steps.
    """

    def __init__(self) -> None:
        self.by_weak_reference: dict[int, tuple[Callable[[], Any], Any, Any]] = {}
        self.scalars: dict[int, tuple[Any, StepNumber]] = {}
        self.resized: set[int] = set()
        self.resizes_anything = False
        """True if the program may resize any array: it has `ndarray.resize` as a function."""
        self.constants = 0
        self.forgotten = 0
        self.max_links = min(
            LINKS_BEFORE_CLEANUP, MAX_LINKS
        )  # number of links that starts the next removal
        self.lock = threading.Lock()  # never block: a finalizer may run while this thread holds it

    def link_array(self, array: Any, number: StepNumber, dtype: Any = None) -> None:
        """Record the step of an array that takes weak references, and the dtype that it has now."""
        if self.resizes_anything and hasattr(type(array), "resize"):
            return
        if self.resized and id(array) in self.resized:
            return
        self.by_weak_reference[id(array)] = Link(array), number, dtype
        self.forget_deleted()

    def link_scalar(self, scalar: Any, mark: Any, number: StepNumber) -> None:
        """Record the step of a scalar, by a mark that tells it from a later object with its id."""
        scalars = self.scalars
        scalars[id(scalar)] = mark, number
        if len(scalars) > MAX_SCALARS and self.lock.acquire(blocking=False):
            try:
                for old in [*scalars][: MAX_SCALARS // 2]:
                    scalars.pop(old, None)
            finally:
                self.lock.release()

    def forget_resized(self, array: Any) -> None:
        """Forget an array that may be resized from now on, and never link it again."""
        self.by_weak_reference.pop(id(array), None)
        self.resized.add(id(array))

    def record_constant(self, constant: Any, key_part: Hashable) -> None:
        """Record the part of a key for an object that lives as long as the program, such as a dtype."""
        if self.constants < MAX_CONSTANTS:
            self.constants += 1
            self.by_weak_reference[id(constant)] = repeat(constant).__next__, key_part, None

    def step_of(self, array: Any) -> StepNumber | None:
        """Return the step that made an array, or None if it is not remembered."""
        found = self.by_weak_reference.get(id(array))
        if found is not None and found[0]() is array:
            return found[1] if type(found[1]) is StepNumber else None
        return None

    def step_of_scalar(self, scalar: Any, mark: Any) -> StepNumber | None:
        """Return the step that made a scalar with this mark, or None if it is not remembered."""
        found = self.scalars.get(id(scalar))
        return found[1] if found is not None and found[0] == mark else None

    def old_dtype(self, array: Any) -> Any:
        """Return the dtype that an array had when its step was recorded, or None if it has no link."""
        found = self.by_weak_reference.get(id(array))
        return found[2] if found is not None and found[0]() is array else None

    def forget_deleted(self) -> None:
        """Forget deleted arrays. If too many live, also forget the oldest ones."""
        if len(self.by_weak_reference) <= self.max_links or not self.lock.acquire(blocking=False):
            return
        try:
            for i, (found, *_) in self.by_weak_reference.copy().items():
                if found() is None:
                    self.by_weak_reference.pop(i, None)
            if self.max_links >= MAX_LINKS and len(self.by_weak_reference) > MAX_LINKS // 2:
                for i in [*self.by_weak_reference.copy()][: MAX_LINKS // 2]:
                    self.by_weak_reference.pop(i, None)
                    self.forgotten += 1
            self.max_links = min(MAX_LINKS, max(self.max_links, 2 * len(self.by_weak_reference)))
        finally:
            self.lock.release()


def replace_steps_by_cache_keys(key: Any, tallies: Sequence[StepTally]) -> Hashable:
    """Return a key with the cache key of each operand, without its step and without the values of numbers."""
    parts: list[Hashable] = []
    for part in key:
        cls = type(part)
        if cls is StepNumber:
            parts.append(tallies[part].cache_key)
        elif cls is not tuple or not part:
            parts.append(part)
        else:
            number = type(part[0]) is type and part[0] in KIND_BY_PYTHON_TYPE
            parts.append(part[0] if number else replace_steps_by_cache_keys(part, tallies))
    return tuple(parts)


def list_steps_of_key(key: Any) -> list[int]:
    """Return the steps in a key."""
    steps: list[int] = []
    for part in key:
        if type(part) is StepNumber:
            steps.append(part)
        elif type(part) is tuple:
            steps += list_steps_of_key(part)
    return [*dict.fromkeys(steps)]
