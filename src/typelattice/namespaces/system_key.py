"""The content of a system as a hashable value: systems read from the same file have equal content."""
from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import fields
from functools import lru_cache
from typing import Any

from typelattice.engine.rules import Rules
from typelattice.engine.system import System
from typelattice.facts.order import Order


@lru_cache(maxsize=16)
def system_content(system: System) -> Hashable:
    """Return all rules of a system as a value that can be compared and hashed."""
    return tuple(_freeze_value(getattr(system, field.name)) for field in fields(Rules))


def _freeze_value(x: Any) -> Hashable:
    """Make a value hashable, with all its parts. Strings, numbers, dtypes and kinds stay unchanged."""
    if isinstance(x, Order):
        return frozenset((a, x.covers(a)) for a in x.nodes)
    if isinstance(x, Mapping):
        return frozenset((_freeze_value(k), _freeze_value(v)) for k, v in x.items())
    if isinstance(x, Set):
        return frozenset(map(_freeze_value, x))
    if isinstance(x, Sequence) and not isinstance(x, str):
        return tuple(map(_freeze_value, x))
    found: Hashable = x
    return found
