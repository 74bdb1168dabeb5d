"""The provenance of a system: its files, its variants with other values, and the lines behind answers."""
from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from typelattice.engine.promotion import DecidingLines, Promotion
from typelattice.engine.system import System
from typelattice.files.order_entries import CoversByLine, CoversByRow, covers_of_lines
from typelattice.files.system_definition import SystemDefinition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typelattice.engine.system import Origin
    from typelattice.files.deciding_lines import DecidingLineSearch


class SystemOrigin:
    """The files of a system: its keys, the arrows of each row of the order, and a function that builds it."""

    def __init__(
        self, definition: SystemDefinition, rows: CoversByRow, build: Callable[[SystemDefinition], System]
    ) -> None:
        self.definition, self.rows, self.build = definition, rows, build

    def __reduce__(
        self,
    ) -> tuple[
        Callable[[Callable[[SystemDefinition], System], SystemDefinition], Origin], tuple[object, ...]
    ]:
        return _rebuild_system, (self.build, self.definition)

    @cached_property
    def covers(self) -> CoversByLine:
        """The covers of the order, by the line that states them."""
        return covers_of_lines(self.rows)

    @cached_property
    def _deciding_line_search(self) -> DecidingLineSearch:
        from typelattice.files.deciding_lines import (
            DecidingLineSearch,  # most programs need no explanation
        )

        return DecidingLineSearch(self.definition, self.covers, self.build)

    def rule_of_answer(self, promotion: Promotion) -> DecidingLines:
        """Return the lines that decide an answer: without them the system answers differently."""
        return self._deciding_line_search.deciding_rule(promotion)

    def rule_of_key(self, key: str, entry: str | None) -> DecidingLines:
        """Return the line of a key, or of an entry under it."""
        return self._deciding_line_search.rule_of_key(key, entry)

    def replace(self, keys: dict[str, object]) -> System:
        """Build the system with other values for keys of its file.

        Raises FormatError for values that do not fit.
        """
        return self.build(self.definition.replace_keys(keys))

    def rebuild(self) -> tuple[Callable[[SystemDefinition], System], tuple[SystemDefinition]]:
        """Return the function and arguments that make the system again, for pickling."""
        return self.build, (self.definition,)


def _rebuild_system(build: Callable[[SystemDefinition], System], definition: SystemDefinition) -> Origin:
    """Build a system again, as unpickling does, and return its provenance."""
    return build(definition).origin
