"""Which step made an array: arrays are known again as long as they live, and the last scalars."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any
from weakref import ref

from typelattice.operands.operand import SCALARS, Operand

MOST_CONSTANTS = 1_024  # dtypes and the like that are remembered
MOST_KEPT = 2_048  # NumPy's scalars take no weak reference; so many of the last are kept alive
MANY = 50_000  # links, from which on those of arrays that are gone are looked for
MOST_AT_ONE = 8  # steps at one place of the source that differ in their operands' steps alone
MOST_LINKS = 1_000_000  # arrays whose steps are remembered


class StepNumber(int):
    """The number of a step, in a key; a number of another meaning there is a plain int."""

    __slots__ = ()


@dataclass(slots=True)
class Note:
    """A step in the making: its number, what its results are, how often it ran, the bytes of its results.

    `alike` counts the results that count for the step although their operands come from elsewhere.
    """

    number: StepNumber
    operand: Operand
    mark: Hashable
    count: int = 0
    bytes: int = 0
    alike: Note | None = None

    @property
    def totals(self) -> tuple[int, int]:
        """How often it ran, and the bytes; with the results that count for it."""
        if self.alike is None:
            return self.count, self.bytes
        return self.count + self.alike.count, self.bytes + self.alike.bytes


class Links:
    """The step of each array, by the array's id.

    `live` holds with it a function that gives the array as long as the id is that array's: a weak reference.
    It also holds what stands for dtypes and the like in a key. `kept` holds scalars, which take no weak
    reference, and keeps the last of them alive. `let_go` counts the arrays whose steps were forgotten.
    """

    def __init__(self) -> None:
        self.live: dict[int, tuple[Callable[[], Any], Any]] = {}
        self.kept: dict[int, tuple[Any, StepNumber]] = {}
        self.constants = 0
        self.let_go = 0
        self.most = min(MANY, MOST_LINKS)  # links, until those of arrays that are gone are looked for
        self.lock = threading.Lock()  # who finds it taken goes on, as a finalizer that runs within must

    def add(self, x: Any, number: StepNumber, weak: bool) -> None:
        """Notes the step of an array."""
        if weak:
            self.live[id(x)] = ref(x), number
            self.tidy()
        else:
            self.keep(x, number)

    def keep(self, x: Any, number: StepNumber) -> None:
        """Notes the step of a scalar, and keeps it alive for a while."""
        kept = self.kept
        kept[id(x)] = x, number
        if len(kept) > MOST_KEPT and self.lock.acquire(blocking=False):
            for old in [*kept][: MOST_KEPT // 2]:
                kept.pop(old, None)
            self.lock.release()

    def constant(self, x: Any, token: Hashable) -> None:
        """Notes what stands for an object that lives as long as the program, such as a dtype."""
        if self.constants < MOST_CONSTANTS:
            self.constants += 1
            self.live[id(x)] = repeat(x).__next__, token

    def step_of(self, x: Any) -> StepNumber | None:
        """The step that made an array or a scalar; None where none is remembered."""
        found = self.live.get(id(x))
        if found is not None and found[0]() is x:
            return found[1] if type(found[1]) is StepNumber else None
        kept = self.kept.get(id(x))
        return kept[1] if kept is not None and kept[0] is x else None

    def tidy(self) -> None:
        """Forgets the arrays that are gone; where too many live, the older half of them."""
        if len(self.live) <= self.most or not self.lock.acquire(blocking=False):
            return
        for i, (found, _) in self.live.copy().items():
            if found() is None:
                self.live.pop(i, None)
        if self.most >= MOST_LINKS and len(self.live) > MOST_LINKS // 2:
            for i in [*self.live.copy()][: MOST_LINKS // 2]:
                self.live.pop(i, None)
                self.let_go += 1
        self.most = min(MOST_LINKS, max(self.most, 2 * len(self.live)))
        self.lock.release()


def without_steps(key: Any, notes: Sequence[Note]) -> Hashable:
    """A key that differs in what the operands are, and neither in their steps nor in their values."""
    made: list[Hashable] = []
    for part in key:
        cls = type(part)
        if cls is StepNumber:
            made.append(notes[part].mark)
        elif cls is not tuple or not part:
            made.append(part)
        else:
            number = type(part[0]) is type and part[0] in SCALARS
            made.append(part[0] if number else without_steps(part, notes))
    return tuple(made)


def steps_of(key: Any) -> list[int]:
    """The steps that a key speaks of."""
    found: list[int] = []
    for part in key:
        if type(part) is StepNumber:
            found.append(part)
        elif type(part) is tuple:
            found += steps_of(part)
    return [*dict.fromkeys(found)]


