"""Links from each array to the step that made it, as long as the array lives. The last scalars are kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any
from weakref import ref

from typelattice.operands.operand import KIND_BY_PYTHON_TYPE, Operand

MAX_CONSTANTS = 1_024  # dtypes and similar objects that are remembered
MAX_KEPT_ALIVE = 2_048  # NumPy's scalars have no weak references, so the last ones are kept alive
LINKS_BEFORE_CLEANUP = 50_000  # number of links that starts the removal of links of deleted arrays
MAX_STEPS_PER_OPERATION = 8  # steps at one source location that differ only in their operands' steps
MAX_LINKS = 1_000_000  # arrays with a remembered step


class StepNumber(int):
    """The number of a step, in a key. Any other number in a key is a plain int."""

    __slots__ = ()


@dataclass(slots=True)
class StepTally:
    """A step: its number, operand and cache key, how often it ran, and the bytes of its results.

    `merged_tally` counts the results that are added to the step although their operands come from other
    steps.
    """

    number: StepNumber
    operand: Operand
    cache_key: Hashable
    count: int = 0
    bytes: int = 0
    merged_tally: StepTally | None = None

    @property
    def totals(self) -> tuple[int, int]:
        """The number of times it ran, and the bytes of its results. Both include `merged_tally`."""
        if self.merged_tally is None:
            return self.count, self.bytes
        return self.count + self.merged_tally.count, self.bytes + self.merged_tally.bytes


class ArrayLinks:
    """The step of each array, by the array's id.

    `by_weak_reference` pairs each step with a weak reference, which shows that the id still belongs to the
    array. It also holds the parts of keys for dtypes and similar objects. `kept_alive` holds scalars, which
    have no weak references, and keeps the last of them alive. `forgotten` counts the arrays that lost their
    steps.
    """

    def __init__(self) -> None:
        self.by_weak_reference: dict[int, tuple[Callable[[], Any], Any]] = {}
        self.kept_alive: dict[int, tuple[Any, StepNumber]] = {}
        self.constants = 0
        self.forgotten = 0
        self.max_links = min(
            LINKS_BEFORE_CLEANUP, MAX_LINKS
        )  # number of links that starts the next removal
        self.lock = threading.Lock()  # never block: a finalizer may run while this thread holds it

    def link_array(self, array: Any, number: StepNumber, takes_weak_references: bool) -> None:
        """Record the step of an array."""
        if takes_weak_references:
            self.by_weak_reference[id(array)] = ref(array), number
            self.forget_deleted()
        else:
            self.keep_scalar(array, number)

    def keep_scalar(self, scalar: Any, number: StepNumber) -> None:
        """Record the step of a scalar, and keep the scalar alive for a while."""
        kept = self.kept_alive
        kept[id(scalar)] = scalar, number
        if len(kept) > MAX_KEPT_ALIVE and self.lock.acquire(blocking=False):
            try:
                for old in [*kept][: MAX_KEPT_ALIVE // 2]:
                    kept.pop(old, None)
            finally:
                self.lock.release()

    def record_constant(self, constant: Any, key_part: Hashable) -> None:
        """Record the part of a key for an object that lives as long as the program, such as a dtype."""
        if self.constants < MAX_CONSTANTS:
            self.constants += 1
            self.by_weak_reference[id(constant)] = repeat(constant).__next__, key_part

    def step_of(self, value: Any) -> StepNumber | None:
        """Return the step that made an array or a scalar, or None if it is not remembered."""
        found = self.by_weak_reference.get(id(value))
        if found is not None and found[0]() is value:
            return found[1] if type(found[1]) is StepNumber else None
        kept = self.kept_alive.get(id(value))
        return kept[1] if kept is not None and kept[0] is value else None

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
