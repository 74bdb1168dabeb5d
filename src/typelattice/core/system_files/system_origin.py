"""The provenance of a system: its files, its variants with other values, and the lines behind answers."""
from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from weakref import WeakValueDictionary

from typelattice.core.engine.promotion import DecidingLines, Promotion
from typelattice.core.engine.system import System
from typelattice.core.system_files.order_entries import CoversByLine, CoversByRow, covers_of_lines
from typelattice.core.system_files.system_definition import SystemDefinition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typelattice.core.engine.system import Origin
    from typelattice.core.system_files.deciding_lines import DecidingLineSearch


class SystemOrigin:
    """The files of a system: its keys, the arrows of each row of the order, and a function that builds it."""

    def __init__(
        self, definition: SystemDefinition, rows: CoversByRow, build: Callable[[SystemDefinition], System]
    ) -> None:
        self.definition, self.rows, self.build = definition, rows, build
        self.system: System | None = None
        self.pickle_key = ""

    def __reduce__(self) -> tuple[Callable[..., Origin], tuple[object, ...]]:
        return _restore_origin, self._pickled_parts()

    def _pickled_parts(self) -> tuple[str, Callable[[SystemDefinition], System], SystemDefinition]:
        if not self.pickle_key:
            self.pickle_key = os.urandom(16).hex()
            ORIGIN_BY_PICKLE_KEY[self.pickle_key] = self
        return self.pickle_key, self.build, self.definition

    @cached_property
    def covers(self) -> CoversByLine:
        """The covers of the order, by the line that states them."""
        return covers_of_lines(self.rows)

    @cached_property
    def _deciding_line_search(self) -> DecidingLineSearch:
        from typelattice.core.system_files.deciding_lines import (
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

    def rebuild(self) -> tuple[Callable[..., System], tuple[object, ...]]:
        """Return the function and arguments that find or make the system again, for pickling."""
        return _restore_system, self._pickled_parts()


ORIGIN_BY_PICKLE_KEY: WeakValueDictionary[str, SystemOrigin] = WeakValueDictionary()
"""The origins that were pickled, or unpickled from another process, so that a copy is the system itself."""


def _restore_system(
    pickle_key: str, build: Callable[[SystemDefinition], System], definition: SystemDefinition
) -> System:
    """Return the system that was pickled, or build it again in a process that does not have it."""
    known = ORIGIN_BY_PICKLE_KEY.get(pickle_key)
    if known is not None and known.system is not None:
        return known.system
    built = build(definition)
    assert isinstance(built.origin, SystemOrigin)
    built.origin.pickle_key = pickle_key
    ORIGIN_BY_PICKLE_KEY[pickle_key] = built.origin
    return built


def _restore_origin(*parts: Any) -> Origin:
    return _restore_system(*parts).origin
