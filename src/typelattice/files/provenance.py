"""The provenance of a system: its files, its variants with other values, and the lines behind answers."""
from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from typelattice.engine.answer import Promotion, Rule
from typelattice.engine.system import Origin, System
from typelattice.files.order_entries import Covers
from typelattice.files.spec import Spec

if TYPE_CHECKING:
    from typelattice.files.blame import Blame


class Provenance:
    """The files of a system: its keys, what each line of them states of the order, and what builds it."""

    def __init__(self, spec: Spec, covers: Covers, build: Callable[[Spec], System]) -> None:
        self.spec, self.covers, self.build = spec, covers, build

    def __reduce__(self) -> tuple[Callable[[Callable[[Spec], System], Spec], Origin], tuple[object, ...]]:
        return _again, (self.build, self.spec)

    @cached_property
    def _blame(self) -> Blame:
        from typelattice.files.blame import Blame  # most programs ask for no explanation

        return Blame(self.spec, self.covers, self.build)

    def rule(self, p: Promotion) -> Rule:
        """Return the lines that decide an answer: without them the system answers otherwise."""
        return self._blame.deciding_rule(p)

    def replace(self, keys: dict[str, object]) -> System:
        """Build the system with other values for keys of its file. Raise FormatError."""
        return self.build(self.spec.replaced(keys))

    def rebuild(self) -> tuple[Callable[[Spec], System], tuple[Spec]]:
        """Return the function and arguments that make the system again, for pickling."""
        return self.build, (self.spec,)


def _again(build: Callable[[Spec], System], spec: Spec) -> Origin:
    """Build a system again, as unpickling does, and return its provenance."""
    return build(spec).origin
