"""Links from each array to the step that made it, as long as the array lives. The last scalars are kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any
from weakref import ref

from typelattice.operands.operand import PYTHON_KINDS, Operand

MOST_CONSTANTS = 1_024  # dtypes and the like that are remembered
MOST_KEPT = 2_048  # NumPy's scalars take no weak reference, so the last ones are kept alive
LINKS_BEFORE_CLEANUP = 50_000  # links; from this number on, links of deleted arrays are removed
MOST_AT_ONE = 8  # steps at one source location that differ only in their operands' steps
MOST_LINKS = 1_000_000  # arrays whose steps are remembered


class StepNumber(int):
    """The number of a step, in a key. Any other number in a key is a plain int."""

    __slots__ = ()


@dataclass(slots=True)
class Note:
    """A step under construction: its number, operand and mark, how often it ran, the bytes of its results.

    `alike` counts the results that are added to the step although their operands come from other steps.
    """

    number: StepNumber
    operand: Operand
    mark: Hashable
    count: int = 0
    bytes: int = 0
    alike: Note | None = None

    @property
    def totals(self) -> tuple[int, int]:
        """The number of times it ran, and the bytes of its results. Both include `alike`."""
        if self.alike is None:
            return self.count, self.bytes
        return self.count + self.alike.count, self.bytes + self.alike.bytes


class Links:
    """The step of each array, by the array's id.

    `live` pairs each step with a weak reference, which shows that the id still belongs to the array. It also
    holds the parts of keys for dtypes and the like. `kept` holds scalars, which take no weak reference, and
    keeps the last of them alive. `let_go` counts the arrays whose steps were forgotten.
    """

    def __init__(self) -> None:
        self.live: dict[int, tuple[Callable[[], Any], Any]] = {}
        self.kept: dict[int, tuple[Any, StepNumber]] = {}
        self.constants = 0
        self.let_go = 0
        self.most = min(LINKS_BEFORE_CLEANUP, MOST_LINKS)  # links, until those of deleted arrays are removed
        self.lock = threading.Lock()  # never block: a finalizer may run while this thread holds it

    def add(self, x: Any, number: StepNumber, weak: bool) -> None:
        """Record the step of an array."""
        if weak:
            self.live[id(x)] = ref(x), number
            self.tidy()
        else:
            self.keep(x, number)

    def keep(self, x: Any, number: StepNumber) -> None:
        """Record the step of a scalar, and keep the scalar alive for a while."""
        kept = self.kept
        kept[id(x)] = x, number
        if len(kept) > MOST_KEPT and self.lock.acquire(blocking=False):
            for old in [*kept][: MOST_KEPT // 2]:
                kept.pop(old, None)
            self.lock.release()

    def constant(self, x: Any, token: Hashable) -> None:
        """Record the part of a key for an object that lives as long as the program, such as a dtype."""
        if self.constants < MOST_CONSTANTS:
            self.constants += 1
            self.live[id(x)] = repeat(x).__next__, token

    def step_of(self, x: Any) -> StepNumber | None:
        """Return the step that made an array or a scalar; None if it is not remembered."""
        found = self.live.get(id(x))
        if found is not None and found[0]() is x:
            return found[1] if type(found[1]) is StepNumber else None
        kept = self.kept.get(id(x))
        return kept[1] if kept is not None and kept[0] is x else None

    def tidy(self) -> None:
        """Forget deleted arrays. If too many live, forget the oldest ones too."""
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
    """Return a key with the mark of each operand, without its step and without the values of numbers."""
    made: list[Hashable] = []
    for part in key:
        cls = type(part)
        if cls is StepNumber:
            made.append(notes[part].mark)
        elif cls is not tuple or not part:
            made.append(part)
        else:
            number = type(part[0]) is type and part[0] in PYTHON_KINDS
            made.append(part[0] if number else without_steps(part, notes))
    return tuple(made)


def steps_of(key: Any) -> list[int]:
    """Return the steps in a key."""
    found: list[int] = []
    for part in key:
        if type(part) is StepNumber:
            found.append(part)
        elif type(part) is tuple:
            found += steps_of(part)
    return [*dict.fromkeys(found)]


