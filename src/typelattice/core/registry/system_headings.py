"""The headings for lists of systems, read from system_headings.txt."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

HEADINGS_TABLE_PATH = __file__.rpartition(".")[0] + ".txt"
LIBRARIES_HEADING = "libraries"
FUNCTIONS_HEADING = "functions"  # packages without arrays of their own; no list of systems has them


def heading_of(system: str) -> str:
    """Return the heading for a system, by its name.

    >>> heading_of("numpy"), heading_of("array-api"), heading_of("c")
    ('libraries', 'standards', 'languages')
    """
    return _headings_by_system().get(system, LIBRARIES_HEADING)


def list_headings() -> tuple[str, ...]:
    """Every heading, in the order of the list."""
    found = dict.fromkeys((LIBRARIES_HEADING, *_headings_by_system().values()))
    return tuple(heading for heading in found if heading != FUNCTIONS_HEADING)


def sort_known_first(names: Sequence[str]) -> list[str]:
    """Sort names of systems as in the table: the best known come first.

    >>> sort_known_first(["arrow", "jax", "numpy"])
    ['numpy', 'jax', 'arrow']
    """
    known = [name for name, heading in _headings_by_system().items() if heading == LIBRARIES_HEADING]
    return sorted(names, key=lambda name: known.index(name) if name in known else len(known))


@cache
def _headings_by_system() -> Mapping[str, str]:
    """Return the heading of each system that is named in the table."""
    found = {}
    with open(HEADINGS_TABLE_PATH, encoding="utf-8") as rows:
        for heading, *systems in (row.split() for row in rows if not row.startswith("#")):
            found.update(dict.fromkeys(systems, heading))
    return found
