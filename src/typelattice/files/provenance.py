"""Provenance: where a system comes from, what it is with other values for its keys, and what decided."""
from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from typelattice.engine.answer import Promotion, Rule
from typelattice.engine.system import Origin, System
from typelattice.files.order_entries import Covers
from typelattice.files.spec import Spec

if TYPE_CHECKING:
    from typelattice.files.deciding import Deciding


class Provenance:
    """The files of a system: its keys, what each line of them states of the order, and what builds it."""

    def __init__(self, spec: Spec, covers: Covers, build: Callable[[Spec], System]) -> None:
        self.spec, self.covers, self.build = spec, covers, build

    def __reduce__(self) -> tuple[Callable[[Callable[[Spec], System], Spec], Origin], tuple[object, ...]]:
        return _again, (self.build, self.spec)

    @cached_property
    def _deciding(self) -> Deciding:
        from typelattice.files.deciding import Deciding  # most programs ask for no explanation

        return Deciding(self.spec, self.covers, self.build)

    def rule(self, p: Promotion) -> Rule:
        """The lines behind an answer: without them it is another."""
        return self._deciding.rule(p)

    def replace(self, keys: dict[str, object]) -> System:
        """The system with other values for keys of its file. Raises FormatError."""
        return self.build(self.spec.replaced(keys))

    def rebuild(self) -> tuple[Callable[[Spec], System], tuple[Spec]]:
        """What makes the system again, for pickling."""
        return self.build, (self.spec,)


def _again(build: Callable[[Spec], System], spec: Spec) -> Origin:
    """The provenance of a system that is built again, as unpickling does."""
    return build(spec).origin
