"""The content of a system as a hashable value: systems read from the same file have equal content."""
from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import fields
from functools import lru_cache
from typing import Any

from typelattice.core.dtypes.order import Order
from typelattice.core.engine.rules import Rules
from typelattice.core.engine.system import System


@lru_cache(maxsize=16)
def system_content(system: System) -> Hashable:
    """Return all rules of a system as a value that can be compared and hashed."""
    return tuple(_freeze_value(getattr(system, field.name)) for field in fields(Rules))


def _freeze_value(value: Any) -> Hashable:
    """Make a value hashable, with all its parts. Strings, numbers, dtypes and kinds stay unchanged."""
    if isinstance(value, Order):
        return frozenset((a, value.covers(a)) for a in value.nodes)
    if isinstance(value, Mapping):
        return frozenset((_freeze_value(k), _freeze_value(v)) for k, v in value.items())
    if isinstance(value, Set):
        return frozenset(map(_freeze_value, value))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(map(_freeze_value, value))
    found: Hashable = value
    return found
