"""The operations that libraries do not have, read from absent.txt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

TABLE = f"{__file__[:-3]}.txt"


def absent(system: str) -> frozenset[str]:
    """The operations that the library of a system does not have, in that release.

    >>> "eigh" in absent("dask"), "eigh" in absent("numpy")
    (True, False)
    """
    return _table().get(system, frozenset())


@cache
def _table() -> Mapping[str, frozenset[str]]:
    """Map each system to the operations that its library lacks."""
    found: dict[str, set[str]] = {}
    for operation, systems in _rows():
        for system in systems:
            found.setdefault(system, set()).add(operation)
    return {system: frozenset(operations) for system, operations in found.items()}


def _rows() -> Iterator[tuple[str, list[str]]]:
    with open(TABLE, encoding="ascii") as rows:
        for row in rows:
            operation, *systems = row.split()
            if operation != "#":
                yield operation, systems
