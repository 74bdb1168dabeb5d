"""Which step made an array: arrays are known again as long as they live, and the last scalars."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any
from weakref import ReferenceType, ref

from typelattice.operands.operand import Operand

MOST_KEPT = 2_048  # NumPy's scalars take no weak reference; so many of the last are kept alive
MOST_LINKS = 1_000_000  # arrays whose steps are remembered


class Part(int):
    """The number of a step, in a key; a number of another meaning there is a plain int."""

    __slots__ = ()


@dataclass(slots=True)
class Note:
    """A step in the making: its number, what its results are, how often it ran, the bytes of its results."""

    number: Part
    operand: Operand
    mark: Hashable
    count: int = 0
    bytes: int = 0


class Links:
    """The step of each array, by the array's id.

    `live` holds a weak reference, which tells whether the id is still that array's; `kept` holds scalars.
    `let_go` counts the arrays whose steps were forgotten.
    """

    def __init__(self) -> None:
        self.live: dict[int, tuple[ReferenceType[Any], Part]] = {}
        self.kept: dict[int, tuple[Any, Part]] = {}
        self.let_go = 0
        self.lock = threading.Lock()

    def add(self, x: Any, number: Part, weak: bool) -> None:
        """Notes the step of an array."""
        if weak:
            self.live[id(x)] = ref(x), number
        else:
            self.keep(x, number)

    def keep(self, x: Any, number: Part) -> None:
        """Notes the step of a scalar, and keeps it alive for a while."""
        self.kept[id(x)] = x, number
        if len(self.kept) > MOST_KEPT:
            with self.lock:
                for old in [*self.kept][: MOST_KEPT // 2]:
                    self.kept.pop(old, None)

    def tidy(self) -> None:
        """Forgets the arrays that are gone; where too many live, the older half of them."""
        if len(self.live) < MOST_LINKS:
            return
        for i, (weak, _) in [*self.live.items()]:
            if weak() is None:
                self.live.pop(i, None)
        if len(self.live) > MOST_LINKS // 2:
            for i in [*self.live][: MOST_LINKS // 2]:
                self.live.pop(i, None)
                self.let_go += 1


def steps_of(key: Any) -> list[int]:
    """The steps that a key speaks of."""
    found: list[int] = []
    for part in key:
        if type(part) is Part:
            found.append(part)
        elif type(part) is tuple:
            found += steps_of(part)
    return [*dict.fromkeys(found)]


