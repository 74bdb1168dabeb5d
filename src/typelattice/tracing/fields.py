"""What a witness has: the module and the operation at which it stands, and what it needs at hand."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from typelattice.tracing.silent import silent
from typelattice.tracing.spot import Spot


@dataclass(frozen=True, slots=True)
class Module:
    """A module that is followed: its source file, and a row of each operation, packed by marshal.

    Most operations never run, and their rows are not unpacked.
    """

    recorder: Any = field(repr=False)
    file: str
    rows: Sequence[bytes] = field(repr=False)


class Fields:
    """The fields of what stands at an operation: `number` says which of its `module`.

    The others are made of these two when the operation first runs.
    """

    __slots__ = (
        "arguments", "compiles", "function", "kept", "keywords", "kinds", "known", "links", "live", "many",
        "module", "name", "number", "others", "recorder", "spot", "who",
    )  # fmt: skip

    def __init__(self, module: Module, number: int) -> None:
        self.module, self.number = module, number

    def fill(self) -> None:
        """Makes the other fields: `spot` says where the operation stands, `known` what was seen there."""
        self.recorder = recorder = self.module.recorder
        self.spot = Spot(*marshal.loads(self.module.rows[self.number]))
        self.name, self.keywords = self.spot.name, self.spot.keywords
        self.kinds, self.arguments = recorder.kinds, recorder.arguments
        self.many, self.compiles, self.others = recorder.is_many, recorder.compiles, recorder.others
        self.links, self.live, self.kept = recorder.links, recorder.links.live, recorder.links.kept
        self.function: Any = None  # that was called last, and what stands for it
        self.who: Hashable = None
        self.known: dict[Hashable, Any] = {}

    def __reduce__(self) -> tuple[Callable[[], Any], tuple[()]]:
        return silent, ()  # a function that is pickled by value is not followed where it is unpickled
