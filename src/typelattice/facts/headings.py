"""The headings under which systems are listed, stated in headings.txt: libraries, standards and others."""
from __future__ import annotations

from collections.abc import Mapping
from functools import cache

TABLE = f"{__file__[:-3]}.txt"
LIBRARIES = "libraries"


def heading_of(system: str) -> str:
    """The heading under which a system is listed, by its name.

    >>> heading_of("numpy"), heading_of("array-api"), heading_of("c")
    ('libraries', 'standards', 'languages')
    """
    return _headings().get(system, LIBRARIES)


def headings() -> tuple[str, ...]:
    """Every heading, in the order in which they are listed."""
    return tuple(dict.fromkeys((LIBRARIES, *_headings().values())))


@cache
def _headings() -> Mapping[str, str]:
    """The heading of each system that is named in the table."""
    found = {}
    with open(TABLE, encoding="ascii") as rows:
        for heading, *systems in (row.split() for row in rows if not row.startswith("#")):
            found.update(dict.fromkeys(systems, heading))
    return found
