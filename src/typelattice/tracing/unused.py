"""What stands at an operation until it first runs. Most of a package's never do, so it is made of little."""

from __future__ import annotations

from typing import Any

from typelattice.tracing.fields import Fields
from typelattice.tracing.witness import Witness


class Unused(Fields):
    """Becomes a witness, in its own place, when it is first told of its operation."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        with self.module.recorder.lock:  # one thread makes the fields, so that `known` is made once
            if type(self) is Unused:
                self.fill()
                self.__class__ = Witness  # type: ignore[assignment]  # its fields are the same
        return getattr(self, name)
