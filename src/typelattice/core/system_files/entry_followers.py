"""The operations that follow an entry of `ops`, and the parts of such an entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from typelattice.core.engine.operation_rules import PairEntry, entry_names
from typelattice.core.engine.rules import Rules
from typelattice.core.operations.operations import OPERATIONS, OPERATORS, Operation
from typelattice.core.system_files.operation_entries import FIELDS_BY_KEY


def find_followers(entry: str, key: str, rules: Rules) -> Iterator[Operation]:
    """Yield the operations that follow a key of an entry, because no more specific entry has that key."""
    said = rules.ops[entry]
    # A word for all dtypes empties the table of single dtypes. The empty table states nothing itself.
    fields = [f for f in FIELDS_BY_KEY[key] if f in said and not (f.endswith("_of") and not said[f])]
    own = _operations_by_entry(*rules.custom_operations.values())
    for o, nearer in (*_shared_operations().get(entry, ()), *own.get(entry, ())):
        if not any(field in rules.ops.get(name, {}) for name in nearer for field in fields):
            yield o


@cache
def _shared_operations() -> Mapping[str, Sequence[tuple[Operation, Sequence[str]]]]:
    """Map each entry to the operations of all systems that it may describe."""
    return _operations_by_entry(*OPERATIONS.values(), *OPERATORS.values())


@cache
def _operations_by_entry(*operations: Operation) -> Mapping[str, Sequence[tuple[Operation, Sequence[str]]]]:
    """Map each entry to those operations that it may describe, each with the entries that count more."""
    found: dict[str, list[tuple[Operation, Sequence[str]]]] = {}
    for o in operations:
        named = entry_names(o)
        for place, name in enumerate(named):
            if name not in named[:place]:
                found.setdefault(name, []).append((o, named[:place]))
    return found


def key_of_operation(name: str) -> str:
    """Return the key that a name of `FIELDS_BY_KEY` belongs to: `gives` for `gives of pairs`."""
    return name.partition(" ")[0].partition(".")[0]


def find_pairs(entry_fields: Mapping[str, object], key: str) -> Sequence[PairEntry]:
    """Return the pairs of a field of an entry, or no pairs without the field."""
    found = entry_fields.get(key)
    return found if isinstance(found, tuple) else ()


def find_mapping(entry_fields: Mapping[str, object], key: str) -> Mapping[object, object]:
    """Return the table of a field of an entry, or an empty one without the field."""
    found = entry_fields.get(key)
    return found if isinstance(found, Mapping) else {}
