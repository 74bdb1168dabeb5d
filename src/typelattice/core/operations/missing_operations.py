"""The operations that libraries lack, read from missing_operations.txt."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

MISSING_OPERATIONS_TABLE_PATH = __file__.rpartition(".")[0] + ".txt"


@cache
def find_missing_operations(system: str) -> frozenset[str]:
    """Return the operations that the library of a system lacks, in its release.

    >>> "eigh" in find_missing_operations("dask"), "eigh" in find_missing_operations("numpy")
    (True, False)
    """
    return frozenset(row.split(None, 1)[0] for row in _read_rows() if f" {system} " in row)


@cache
def _read_rows() -> Sequence[str]:
    """Return the rows of the table: an operation and the systems without it, with a blank after each."""
    with open(MISSING_OPERATIONS_TABLE_PATH, encoding="utf-8") as rows:
        return [row.replace("\n", " ") for row in rows if not row.startswith("#")]
