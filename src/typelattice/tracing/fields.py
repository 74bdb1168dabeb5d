"""What a witness has: the module and the operation at which it stands, and what it needs at hand."""

from __future__ import annotations

import marshal
from collections.abc import Hashable
from functools import cached_property
from typing import Any

from typelattice.tracing.spot import Row, Spot


class Module:
    """A module that is followed: its source file, and the rows of its operations, packed by marshal.

    Of most modules no operation runs, so they are unpacked when one is asked for.
    """

    def __init__(self, recorder: Any, file: str, packed: bytes) -> None:
        self.recorder, self.file, self.packed = recorder, file, packed

    @cached_property
    def rows(self) -> list[Row]:
        """What makes a Spot of each operation."""
        rows: list[Row] = marshal.loads(self.packed)
        return rows


class Fields:
    """The fields of what stands at the operation of a number in a module.

    The others are made of these two when the operation first runs.
    """

    __slots__ = (
        "arguments", "compiles", "function", "kept", "keywords", "kinds", "known", "links", "live", "many", "module",
        "name", "number", "others", "recorder", "spot", "who",
    )  # fmt: skip

    def __init__(self, module: Module, number: int) -> None:
        self.module, self.number = module, number

    def fill(self) -> None:
        """Makes the other fields: `spot` says where the operation stands, `known` what was seen there."""
        self.recorder = recorder = self.module.recorder
        self.spot = Spot(*self.module.rows[self.number])
        self.name, self.keywords = self.spot.name, self.spot.keywords
        self.kinds, self.arguments = recorder.kinds, recorder.arguments
        self.many, self.compiles, self.others = recorder.is_many, recorder.compiles, recorder.others
        self.links, self.live, self.kept = recorder.links, recorder.links.live, recorder.links.kept
        self.function: Any = None  # that was called last, and what stands for it
        self.who: Hashable = None
        self.known: dict[Hashable, Any] = {}
